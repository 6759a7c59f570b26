"""What there is: how many files were touched, the branch, commits, pull requests."""

from __future__ import annotations

from holdfast.brief.history import is_earlier
from holdfast.brief.item import Item, cited, ref
from holdfast.state.wording import one_line as short

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.state.model import State


MANIFESTS = frozenset(
    {
        "pyproject.toml", "requirements.txt", "setup.py", "package.json", "go.mod", "Cargo.toml",
        "pom.xml", "build.gradle", "build.gradle.kts", "Gemfile", "composer.json", "mix.exs",
        "CMakeLists.txt", "Makefile", "Dockerfile", "pubspec.yaml", "Package.swift",
    }
)  # fmt: skip


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
        yield Item("files", "counts", 97.0, line, (f"- {told} {ref(line)}",), floor=True)


def code(state: State) -> Iterator[Item]:
    """What the work is written in, and the manifests that say what it depends on."""
    changed = [
        (path, trail) for path, trail in state["files"].items()
        if trail.get("edits") and not trail.get("deleted")
    ]  # fmt: skip
    kinds: dict[str, list[int]] = {}
    for path, trail in changed:
        base = path.rpartition("/")[2]
        if "." in base[1:]:
            kinds.setdefault("." + base.rpartition(".")[2], []).append(trail["line"])
    often = sorted(kinds.items(), key=lambda one: (-len(one[1]), one[0]))[:5]
    if often:
        told = ", ".join(f"{len(lines)} files {kind}" for kind, lines in often)
        where = cited([line] for _, lines in often for line in lines)
        yield Item("code", "languages", 46.0, max(often[0][1]), (f"- changed: {told} {where}",))
    manifests = [
        (path, trail["line"]) for path, trail in state["files"].items()
        if path.rpartition("/")[2] in MANIFESTS and not trail.get("deleted")
    ]  # fmt: skip
    if manifests:
        told = ", ".join(path for path, _ in manifests[-4:])
        where = cited([line] for _, line in manifests[-4:])
        yield Item("code", "manifests", 44.0, manifests[-1][1], (f"- depends on: {told} {where}",))


def _changed_since(state: State, line: int) -> bool:
    """Whether an edit that no commit holds may have come after this line."""
    return any(
        trail["line"] > line and trail.get("edits", 0) > trail.get("committed", 0)
        for trail in state["files"].values()
    )


def git(state: State) -> Iterator[Item]:
    line = state["usage"]["line"] or state["lines"]
    if state["branch"]:
        yield Item(
            "git", "branch", 64.0, line, (f"- branch {state['branch']} {ref(line)}",),
            # What could be any word must be called a branch to be said.
            quote=f"branch {state['branch']}" if state["branch"].isalpha() else "",
            names=(state["branch"],),
        )  # fmt: skip
    if dirty := state["dirty"]:
        count = len(dirty["files"])
        told = f"{count} files not committed" if count else "nothing uncommitted"
        if count or not _changed_since(state, dirty["line"]):
            yield Item("git", "dirty", 40.0, dirty["line"], (f"- {told} {ref(dirty['line'])}",))
    now = [commit for commit in state["commits"] if not is_earlier(state, commit["line"])]
    for number, commit in enumerate(reversed(now[-12:])):
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
