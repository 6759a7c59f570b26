"""What would be restored after a compaction now, or from any transcript file without a store."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from holdfast import settings
from holdfast.actions.beside_log import beside_log
from holdfast.actions.learned_tokens import scale_of
from holdfast.actions.name_index import update_names
from holdfast.actions.project import project_of
from holdfast.actions.restore import best_state, recall_command
from holdfast.actions.templates import own_templates
from holdfast.actions.transcript_file import state_and_names_of_file
from holdfast.brief import roles
from holdfast.brief.render import Brief, build
from holdfast.brief.template import Template
from holdfast.errors import BadUsage
from holdfast.hosts import claude_code
from holdfast.names.model import Index
from holdfast.state.model import State
from holdfast.surfaces.cli.output import harmless, print_json, say
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
    parser.add_argument("--role", metavar="NAME", help="whose brief it is (see holdfast roles)")
    parser.add_argument("--agent-type", default="", metavar="T", help="find the role by this")
    parser.add_argument("--summary", metavar="FILE", help="the host's summary, to complement it")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    _check(args)
    chosen = settings.load(os.environ, here())
    budget = args.max_tokens or chosen.brief_tokens
    template = _template(args)
    session, state, index, (commands, notes) = _source(args)
    brief = build(
        state,
        index=index,
        commands=commands,
        notes=notes,
        tokens=budget,
        characters=claude_code.CHARACTERS,
        summary=_summary(args.summary),
        template=template,
        recall=recall_command(),
        session=session,
        scale=scale_of(chosen.home, state["usage"]["model"]),
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
        f"characters; left to recall: {len(brief.left_out)}, "
        f"already in the summary: {len(brief.said)}",
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


def _template(args: argparse.Namespace) -> Template:
    own, problems = own_templates(project_of(here()), settings.home(os.environ))
    for problem in problems:
        say(f"template left out: {harmless(problem)}", style="yellow")
    return roles.template(args.role or roles.of_agent(args.agent_type, own), own)


def _source(
    args: argparse.Namespace,
) -> tuple[str, State, Index | None, tuple[list[tuple[str, str, str]], list[str]]]:
    """The session's id, if the store knows it, its state, its names, and what stands beside it."""
    if args.transcript is not None:
        return "", *state_and_names_of_file(args.transcript, args.until_line), ([], [])
    with open_store(team=True) as (store, chosen):
        row = chosen_session(store, args)
        state = best_state(store, refresh(store, row))
        store.begin()
        index = update_names(store, row["id"], row["transcript"])
        store.commit()
        return row["id"], state, index, beside_log(store, row["id"], state, chosen, row["project"])


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
