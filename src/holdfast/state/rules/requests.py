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
    text, at = keep(event["text"], LONGEST), event.get("at", "")
    # A second compaction may write old messages down again, with their old time.
    # https://github.com/anthropics/claude-code/issues/92089
    if at and any(known["at"] == at and known["text"] == text for known in requests):
        return
    requests.append({"text": text, "line": event["line"], "at": at})
    if len(requests) > MOST:
        # The first says what all of this is for; the middle can be looked up.
        del requests[1]
        state["requests_dropped"] += 1
