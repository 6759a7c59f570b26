"""What a host adapter offers. An adapter is a module, not an object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from holdfast.hosts.call import HookCall


class Host(Protocol):
    NAME: str
    """The short name in the store, in settings and on the command line."""
    TITLE: str
    CHARACTERS: int
    """The most characters (UTF-16 units) that a brief may have here, with a margin."""
    BYTES: int
    """The same in bytes of UTF-8, where the host counts those; 0 where it does not."""
    PROGRAM: str
    """What the client is called on the PATH."""
    WRITES_BOUNDARY: bool
    """Whether its log tells of a compaction."""
    TELLS_FOLDER: bool
    """Whether its log says which folder the session works in."""
    EMPTY: str
    """What a file of its settings holds at least."""
    GUIDES_SUMMARY: bool
    """Whether what a hook prints before a compaction reaches the summariser."""
    RECORDS_DELIVERY_SINCE: tuple[int, ...]
    """The first client version whose transcript shows what hooks injected."""

    MANUAL_BRIEF_SINCE: tuple[int, ...]
    """The first client version that shows the model what a hook says after a manual compaction."""

    NAMES_SUB_AGENTS_SINCE: tuple[int, ...]
    """The first client version that says which compactions are a sub-agent's."""

    RULES: str
    """The folder of ours, below a project's, for rules that the model is shown; nothing where
    hooks can speak to it."""

    SUPPORT: dict[str, str]
    """How save, restore, summariser and replace were tested; nothing where there is none."""
    AFTER_INSTALL: str
    """What a person has to know or do once the hooks are registered."""

    def recognises(self, payload: dict[str, Any]) -> bool: ...

    def call(self, payload: dict[str, Any]) -> HookCall: ...

    def context(self, event: str, text: str, notice: str = "") -> str:
        """What to print so that the model is shown `text` after this event, the person `notice`."""

    def events_for(self, version: tuple[int, ...] | None) -> list[str]:
        """The events to register with a client of this version; unknown is None."""

    def entry(self, event: str, command: str) -> dict[str, Any]:
        """What is registered for an event."""

    def settings_path(
        self, environ: Mapping[str, str], project: str | None, local: bool = False
    ) -> str:
        """The file in which hooks are registered: the user's, or a project's."""

    def is_installed(self, environ: Mapping[str, str], cwd: str) -> bool:
        """Whether the host's own settings register our hooks too."""

    def message(self, text: str) -> str:
        """What to print so that the person is shown `text`, and the model is not."""
