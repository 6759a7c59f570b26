"""What would be restored after a compaction now, or from any transcript file without a store."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from typing import Any

from holdfast import settings
from holdfast.brief.render import Brief, build
from holdfast.brief.roles import WEIGHTS
from holdfast.errors import BadUsage, NotATranscript
from holdfast.hosts import claude_code
from holdfast.state.fold import advance, new_state
from holdfast.state.model import State
from holdfast.surfaces.cli.output import print_json, say
from holdfast.surfaces.cli.sessions import (
    add_session_argument,
    chosen_session,
    open_store,
    refresh,
)
from holdfast.transcript.events import decode
from holdfast.transcript.reader import whole_file


def arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("--transcript", metavar="FILE", help="build it from this file, no store")
    parser.add_argument(
        "--until-line", type=int, metavar="N", help="read only the first N lines of the file"
    )
    parser.add_argument("--max-tokens", type=int, metavar="B", help="a hard budget in tokens")
    parser.add_argument("--role", choices=sorted(WEIGHTS), help="whose brief it is")
    parser.add_argument("--summary", metavar="FILE", help="the host's summary, to complement it")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    chosen = settings.load(os.environ, os.getcwd())
    if args.until_line is not None and not args.transcript:
        raise BadUsage("--until-line goes with --transcript")
    if args.max_tokens is not None and args.max_tokens < 1:
        raise BadUsage("--max-tokens is a positive number")
    session = ""
    if args.transcript:
        state = state_of_file(args.transcript, args.until_line)
    else:
        store, _ = open_store()
        row = chosen_session(store, args.session)
        session, state = row["id"], refresh(store, row).state
    brief = build(
        state,
        tokens=args.max_tokens or chosen.brief_tokens,
        characters=claude_code.CHARACTERS,
        summary=_summary(args.summary),
        role=args.role,
        recall="holdfast recall" if shutil.which("holdfast") else "python -m holdfast recall",
        session=session,
    )
    if args.json:
        print_json(described(brief, args.max_tokens or chosen.brief_tokens))
        return 0
    sys.stdout.write(brief.text)
    say(
        f"[dim]{brief.tokens} tokens (estimated), {brief.units} of {claude_code.CHARACTERS} "
        f"characters; {len(brief.left_out)} items left to recall, "
        f"{len(brief.said)} already in the summary[/dim]"
    )
    return 0


def state_of_file(path: str, until_line: int | None = None) -> State:
    """The state that a transcript file leads to."""
    state = new_state()
    advance(state, decode(whole_file(path, until_line)))
    return state


def described(brief: Brief, budget: int) -> dict[str, Any]:
    return {
        "id": brief.id,
        "text": brief.text,
        "tokens": brief.tokens,
        "budget": budget,
        "characters": brief.units,
        "character_cap": claude_code.CHARACTERS,
        "shown": [{"kind": item.kind, "line": item.line} for item in brief.shown],
        "left_out": [{"kind": item.kind, "line": item.line} for item in brief.left_out],
        "in_summary": [{"kind": item.kind, "line": item.line} for item in brief.said],
    }


def _summary(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as problem:
        raise NotATranscript(
            f"{path} ({problem.strerror})", hint="--summary takes a text file"
        ) from None
