"""Which module handles which event: the table and the modules must not drift apart."""

from __future__ import annotations

import importlib
import pkgutil

from holdfast import hooks
from holdfast.hooks import main
from holdfast.hosts import claude_code


def handled() -> dict[str, str]:
    """Every event that some module says it handles, and the module."""
    found = {}
    for module in pkgutil.iter_modules(hooks.__path__):
        loaded = importlib.import_module(f"{hooks.__name__}.{module.name}")
        found.update(dict.fromkeys(getattr(loaded, "HANDLERS", ()), module.name))
    return found


def test_the_table_of_handlers_matches_the_modules() -> None:
    assert handled() == main.HANDLER_MODULES


def test_every_event_that_is_registered_is_handled() -> None:
    registered = [event for event, _ in claude_code.EVENTS]
    assert {*registered, claude_code.TOOL_EVENT} == set(main.HANDLER_MODULES)
