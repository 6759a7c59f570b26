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
    RECORDS_DELIVERY_SINCE: tuple[int, ...]
    """The first client version whose transcript shows what hooks injected."""

    MANUAL_BRIEF_SINCE: tuple[int, ...]
    """The first client version that shows the model what a hook says after a manual compaction."""

    NAMES_SUB_AGENTS_SINCE: tuple[int, ...]
    """The first client version that says which compactions are a sub-agent's."""

    def recognises(self, payload: dict[str, Any]) -> bool: ...

    def call(self, payload: dict[str, Any]) -> HookCall: ...

    def context(self, event: str, text: str, notice: str = "") -> str:
        """What to print so that the model is shown `text` after this event, the person `notice`."""

    def is_installed(self, environ: Mapping[str, str], cwd: str) -> bool:
        """Whether the host's own settings register our hooks too."""

    def message(self, text: str) -> str:
        """What to print so that the person is shown `text`, and the model is not."""
