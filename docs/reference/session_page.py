"""The page of `SessionManager`: the library for people who build agents."""

from __future__ import annotations

import inspect
import json

import holdfast
from docs.reference.markdown import shown, table, titled
from holdfast.conversations import checkpoint, events
from holdfast.conversations.budget import PRESETS
from holdfast.conversations.conversation import Conversation
from holdfast.conversations.manager import SessionManager
from holdfast.handoff.types import Handoff


def page() -> str:
    return "\n".join(
        [
            titled("SessionManager"),
            f"`from holdfast import {', '.join(n for n in holdfast.__all__ if n[0] != '_')}`. "
            "How they are\nused: [build an agent](../how-to/build-an-agent.md), "
            "[hand work on](../how-to/handoffs.md).\n",
            *(_members(kind) for kind in (SessionManager, Conversation, Handoff)),
            "## Presets\n",
            *table(
                ("preset", "window", "compacts at"),
                [
                    (f"`{name}`", shown(one.limit), f"{shown(one.trigger)} ({one.threshold:.1%})")
                    for name, one in PRESETS.items()
                ],
            ),
            "\n## Events\n",
            *table(("event", "detail"), [(f"`{kind}`", text) for kind, text in TOLD.items()]),
            "\n## The checkpoint, as a JSON schema\n",
            f"```json\n{json.dumps(checkpoint.checkpoint_schema(), indent=2)}\n```\n",
            "Also understood: " + ", ".join(f"`{old}`" for old in checkpoint.ALIASES) + ".\n",
        ]
    )


TOLD = {
    events.START: "`messages`, `estimated_tokens`",
    events.PROGRESS: "`attempt`, `summarizer`",
    events.COMPLETE: "`messages_compacted`, `tokens_reclaimed`, `checkpoint_version`, `made_by`",
    events.ERROR: "`error`; with `fallback` if rules took over",
    events.SPEND_REFUSED: "`error`, `fallback`",
}


def _members(kind: type) -> str:
    """What a class offers, as its own docstrings say it."""
    rows = []
    for name, member in vars(kind).items():
        if name.startswith("_"):
            continue
        about = inspect.getdoc(member)
        if about and (callable(member) or isinstance(member, classmethod | property)):
            first = about.partition("\n\n")[0]
            rows.append((f"`{name}`", " ".join(first.split())))
    about = " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
    return "\n".join([f"## {kind.__name__}\n", f"{about}\n", *table(("name", ""), rows), ""])
