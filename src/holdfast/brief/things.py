"""What there is: how many files were touched, the branch, commits, pull requests."""

from __future__ import annotations

from holdfast.brief.item import Item, ref
from holdfast.state.wording import one_line as short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.state.model import State


def files(state: State) -> Iterator[Item]:
    """How many: which ones is told with the names, as far as there is room."""
    fates = {"created": 0, "modified": 0, "deleted": 0}
    line = 0
    for trail in state["files"].values():
        fate = (
            "deleted" if trail.get("deleted")
            else "created" if trail.get("created")
            else "modified" if trail.get("edits")
            else ""
        )  # fmt: skip
        if fate:
            fates[fate] += 1
            line = max(line, trail["line"])
    if line:
        told = ", ".join(f"{count} {fate}" for fate, count in fates.items() if count)
        yield Item("git", "counts", 97.0, line, (f"- files: {told} {ref(line)}",), floor=True)


def git(state: State) -> Iterator[Item]:
    line = state["usage"]["line"] or state["lines"]
    if state["branch"]:
        yield Item(
            "git", "branch", 64.0, line, (f"- branch {state['branch']} {ref(line)}",),
            names=(state["branch"],),
        )  # fmt: skip
    if dirty := state["dirty"]:
        count = len(dirty["files"])
        told = f"{count} files not committed" if count else "nothing uncommitted"
        yield Item("git", "dirty", 40.0, dirty["line"], (f"- {told} {ref(dirty['line'])}",))
    for number, commit in enumerate(reversed(state["commits"][-12:])):
        subject = short(commit["subject"], 120)
        yield Item(
            "git",
            "commit",
            50.0 - 2 * number,
            commit["line"],
            (f"- commit {commit['sha'][:9]} {subject} {ref(commit['line'])}",),
            names=(commit["sha"][:7],),
        )
    for link in state["pull_requests"][-3:]:
        yield Item("git", "link", 52.0, link["line"], (f"- {link['text']} {ref(link['line'])}",),
                   names=(link["text"],))  # fmt: skip
