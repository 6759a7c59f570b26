"""Generates the page of the library for people who build agents."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any

import holdfast
from docs.reference.markdown import render_table, render_title, render_value
from holdfast.brief.render import Brief
from holdfast.conversations import checkpoint, events
from holdfast.conversations.async_facade import AsyncConversation
from holdfast.conversations.budget import PRESETS
from holdfast.conversations.compaction import CompactionResult
from holdfast.conversations.conversation import Conversation
from holdfast.conversations.events import CompactionEvent
from holdfast.conversations.stats import Metrics, Preview, Status

# What the methods of the public classes return.
RETURNED_TYPES = (
    Conversation, AsyncConversation, CompactionResult, Preview, Status, Metrics, CompactionEvent,
    Brief,
)  # fmt: skip
PUBLIC_NAMES = [name for name in holdfast.__all__ if not name.startswith("_")]


def build_page() -> str:
    """Return the page as Markdown."""
    public = [getattr(holdfast, name) for name in PUBLIC_NAMES]
    functions = [value for value in public if not isinstance(value, type)]
    classes = [value for value in public if isinstance(value, type)]
    # The synchronous form explains the asynchronous one.
    classes.sort(key=lambda kind: (kind.__name__ != "SessionManager", kind.__name__))
    return "\n".join(
        [
            render_title("SessionManager"),
            f"`from holdfast import {', '.join(PUBLIC_NAMES)}`. "
            "How to use\nthem: [build an agent](../how-to/build-an-agent.md), "
            "[brief from messages](../how-to/brief-from-messages.md),\n"
            "[handoffs](../how-to/handoffs.md).\n",
            *(_render_class(kind) for kind in (*classes, *RETURNED_TYPES)),
            *(_render_function(function) for function in functions),
            "## Presets\n",
            *render_table(
                ("preset", "window", "warns at", "compacts at"),
                [
                    (
                        f"`{name}`",
                        render_value(preset.limit),
                        render_value(preset.warning_tokens),
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
    events.COMPLETE: "`messages_compacted`, `tokens_reclaimed`, `checkpoint_version`, `made_by`; "
    "also `items_left_out` if the checkpoint had no room for older history",
    events.ERROR: "`error`; also `fallback` if rules made the checkpoint instead",
    events.SPEND_REFUSED: "`error`, `fallback`",
    events.LIMIT_WARNING: "`level` (`warning` or `full`), `tokens`, `limit`, `trigger`, `headroom`",
}


def _render_class(kind: type) -> str:
    """Return the signature of a class, and a table of its public members with their docstrings."""
    rows = [
        (f"`{_escape(signature)}`", about)
        for name, member in vars(kind).items()
        if not name.startswith("_") and (about := _first_paragraph(member))
        for signature in _render_member(name, member)
    ]
    parts = [f"## {kind.__name__}\n"]
    if is_dataclass(kind) or kind not in RETURNED_TYPES:
        parts.append(f"```python\n{_render_call(kind.__name__, inspect.signature(kind))}\n```\n")
    parts.append(f"{_first_paragraph(kind)}\n")
    return "\n".join([*parts, *(render_table(("name", ""), rows) if rows else []), ""])


def _render_member(name: str, member: Any) -> list[str]:
    """Return the signature of a method or the type of a property; nothing for other members."""
    if isinstance(member, property):
        return [f"{name}: {inspect.signature(member.fget).return_annotation}"]  # type: ignore[arg-type]
    function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    if not inspect.isfunction(function):
        return []
    signature = inspect.signature(function)
    # Callers do not give `self` or `cls`.
    parameters = list(signature.parameters.values())[1:]
    prefix = "await " if inspect.iscoroutinefunction(function) else ""
    call = ", ".join(_render_parameters(signature.replace(parameters=parameters)))
    return [f"{prefix}{name}({call}) -> {signature.return_annotation}"]


def _render_function(function: Callable[..., Any]) -> str:
    """Return the signature of a function, and its whole docstring."""
    name, signature = function.__name__, inspect.signature(function)
    call = f"{_render_call(name, signature)} -> {signature.return_annotation}"
    about = " ".join((inspect.getdoc(function) or "").split())
    return f"## {name}\n\n```python\n{call}\n```\n\n{about}\n"


def _render_call(name: str, signature: inspect.Signature) -> str:
    """Return a call with each parameter on a line of its own."""
    return "\n".join([f"{name}(", *(f"    {part}," for part in _render_parameters(signature)), ")"])


def _render_parameters(signature: inspect.Signature) -> list[str]:
    """Return the parameters, with a star before those that have to be named."""
    parts: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        default = "" if parameter.default is parameter.empty else f" = {parameter.default!r}"
        default = " = …" if "<factory>" in default else default
        parts.append(f"{stars}{parameter.name}: {parameter.annotation}{default}")
    return parts


def _first_paragraph(value: Any) -> str:
    return " ".join((inspect.getdoc(value) or "").partition("\n\n")[0].split())


def _escape(text: str) -> str:
    """Return a text for a cell of a table."""
    return text.replace("|", "\\|")
