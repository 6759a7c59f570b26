"""The rules of the fold, one module per concern.

A rule is a module with `HANDLES`, the event kinds that it wants, and `apply(state, event)`, which
updates the state. A rule with `TOOLS` gets only the events of those tools. To add a rule, write a
module and list it in RULES.
"""

from __future__ import annotations

from holdfast.state.rules import (
    checks,
    commands,
    compactions,
    current_work,
    decisions,
    files,
    git,
    plan,
    reports,
    requests,
    shell_history,
    subagent_activity,
    subagents,
    usage,
    user_rules,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.state.types import State
    from holdfast.transcript.types import Event

RULES = (
    requests,
    user_rules,
    decisions,
    plan,
    files,
    checks,
    git,
    shell_history,
    subagents,
    commands,
    reports,
    current_work,
    compactions,
    usage,
)

# The rules for each kind of event, in the order of RULES.
BY_KIND: dict[str, list[Callable[[State, Event], None]]] = {}
for _rule in RULES:
    for _kind in _rule.HANDLES:
        BY_KIND.setdefault(_kind, []).append(_rule.apply)

# The rules for each tool; "" has those for all other tools. A rule without TOOLS is for all tools.
_TOOLS = {_rule: getattr(_rule, "TOOLS", ()) for _rule in RULES if "tool" in _rule.HANDLES}
BY_TOOL: dict[str, list[Callable[[State, Event], None]]] = {
    _name: [_rule.apply for _rule, _names in _TOOLS.items() if not _names or _name in _names]
    for _name in ("", *(_name for _names in _TOOLS.values() for _name in _names))
}

apply_subagent_event = subagent_activity.apply
