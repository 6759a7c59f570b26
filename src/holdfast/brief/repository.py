"""Items of the repository: changed files, languages, manifests, branch, commits, pull requests."""

from __future__ import annotations

from holdfast.brief.history import is_in_earlier_era
from holdfast.brief.items import Item, cite_lines, ref
from holdfast.state.text import one_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.state.types import State


MANIFESTS = frozenset(
    {
        "pyproject.toml", "requirements.txt", "setup.py", "package.json", "go.mod", "Cargo.toml",
        "pom.xml", "build.gradle", "build.gradle.kts", "Gemfile", "composer.json", "mix.exs",
        "CMakeLists.txt", "Makefile", "Dockerfile", "pubspec.yaml", "Package.swift",
    }
)  # fmt: skip


def file_count_items(state: State) -> Iterator[Item]:
    """One required item: how many files were created, modified and deleted. Which ones they are is
    listed among the mentions, as far as the budget allows."""
    counts = {"created": 0, "modified": 0, "deleted": 0}
    last_line = 0
    for trail in state["files"].values():
        change = (
            "deleted" if trail.get("deleted")
            else "created" if trail.get("created")
            else "modified" if trail.get("edits")
            else ""
        )  # fmt: skip
        if change:
            counts[change] += 1
            last_line = max(last_line, trail["line"])
    if last_line:
        text = ", ".join(f"{count} {change}" for change, count in counts.items() if count)
        form = f"- {text} {ref(last_line)}"
        yield Item("files", "counts", 97.0, last_line, (form,), is_required=True)


def code_items(state: State) -> Iterator[Item]:
    """The file types that were changed, and the manifests that declare dependencies."""
    changed = [
        (path, trail) for path, trail in state["files"].items()
        if trail.get("edits") and not trail.get("deleted")
    ]  # fmt: skip
    lines_by_type: dict[str, list[int]] = {}
    for path, trail in changed:
        base = path.rpartition("/")[2]
        if "." in base[1:]:
            lines_by_type.setdefault("." + base.rpartition(".")[2], []).append(trail["line"])
    most_changed = sorted(lines_by_type.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:5]
    if most_changed:
        text = ", ".join(f"{len(lines)} files {suffix}" for suffix, lines in most_changed)
        where = cite_lines([line] for _, lines in most_changed for line in lines)
        form = f"- changed: {text} {where}"
        yield Item("code", "languages", 46.0, max(most_changed[0][1]), (form,))
    manifests = [
        (path, trail["line"]) for path, trail in state["files"].items()
        if path.rpartition("/")[2] in MANIFESTS and not trail.get("deleted")
    ]  # fmt: skip
    if manifests:
        text = ", ".join(path for path, _ in manifests[-4:])
        where = cite_lines([line] for _, line in manifests[-4:])
        form = f"- depends on: {text} {where}"
        yield Item("code", "manifests", 44.0, manifests[-1][1], (form,))


def git_items(state: State) -> Iterator[Item]:
    """The branch, uncommitted files, the last commits of this era, and pull requests."""
    line = state["usage"]["line"] or state["lines"]
    if state["branch"]:
        yield Item(
            "git", "branch", 64.0, line, (f"- branch {state['branch']} {ref(line)}",),
            # A branch called `main` or `fix` may occur as an ordinary word of the summary; only
            # “branch fix” says it.
            quote=f"branch {state['branch']}" if state["branch"].isalpha() else "",
            names=(state["branch"],),
        )  # fmt: skip
    if dirty := state["dirty"]:
        count = len(dirty["files"])
        text = f"{count} files not committed" if count else "nothing uncommitted"
        if count or not _has_uncommitted_edit_after(state, dirty["line"]):
            yield Item("git", "dirty", 40.0, dirty["line"], (f"- {text} {ref(dirty['line'])}",))
    commits = [one for one in state["commits"] if not is_in_earlier_era(state, one["line"])]
    for age, commit in enumerate(reversed(commits[-12:])):
        subject = one_line(commit["subject"], 120)
        yield Item(
            "git",
            "commit",
            50.0 - 2 * age,
            commit["line"],
            (f"- commit {commit['sha'][:9]} {subject} {ref(commit['line'])}",),
            names=(commit["sha"][:7],),
        )
    for link in state["pull_requests"][-3:]:
        yield Item("git", "link", 52.0, link["line"], (f"- {link['text']} {ref(link['line'])}",),
                   names=(link["text"],))  # fmt: skip


def _has_uncommitted_edit_after(state: State, line: int) -> bool:
    """Whether a file was edited after this line and not committed since."""
    return any(
        trail["line"] > line and trail.get("edits", 0) > trail.get("committed", 0)
        for trail in state["files"].values()
    )
