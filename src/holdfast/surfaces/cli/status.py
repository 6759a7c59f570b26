"""This project's sessions: how full the context is, when it was saved, what came of compactions."""

from __future__ import annotations

import argparse
from typing import Any

from holdfast.actions.project import project_of
from holdfast.state.model import Usage
from holdfast.store.base import SessionRow, Store
from holdfast.surfaces.cli.output import ago, console, count, print_json, say, stamp, table
from holdfast.surfaces.cli.sessions import here, open_store, refresh


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--all", action="store_true", help="sessions of every project")
    parser.add_argument("--json", action="store_true", help="for programs")


def run(args: argparse.Namespace) -> int:
    project = None if args.all else project_of(here())
    with open_store(team=True) as (store, _):
        told = [describe(store, row) for row in store.sessions(project, 20)]
    if args.json:
        print_json({"project": project, "sessions": told})
        return 0
    if not told:
        say(f"No session{f' of {project}' if project else ''} has been seen yet.")
        say("`holdfast install` registers the hooks; then use your agent here.")
        return 0
    console().print(
        table(
            ("session", "seen", "context", "last save", "compactions", "briefs"),
            [_line(one) for one in told],
        )
    )
    return 0


def describe(store: Store, row: SessionRow) -> dict[str, Any]:
    """One session for programs, folded up to its transcript's end."""
    state = refresh(store, row).state
    usage = state["usage"]
    saved = store.snapshots(row["id"], 1)
    return {
        "id": row["id"],
        "host": row["host"],
        "project": row["project"],
        "transcript": row["transcript"],
        "seen": stamp(row["seen_at"]),
        "seen_at": row["seen_at"],
        "context_tokens": usage["context"] or None,
        "context_window": usage["window"],
        "model": usage["model"] or None,
        "growth_per_turn": usage["growth"] or None,
        "turns_left": turns_left(usage),
        "lines": state["lines"],
        "bad_lines": state["bad_lines"],
        "last_save": stamp(saved[0]["created_at"]) if saved else None,
        "last_save_at": saved[0]["created_at"] if saved else None,
        "last_snapshot": saved[0]["id"] if saved else None,
        "compactions": [
            {
                "ordinal": made["ordinal"],
                "trigger": made["trigger_name"],
                "snapshot": made["snapshot"],
                "summary_known": made["summary"] is not None,
                "brief_id": made["brief_id"],
                "delivered_by": made["delivered_by"],
                "receipt": made["receipt"],
                "receipt_line": made["receipt_line"],
            }
            for made in store.compactions(row["id"])
            # PreCompact does not promise a compaction: one that was only announced is none.
            if made["brief_id"] or made["ordinal"] <= len(state["compactions"])
        ],
    }


def turns_left(usage: Usage) -> int | None:
    """How many more turns fit, if they go on as they did."""
    if not usage["growth"]:
        return None
    return max(0, (usage["window"] - usage["context"]) // usage["growth"])


def _line(told: dict[str, Any]) -> tuple[str, ...]:
    context = told["context_tokens"]
    fill = f"{count(context)} ({100 * context // told['context_window']} %)" if context else "–"
    briefs = ", ".join(
        f"{made['ordinal']}: {made['receipt']}" for made in told["compactions"] if made["brief_id"]
    )
    return (
        told["id"],
        ago(told["seen_at"]),
        fill,
        ago(told["last_save_at"]),
        str(len(told["compactions"])),
        briefs or "–",
    )
