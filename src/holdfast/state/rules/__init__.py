"""One module per concern. A rule names the events that it handles and changes the state.

A rule about certain tools names those too.

Adding a rule is a module and a line here.
"""

from __future__ import annotations

from holdfast.state.rules import (
    agent_work,
    agents,
    checks,
    commands,
    compactions,
    decisions,
    files,
    focus,
    git,
    plan,
    requests,
    rules_of_user,
    usage,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.state.model import State
    from holdfast.transcript.model import Event

RULES = (
    requests,
    rules_of_user,
    decisions,
    plan,
    files,
    checks,
    git,
    agents,
    commands,
    focus,
    compactions,
    usage,
)

# The rules that want to know of each kind of event, in their order.
BY_KIND: dict[str, list[Callable[[State, Event], None]]] = {}
for _rule in RULES:
    for _kind in _rule.HANDLES:
        BY_KIND.setdefault(_kind, []).append(_rule.apply)

# Of the rules about tools, those that a tool matters to: a rule that names none is about all.
_TOOLS = {_rule: getattr(_rule, "TOOLS", ()) for _rule in RULES if "tool" in _rule.HANDLES}
BY_TOOL: dict[str, list[Callable[[State, Event], None]]] = {
    _name: [_rule.apply for _rule, _names in _TOOLS.items() if not _names or _name in _names]
    for _name in ("", *(_name for _names in _TOOLS.values() for _name in _names))
}

of_agent = agent_work.apply
