"""Which module handles which event: the table and the modules must not drift apart."""

from __future__ import annotations

import importlib
import pkgutil

from holdfast.hosts import claude_code
from holdfast.surfaces import hook, moments


def handled() -> dict[str, str]:
    """Every event that some module says it handles, and the module."""
    found = {}
    for module in pkgutil.iter_modules(moments.__path__):
        loaded = importlib.import_module(f"{moments.__name__}.{module.name}")
        found.update(dict.fromkeys(getattr(loaded, "HANDLERS", ()), module.name))
    return found


def test_each_module_handles_just_the_events_that_the_hook_gives_it() -> None:
    assert handled() == hook.MOMENTS


def test_every_event_that_is_registered_is_handled() -> None:
    registered = [event for event, _ in claude_code.EVENTS]
    assert {*registered, claude_code.AFTER_TOOL} == set(hook.MOMENTS)
