"""The pages of docs/audits, from what audits found. In: the results. Out: a page for all, and one for each engine."""

import math
from pathlib import Path

from draftproof.audit.shapes import MEANING

PAGES = Path(__file__).parents[1] / "docs" / "audits"
TITLES = {
    "draftproof": "draftproof", "transformers": "transformers", "vllm": "vLLM (CPU build)",
    "llamacpp": "llama.cpp (its server, in xllamacpp)", "openvino": "OpenVINO GenAI",
}  # fmt: skip
REMARKS = {
    "vllm": (
        "Temperature, top-k and top-p do not reach the rows that are verified in this CPU build; see",
        "[vllm-project/vllm 55005](https://github.com/vllm-project/vllm/issues/55005). Nothing here is about GPUs.",
        "",
    ),
    "openvino": (
        "A fault of just this place, sampling with a draft model and neither greedy texts nor lookups, is described in",
        "[openvino.genai 4190](https://github.com/openvinotoolkit/openvino.genai/issues/4190): a token is dropped and",
        "what follows it is kept.",
        "",
    ),
    "llamacpp": (
        "Tokens that a pass with drafts emits come with log-probability 0; without speculation they are right.",
        "",
    ),
}
"""What is known beside."""
INTRODUCTION = """# Audits of speculative engines

Each line is one `draftproof audit` of a probe pair: two Llamas of random numbers, whose laws are spread out and whose
draft is often wrong. What a verdict means, and what it does not, is said in
[how to audit an engine](../how-to/audit-an-engine.md). These are audits of the versions named, on the processor named,
as the settings say; of nothing else. `make audits` does them again.

A lossless engine is ever convicted with probability 1e-6 in each audit. *Evidence* is the largest wealth of the bet
against the engine, *drift, at most* a bound that holds at every look with probability 99.9 %.
"""


def write_pages(found):
    """Write all pages."""
    PAGES.mkdir(parents=True, exist_ok=True)
    subjects = {}
    for key, told in found["audits"].items():
        subject, method, settings = key.split(" | ")
        subjects.setdefault(subject, []).append((method, settings, told))
    for subject, audits in subjects.items():
        (PAGES / f"{subject}.md").write_text(_page(subject, audits, found["machine"]), encoding="utf-8")
    summary = ["| engine | method | lossless | drift | inconclusive |", "|---|---|---|---|---|"]
    for subject, title in TITLES.items():
        methods = {}
        for method, settings, told in subjects.get(subject, ()):
            methods.setdefault(method, []).append((settings, told))
        for method, audits in methods.items():
            cells = [_settings_with(audits, verdict) for verdict in ("LOSSLESS", "DRIFT", "INCONCLUSIVE")]
            summary.append(f"| [{title}]({subject}.md) | `{method}` | {' | '.join(cells)} |")
    facts = "; ".join(f"{name} {value}" for name, value in found["machine"].items())
    (PAGES / "README.md").write_text("\n".join([INTRODUCTION, *summary, "", facts, ""]), encoding="utf-8")


def _settings_with(audits, verdict):
    names = [settings for settings, told in audits if told["verdict"] == verdict]
    if not names:
        return "-"
    return f"**{'; '.join(names)}**" if verdict == "DRIFT" else "; ".join(names)


def _page(subject, audits, machine):
    versions = {f"{name} {value}" for _, _, told in audits for name, value in told["versions"].items()}
    lines = [f"# Audit of {TITLES[subject]}", "", f"Versions: {', '.join(sorted(versions))}.", ""]
    lines += [
        "| method | settings | verdict | evidence | tokens | drift, at most | control |",
        "|---|---|---|---|---:|---:|---|",
    ]
    for method, settings, told in audits:
        verdict = f"**{told['verdict']}**: {told['cause']}"
        cells = [
            f"`{method}`",
            settings,
            verdict,
            odds(told["log_evidence"]),
            f"{told['tokens']:,}",
            _percent(told["drift_bound"]),
        ]
        control = told["control"]
        without = "none" if control is None else f"{control['tokens']:,} tokens, {odds(control['log_evidence'])}"
        lines.append(f"| {' | '.join([*cells, without])} |")
    lines += ["", "## In words", "", *REMARKS.get(subject, ())]
    for method, settings, told in audits:
        notes = [note for note in told["notes"] if note != "seeds are honoured"]
        if told.get("shapes"):
            notes.append(f"most like {told['shapes'][0]['shape']}: {MEANING[told['shapes'][0]['shape']]}")
        if told["verdict"] != "LOSSLESS" or notes:
            lines.append(f"* `{method}`, {settings}: {'; '.join([told['reason'], *notes])}.")
    facts = "; ".join(f"{name} {value}" for name, value in machine.items())
    return "\n".join([*lines, "", f"Machine: {facts}.", ""])


def odds(log_evidence):
    """Return evidence in words."""
    return "certain" if log_evidence == "Infinity" else f"10^{log_evidence / math.log(10):.1f} : 1"


def _percent(share):
    return "-" if share is None else f"{share:.2%}"
