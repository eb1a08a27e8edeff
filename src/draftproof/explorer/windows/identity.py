"""Window 0: the identity, with the numbers of the laws at hand put into it, token by token."""

from draftproof.explorer.bench import Bench
from draftproof.explorer.frame import Window, markup
from draftproof.explorer.results import Numbers
from draftproof.explorer.tables import Cell, number, table, term

__all__ = ["WINDOW"]


def _build(bench: Bench) -> None:
    markup(
        "<p>Losing nothing is not measured here, it is algebra. A drafted token <i>x</i> has law <i>q</i>. Keep it "
        "with probability a(x) = min(1, p(x)/q(x)); that emits min(p, q). The mass that is left over comes from the "
        "residual, and the two add up to <i>p</i>.</p>"
        '<p class="formula">P<sub>emit</sub> = min(p, q) + (1 − Σ min(p, q)) · norm(max(0, p − q)) = p</p>'
    )
    substituted, rows, engine = markup(css="substituted"), markup(), markup()

    def refresh() -> None:
        substituted.set_content(_substituted(bench.numbers))
        rows.set_content(_rows(bench.numbers))
        engine.set_content(_tampered(bench.numbers) if bench.state.tamper else "")

    bench.watch(refresh)


def _substituted(numbers: Numbers) -> str:
    terms = numbers.terms
    rejected = float(terms.rejected[0])
    lines = [
        f"<li>token {token}: {term('kept', kept)} + {term('rejected', rejected)} · {term('residual', residual)}"
        f" = {term('emitted', emitted)}, p = {term('p', p)}</li>"
        for token, (kept, residual, emitted, p) in enumerate(
            zip(terms.kept, terms.residual, terms.emitted, numbers.p, strict=True)
        )
    ]
    overlap = f"<p>Σ min(p, q) = {number(numbers.overlap)}, so 1 − Σ = {number(rejected)} is rejected.</p>"
    return f"{overlap}<ul>{''.join(lines)}</ul>"


def _tampered(numbers: Numbers) -> str:
    if numbers.emitted is None:
        return "<p class='moved'>▲ a tamper is on, and what it emits cannot be integrated for these laws.</p>"
    found = ", ".join(number(chance) for chance in numbers.emitted.tolist())
    return f"<p class='moved'>▲ a tamper is on: the engine emits {found}</p>"


def _rows(numbers: Numbers) -> str:
    columns = ["token", "p", "q", "a = min(1, p/q)", "residual r"]
    parts = zip(numbers.p, numbers.q, numbers.acceptance, numbers.terms.residual, strict=True)
    rows = [[token, *(Cell(value) for value in values)] for token, values in enumerate(parts)]
    return table("identity", columns, rows, "Per token: acceptance and residual")


WINDOW = Window(0, "The identity", "blue", _build)
