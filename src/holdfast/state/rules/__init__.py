"""One module per concern. A rule names the events that it handles and changes the state.

Adding a rule is a module and a line here.
"""

from __future__ import annotations

from holdfast.state.rules import (
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
    usage,
    compactions,
)

_BY_KIND: dict[str, list[Callable[[State, Event], None]]] = {}
for _rule in RULES:
    for _kind in _rule.HANDLES:
        _BY_KIND.setdefault(_kind, []).append(_rule.apply)


def apply(state: State, event: Event) -> None:
    """Let every rule that handles this kind of event change the state.

    What a sub-agent did is its own: it never counts as the main session's doing.
    """
    if event.get("agent"):
        return
    for change in _BY_KIND.get(event["kind"], ()):
        change(state, event)
