"""Two races with one noise, in closed form: who wins under p and who under q, and what rules that mix them emit."""

from fractions import Fraction
from itertools import pairwise

from draftproof.rules.token import residual_law


def joint(p, q, a, b):
    """The probability that draft a and target b win one race; for a != b an integral over the ratio of their times."""
    if not (q[a] and p[b]):
        return Fraction(0)
    if a == b:
        return 1 / sum(max(p[v] / p[a], q[v] / q[a]) for v in range(len(p)))
    low, high = q[b] / q[a], p[b] / p[a] if p[a] else None
    if high is not None and high < low:
        return Fraction(0)
    others = [v for v in range(len(p)) if v not in {a, b}]

    def rate(r):
        return 1 + r + sum(max(q[v] / q[a], r * p[v] / p[b]) for v in others)

    kinks = {low} | ({high} - {None}) | {q[v] * p[b] / (q[a] * p[v]) for v in others if p[v]}
    cuts = sorted(r for r in kinks if r >= low and (high is None or r <= high))
    inside = sum(((right - left) / (rate(left) * rate(right)) for left, right in pairwise(cuts)), Fraction(0))
    last = cuts[-1]
    return inside + (1 / ((rate(last + 1) - rate(last)) * rate(last)) if high is None else 0)


def raced_law(fixture, p, q):
    """The closed form of the two tampers that mix a race with the ratio rule."""
    size = range(len(p))
    table = [[joint(p, q, a, b) for b in size] for a in size]
    assert [sum(row) for row in table] == q.tolist()
    if fixture == "S26":
        rejected = 1 - sum(table[y][y] for y in size)
        return [table[y][y] + rejected * residual_law(p, q)[y] for y in size]
    kept = [min(p[x], q[x]) / q[x] if q[x] else 0 for x in size]
    return [min(p[y], q[y]) + sum(table[x][y] * (1 - kept[x]) for x in size) for y in size]
