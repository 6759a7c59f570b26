"""A hook has seen a flag: look what waits for the agent, and leave it waiting if that fails."""

from __future__ import annotations

import os

from holdfast import log
from holdfast.actions.delivery import deliver
from holdfast.actions.project import project_of
from holdfast.brief.tokens import units
from holdfast.errors import HoldfastError
from holdfast.ledger.mailbox import Reader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.hosts.base import Host
    from holdfast.surfaces.moments import Job

# Between two parts of one answer.
APART = 2


def delivered(job: Job, own: str, kind: str, word: str, before: str) -> str:
    """What to show after `before`, which is on its way already."""
    try:
        return deliver(
            job.settings.ledger, Reader(own, kind), project_of(job.call.cwd), job.now,
            room(job.host, before), word,
        )  # fmt: skip
    except HoldfastError as problem:
        log.note(job.settings.log, f"messages: {problem}", os.environ)
        return ""


def room(host: Host, before: str) -> int:
    """How many UTF-16 units may follow this text, also where the host counts bytes."""
    left = host.CHARACTERS - units(before) - APART
    if not host.BYTES:
        return left
    # No unit of UTF-16 takes more than three bytes of UTF-8.
    return min(left, (host.BYTES - len(before.encode("utf-8", "replace")) - APART) // 3)
