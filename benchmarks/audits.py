"""Which engines are lossless? Audits every engine that can be installed, method by method, and writes docs/audits.

    python benchmarks/audits.py [--only SUBJECT[:METHOD]] [--missing] [--pages] [--prepare]

Engines are set up where they are missing (vLLM takes 3.5 GB). What was found before is kept, so that a part can be
asked again, or only what is missing. `make audits` asks for all, some 45 minutes on two cores.
"""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.progress import Progress

from audits_page import write_pages
from draftproof.audit.catalogue import chosen
from draftproof.audit.environments import prepare, python_for
from draftproof.economics.machine import machine
from draftproof.errors import MissingExtraError

HERE = Path(__file__).parent
FOUND = HERE / "results" / "audits.json"
SUBJECTS = ("draftproof", "transformers", "vllm", "llamacpp", "openvino")
AT_A_TIME = 2
"""A core each."""
SETTINGS = {
    "temperature 1": {},
    "temperature 0.7, top-k 20, top-p 0.9": {"temperature": 0.7, "top-k": 20, "top-p": 0.9, "eps": 0.05},
    "greedy": {"temperature": 0},
}
"""Asked of every method. Where nothing else is said the aim is 2 %, some 20,000 tokens; 5 % takes 4,000."""
MORE = {
    "top-k 10": {"top-k": 10, "eps": 0.05},
    "top-p 0.8": {"top-p": 0.8, "eps": 0.05},
    "min-p 0.1": {"min-p": 0.1, "eps": 0.05},
    "repetition penalty 1.3": {"repetition-penalty": 1.3, "eps": 0.05},
    "presence penalty 0.5, frequency penalty 0.3": {"presence-penalty": 0.5, "frequency-penalty": 0.3, "eps": 0.05},
    "one token drafted": {"num-speculative-tokens": 1, "eps": 0.05},
    "512 tokens of vocabulary": {"probe": 512, "eps": 0.05},
}
"""Asked of the first method of every engine."""
BESIDE = {
    ("openvino", "draft"): {"precision by default": {"option": "precision=default", "eps": 0.05}},
    ("transformers", "draft"): {
        "ensemble weight 0.5, lossy by its own documentation": {"option": "assistant_ensemble_weight=0.5"}
    },
}
WORDS = {"ngram-cache": {"num-speculative-tokens": 8}}
"""What a method needs to start at all."""


def main() -> None:
    """Audit, then write the pages."""
    asked = sys.argv[1:]
    if "--prepare" in asked:
        set_up(SUBJECTS)
        return
    if "--pages" not in asked:
        only = asked[asked.index("--only") + 1] if "--only" in asked else ""
        known = json.loads(FOUND.read_text(encoding="utf-8"))["audits"] if "--missing" in asked else {}
        wanted = [case for case in cases() if f"{case[0]}:{case[1]}".startswith(only)]
        audit_all([case for case in wanted if " | ".join(case[:3]) not in known])
    write_pages(json.loads(FOUND.read_text(encoding="utf-8")))


def cases():
    """Yield (subject, method, name of the settings, words of the command)."""
    for subject in SUBJECTS:
        member = chosen(subject).member
        for method in member.METHODS:
            first = method == member.METHODS[0]
            more = SETTINGS | (MORE if first else {}) | BESIDE.get((subject, method), {})
            for name, words in more.items():
                claimed = {word.replace("-", "_") for word in words} - {
                    "eps",
                    "num_speculative_tokens",
                    "probe",
                    "option",
                }
                if claimed <= set(member.CLAIMS):
                    aim = {} if first or "eps" in words else {"eps": 0.03}
                    yield subject, method, name, words | aim | WORDS.get(method, {})


def audit_all(wanted):
    """Audit, some at a time, and keep what was found after each."""
    set_up({case[0] for case in wanted})
    kept = json.loads(FOUND.read_text(encoding="utf-8")) if FOUND.is_file() else {"machine": {}, "audits": {}}
    kept["machine"] = machine()
    with ThreadPoolExecutor(AT_A_TIME) as pool, Progress() as progress:
        task = progress.add_task("audits", total=len(wanted))
        for case, found in zip(wanted, pool.map(audited, wanted), strict=True):
            kept["audits"][" | ".join(case[:3])] = found
            FOUND.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            progress.update(task, advance=1, description=f"{case[0]} {case[1]}: {found['verdict']}")


def set_up(subjects):
    """Set up the engines that are not there."""
    for subject in subjects:
        try:
            python_for(chosen(subject), "")
        except MissingExtraError:
            print(f"setting up {subject} ..", flush=True)
            prepare(chosen(subject))


def audited(case):
    """Return what one audit finds, in brief, and how long it took."""
    subject, method, _, words = case
    command = [Path(sys.executable).with_name("draftproof"), "audit", subject, "--method", method, "--json"]
    command += [str(part) for name, value in words.items() for part in (f"--{name}", value)]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise RuntimeError(f"{' '.join(map(str, command))}: {done.stderr}")
    told = json.loads(done.stdout)
    kept = (
        "verdict",
        "cause",
        "reason",
        "notes",
        "log_evidence",
        "tokens",
        "drift_bound",
        "control",
        "shapes",
        "versions",
    )
    return {name: told[name] for name in kept} | {"seconds": round(time.perf_counter() - began, 1)}


if __name__ == "__main__":
    main()
