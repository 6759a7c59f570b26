"""Measure how well briefs restore, on real transcripts and without a model.

Each session is cut where it was compacted, and at 70 % of the work between compactions. A brief is
built from what came before the cut and compared with what was needed after it, next to the host's
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

from holdfast.cli.console import (
    make_console,
    make_table,
    print_json,
    print_message,
    strip_control_chars,
)
from holdfast.errors import InvalidInput, NotFound, UnreadableTranscript
from holdfast.eval import tables
from holdfast.eval.budget import ESTIMATORS
from holdfast.eval.chart import check_chart_library, render_image, render_page
from holdfast.eval.config import EvalConfig
from holdfast.eval.lookup import LOOKUPS, look_up
from holdfast.eval.misses import CutMisses, find_misses
from holdfast.eval.recoverability import summarize, try_all
from holdfast.eval.report import build_report
from holdfast.eval.run import TranscriptScores, score_all
from holdfast.eval.session import load_session, parse_session_name

T = TypeVar("T")
MAX_LOST_SHOWN = 20
DEFAULT_FOLDER = "~/.claude/projects"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="FILE",
        help=f"transcripts (also .gz), or folders with transcripts (default: {DEFAULT_FOLDER})",
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
        help="how to count baselines: as the brief is counted (default), or 3 characters per token",
    )
    parser.add_argument(
        "--explain",
        metavar="SESSION",
        help="list for each cut what was needed and is missing in the brief of the first budget",
    )
    parser.add_argument(
        "--recoverability",
        action="store_true",
        help="measure what was needed after compactions: in the brief, or found by a lookup",
    )
    parser.add_argument(
        "--chart", metavar="FILE", help="write a chart of recall by budget, as a web page or .svg"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="only recall, precision and budgets, with two baselines",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    budgets = _parse_budgets(args.budgets)
    paths = list(find_transcripts(args.paths or [os.path.expanduser(DEFAULT_FOLDER)]))
    if not paths:
        raise UnreadableTranscript(
            "no .jsonl or .jsonl.gz file found", hint="give files, or a folder of them"
        )
    if args.explain:
        return _explain(_find_session_file(paths, args.explain), budgets[0], args.json)
    if args.recoverability:
        return _recoverability(paths, args.json)
    if args.chart:
        check_chart_library()
    config = EvalConfig(budgets=budgets, estimator=args.estimator, quick=args.quick, lookup=look_up)
    result = build_report(_score(paths, config), config)
    if args.chart:
        is_image = args.chart.endswith(".svg")
        _write(args.chart, render_image(result) if is_image else render_page(result))
    if args.json:
        print_json(result)
    elif result["sessions"]:
        _print_report(result)
    _print_skipped(result["skipped"])
    return 0 if result["sessions"] else 1


def find_transcripts(paths: list[str]) -> Iterator[str]:
    """Yield the transcripts in these files and folders, without logs of sub-agents."""
    for path in dict.fromkeys(paths):
        if not os.path.exists(path):
            raise UnreadableTranscript(f"{path} (no such file or folder)")
        if not os.path.isdir(path):
            yield path
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name != "subagents")
            for name in sorted(names):
                if name.endswith((".jsonl", ".jsonl.gz")) and not name.startswith("agent-"):
                    yield os.path.join(folder, name)


def _parse_budgets(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise InvalidInput(
            f"--budgets takes numbers with commas between them, not {text!r}",
            hint="for example --budgets 500,1000,2000",
        )
    return tuple(dict.fromkeys(int(part) for part in parts))


def _score(paths: list[str], config: EvalConfig) -> list[TranscriptScores]:
    return sorted(_with_progress(score_all(paths, config), len(paths)), key=lambda each: each.path)


def _with_progress(work: Iterator[T], total: int) -> Iterator[T]:
    """Show a progress bar on a terminal."""
    bar = Console(stderr=True)
    return iter(track(work, "measuring", total=total, console=bar, disable=not sys.stderr.isatty()))


def _recoverability(paths: list[str], as_json: bool) -> int:
    entities = [
        entity for each in _with_progress(try_all(paths, LOOKUPS), len(paths)) for entity in each
    ]
    result = summarize(
        sorted(entities, key=lambda entity: (entity.session, entity.line, entity.kind, entity.name))
    )
    if as_json:
        print_json(result)
    elif entities:
        make_console().print(make_table(*tables.recoverability_table(result)))
        for entity in result["lost"][:MAX_LOST_SHOWN]:
            print_message(
                strip_control_chars(
                    f"not found: {entity['name']} ({entity['session']} L{entity['line']})"
                )
            )
    print_message(
        f"{result['entities']} things needed after {result['compactions']} compactions of "
        f"{result['sessions']} sessions; at most 60 of each."
    )
    return 0 if entities else 1


def _print_report(result: dict[str, Any]) -> None:
    screen = make_console()
    screen.print(make_table(*tables.recall_table(result)))
    screen.print()
    screen.print(make_table(*tables.state_table(result)))
    screen.print()
    screen.print(make_table(*tables.difference_table(result)))
    screen.print()
    faults = tables.count_faults(result)
    screen.print(
        f"budget overshoots {faults['overshoots']}, over the host's cap {faults['over_cap']}, "
        f"not repeatable {faults['not_repeatable']}, not shorter than its input "
        f"{faults['not_shorter']}; out of date {faults['stale']} of {faults['stale_checked']} "
        f"statements that could be checked ({faults['stale_plan']} done but shown as pending)"
    )
    if latency := result["latency"]:
        screen.print(
            f"building a brief takes {latency['p50_ratio']:.2f} bare Python starts (p50), "
            f"{latency['p95_ratio']:.2f} (p95)"
        )
    cuts = result["cuts"]
    print_message(
        f"{result['sessions']} sessions of {result['repositories']} repositories, {cuts['pseudo']} "
        f"pseudo-cuts and {cuts['real']} compactions. Per cent, means over sessions, 95 % "
        f"intervals by {result['resampled_by']}; (n) where fewer than "
        f"{tables.MIN_SESSIONS_UNMARKED} sessions have any. Gains are paired by session, ties "
        "are half a win; p is two-sided, by Holm for all but the primary "
        "comparison. Recall is of names, not of understanding."
    )


def _print_skipped(skipped: dict[str, str]) -> None:
    reasons: dict[str, int] = {}
    for reason in skipped.values():
        reasons[reason] = reasons.get(reason, 0) + 1
    for reason, count in reasons.items():
        print_message(f"skipped {count}: {strip_control_chars(reason)}", style="dim")


def _find_session_file(paths: list[str], session: str) -> str:
    matching = [
        path for path in paths if path == session or parse_session_name(path)[0].startswith(session)
    ]
    if len(matching) != 1:
        message = f"{len(matching)} sessions begin with {session!r}"
        raise NotFound(
            message if matching else f"No session {session!r} among {len(paths)} transcripts",
            hint="give more of the session's id"
            if matching
            else "give the start of a session's id",
        )
    return matching[0]


def _explain(path: str, tokens: int, as_json: bool) -> int:
    cuts = list(find_misses(load_session(path), tokens))
    if as_json:
        print_json([asdict(cut) for cut in cuts])
        return 0 if cuts else 1
    screen = make_console()
    for cut in cuts:
        _print_cut(screen, cut, tokens)
    if not cuts:
        print_message("Too little happens after any cut of this session.")
    return 0 if cuts else 1


def _print_cut(screen: Console, cut: CutMisses, tokens: int) -> None:
    context = "next to its summary, " if cut.arm == "real" else ""
    screen.print(
        f"[bold]{cut.arm} cut at L{cut.line}[/bold]: {context}a brief of {tokens} tokens contains "
        f"{100 * cut.recall:.0f} % of {cut.needed} things needed later"
    )
    rows = [
        (
            f"{entity.weight:.1f}",
            entity.kind,
            entity.name,
            "the agent" if entity.from_memory else "found again",
            f"L{entity.last_line} {entity.last_in}",
        )
        for entity in cut.missing
    ]
    columns = ("weight", "missing", "", "named first after the cut by", "last seen before it")
    screen.print(make_table(columns, rows) if rows else "  nothing is missing")
    screen.print()


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as problem:
        raise InvalidInput(
            f"--chart: cannot write {path} ({problem.strerror})", hint="give a file"
        ) from None
