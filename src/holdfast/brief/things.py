"""What there is: files, commits, commands that work."""

from __future__ import annotations

from holdfast.brief.item import Item, ref
from holdfast.state.wording import one_line as short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.state.model import Check, FileTrail, State

MOST_FILES = 400


def files(state: State) -> Iterator[Item]:
    # More than this never fits; the latest are last.
    paths = list(state["files"].items())[-MOST_FILES:]
    for number, (path, trail) in enumerate(reversed(paths)):
        age = number / (len(paths) or 1)
        touched = any(trail.get(fate) for fate in ("edits", "created", "deleted", "unknown"))
        value = 62.0 - 12 * age if touched else 34.0 - 20 * age
        yield Item(
            "files",
            "file" if touched else "read",
            value,
            trail["line"],
            (f"- {path} — {_happened(trail)} {ref(trail['line'])}",),
            names=(path,),
        )


def _happened(trail: FileTrail) -> str:
    if trail.get("deleted"):
        return "deleted"
    told = []
    if trail.get("created"):
        told.append("created here")
    if edits := trail.get("edits", 0):
        told.append(f"edited {edits}×" if edits > 1 or not trail.get("created") else "written")
    if symbol := trail.get("symbol"):
        told.append(f"last: {symbol}")
    if trail.get("unknown"):
        told.append(f"whether the edit at L{trail['unknown']} took effect is unknown")
    if not told:
        told.append("read")
    return " · ".join(told)


def git(state: State) -> Iterator[Item]:
    line = state["usage"]["line"] or state["lines"]
    if state["branch"]:
        yield Item(
            "git", "branch", 64.0, line, (f"- branch {state['branch']} {ref(line)}",),
            names=(state["branch"],),
        )  # fmt: skip
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
    for check in reversed(_passing(state)):
        yield Item(
            "git",
            "command",
            54.0,
            check["line"],
            (f"- `{short(check['command'], 200)}` passed last {ref(check['line'])}",),
            names=(check["command"],),
        )


def _passing(state: State) -> list[Check]:
    return [check for check in state["checks"] if check["ok"] and check["kind"] != "run"][-6:]
