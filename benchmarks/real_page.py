"""The section of README.md about real models. In: the record of `real.py`. Out: a table for people."""

BOUNDS = (
    ("Qwen 1.5B bfloat16, code", "ours", "plain", 2.0),
    ("Qwen 1.5B bfloat16, code", "ours", "assisted", 1.4),
    ("Qwen 1.5B bfloat16, copying", "ours", "plain", 3.0),
    ("Qwen 1.5B bfloat16, copying", "ours", "lookup", 1.0),
    ("Qwen 1.5B bfloat16", "plain", "transformers", 0.98),
)
"""(group, arm, beside, asked), by how names begin."""
MOST_OUTSIDE = {"certificate off": 0.03, "certificate on": 0.10}
INTRODUCTION = """\
Each line is about texts that both sides wrote from the same prompts on the same weights in memory, in the same
minutes: the median of the ratios text by text, between the order statistics that hold the median with 95 % confidence
(of fewer than six texts: between the outermost). End of sequence ends no text. *Decoding* leaves out the time until
the first tokens. *Planned* is what `draftproof plan` says after measuring other prompts of the same kind, with its
90 % interval."""


def section(result) -> str:
    """Return the section, from its heading on."""
    machine = "; ".join(f"{key} {value}" for key, value in result["machine"].items())
    rows, facts = result["samples"]["rows"], result["samples"]["facts"]
    parts = [f"## {result['question']} (`real.py`)", INTRODUCTION, _table(rows), _advice(rows, facts), _outside(facts)]
    return "\n\n".join(part for part in (*parts, machine) if part)


def bounds(result) -> list[str]:
    """Return lines of the table of what was asked and reached."""
    lines = []
    for row in result["samples"]["rows"]:
        for group, arm, beside, asked in BOUNDS:
            planned = row["group"].startswith(group) and not row["group"].endswith("others")
            if planned and row["arm"].startswith(arm) and row["beside"].startswith(beside):
                name = f"{row['group']}: {row['arm']} / {row['beside']}"
                lines.append(f"| {name} | >= {asked:g} | {row['ratio']:.3g} |")
    for name, shares in _overheads(result["samples"]["facts"]):
        for which, most in MOST_OUTSIDE.items():
            lines.append(f"| {name}: outside forward passes, {which} | <= {most:g} | {shares[which]:.3g} |")
    return lines


def _table(rows) -> str:
    lines = ["| workload | arm | beside | texts | times as fast | interval | decoding | planned |",
             "|---|---|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    for row in rows:
        said = row["predicted"]
        planned = f"{said[0]:.2f} ({said[1]:.2f} to {said[2]:.2f})" if said else ""
        low, high = row["interval"]
        lines.append(
            f"| {row['group']} | {row['arm']} | {row['beside']} | {row['texts']} | {row['ratio']:.2f} "
            f"| {low:.2f} to {high:.2f} | {row['decoding']:.2f} | {planned} |"
        )
    return "\n".join(lines)


def _advice(rows, facts) -> str:
    """Return whether each plan was right: to speculate must gain, not to must be no loss of more than 2 %."""
    lines = ["| plan for | advice | measured, best arm | right |", "|---|---|---:|---|"]
    for name, plan in facts.items():
        group = name.removesuffix(": plan")
        ours = [row["ratio"] for row in rows if row["group"].startswith(group) and row["beside"] == "plain"
                and row["arm"].startswith("ours")]  # fmt: skip
        if name.endswith(": plan") and ours:
            right = max(ours) > 1 if plan["decision"] == "speculate" else max(ours) <= 1.02
            lines.append(f"| {group} | {plan['decision']} | {max(ours):.2f} | {'yes' if right else 'NO'} |")
    return "\n".join(lines) if len(lines) > 2 else ""


def _outside(facts) -> str:
    lines = ["| outside forward passes | certificate off | certificate on | rule | warpers of the target | rest |",
             "|---|---:|---:|---:|---:|---:|"]  # fmt: skip
    for name, shares in _overheads(facts):
        stages = " | ".join(f"{shares[f'stage {stage}']:.1%}" for stage in ("rule", "warp", "rest"))
        both = " | ".join(f"{shares[which]:.1%}" for which in MOST_OUTSIDE)
        lines.append(f"| {name} | {both} | {stages} |")
    return "\n".join(lines) if len(lines) > 2 else ""


def _overheads(facts):
    end = ": outside forward passes"
    return [(name.removesuffix(end), shares) for name, shares in facts.items() if name.endswith(end)]
