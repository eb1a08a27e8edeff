"""What window 10 says of a generation as a whole, as HTML: how it is going, the certificate, the numbers."""

import json
from html import escape

from draftproof.explorer.frame import badge, busy
from draftproof.explorer.generation import Generation, options_of_state, tokens_per_pass
from draftproof.explorer.replays import Opened
from draftproof.explorer.results import tamper_of
from draftproof.explorer.state import State
from draftproof.explorer.tables import number
from draftproof.records import Trace

__all__ = ["asked", "serialised", "status", "summary"]


def asked(state: State, generation: Generation | None) -> str:
    """Return which engine `generate` runs, and whether what is shown was made with other settings."""
    tamper, lines = tamper_of(state), list[str]()
    if tamper is not None:
        kind = "control" if tamper.harmless else "tamper"
        lines.append(
            f'<p class="tampered" data-number="generation-tamper">▲ {kind} on: <b>{escape(tamper.name)}</b>, by its '
            f"own account the rule {escape(tamper.rule.name)}. {escape(tamper.story)}</p>"
        )
    if generation is not None and (generation.run.options, generation.tamper) != (options_of_state(state), tamper):
        lines.append('<p class="faint" id="stale">What is shown was made with other settings: press generate.</p>')
    return "".join(lines)


def status(generation: Generation | None, file: Opened | None) -> str:
    """Return in a line how the generation is going."""
    if file is not None:
        sign = '<span class="undecided" data-number="generation-status">! not run again</span>'
        said = f"This is what the file says; it ended with {escape(file.trace.finish_reason)}."
        return f"<p>{sign}: {escape(file.reason)}. {said}</p>"
    if generation is None:
        return '<p class="faint" data-number="generation-status">Nothing is generated yet.</p>'
    count = len(generation.trace.token_ids)
    if not generation.reason:
        verb = "generating" if generation.before is None else "running the trace again"
        return f"<p>{busy(f'{verb}, {count} tokens')}</p>"
    lines = [f'ended: <b data-number="generation-status">{escape(_REASONS[generation.reason])}</b>']
    if generation.trouble:
        lines = [f'<b class="moved" data-number="generation-status">✗ {escape(generation.trouble)}</b>']
    if generation.before is not None:
        lines.append(f'<b data-number="replayed">{escape(generation.compared())}</b>')
    return f"<p>{'<br>'.join(lines)}</p>"


_REASONS = {
    "stop": "stop, the model ended its text",
    "length": "length, there is no room for more",
    "interrupted": "interrupted",
}


def summary(generation: Generation | None, file: Opened | None) -> str:
    """Return the certificate and the numbers."""
    if generation is None:
        return "" if file is None else _numbers(file.trace)
    return f"{_certificate(generation)}{_numbers(generation.trace)}{_made_with(generation)}"


def serialised(trace: Trace) -> str:
    """Return a trace as `generate --trace` writes it."""
    return json.dumps(trace.to_json()) + "\n"


def _certificate(generation: Generation) -> str:
    finding, certificate = generation.finding, generation.certificate
    unread = f'<p class="moved">{escape(generation.unread)}</p>' if generation.unread else ""
    trusted = ""
    if generation.tamper is not None:
        trusted = (
            "<p class='tampered'>▲ This certificate takes the rule's own word for what it does, and sees nothing "
            "outside the rule. With a tamper on, the badge at the top of the page is the one to trust.</p>"
        )
    return (
        f'<p id="certificate">certificate: {badge(finding)} max |P<sub>emit</sub> &minus; p| = '
        f'<b data-number="generation-deviation">{number(finding.max_deviation)}</b> at '
        f'<b data-number="generation-positions">{number(certificate.positions, 0)}</b> positions</p>{unread}{trusted}'
    )


def _numbers(trace: Trace) -> str:
    count, passes = len(trace.token_ids), len(trace.passes)
    facts = [
        ("tokens", "generation-tokens", float(count), 0),
        ("passes of the target", "generation-passes", float(passes), 0),
        ("tokens a pass", "tokens-per-pass", tokens_per_pass(trace), 2),
        ("acceptance rate", "acceptance-rate", trace.acceptance_rate, 4),
        ("expected from the laws", "expected-acceptance", trace.expected_acceptance, 4),
        ("seconds of the engine", "generation-seconds", trace.seconds, 2),
    ]
    items = "".join(
        f'<li>{words} <b data-number="{name}">{number(value, digits)}</b></li>' for words, name, value, digits in facts
    )
    return f'<ul class="facts">{items}</ul>'


def _made_with(generation: Generation) -> str:
    options = generation.run.options
    engine = "as shipped" if generation.tamper is None else f"▲ with {generation.tamper.name}"
    return (
        f'<p class="faint">made with the engine {escape(engine)}: rule {escape(generation.rule.name)}, '
        f"K {options.num_speculative_tokens}, drafter {escape(options.drafter)}, temperature {options.temperature:g}, "
        f"top-k {options.top_k}, top-p {options.top_p:g}, seed {options.seed}, at most {options.max_tokens} tokens</p>"
    )
