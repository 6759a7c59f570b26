"""How many tokens a text takes, and what is known about how models count.

Without a calibration the figures of docs/why/tokens.md count, which are meant never to be short.
`--calibrate` learns from the counts that the host wrote into its transcripts.

  holdfast tokens README.md
  git diff | holdfast tokens - --model claude-opus-4-6
  holdfast tokens --calibrate ~/.claude/projects
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import asdict
from statistics import median
from typing import Any

from rich.console import Console
from rich.progress import track

from holdfast import settings
from holdfast.actions.calibrate import Learned, calibrate, what_is_learned
from holdfast.actions.learned_tokens import scale_of
from holdfast.actions.recover import transcripts
from holdfast.brief.tokens import Estimator, generation, units
from holdfast.calibration.learn import Figures
from holdfast.calibration.samples import CLASSES, PARTS, parts
from holdfast.errors import BadUsage, NotATranscript
from holdfast.surfaces.cli.output import console, count, harmless, print_json, say, table
from holdfast.surfaces.cli.sessions import here

PROJECTS = "~/.claude/projects"
TITLES = {"reply": "replies", "call": "calls", "result": "results", "prompt": "prompts"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "text", nargs="?", metavar="TEXT", help="a file, a text, or - for what is piped in"
    )
    parser.add_argument("--model", default="", metavar="M", help="count as this model does")
    parser.add_argument(
        "--calibrate",
        nargs="?",
        const=PROJECTS,
        metavar="FOLDER",
        help=f"learn from transcripts, or folders of them (default: {PROJECTS})",
    )
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    home = settings.load(os.environ, here()).home
    if args.calibrate and args.text:
        raise BadUsage("--calibrate takes a folder, not a text", hint="do one after the other")
    if args.calibrate:
        _calibrate(home, os.path.expanduser(args.calibrate))
    counted = counts(_read(args.text), args.model, home) if args.text is not None else None
    known = what_is_learned(home)
    if args.json:
        models = [asdict(one) for one in known.models]
        print_json({"text": counted, "logs": known.logs, "models": models})
    elif counted:
        _print_text(counted)
    else:
        _print_models(known)
    return 0


def counts(text: str, model: str, home: str) -> dict[str, Any]:
    """One text, by what it consists of."""
    scale = scale_of(home, model)
    estimator = Estimator.for_model(model, scale)
    consists = {name: size for name, size in zip(PARTS, parts(text), strict=True) if size}
    return {
        "tokens": estimator.estimate(text),
        "characters": len(text),
        "utf16_units": units(text),
        "characters_by_part": consists,
        "tokenizer": generation(model),
        "scale": scale,
    }


def _read(given: str) -> str:
    if given == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    if not os.path.isfile(given):
        if " " not in given and (os.path.sep in given or os.path.splitext(given)[1][1:].isalnum()):
            raise BadUsage(f"{given} (no such file)", hint="a text with spaces counts as it is")
        return given
    try:
        with open(given, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as problem:
        raise BadUsage(f"{given} ({problem.strerror})", hint="give a text file") from None


def _calibrate(home: str, folder: str) -> None:
    found = transcripts([folder], packed=True) if os.path.exists(folder) else []
    if not found:
        raise NotATranscript(
            f"no .jsonl or .jsonl.gz file is in {folder}", hint="give a folder of transcripts"
        )
    bar = Console(stderr=True)
    skipped = [
        why
        for why in track(
            calibrate(home, found),
            "learning",
            total=len(found),
            console=bar,
            disable=not sys.stderr.isatty(),
        )
        if why
    ]
    for why in skipped:
        say(f"skipped: {harmless(why)}", style="dim")


def _print_text(counted: dict[str, Any]) -> None:
    rows = [(name, count(size)) for name, size in counted["characters_by_part"].items()]
    console().print(table(("characters", ""), [*rows, ("all", count(counted["characters"]))]))
    learned = "" if counted["scale"] == 1 else f", times {counted['scale']} as its logs say"
    print(f"{counted['tokens']} tokens")
    say(f"by the {counted['tokenizer']} tokenizers' figures{learned}", style="dim")


def _print_models(known: Learned) -> None:
    if not known.models:
        say("Nothing is learned yet: `holdfast tokens --calibrate` reads your transcripts.")
        return
    columns = ("model", "tokenizer", "steps", "logs", *(TITLES[name] for name in CLASSES),
               "names", "prose", "each block", "a brief", "9 of 10", "error of steps",
               "of results", "too short", "used")  # fmt: skip
    console().print(table(columns, [_row(one) for one in known.models]))
    for one in known.models:
        say(f"{one.model}: {one.why}", style="dim")
    if known.compactions:
        say(
            f"Before {len(known.compactions)} compactions the host counted what we make of its "
            f"calls: ours is {100 * median(known.compactions):.1f} % of it (median).",
            style="dim",
        )
    say(
        "Characters per token by class, and of names and prose in results; then tokens for each "
        "text, call or result. A brief: its tokens for each that the safe figures say, and its "
        "interval. 9 of 10 results stay below that many times what was fitted. Errors are p50 / "
        "p95 of 500 tokens or more, in logs not learned from; too short is the share of results "
        "that take more than the safe figures say, and than what is used says.",
        style="dim",
    )


def _row(one: Figures) -> tuple[str, ...]:
    several = one.logs > 1
    span = f" [{one.ratio_low:.2f}, {one.ratio_high:.2f}]" if several else ""
    errors = ((one.error_p50, one.error_p95), (one.result_error_p50, one.result_error_p95))
    return (
        one.model,
        one.generation,
        count(one.steps),
        str(one.logs),
        *(f"{one.characters_per_token.get(name, '–')}" for name in CLASSES),
        f"{one.names}",
        f"{one.prose}",
        f"{one.overhead:.0f}",
        f"{one.ratio:.2f}{span}",
        f"{one.p90:.2f}",
        *(f"{100 * p50:.0f} / {100 * p95:.0f} %" if several else "–" for p50, p95 in errors),
        f"{100 * one.short_before:.0f} → {100 * one.short:.0f} %" if several else "–",
        f"× {one.scale}",
    )
