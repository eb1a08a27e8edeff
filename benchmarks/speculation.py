"""How much faster is speculative than plain decoding, and how near is that to what costs and acceptance allow?"""

import statistics

from draftproof import Certificate, TokenRule, follow, sampling
from draftproof.economics.rehearsal import Timed
from draftproof.engine import plain
from measuring import DRAFT, TARGET, engine, job, paired_ratios, save, seconds, spread
from pass_cost import curve

TOKENS, PAIRS, BLOCKS = 96, 24, range(1, 7)


def plain_text(pipeline, i, target=TARGET):
    prompt, stop, noise = job(i, TOKENS)
    return list(plain.decode(target, pipeline, prompt, stop, noise))


def speculative_text(pipeline, block, i, target=TARGET, draft=DRAFT, **watch):
    prompt, stop, noise = job(i, TOKENS)
    return follow(engine(block, pipeline, target, draft).decode(prompt, stop, noise), prompt, **watch)


def speed_up(temperature):
    """Return the values of one temperature: the ratio for each K, and for the best K what was allowed."""
    pipeline, values, medians = sampling(temperature), {}, {}
    name = f"T={temperature:g}"
    for block in BLOCKS:
        medians[block] = statistics.median(ratios(pipeline, block, PAIRS))
        values[f"{name}: speculative / plain, K={block}"] = medians[block]
    best = max(medians, key=medians.__getitem__)
    again = f"{name}: speculative / plain, best K, again"
    values |= {f"{name}: best K": best} | spread(again, ratios(pipeline, best, 2 * PAIRS))
    return values | allowed(pipeline, best, values[again], name)


def ratios(pipeline, block, pairs):
    return paired_ratios(lambda i: speculative_text(pipeline, block, i), lambda i: plain_text(pipeline, i), pairs)


def allowed(pipeline, block, measured, name):
    """Compare with a loop that costs nothing itself: forward passes only, twice.

    "From the curve" takes the cost of each pass from runs of equal passes, when the weights are still in the caches;
    "in place" takes the forward passes of both loops as they really ran, one after another.
    """
    target, draft, alone = (Timed(model, ("extend",)) for model in (TARGET, DRAFT, TARGET))
    traces = []
    for i in range(2 * PAIRS):
        traces.append(speculative_text(pipeline, block, i, target, draft))
        plain_text(pipeline, i, alone)
    emitted = sum(len(trace.token_ids) for trace in traces)
    passes = sum(len(trace.passes) for trace in traces)
    drafted = sum(trace.num_draft_tokens for trace in traces)
    costs, step = curve(TARGET, (1, block + 1), TOKENS // 2), curve(DRAFT, (1,), TOKENS // 2)
    from_curve = emitted * costs[1] / (passes * costs[block + 1] + drafted * step[1])
    in_place = alone.clock[0] / (target.clock[0] + draft.clock[0])
    return {
        f"{name}: tokens per pass": emitted / passes,
        f"{name}: acceptance (tested positions)": sum(trace.num_accepted_tokens for trace in traces)
        / sum(min(record.accepted + 1, record.depth) for trace in traces for record in trace.passes),
        f"{name}: allowed, costs from the curve": from_curve,
        f"{name}: reached / allowed, costs from the curve": measured / from_curve,
        f"{name}: allowed, costs in place": in_place,
        f"{name}: reached / allowed, costs in place": measured / in_place,
    }


def overhead():
    """Return what is not a forward pass, and what the certificate adds, at temperature 1 and K = 3."""
    pipeline, shares = sampling(1.0), []
    for i in range(PAIRS):
        target, draft = (Timed(model, ("extend",)) for model in (TARGET, DRAFT))
        total = seconds(speculative_text, pipeline, 3, i, target, draft)
        shares.append(1 - (target.clock[0] + draft.clock[0]) / total)
    longer = paired_ratios(lambda i: speculative_text(pipeline, 3, i), lambda i: certified(pipeline, i), PAIRS)
    added = [ratio - 1 for ratio in longer]
    return spread("share of time outside forward passes", shares) | spread("time added by the certificate", added)


def certified(pipeline, i):
    return speculative_text(pipeline, 3, i, watch=Certificate(TokenRule()).add)


def main() -> None:
    values = speed_up(1.0) | speed_up(0.0) | overhead()
    save("How much faster is speculative decoding?", values, "speculation")


if __name__ == "__main__":
    main()
