"""How well a brief restores, measured on real transcripts with no model in the loop.

holdfast eval ~/.claude/projects
holdfast eval FOLDER --budgets 300,1000 --json
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

from rich.console import Console
from rich.progress import track

from holdfast.errors import BadUsage, NotATranscript
from holdfast.eval.budget import ESTIMATORS
from holdfast.eval.report import report
from holdfast.eval.run import Plan, Scored, score_all
from holdfast.surfaces.cli.output import print_json, say

PROJECTS = "~/.claude/projects"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", nargs="*", metavar="FILE", help=f"transcripts or folders of them ({PROJECTS})"
    )
    parser.add_argument(
        "--budgets", default="500,1000,2000", metavar="B,…", help="tokens (500,1000,2000)"
    )
    parser.add_argument(
        "--estimator",
        choices=ESTIMATORS,
        default="ours",
        help="how baselines are budgeted: as our brief is, or 3 characters to a token",
    )
    parser.add_argument("--quick", action="store_true", help="recall and two baselines only")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    plan = Plan(budgets=_budgets(args.budgets), estimator=args.estimator, quick=args.quick)
    found = list(transcripts(args.paths or [os.path.expanduser(PROJECTS)]))
    if not found:
        raise NotATranscript("no .jsonl or .jsonl.gz file is there")
    bar = Console(stderr=True)
    scored: list[Scored] = []
    for each in track(
        score_all(found, plan),
        "measuring",
        total=len(found),
        console=bar,
        disable=not sys.stderr.isatty(),
    ):
        scored.append(each)
    result = report(scored, plan)
    if args.json:
        print_json(result)
    say(f"{result['sessions']} of {len(found)} transcripts could be scored.")
    return 0 if result["sessions"] else 1


def _budgets(text: str) -> tuple[int, ...]:
    try:
        budgets = tuple(int(part) for part in text.split(","))
    except ValueError:
        budgets = ()
    if not budgets or min(budgets) < 1:
        raise BadUsage(f"--budgets {text}", hint="for example --budgets 500,1000,2000")
    return budgets


def transcripts(paths: list[str]) -> Iterator[str]:
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for here, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name != "subagents")
            for name in sorted(names):
                if name.endswith((".jsonl", ".jsonl.gz")):
                    yield os.path.join(here, name)
