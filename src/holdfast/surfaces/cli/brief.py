"""What would be restored after a compaction now, or from any transcript file without a store."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from holdfast import settings
from holdfast.actions.name_index import update_names
from holdfast.actions.restore import best_state, recall_command
from holdfast.actions.transcript_file import state_and_names_of_file
from holdfast.brief.render import Brief, build
from holdfast.brief.roles import WEIGHTS
from holdfast.errors import BadUsage
from holdfast.hosts import claude_code
from holdfast.names.model import Index
from holdfast.state.model import State
from holdfast.surfaces.cli.output import print_json, say
from holdfast.surfaces.cli.sessions import (
    add_session_argument,
    chosen_session,
    here,
    open_store,
    refresh,
)


def arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser, or_transcript="build it from this file (also .gz), no store")
    parser.add_argument(
        "--until-line", type=int, metavar="N", help="read only the first N lines of the file"
    )
    parser.add_argument("--max-tokens", type=int, metavar="B", help="a hard budget in tokens")
    parser.add_argument("--role", choices=sorted(WEIGHTS), help="whose brief it is")
    parser.add_argument("--summary", metavar="FILE", help="the host's summary, to complement it")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    _check(args)
    budget = args.max_tokens or settings.load(os.environ, here()).brief_tokens
    session, state, index = _source(args)
    brief = build(
        state,
        index=index,
        tokens=budget,
        characters=claude_code.CHARACTERS,
        summary=_summary(args.summary),
        role=args.role,
        recall=recall_command(),
        session=session,
    )
    if args.json:
        print_json(described(brief, budget))
        return 0
    sys.stdout.write(brief.text)
    if not brief.text:
        say(f"A brief does not fit into {budget} tokens.")
        return 0
    say(
        f"{brief.tokens} tokens (estimated), {brief.units} of {claude_code.CHARACTERS} "
        f"characters; {len(brief.left_out)} items left to recall, "
        f"{len(brief.said)} already in the summary",
        style="dim",
    )
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.until_line is not None and not args.transcript:
        raise BadUsage("--until-line goes with --transcript")
    for name in ("until_line", "max_tokens"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise BadUsage(f"--{name.replace('_', '-')} is a positive number")


def _source(args: argparse.Namespace) -> tuple[str, State, Index | None]:
    """The session's id, if the store knows it, its state and its names."""
    if args.transcript is not None:
        return "", *state_and_names_of_file(args.transcript, args.until_line)
    with open_store(team=True) as (store, _):
        row = chosen_session(store, args)
        state = best_state(store, refresh(store, row))
        store.begin()
        index = update_names(store, row["id"], row["transcript"])
        store.commit()
        return row["id"], state, index


def described(brief: Brief, budget: int) -> dict[str, Any]:
    return {
        "id": brief.id,
        "text": brief.text,
        "tokens": brief.tokens,
        "budget": budget,
        "characters": brief.units,
        "character_cap": claude_code.CHARACTERS,
        "names": [name.text for name in brief.named],
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
        raise BadUsage(
            f"--summary {path} ({problem.strerror})", hint="it takes a text file"
        ) from None
