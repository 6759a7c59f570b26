"""The slash commands and skills of a session, and what each would contribute to a compaction."""

from __future__ import annotations

import argparse
import os
from typing import Any

from holdfast.actions import active_commands
from holdfast.actions.command_files import Refused, read
from holdfast.actions.guidance import ROOM_FOR_COMMANDS
from holdfast.brief.command_text import of_file
from holdfast.settings import Settings
from holdfast.store.base import SessionRow, Store
from holdfast.surfaces.cli.output import console, count, print_json, say, table
from holdfast.surfaces.cli.sessions import (
    add_session_argument,
    chosen_session,
    here,
    open_store,
    refresh,
)


def arguments(parser: argparse.ArgumentParser) -> None:
    add_session_argument(parser)
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    with open_store() as (store, chosen):
        row = chosen_session(store, args)
        told = _told(store, row, chosen)
    if args.json:
        print_json(told)
        return 0
    if not told:
        say(f"No command or skill was used in session {row['id']}.")
        return 0
    rows = [
        (
            f"/{one['name']}",
            one["activated_at"] or "–",
            one["status"],
            one["why"],
            count(len(one["contributes"])),
            one["file"] or "–",
        )
        for one in told
    ]
    columns = ("command", "since", "status", "what is kept", "characters", "file")
    console().print(table(columns, rows))
    return 0


def _told(store: Store, row: SessionRow, chosen: Settings) -> list[dict[str, Any]]:
    state = refresh(store, row).state
    cwd = state["place"].get("cwd") or here()
    kept = {
        name: text
        for name, text, _ in active_commands.active_rules(
            state, store, chosen, cwd, ROOM_FOR_COMMANDS, row["id"]
        )
    }
    found = active_commands.known(state, store.mark(row["id"], active_commands.MARK))
    told = []
    for one in found:
        path, why = _explained(one, chosen, cwd)
        contributes = kept.get(one["name"], "")
        told.append({**one, "file": path, "why": why, "contributes": contributes})
    return told


def _explained(one: active_commands.Active, chosen: Settings, cwd: str) -> tuple[str | None, str]:
    """The file behind a command, and what of it would be kept."""
    try:
        text, path = read(one["name"], cwd, chosen.command_sources, os.environ)
    except Refused as problem:
        return None, f"refused: {problem}"
    if not path:
        return None, "no file was found"
    told = of_file(text, one["state"])
    if one["status"] != "active":
        return path, "nothing: it is finished"
    if told.output_only:
        return path, "nothing: it only prints"
    if not told.text:
        return path, "nothing: no rules in it"
    return path, "what it marks" if told.is_marked else "the lines that read like rules"
