"""What a host adapter defines. An adapter is a module, not an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from holdfast.hosts.hook_event import HookEvent


class Host(Protocol):
    """The constants and functions of an adapter module."""

    NAME: str
    """The short name in the store, in settings and on the command line."""
    TITLE: str
    """The product's name, for messages."""
    PROGRAM: str
    """The client's executable on the PATH."""
    MAX_BRIEF_UNITS: int
    """The size of a brief in UTF-16 units, with a margin below the host's own limit."""
    MAX_BRIEF_BYTES: int
    """The same limit in bytes of UTF-8, for a host that counts bytes; 0 for others."""
    EMPTY_SETTINGS: str
    """The content of a new hook settings file."""
    RULES_FOLDER: str
    """The folder for our rules files, relative to the project; "" where hooks can add context."""

    TRANSCRIPT_MARKS_COMPACTION: bool
    """Whether the transcript shows that a compaction happened."""
    TRANSCRIPT_NAMES_CWD: bool
    """Whether the transcript says in which folder the session works."""
    TRANSCRIPT_SHOWS_CONTEXT_SINCE: tuple[int, ...]
    """The first client version whose transcript shows what hooks added to the conversation."""
    MANUAL_BRIEF_SINCE: tuple[int, ...]
    """The first client version that passes on what a hook prints after a manual compaction."""
    HAS_SUMMARIZER_GUIDANCE: bool
    """Whether what a PreCompact hook prints reaches the summarizer."""

    SUPPORT: dict[str, str]
    """How save, restore, summariser and replace were verified; "" for what is not supported."""
    AFTER_INSTALL: str
    """What the user needs to know or do once the hooks are registered."""

    def recognizes(self, payload: dict[str, Any]) -> bool:
        """Return whether this host sends such a payload."""

    def parse_payload(self, payload: dict[str, Any]) -> HookEvent:
        """Translate a payload; a field of the wrong type counts as missing."""

    def render_context(self, event: str, text: str, notice: str = "") -> str:
        """Return what to print so that the model sees `text` and the user sees `notice`.

        Returns "" if this host shows the model nothing at this event.
        """

    def render_user_message(self, text: str) -> str:
        """Return what to print so that the user sees `text` and the model does not, or ""."""

    def events_for(self, version: tuple[int, ...] | None) -> list[str]:
        """Return the events to register with a client of this version (None: unknown)."""

    def hook_entry(self, event: str, command: str) -> dict[str, Any]:
        """Return the entry to register for an event in the settings file."""

    def settings_path(
        self, environ: Mapping[str, str], project: str | None, local: bool = False
    ) -> str:
        """Return the file in which hooks are registered: the user's, or that of a project."""

    def is_installed(self, environ: Mapping[str, str], cwd: str) -> bool:
        """Return whether the host's own settings register our hooks."""
