"""Delivers messages from other agents. Imported only when a flag says that some may wait."""

from __future__ import annotations

import os

from holdfast import diagnostics
from holdfast.errors import HoldfastError
from holdfast.ledger.messages import Recipient
from holdfast.services.message_digest import deliver_messages
from holdfast.services.projects import find_project
from holdfast.tokens.estimate import utf16_units

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hooks.hook_run import HookRun
    from holdfast.hosts.base import Host

# The empty line between the brief and the messages.
SEPARATOR_UNITS = 2


def render_waiting_messages(
    run: HookRun, reader: str, agent_type: str, flag: str, preceding_text: str
) -> str:
    """Return the messages to show after `preceding_text` and mark them as delivered.

    If the ledger cannot be used, logs it and returns ""; the messages keep waiting.
    """
    try:
        return deliver_messages(
            run.settings.ledger, Recipient(reader, agent_type), find_project(run.event.cwd),
            run.now,
            remaining_units(run.host, preceding_text), flag,
        )  # fmt: skip
    except HoldfastError as problem:
        diagnostics.log(run.settings.log, f"messages: {problem}", os.environ)
        return ""


def remaining_units(host: Host, preceding_text: str) -> int:
    """Return how many UTF-16 units may follow this text within the host's limits."""
    remaining = host.MAX_BRIEF_UNITS - utf16_units(preceding_text) - SEPARATOR_UNITS
    if not host.MAX_BRIEF_BYTES:
        return remaining
    used_bytes = len(preceding_text.encode("utf-8", "replace")) + SEPARATOR_UNITS
    # One UTF-16 unit takes at most three bytes of UTF-8.
    return min(remaining, (host.MAX_BRIEF_BYTES - used_bytes) // 3)
