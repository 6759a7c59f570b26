"""List the slash commands and skills of a session, and what a compaction keeps of each."""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

from holdfast.brief.command_rules import extract_rules
from holdfast.cli.console import (
    format_count,
    make_console,
    make_table,
    print_json,
    print_message,
)
from holdfast.cli.options import add_session_argument, find_session
from holdfast.errors import InvalidInput
from holdfast.services.compaction import active_commands
from holdfast.services.compaction.command_files import (
    CommandRefused,
    read_command,
    split_command_name,
)
from holdfast.services.compaction.summarizer_guidance import MAX_COMMANDS_UNITS
from holdfast.services.sessions import current_folder, open_store, refresh_session
from holdfast.settings import Settings
from holdfast.store.protocols import SessionRow, Store


def arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(args: argparse.Namespace) -> int:
    with open_store() as (store, config):
        row = find_session(store, args)
        commands = _list_commands(store, row, config)
    if args.json:
        print_json(commands)
        return 0
    if not commands:
        print_message(f"No command or skill was used in session {row['id']}.")
        return 0
    rows = [
        (
            f"/{command['name']}",
            command["activated_at"] or "–",
            command["status"],
            command["why"],
            format_count(len(command["contributes"])),
            command["file"] or "–",
        )
        for command in commands
    ]
    columns = ("command", "since", "status", "what is kept", "characters", "file")
    make_console().print(make_table(columns, rows))
    return 0


def _list_commands(store: Store, row: SessionRow, config: Settings) -> list[dict[str, Any]]:
    state = refresh_session(store, row).state
    cwd = state["place"].get("cwd") or current_folder()
    rules = {
        name: text
        for name, text, _ in active_commands.load_active_rules(
            state, store, config, cwd, MAX_COMMANDS_UNITS, row["id"]
        )
    }
    commands = []
    for command in active_commands.list_commands(
        state, store.get_mark(row["id"], active_commands.COMMANDS_MARK)
    ):
        path, why = _explain(command, config, cwd)
        contributes = rules.get(command["name"], "")
        commands.append({**command, "file": path, "why": why, "contributes": contributes})
    return commands


def _explain(
    command: active_commands.ActiveCommand, config: Settings, cwd: str
) -> tuple[str | None, str]:
    """Return the file of a command, and which part of it a compaction keeps."""
    try:
        text, path = read_command(command["name"], cwd, config.command_sources, os.environ)
    except CommandRefused as problem:
        return None, f"refused: {problem}"
    if not path:
        return None, "no file was found"
    rules = extract_rules(text, command["state"])
    if command["status"] != "active":
        return path, "nothing: it is finished"
    if rules.output_only:
        return path, "nothing: it only prints"
    if not rules.text:
        return path, "nothing: no rules in it"
    return path, "what it marks" if rules.is_marked else "the lines that read like rules"


class StartOrStop:
    """Mark a slash command or skill of a session as active or finished by hand.

    Commands that you type and skills that the agent uses are detected automatically. The rules of
    an active command are kept through a compaction; those of a finished one are not.

    holdfast command start review --state '{"phase": "tests"}'
    holdfast command stop review
    """

    @staticmethod
    def arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("what", choices=("start", "stop"), help="mark it active or finished")
        parser.add_argument("name", metavar="NAME", help="as you type it, with or without slash")
        parser.add_argument("--state", metavar="JSON", help="with start: an object to keep with it")
        add_session_argument(parser)

    @staticmethod
    def run(args: argparse.Namespace) -> int:
        name = args.name.removeprefix("/")
        command_state = _parse_object(args.state)
        try:
            split_command_name(name)
        except CommandRefused as problem:
            raise InvalidInput(str(problem), hint="a name such as review or team:review") from None
        with open_store() as (store, config):
            row = find_session(store, args)
            state = refresh_session(store, row).state
            store.begin()
            mark = store.get_mark(row["id"], active_commands.COMMANDS_MARK)
            statuses = {
                command["name"]: command["status"]
                for command in active_commands.list_commands(state, mark)
            }
            if args.what == "stop" and statuses.get(name) != "active":
                store.rollback()
                print_message(f"/{name} is not active in session {row['id']}; nothing to do.")
                return 0
            lines, now = state["lines"], time.time()
            if args.what == "start":
                active_commands.start_command(store, row["id"], name, lines, now, command_state)
            else:
                active_commands.stop_command(store, row["id"], name, lines, now)
            store.commit()
        if args.what == "stop":
            print_message(f"/{name} is finished: a compaction no longer keeps its rules.")
            return 0
        print_message(f"/{name} is active: its rules are kept through a compaction.")
        if not read_command(name, current_folder(), config.command_sources, os.environ)[1]:
            print_message("No file was found under that name, so there are no rules to keep yet.")
        return 0


def _parse_object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as problem:
        raise InvalidInput(f"--state is not JSON ({problem})") from None
    if not isinstance(value, dict):
        raise InvalidInput(
            "--state takes a JSON object", hint="""for example '{"phase": "tests"}'"""
        )
    return value
