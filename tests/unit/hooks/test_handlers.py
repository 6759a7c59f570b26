"""The table of event handlers agrees with the modules that define them."""

from __future__ import annotations

import importlib
import pkgutil

from holdfast import hooks
from holdfast.hooks import main, subagent_compaction
from holdfast.hosts import claude_code


def find_handler_modules() -> dict[str, str]:
    """Return the module of each event, from the `HANDLERS` of every module."""
    modules = {}
    for module in pkgutil.iter_modules(hooks.__path__):
        loaded = importlib.import_module(f"{hooks.__name__}.{module.name}")
        modules.update(dict.fromkeys(getattr(loaded, "HANDLERS", ()), module.name))
    return modules


def test_the_table_of_handlers_matches_the_modules() -> None:
    assert find_handler_modules() == main.HANDLER_MODULES


def test_the_table_of_handlers_inside_sub_agents_matches_their_module() -> None:
    handled = dict.fromkeys(subagent_compaction.SUBAGENT_HANDLERS, "subagent_compaction")
    assert handled == main.SUBAGENT_HANDLER_MODULES
    assert set(handled).isdisjoint(main.SUBAGENT_EVENTS)


def test_every_registered_event_has_a_handler() -> None:
    registered = [event for event, _ in claude_code.EVENTS]
    assert {*registered, claude_code.TOOL_EVENT} == set(main.HANDLER_MODULES)
