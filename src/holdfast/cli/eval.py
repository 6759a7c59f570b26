"""Measure how well briefs restore, on real transcripts and without a model.

With --probes, texts are measured by the questions that they answer: the host's summary, the brief,
and both together. FILE is a JSON list of cases, one per compaction:

  [{"transcript": "owner__repo__session.jsonl.gz", "lines": 296, "summary_line": 298,
   "probes": [{"category": "decision", "question": "…", "answer": "…", "lines": [86],
   "keys": [["read-only", "read only"], ["folder"]]}]}]

The brief is built from the first `lines` lines; `summary_line` holds the host's summary. A text
answers a question if it contains one alternative of each group of `keys`.

With --sentences, the rules and decisions that Holdfast finds are compared with labelled sentences.
FILE is a table with tabs and these columns: session (repository, slash, start of the session's id),
line, reader_1, reader_2 (labels: standing, decision, oneoff, other) and text.

Without either, each session is cut where it was compacted, and at 70 % of the work between
compactions. A brief is built from what came before the cut and compared with what was named after
it, next to the host's summary. docs/how-to/measure.md explains the figures and both formats.

  holdfast eval --probes probes.json FOLDER --misses
  holdfast eval --sentences sentences.tsv FOLDER
  holdfast eval ~/.claude/projects
  holdfast eval FOLDER --budgets 300,1000 --chart recall.html
  holdfast eval FOLDER --explain 1284c080
  holdfast eval FOLDER --recoverability
"""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from typing import Any

from rich.console import Console

from holdfast.cli.console import (
    make_console,
    make_table,
    print_json,
    print_message,
    show_progress,
    strip_control_chars,
)
from holdfast.cli.eval_labels import run_probes, run_sentences
from holdfast.errors import InvalidInput, NotFound, UnreadableTranscript
from holdfast.eval import tables
from holdfast.eval.chart import check_chart_library, render_image, render_page
from holdfast.eval.config import EvalConfig
from holdfast.eval.lines import find_transcripts
from holdfast.eval.lookup import LOOKUPS, look_up
from holdfast.eval.misses import CutMisses, find_misses
from holdfast.eval.recoverability import summarize, try_all
from holdfast.eval.report import build_report
from holdfast.eval.run import TranscriptScores, score_all
from holdfast.eval.session import load_session, parse_session_name

MAX_LOST_SHOWN = 20
DEFAULT_FOLDER = "~/.claude/projects"
DEFAULT_BUDGETS = "500,1000,2000"
DEFAULT_PROBE_BUDGETS = "1000,2000,3000"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="FOLDER",
        help=f"a folder with transcripts, or transcripts (also .gz; default: {DEFAULT_FOLDER})",
    )
    parser.add_argument(
        "--budgets",
        metavar="B,…",
        help=f"sizes of the brief in tokens (default: {DEFAULT_BUDGETS}; with --probes "
        f"{DEFAULT_PROBE_BUDGETS})",
    )
    measurement = parser.add_mutually_exclusive_group()
    measurement.add_argument(
        "--probes",
        metavar="FILE",
        help="measure which of these questions the summary and the brief answer",
    )
    measurement.add_argument(
        "--sentences",
        metavar="FILE",
        help="compare the rules and decisions that are found with these labelled sentences",
    )
    measurement.add_argument(
        "--explain",
        metavar="SESSION",
        help="list for each cut what was needed and is missing in the brief of the first budget",
    )
    measurement.add_argument(
        "--recoverability",
        action="store_true",
        help="measure what was needed after compactions: in the brief, or found by a lookup",
    )
    parser.add_argument(
        "--misses",
        action="store_true",
        help="with --probes: list the questions that the summary and the largest brief do not "
        "answer; with --sentences: the wrong and the missing ones",
    )
    parser.add_argument(
        "--only",
        metavar="PATTERN",
        help="with --probes or --sentences: only transcripts whose name matches, such as "
        "'owner__*', or '!owner__*' for all others",
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
    has_labels = bool(args.probes or args.sentences)
    _check_arguments(args, has_labels)
    budgets = _parse_budgets(
        args.budgets or (DEFAULT_PROBE_BUDGETS if args.probes else DEFAULT_BUDGETS)
    )
    if has_labels:
        return _compare_with_labels(args, budgets)
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
    config = EvalConfig(budgets=budgets, quick=args.quick, lookup=look_up)
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


def _check_arguments(args: argparse.Namespace, has_labels: bool) -> None:
    """Raise InvalidInput for an option that the chosen measurement does not have."""
    for name in ("misses", "only") if not has_labels else ("chart", "quick"):
        if getattr(args, name):
            needs = "goes without" if has_labels else "needs"
            raise InvalidInput(
                f"--{name} {needs} --probes and --sentences",
                hint="`holdfast eval --help` shows which options go together",
            )
    if args.sentences and args.budgets:
        raise InvalidInput(
            "--budgets goes without --sentences", hint="no brief is built from sentences"
        )


def _compare_with_labels(args: argparse.Namespace, budgets: tuple[int, ...]) -> int:
    if len(args.paths) > 1:
        raise InvalidInput(
            f"--probes and --sentences take one folder, not {len(args.paths)}",
            hint="--only selects some of its transcripts",
        )
    folder = args.paths[0] if args.paths else os.path.expanduser(DEFAULT_FOLDER)
    if args.probes:
        return run_probes(
            args.probes,
            folder,
            budgets,
            only=args.only,
            with_misses=args.misses,
            as_json=args.json,
        )
    return run_sentences(
        args.sentences, folder, only=args.only, with_misses=args.misses, as_json=args.json
    )


def _parse_budgets(text: str) -> tuple[int, ...]:
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        raise InvalidInput(
            f"--budgets takes numbers with commas between them, not {text!r}",
            hint="for example --budgets 500,1000,2000",
        )
    return tuple(dict.fromkeys(int(part) for part in parts))


def _score(paths: list[str], config: EvalConfig) -> list[TranscriptScores]:
    return sorted(
        show_progress(score_all(paths, config), "measuring", len(paths)),
        key=lambda each: each.path,
    )


def _recoverability(paths: list[str], as_json: bool) -> int:
    entities = [
        entity
        for each in show_progress(try_all(paths, LOOKUPS), "measuring", len(paths))
        for entity in each
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
        f"{tables.MIN_SESSIONS_UNMARKED} sessions have any. "
        "Recall is of names, not of understanding."
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
