"""What does a pass of the target over n rows cost, and a step of the draft?"""

import statistics

from measuring import DRAFT, TARGET, save, seconds

CONTEXT, REPEATS = 128, 150
ROWS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 17)


def curve(model, rows, context=CONTEXT, repeats=REPEATS):
    """Return {n: median seconds} of passes over n rows after `context` tokens, the row counts taken in turn."""
    model = model.fresh()
    model.extend([5] * context)
    times = {n: [] for n in rows}
    for _ in range(repeats):
        for n, found in times.items():
            found.append(seconds(lambda n=n: model.extend([7] * n)))
            model.rewind(context)
    return {n: statistics.median(found) for n, found in times.items()}


def main() -> None:
    target, draft = curve(TARGET, ROWS), curve(DRAFT, (1, 2))
    values = {"target: ms for 1 row": target[1] * 1e3}
    values |= {f"target: {n} rows / 1 row": target[n] / target[1] for n in ROWS}
    values |= {"draft: ms for 1 row": draft[1] * 1e3, "cost ratio draft / target": draft[1] / target[1]}
    weights = TARGET.size.weights
    values |= {"target: MB of weights read in a pass": weights / 1e6, "target: GB/s": weights / target[1] / 1e9}
    save("What does a pass over n rows cost?", values, "pass_cost")


if __name__ == "__main__":
    main()
