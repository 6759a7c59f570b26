"""How well a brief restores: measured on real transcripts, with no model in the loop.

A session is cut where it was compacted, and at 70 % of the work between compactions. A brief is
made of what came before the cut and held to what was needed after it, beside the host's own
summary and simpler methods of the same size. docs/how-to/measure.md explains the figures.

  holdfast eval ~/.claude/projects
  holdfast eval FOLDER --budgets 300,1000 --chart recall.html
  holdfast eval FOLDER --explain 1284c080
  holdfast eval FOLDER --recoverability
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import track

from holdfast.errors import BadUsage, NoSuchRecord, NotATranscript
from holdfast.eval import tables
from holdfast.eval.budget import ESTIMATORS
from holdfast.eval.chart import image, page
from holdfast.eval.explain import Explained, explain
from holdfast.eval.plan import Plan
from holdfast.eval.recoverability import summary, try_all
from holdfast.eval.report import report
from holdfast.eval.run import Scored, score_all
from holdfast.eval.session import load, names_of
from holdfast.surfaces.cli.output import console, harmless, print_json, say, table
from holdfast.surfaces.lookups import DESK, looked_up

Done = TypeVar("Done")
MOST_LOST = 20
PROJECTS = "~/.claude/projects"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="FILE",
        help=f"transcripts, plain or .gz, or folders of them (default: {PROJECTS})",
    )
    parser.add_argument(
        "--budgets",
        default="500,1000,2000",
        metavar="B,…",
        help="sizes of the brief in tokens (default: %(default)s)",
    )
    parser.add_argument(
        "--estimator",
        choices=ESTIMATORS,
        default="ours",
        help="how baselines are budgeted: as the brief is (default), or 3 characters to a token",
    )
    parser.add_argument(
        "--explain",
        metavar="SESSION",
        help="cut by cut, what was needed and is missing from the brief of the first budget",
    )
    parser.add_argument(
        "--recoverability",
        action="store_true",
        help="what is needed after compactions: in the brief, or one lookup away?",
    )
    parser.add_argument(
        "--chart", metavar="FILE", help="write recall against budget as a web page, or as .svg"
    )
    parser.add_argument(
        "--quick", action="store_true", help="recall, precision and budgets against two baselines"
    )
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    budgets = _budgets(args.budgets)
    found = list(transcripts(args.paths or [os.path.expanduser(PROJECTS)]))
    if not found:
        raise NotATranscript(
            "no .jsonl or .jsonl.gz file is there", hint="give files, or a folder of them"
        )
    if args.explain:
        return _explain(_session_file(found, args.explain), budgets[0], args.json)
    if args.recoverability:
        return _recoverability(found, args.json)
    plan = Plan(budgets=budgets, estimator=args.estimator, quick=args.quick, lookup=looked_up)
    result = report(_scored(found, plan), plan)
    if args.chart:
        _write(args.chart, image(result) if args.chart.endswith(".svg") else page(result))
    if args.json:
        print_json(result)
    elif result["sessions"]:
        _print(result)
    _say_what_was_skipped(result["skipped"])
    return 0 if result["sessions"] else 1


def transcripts(paths: list[str]) -> Iterator[str]:
    """The session files among these paths and below them; a sub-agent's own log is not one."""
    for path in dict.fromkeys(paths):
        if not os.path.exists(path):
            raise NotATranscript(f"{path} (no such file or folder)")
        if not os.path.isdir(path):
            yield path
            continue
        for here, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name != "subagents")
            for name in sorted(names):
                if name.endswith((".jsonl", ".jsonl.gz")) and not name.startswith("agent-"):
                    yield os.path.join(here, name)


def _budgets(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise BadUsage(f"--budgets {text}", hint="for example --budgets 500,1000,2000")
    return tuple(dict.fromkeys(int(part) for part in parts))


def _scored(found: list[str], plan: Plan) -> list[Scored]:
    return sorted(_watched(score_all(found, plan), len(found)), key=lambda each: each.path)


def _watched(work: Iterator[Done], total: int) -> Iterator[Done]:
    """With a progress bar, where somebody watches."""
    bar = Console(stderr=True)
    return iter(track(work, "measuring", total=total, console=bar, disable=not sys.stderr.isatty()))


def _recoverability(found: list[str], as_json: bool) -> int:
    tried = [one for each in _watched(try_all(found, DESK), len(found)) for one in each]
    result = summary(sorted(tried, key=lambda one: (one.session, one.line, one.kind, one.name)))
    if as_json:
        print_json(result)
    elif tried:
        console().print(table(*tables.recoverability_table(result)))
        for one in result["lost"][:MOST_LOST]:
            say(harmless(f"not found: {one['name']} ({one['session']} L{one['line']})"))
    say(
        f"{result['entities']} things needed after {result['compactions']} compactions of "
        f"{result['sessions']} sessions; at most 60 of each."
    )
    return 0 if tried else 1


def _print(result: dict[str, Any]) -> None:
    screen = console()
    screen.print(table(*tables.recall_table(result)))
    screen.print()
    screen.print(table(*tables.state_table(result)))
    screen.print()
    screen.print(table(*tables.difference_table(result)))
    screen.print()
    counted = tables.faults(result)
    screen.print(
        f"budget overshoots {counted['overshoots']}, over the host's cap {counted['over_cap']}, "
        f"not repeatable {counted['not_repeatable']}, not shorter than its input "
        f"{counted['not_shorter']}; out of date {counted['stale']} of {counted['stale_checked']} "
        f"statements that could be checked ({counted['stale_plan']} done but shown as pending)"
    )
    if speed := result["latency"]:
        screen.print(
            f"building a brief takes {speed['p50_ratio']:.2f} bare Python starts (p50), "
            f"{speed['p95_ratio']:.2f} (p95)"
        )
    cuts = result["cuts"]
    say(
        f"{result['sessions']} sessions of {result['repositories']} repositories, {cuts['pseudo']} "
        f"pseudo-cuts and {cuts['real']} compactions. Per cent, means over sessions, 95 % "
        f"intervals by {result['resampled_by']}; (n) where fewer than {tables.FEW} sessions have "
        "any. Gains are paired by session, ties are half a win; p is two-sided, by Holm for all "
        "but the primary comparison. Recall is of names, not of understanding."
    )


def _say_what_was_skipped(skipped: dict[str, str]) -> None:
    reasons: dict[str, int] = {}
    for reason in skipped.values():
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in reasons.items():
        say(f"skipped {count}: {harmless(reason)}", style="dim")


def _session_file(found: list[str], wanted: str) -> str:
    matching = [path for path in found if path == wanted or names_of(path)[0].startswith(wanted)]
    if len(matching) != 1:
        many = f"{len(matching)} sessions begin with {wanted!r}"
        raise NoSuchRecord(
            many if matching else f"no session {wanted!r} among {len(found)} transcripts",
            hint="give more of the session's id"
            if matching
            else "give the start of a session's id",
        )
    return matching[0]


def _explain(path: str, tokens: int, as_json: bool) -> int:
    cuts = list(explain(load(path), tokens))
    if as_json:
        print_json([asdict(cut) for cut in cuts])
        return 0 if cuts else 1
    screen = console()
    for cut in cuts:
        _print_cut(screen, cut, tokens)
    if not cuts:
        say("Too little happens after any cut of this session.")
    return 0 if cuts else 1


def _print_cut(screen: Console, cut: Explained, tokens: int) -> None:
    beside = "beside its summary, " if cut.arm == "real" else ""
    screen.print(
        f"[bold]{cut.arm} cut at L{cut.line}[/bold]: {beside}a brief of {tokens} tokens says "
        f"{100 * cut.recall:.0f} % of {cut.needed} things needed later"
    )
    rows = [
        (
            f"{one.weight:.1f}",
            one.kind,
            one.name,
            "the agent" if one.from_memory else "found again",
            f"L{one.last_line} {one.last_in}",
        )
        for one in cut.missing
    ]
    columns = ("weight", "missing", "", "named first after the cut by", "last seen before it")
    screen.print(table(columns, rows) if rows else "  nothing is missing")
    screen.print()


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as problem:
        raise BadUsage(f"--chart {path} ({problem.strerror})", hint="it writes a file") from None
