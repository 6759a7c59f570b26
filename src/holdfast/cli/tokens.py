"""Estimate how many tokens a text takes, and show the calibration of each model.

Without a calibration the estimate uses the figures of docs/why/tokens.md, which are meant to be
too high rather than too low. `--calibrate` learns from the token counts in the host's transcripts.

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
from holdfast.cli.console import (
    format_count,
    make_console,
    make_table,
    print_json,
    print_message,
    strip_control_chars,
)
from holdfast.errors import InvalidInput, UnreadableTranscript
from holdfast.services.calibrate import Calibration, calibrate, load_calibration
from holdfast.services.compaction.recover import find_transcripts
from holdfast.services.sessions import current_folder
from holdfast.tokens.calibration import ModelCalibration
from holdfast.tokens.estimate import Estimator, tokenizer_generation, utf16_units
from holdfast.tokens.samples import CHARACTER_KINDS, CONTENT_CLASSES, count_character_kinds
from holdfast.tokens.scales import load_scale

DEFAULT_FOLDER = "~/.claude/projects"
TITLES = {"reply": "replies", "call": "calls", "result": "results", "prompt": "prompts"}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("text", nargs="?", metavar="TEXT", help="a file, a text, or - for stdin")
    parser.add_argument("--model", default="", metavar="M", help="count as this model counts")
    parser.add_argument(
        "--calibrate",
        nargs="?",
        const=DEFAULT_FOLDER,
        metavar="FOLDER",
        help=f"learn from transcripts, or folders of them (default: {DEFAULT_FOLDER})",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    home = settings.load(os.environ, current_folder()).home
    if args.calibrate and args.text:
        raise InvalidInput("--calibrate takes a folder, not a text", hint="do one after the other")
    if args.calibrate:
        _calibrate(home, os.path.expanduser(args.calibrate))
    counted = count_tokens(_read(args.text), args.model, home) if args.text is not None else None
    calibration = load_calibration(home)
    if args.json:
        models = [asdict(model) for model in calibration.models]
        print_json({"text": counted, "logs": calibration.logs, "models": models})
    elif counted:
        _print_text(counted)
    else:
        _print_models(calibration)
    return 0


def count_tokens(text: str, model: str, home: str) -> dict[str, Any]:
    """Return the estimate for one text, with its characters by kind of content."""
    scale = load_scale(home, model)
    estimator = Estimator.for_model(model, scale)
    parts_in_text = {
        name: size
        for name, size in zip(CHARACTER_KINDS, count_character_kinds(text), strict=True)
        if size
    }
    return {
        "tokens": estimator.estimate(text),
        "characters": len(text),
        "utf16_units": utf16_units(text),
        "characters_by_part": parts_in_text,
        "tokenizer": tokenizer_generation(model),
        "scale": scale,
    }


def _read(argument: str) -> str:
    if argument == "-":
        return sys.stdin.buffer.read().decode("utf-8", "replace")
    if not os.path.isfile(argument):
        if " " not in argument and (
            os.path.sep in argument or os.path.splitext(argument)[1][1:].isalnum()
        ):
            raise InvalidInput(
                f"File not found: {argument}", hint="a text with spaces counts as it is"
            )
        return argument
    try:
        with open(argument, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as problem:
        raise InvalidInput(
            f"Cannot read {argument} ({problem.strerror})", hint="give a text file"
        ) from None


def _calibrate(home: str, folder: str) -> None:
    paths = find_transcripts([folder]) if os.path.exists(folder) else []
    if not paths:
        raise UnreadableTranscript(
            f"no .jsonl or .jsonl.gz file in {folder}", hint="give a folder of transcripts"
        )
    bar = Console(stderr=True)
    skipped = [
        why
        for why in track(
            calibrate(home, paths),
            "learning",
            total=len(paths),
            console=bar,
            disable=not sys.stderr.isatty(),
        )
        if why
    ]
    for why in skipped:
        print_message(f"skipped: {strip_control_chars(why)}", style="dim")


def _print_text(counted: dict[str, Any]) -> None:
    rows = [(name, format_count(size)) for name, size in counted["characters_by_part"].items()]
    make_console().print(
        make_table(("characters", ""), [*rows, ("all", format_count(counted["characters"]))])
    )
    learned = "" if counted["scale"] == 1 else f", times {counted['scale']} by calibration"
    print(f"{counted['tokens']} tokens")
    print_message(f"by the {counted['tokenizer']} tokenizers' figures{learned}", style="dim")


def _print_models(calibration: Calibration) -> None:
    if not calibration.models:
        print_message(
            "There is no calibration yet: `holdfast tokens --calibrate` reads your transcripts."
        )
        return
    columns = ("model", "tokenizer", "steps", "logs", *(TITLES[name] for name in CONTENT_CLASSES),
               "names", "prose", "each block", "a brief", "9 of 10", "error of steps",
               "of results", "too short", "used")  # fmt: skip
    make_console().print(make_table(columns, [_to_row(model) for model in calibration.models]))
    for model in calibration.models:
        print_message(f"{model.model}: {model.why}", style="dim")
    if calibration.compactions:
        print_message(
            f"Compared with the host's own counts before {len(calibration.compactions)} "
            f"compactions, the estimate is {100 * median(calibration.compactions):.1f} % (median).",
            style="dim",
        )
    print_message(
        "Columns: characters per token by class, and for names and prose in results; each block: "
        "tokens added to every text, call or result. A brief: its real tokens divided by the "
        "uncalibrated estimate, with its interval. 9 of 10: the factor that 9 of 10 results stay "
        "below. Errors: p50 / p95 for 500 tokens or more, in logs that were not learned from. Too "
        "short: the share of results with more tokens than estimated, without and with the "
        "calibration.",
        style="dim",
    )


def _to_row(model: ModelCalibration) -> tuple[str, ...]:
    has_several_logs = model.logs > 1
    interval = f" [{model.ratio_low:.2f}, {model.ratio_high:.2f}]" if has_several_logs else ""
    errors = ((model.error_p50, model.error_p95), (model.result_error_p50, model.result_error_p95))
    return (
        model.model,
        model.generation,
        format_count(model.steps),
        str(model.logs),
        *(f"{model.characters_per_token.get(name, '–')}" for name in CONTENT_CLASSES),
        f"{model.names}",
        f"{model.prose}",
        f"{model.overhead:.0f}",
        f"{model.ratio:.2f}{interval}",
        f"{model.p90:.2f}",
        *(
            f"{100 * p50:.0f} / {100 * p95:.0f} %" if has_several_logs else "–"
            for p50, p95 in errors
        ),
        f"{100 * model.short_before:.0f} → {100 * model.short:.0f} %" if has_several_logs else "–",
        f"× {model.scale}",
    )
