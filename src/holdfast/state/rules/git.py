"""Where the work stands in git: branch, commits made, pull requests."""

from __future__ import annotations

import re

from holdfast.state.wording import keep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.state.model import State
    from holdfast.transcript.model import Event

HANDLES = ("tool", "place", "pull_request")
MOST = 100
COMMITTED = r"^\[(\S+)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (.+)$"


def apply(state: State, event: Event) -> None:
    if event["kind"] == "place":
        state["branch"] = event["place"].get("branch") or state["branch"]
    elif event["kind"] == "pull_request":
        if event["text"] and all(
            known["text"] != event["text"] for known in state["pull_requests"]
        ):
            state["pull_requests"].append({"text": event["text"], "line": event["line"]})
    elif event["name"] == "Bash" and "git" in str(event["input"].get("command")):
        _committed(state, event)


def _committed(state: State, event: Event) -> None:
    if "commit" not in str(event["input"].get("command")):
        return
    for branch, sha, subject in re.findall(COMMITTED, event.get("text", ""), re.MULTILINE):
        state["branch"] = branch if branch != "detached" else state["branch"]
        state["commits"].append(
            {"sha": sha, "subject": keep(subject.strip(), 200), "line": event["line"]}
        )
    del state["commits"][:-MOST]
