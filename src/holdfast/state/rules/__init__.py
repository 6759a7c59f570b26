"""One module per concern. A rule names the events that it handles and changes the state.

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

of_agent = agent_work.apply
