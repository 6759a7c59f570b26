"""What the user asked for, verbatim: the first request, the latest, and the chain between."""

from __future__ import annotations

from holdfast.state.wording import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("prompt",)
MOST = 60
LONGEST = 6000


def apply(state: State, event: Event) -> None:
    requests = state["requests"]
    requests.append(
        {"text": keep(event["text"], LONGEST), "line": event["line"], "at": event.get("at", "")}
    )
    if len(requests) > MOST:
        # The first says what all of this is for; the middle can be looked up.
        del requests[1]
        state["requests_dropped"] += 1
