"""Save before the host compacts, and tell its summariser what must survive word for word."""

from __future__ import annotations

from holdfast.brief.tokens import units
from holdfast.state.richness import richness
from holdfast.state.wording import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.actions.catch_up import Session
    from holdfast.state.model import State
    from holdfast.store.base import Store

MOST_UNITS = 3000


def save(store: Store, session: Session, reason: str, now: float) -> str:
    """A verified snapshot of the session as it stands."""
    return store.add_snapshot(session.id, reason, session.state, now)


def guidance(state: State) -> str:
    """Plain text: the host pastes it into its summariser's prompt as it is.

    Nothing if nothing is known: a promise that cannot be kept would make the summary worse.
    """
    if not richness(state):
        return ""
    rules = [rule for rule in state["rules"] if not rule["superseded"]]
    rules.sort(key=lambda rule: (rule["kind"] != "prohibition", -rule["line"]))
    lines = [
        "Spend the summary on reasoning: what was understood, why things were done, what comes "
        "next. Exact file lists, command output, plan items and the user's earlier messages are "
        "restored word for word right after this summary, so they need no room here.",
    ]
    if rules:
        lines.append("These of the user's rules hold on; keep them word for word:")
    for rule in rules:
        line = f'- "{one_line(rule["text"], 400)}"'
        if units("\n".join([*lines, line])) > MOST_UNITS:
            break
        lines.append(line)
    return "\n".join(lines)
