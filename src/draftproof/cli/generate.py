"""`draftproof generate`: text from the target's own law, faster, with a proof. The main job of the house."""

import json
import sys
import time
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from draftproof.cli.numbers import number, whole
from draftproof.engine import plain
from draftproof.engine.loop import Pass
from draftproof.engine.rerun import settings_of
from draftproof.engine.setup import Options, Run, prepare
from draftproof.engine.trace import follow
from draftproof.engine.traces import check_writable, save
from draftproof.models.catalogue import SPECS
from draftproof.records import Trace
from draftproof.rules.catalogue import RULES
from draftproof.witness.identity import Certificate

__all__ = ["INTERRUPTED", "generate"]

DEFAULT = Options()
COMPARED_TOKENS = 128
"""Plain decoding is timed on at most this many tokens: enough for a steady figure, short enough to wait for."""
INTERRUPTED = 130
"""Exit status after Ctrl-C."""


class Certify(StrEnum):
    """How much of a generation is certified."""

    EVERY = "every"
    OFF = "off"


RuleName = Annotated[str, typer.Option(metavar="NAME", help=f"How drafts are tested: {', '.join(RULES)}.")]
Widths = Annotated[str, typer.Option(metavar="WIDTHS", help="Draft a tree: tokens after each node, as 3,2,1.")]
Certified = Annotated[Certify, typer.Option(help="Check P_emit = p at every position, or not at all.")]
TraceFile = Annotated[Path | None, typer.Option("--trace", metavar="FILE", help="Write what happened to a file too.")]


def generate(
    prompt: Annotated[str, typer.Argument(help="Text to go on from; empty starts from nothing (BOS).")] = "",
    target: Annotated[
        str, typer.Option(metavar="SPEC", help=f"The model whose law is kept: {SPECS}.")
    ] = DEFAULT.target,
    drafter: Annotated[str, typer.Option(metavar="SPEC", help="What guesses: a SPEC or none.")] = DEFAULT.drafter,
    num_speculative_tokens: Annotated[
        int,
        typer.Option(
            parser=whole, metavar="K", help="Tokens drafted before each pass of the target; 0 is plain decoding."
        ),
    ] = DEFAULT.num_speculative_tokens,
    max_tokens: Annotated[
        int, typer.Option(parser=whole, metavar="N", help="Most tokens to emit.")
    ] = DEFAULT.max_tokens,
    temperature: Annotated[float, typer.Option(parser=number, metavar="T", help="0 is greedy.")] = DEFAULT.temperature,
    top_k: Annotated[
        int, typer.Option(parser=whole, metavar="K", help="Keep the K most probable tokens; 0 keeps all.")
    ] = DEFAULT.top_k,
    top_p: Annotated[
        float, typer.Option(parser=number, metavar="P", help="Keep the smallest set with mass P.")
    ] = DEFAULT.top_p,
    seed: Annotated[
        int, typer.Option(parser=whole, metavar="S", help="Same seed, same settings, same text.")
    ] = DEFAULT.seed,
    no_speculation: Annotated[bool, typer.Option("--no-speculation", help="Draft nothing.")] = False,
    rule: RuleName = DEFAULT.rule,
    tree: Widths = DEFAULT.tree,
    certify: Certified = Certify.EVERY,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")] = False,
    trace_file: TraceFile = None,
) -> int:
    """Generate text with speculative decoding; the output is the target's own, whatever the draft guesses."""
    warpers = temperature, top_k, top_p
    models, lengths = (target, drafter), (num_speculative_tokens, max_tokens)
    options = Options(prompt, *models, *lengths, *warpers, seed, no_speculation, rule, tree)
    if trace_file is not None:
        check_writable(trace_file)
    trace = _stream(prepare(options), certify, as_json, trace_file)
    return INTERRUPTED if trace.finish_reason == "interrupted" else 0


def _stream(run: Run, certify: Certify, as_json: bool, trace_file: Path | None) -> Trace:
    from draftproof.cli.screen import Screen, note

    settings = {} if trace_file is None else settings_of(run)
    certificate = Certificate(run.engine.rule)
    screen = None if as_json else Screen(run.tokenizer)
    if screen is not None:
        screen.prompt(run.tokenizer.decode(run.prompt))

    def watch(done: Pass) -> None:
        if certify is Certify.EVERY:
            certificate.add(done)
        if screen is not None:
            screen.show(done)

    trace = follow(run.engine.decode(run.prompt, run.stop, run.noise), run.prompt, watch)
    if screen is not None:
        screen.finish(run.tokenizer.decode(trace.token_ids))
    if trace_file is not None:
        save(replace(trace, settings=settings), trace_file)
    if screen is None:
        sys.stdout.write(json.dumps(_report(run, trace, certificate)) + "\n")
    else:
        screen.summary(trace, _plain_tokens_per_second(run, trace), certificate.finding("this generation"))
    if trace_file is not None:
        note(f"trace: {trace_file}")
    return trace


def _plain_tokens_per_second(run: Run, trace: Trace) -> float | None:
    """Time plain decoding of the same prompt with the same target in the same process; None without speculation."""
    count = min(len(trace.token_ids), COMPARED_TOKENS)
    if not trace.num_drafts or trace.finish_reason == "interrupted":
        return None
    tokens = plain.decode(run.engine.target, run.engine.pipeline, run.prompt, run.stop, run.noise)
    began = time.perf_counter()
    emitted = sum(1 for _ in zip(range(count), tokens, strict=False))
    return emitted / (time.perf_counter() - began)


def _report(run: Run, trace: Trace, certificate: Certificate) -> dict[str, Any]:
    ids, finding = trace.token_ids, certificate.finding("this generation")
    return {
        "text": run.tokenizer.decode(ids),
        "token_ids": list(ids),
        "finish_reason": trace.finish_reason,
        "usage": {
            "prompt_tokens": len(trace.prompt),
            "completion_tokens": len(ids),
            "total_tokens": len(trace.prompt) + len(ids),
        },
        "speculation": {
            "rule": run.engine.rule.name,
            "num_drafts": trace.num_drafts,
            "num_draft_tokens": trace.num_draft_tokens,
            "num_accepted_tokens": trace.num_accepted_tokens,
            "acceptance_rate": trace.acceptance_rate,
            "mean_acceptance_length": trace.mean_acceptance_length,
            "acceptance_per_position": trace.acceptance_per_position,
            "expected_acceptance": trace.expected_acceptance,
            "target_passes": len(trace.passes),
        },
        "timing": {"seconds": trace.seconds, "tokens_per_second": len(ids) / trace.seconds if ids else 0.0},
        "certificate": {
            "positions": certificate.positions,
            "max_deviation": finding.max_deviation,
            "verdict": finding.verdict,
        },
    }
