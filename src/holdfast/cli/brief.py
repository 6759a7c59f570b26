"""Show the brief that a compaction would restore now, or the brief of any transcript file."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from holdfast import settings
from holdfast.brief import roles
from holdfast.brief.render import Brief, build_brief
from holdfast.brief.template import Template
from holdfast.cli.console import print_json, print_message, strip_control_chars
from holdfast.cli.options import add_session_argument, find_session
from holdfast.errors import InvalidInput
from holdfast.hosts import claude_code
from holdfast.services.compaction.brief_inputs import load_brief_inputs
from holdfast.services.compaction.restore import choose_state, find_recall_command
from holdfast.services.compaction.templates import load_custom_templates
from holdfast.services.projects import find_project
from holdfast.services.recall.from_file import load_state
from holdfast.services.sessions import current_folder, open_store, refresh_session
from holdfast.state.types import State
from holdfast.tokens.scales import load_scale


def arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(
        parser, or_transcript="build it from this file (also .gz), without the store"
    )
    parser.add_argument(
        "--until-line", type=int, metavar="N", help="read only the first N lines of the file"
    )
    parser.add_argument("--max-tokens", type=int, metavar="B", help="hard limit in tokens")
    parser.add_argument("--role", metavar="NAME", help="role to write it for (see holdfast roles)")
    parser.add_argument(
        "--agent-type", default="", metavar="T", help="find the role by this agent type"
    )
    parser.add_argument(
        "--summary", metavar="FILE", help="the host's summary: leave out what it already says"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    _check_arguments(args)
    config = settings.load(os.environ, current_folder())
    budget = args.max_tokens or config.brief_tokens
    template = _load_template(args)
    session, state, (commands, notes) = _load_source(args)
    brief = build_brief(
        state,
        commands=commands,
        notes=notes,
        tokens=budget,
        characters=claude_code.MAX_BRIEF_UNITS,
        summary=_read_summary(args.summary),
        template=template,
        recall=find_recall_command(),
        session=session,
        scale=load_scale(config.home, state["usage"]["model"]),
    )
    if args.json:
        print_json(to_json(brief, budget))
        return 0
    sys.stdout.write(brief.text)
    if not brief.text:
        print_message(f"A brief does not fit into {budget} tokens.")
        return 0
    print_message(
        f"{brief.tokens} tokens (estimated), {brief.units} of {claude_code.MAX_BRIEF_UNITS} "
        f"characters; left to recall: {len(brief.left_out)}, "
        f"already in the summary: {len(brief.in_summary)}",
        style="dim",
    )
    return 0


def _check_arguments(args: argparse.Namespace) -> None:
    if args.until_line is not None and not args.transcript:
        raise InvalidInput("--until-line needs --transcript")
    for name in ("until_line", "max_tokens"):
        value = getattr(args, name)
        if value is not None and value < 1:
            raise InvalidInput(f"--{name.replace('_', '-')} takes a positive number")


def _load_template(args: argparse.Namespace) -> Template:
    own, problems = load_custom_templates(
        find_project(current_folder()), settings.find_home(os.environ)
    )
    for problem in problems:
        print_message(f"template left out: {strip_control_chars(problem)}", style="yellow")
    return roles.find_template(args.role or roles.find_role(args.agent_type, own), own)


def _load_source(
    args: argparse.Namespace,
) -> tuple[str, State, tuple[list[tuple[str, str, str]], list[str]]]:
    """Return the session id (empty without the store), the state, command rules and notes."""
    if args.transcript is not None:
        return "", load_state(args.transcript, args.until_line), ([], [])
    with open_store(team=True) as (store, config):
        row = find_session(store, args)
        state = choose_state(store, refresh_session(store, row))
        return (
            row["id"],
            state,
            load_brief_inputs(store, row["id"], state, config, row["project"]),
        )


def to_json(brief: Brief, budget: int) -> dict[str, Any]:
    return {
        "id": brief.id,
        "text": brief.text,
        "tokens": brief.tokens,
        "budget": budget,
        "characters": brief.units,
        "character_cap": claude_code.MAX_BRIEF_UNITS,
        "shown": [{"kind": item.kind, "line": item.line} for item in brief.shown],
        "left_out": [{"kind": item.kind, "line": item.line} for item in brief.left_out],
        "in_summary": [{"kind": item.kind, "line": item.line} for item in brief.in_summary],
    }


def _read_summary(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as problem:
        raise InvalidInput(
            f"--summary: cannot read {path} ({problem.strerror})", hint="give a text file"
        ) from None
