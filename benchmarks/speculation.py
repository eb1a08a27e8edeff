"""How much faster is speculative than plain decoding, and how near is that to what costs and acceptance allow?"""

import statistics

from draftproof import Certificate, follow, sampling
from draftproof.engine import plain
from measuring import DRAFT, TARGET, Timed, engine, job, paired_ratios, save, seconds, spread
from pass_cost import curve

TOKENS, PAIRS, BLOCKS = 96, 24, range(1, 8)


def plain_text(pipeline, i):
    prompt, stop, noise = job(i, TOKENS)
    return list(plain.decode(TARGET, pipeline, prompt, stop, noise))


def speculative_text(pipeline, block, i):
    prompt, stop, noise = job(i, TOKENS)
    return follow(engine(block, pipeline).decode(prompt, stop, noise), prompt)


def speed_up(temperature):
    """Return the values of one temperature: the ratio for each K, and for the best K what was allowed."""
    pipeline, values, medians = sampling(temperature), {}, {}
    name = f"T={temperature:g}"
    for block in BLOCKS:
        ratios = paired_ratios(
            lambda i, k=block: speculative_text(pipeline, k, i), lambda i: plain_text(pipeline, i), PAIRS
        )
        medians[block] = statistics.median(ratios)
        values[f"{name}: speculative / plain, K={block}"] = medians[block]
    best = max(medians, key=medians.__getitem__)
    values |= {f"{name}: best K": best} | spread(
        f"{name}: speculative / plain, best K, again", best_ratios(pipeline, best)
    )
    return values | allowed(pipeline, best, values[f"{name}: speculative / plain, best K, again"], name)


def best_ratios(pipeline, block):
    return paired_ratios(lambda i: speculative_text(pipeline, block, i), lambda i: plain_text(pipeline, i), 2 * PAIRS)


def allowed(pipeline, block, measured, name):
    """Compare with tokens per pass * T(1) / (T(K + 1) + K * draft step), forward passes only, costs at mid-text."""
    traces = [speculative_text(pipeline, block, i) for i in range(2 * PAIRS)]
    emitted = sum(len(trace.token_ids) for trace in traces)
    passes = sum(len(trace.passes) for trace in traces)
    drafted = sum(trace.num_draft_tokens for trace in traces)
    target, draft = curve(TARGET, (1, block + 1), TOKENS // 2), curve(DRAFT, (1,), TOKENS // 2)
    bound = emitted * target[1] / (passes * target[block + 1] + drafted * draft[1])
    return {
        f"{name}: tokens per pass": emitted / passes,
        f"{name}: acceptance (tested positions)": sum(trace.num_accepted_tokens for trace in traces)
        / sum(trace.num_tested_tokens for trace in traces),
        f"{name}: allowed by cost curve and acceptance": bound,
        f"{name}: reached / allowed": measured / bound,
    }


def overhead():
    """Return what is not a forward pass, and what the certificate adds, at temperature 1 and K = 3."""
    pipeline, shares = sampling(1.0), []
    for i in range(PAIRS):
        target, draft = Timed(TARGET), Timed(DRAFT)
        prompt, stop, noise = job(i, TOKENS)
        tested = engine(3, pipeline, target, draft)
        total = seconds(lambda t=tested, p=prompt, s=stop, n=noise: follow(t.decode(p, s, n), p))
        shares.append(1 - (target.clock[0] + draft.clock[0]) / total)
    longer = paired_ratios(lambda i: speculative_text(pipeline, 3, i), lambda i: certified(pipeline, i), PAIRS)
    added = [ratio - 1 for ratio in longer]
    return spread("share of time outside forward passes", shares) | spread("time added by the certificate", added)


def certified(pipeline, i):
    prompt, stop, noise = job(i, TOKENS)
    tested = engine(3, pipeline)
    return follow(tested.decode(prompt, stop, noise), prompt, Certificate(tested.rule).add)


def main() -> None:
    values = speed_up(1.0) | speed_up(0.0) | overhead()
    save("How much faster is speculative decoding?", values, "speculation")


if __name__ == "__main__":
    main()
