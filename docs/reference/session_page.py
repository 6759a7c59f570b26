"""Generates the page of `SessionManager`, the library for people who build agents."""

from __future__ import annotations

import inspect
import json

import holdfast
from docs.reference.markdown import render_table, render_title, render_value
from holdfast.conversations import checkpoint, events
from holdfast.conversations.budget import PRESETS
from holdfast.conversations.conversation import Conversation
from holdfast.conversations.manager import SessionManager
from holdfast.handoff.types import Handoff


def build_page() -> str:
    """Return the page as Markdown."""
    return "\n".join(
        [
            render_title("SessionManager"),
            f"`from holdfast import {', '.join(n for n in holdfast.__all__ if n[0] != '_')}`. "
            "How to use\nthem: [build an agent](../how-to/build-an-agent.md), "
            "[handoffs](../how-to/handoffs.md).\n",
            *(_render_members(kind) for kind in (SessionManager, Conversation, Handoff)),
            "## Presets\n",
            *render_table(
                ("preset", "window", "compacts at"),
                [
                    (
                        f"`{name}`",
                        render_value(preset.limit),
                        f"{render_value(preset.trigger)} ({preset.threshold:.1%})",
                    )
                    for name, preset in PRESETS.items()
                ],
            ),
            "\n## Events\n",
            *render_table(
                ("event", "detail"), [(f"`{kind}`", text) for kind, text in EVENT_DETAILS.items()]
            ),
            "\n## JSON schema of a checkpoint\n",
            f"```json\n{json.dumps(checkpoint.checkpoint_schema(), indent=2)}\n```\n",
            "Other names that are accepted: "
            + ", ".join(f"`{old}`" for old in checkpoint.ALIASES)
            + ".\n",
        ]
    )


EVENT_DETAILS = {
    events.START: "`messages`, `estimated_tokens`",
    events.PROGRESS: "`attempt`, `summarizer`",
    events.COMPLETE: "`messages_compacted`, `tokens_reclaimed`, `checkpoint_version`, `made_by`",
    events.ERROR: "`error`; also `fallback` if rules made the checkpoint instead",
    events.SPEND_REFUSED: "`error`, `fallback`",
}


def _render_members(kind: type) -> str:
    """Return a table of the public methods and properties of a class, with their docstrings."""
    rows = []
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        about = inspect.getdoc(member)
        if about and (callable(member) or isinstance(member, classmethod | property)):
            first = about.partition("\n\n")[0]
            rows.append((f"`{name}`", " ".join(first.split())))
    about = " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
    return "\n".join([f"## {kind.__name__}\n", f"{about}\n", *render_table(("name", ""), rows), ""])
