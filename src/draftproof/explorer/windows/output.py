"""Window 5: what is emitted against the target's law, and how far they are apart, on a scale of 1e-16."""

from draftproof.explorer.bench import Bench
from draftproof.explorer.charts import bars, chart, show
from draftproof.explorer.frame import Window, badge, markup
from draftproof.explorer.results import Numbers
from draftproof.explorer.tables import number

__all__ = ["WINDOW"]


def _build(bench: Bench) -> None:
    verdict = markup()
    laws = chart("Bars: target law p beside the emitted law, by token; a line: the overlap min(p, q)")
    gap = chart("Bars: emitted law minus p, by token", "chart low")
    words = markup(
        "<p>Every difference is a rounding of the last bit, or a fault. The grey area is what both laws agree on: "
        "Σ min(p, q), the chance that a drafted token is kept. The better the cheap draft knows the target, the more "
        "tokens a pass lands; the law does not depend on it.</p>"
    )
    words.classes("explains")

    def refresh() -> None:
        verdict.set_content(_verdict(bench.numbers))
        show(laws, _laws(bench.numbers))
        show(gap, _gap(bench.numbers))

    bench.watch(refresh)


def _verdict(numbers: Numbers) -> str:
    finding = numbers.emission.finding
    return (
        f"<p>{badge(finding)} max |P<sub>emit</sub> − p| = {number(finding.max_deviation)}, total variation "
        f"{number(finding.total_variation)}<br>expected acceptance Σ min(p, q) = "
        f'<b data-number="overlap">{number(numbers.overlap)}</b></p><p class="faint">{finding.reason}</p>'
    )


def _laws(numbers: Numbers) -> dict[str, object]:
    tokens = [str(token) for token in range(len(numbers.p))]
    emitted = [] if numbers.emitted is None else numbers.emitted.tolist()
    series = [
        {"name": "target p", "type": "bar", "data": numbers.p.tolist(), "itemStyle": {"color": "var(--p)"}},
        {
            "name": "emitted", "type": "bar", "data": emitted,
            "itemStyle": {"color": "var(--emitted)", "borderColor": "var(--ink)", "borderType": "dashed"},
        },
        {
            "name": "draft q", "type": "line", "step": "middle", "data": numbers.q.tolist(), "symbol": "none",
            "lineStyle": {"color": "var(--q)", "type": "dashed"}, "itemStyle": {"color": "var(--q)"},
        },
        {
            "name": "overlap min(p, q)", "type": "line", "step": "middle", "data": numbers.terms.kept.tolist(),
            "areaStyle": {"color": "var(--overlap)", "opacity": 0.45}, "lineStyle": {"color": "var(--overlap-line)"},
            "itemStyle": {"color": "var(--overlap-line)"}, "symbol": "none",
        },
    ]  # fmt: skip
    return bars(tokens, series, top=None)


def _gap(numbers: Numbers) -> dict[str, object]:
    difference = numbers.emission.difference
    tokens = [str(token) for token in range(len(numbers.p))]
    gaps = [] if difference is None else difference.tolist()
    series = [{"name": "emitted − p", "type": "bar", "data": gaps, "itemStyle": {"color": "var(--red)"}}]
    options = bars(tokens, series, top=None)
    options["yAxis"] |= {"min": None, "axisLabel": {"color": "var(--ink)", "fontSize": 11, ":formatter": _EXPONENT}}
    return options


_EXPONENT = "value => value === 0 ? '0' : value.toExponential(0)"


WINDOW = Window(5, "The output", "engine", _build)
