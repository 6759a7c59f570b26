"""Where the work stands in git: branch, commits made, pull requests."""

from __future__ import annotations

from holdfast.state.wording import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("tool", "place", "pull_request")
MOST = 100
HEX = frozenset("0123456789abcdef")


def apply(state: State, event: Event) -> None:
    if event["kind"] == "place":
        state["branch"] = event["place"].get("branch") or state["branch"]
    elif event["kind"] == "pull_request":
        _linked(state, keep(event["text"], 500), event["line"])
    elif event["name"] == "Bash" and "git" in str(event["input"].get("command")):
        _committed(state, event)


def _linked(state: State, address: str, line: int) -> None:
    links = state["pull_requests"]
    if address and all(known["text"] != address for known in links):
        links.append({"text": address, "line": line})
        del links[:-MOST]


def _committed(state: State, event: Event) -> None:
    if "commit" not in str(event["input"].get("command")):
        return
    for line in event.get("text", "").splitlines():
        inside, found, subject = line[1:].partition("] ")
        words = inside.split()
        # `[main 3f2c1ab] Subject`, `[main (root-commit) 3f2c1ab] Subject`
        if not line.startswith("[") or not found or len(words) < 2 or not _is_sha(words[-1]):
            continue
        state["branch"] = words[0] if words[0] != "detached" else state["branch"]
        state["commits"].append(
            {"sha": words[-1], "subject": keep(subject.strip(), 200), "line": event["line"]}
        )
    del state["commits"][:-MOST]


def _is_sha(word: str) -> bool:
    return 7 <= len(word) <= 40 and HEX.issuperset(word)
