"""Items of what changed: files with their purpose, commits, branch, uncommitted work."""

from __future__ import annotations

from holdfast.brief.history import is_in_earlier_stretch
from holdfast.brief.items import Item, base_name, cite_lines, name_commit, ref
from holdfast.state.quoting import code, plain_line, quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.brief.summary_overlap import SearchableSummary
    from holdfast.state.types import FileTrail, State, Statement

NEWEST_FILE_VALUE, OLDEST_FILE_VALUE = 56.0, 34.0
CREATED_BONUS, DELETED_BONUS, UNCOMMITTED_BONUS, EARLIER_MALUS = 8.0, 8.0, 4.0, 14.0
OUTSIDE_MALUS = 10.0
MAX_FILES = 40
HOST_PLANS = "/.claude/plans/"
SCRATCH_FOLDERS = ("/tmp/", "/private/tmp/", "/var/tmp/")
COUNTS_VALUE = 97.0
COMMIT_VALUE, BRANCH_VALUE, OPEN_WORK_VALUE, CLEAN_VALUE, LINK_VALUE = 54.0, 68.0, 62.0, 40.0, 52.0
MAX_COMMITS = 12
MAX_PATH_CHARS, MAX_SYMBOL_CHARS = 300, 80


MANIFESTS = frozenset(
    {
        "pyproject.toml", "requirements.txt", "setup.py", "package.json", "go.mod", "Cargo.toml",
        "pom.xml", "build.gradle", "build.gradle.kts", "Gemfile", "composer.json", "mix.exs",
        "CMakeLists.txt", "Makefile", "Dockerfile", "pubspec.yaml", "Package.swift",
    }
)  # fmt: skip


def file_items(state: State, summary: SearchableSummary | None) -> Iterator[Item]:
    """The files that this session changed, the newest first, each with what the change was for.

    A file that the summary names is left out.
    """
    changed = [
        (path, trail)
        for path, trail in state["files"].items()
        if describe_change(trail)
        and not path.startswith(SCRATCH_FOLDERS)
        and HOST_PLANS not in path
    ]
    # A text before several edits is about the first file.
    explained: dict[int, str] = {}
    for path, trail in changed:
        for purpose in trail.get("purposes", []):
            explained.setdefault(purpose["line"], path)
    for age, (path, trail) in enumerate(reversed(changed[-MAX_FILES:])):
        purposes = [one for one in trail.get("purposes", []) if explained[one["line"]] == path]
        forms = _render_file(path, trail, purposes, summary)
        if not forms:
            continue
        share = age / max(1, min(len(changed), MAX_FILES) - 1)
        value = NEWEST_FILE_VALUE - (NEWEST_FILE_VALUE - OLDEST_FILE_VALUE) * share
        value += CREATED_BONUS * bool(trail.get("created")) + min(6, trail.get("edits", 0))
        value += DELETED_BONUS * bool(trail.get("deleted"))
        value += UNCOMMITTED_BONUS * (trail.get("edits", 0) > trail.get("committed", 0))
        value -= EARLIER_MALUS * is_in_earlier_stretch(state, trail["line"])
        value -= OUTSIDE_MALUS * path.startswith(("/", "~"))
        yield Item(
            "files", "file", value, trail["line"], forms, names=(path,), quote=forms[0],
            is_prose=True,
        )  # fmt: skip


def _render_file(
    path: str, trail: FileTrail, purposes: list[Statement], summary: SearchableSummary | None
) -> tuple[str, ...]:
    """A changed file with its purposes, from the longest form to the shortest; empty if the summary
    names the file."""
    if summary is not None and summary.mentions(path.rpartition("/")[2], "file"):
        return ()
    head = f"- {describe_change(trail)} {plain_line(path, MAX_PATH_CHARS)}"
    swaps = [code(swap) for swap in trail.get("swaps", [])]
    symbols = [
        plain_line(name, MAX_SYMBOL_CHARS)
        for name in trail.get("symbols", [])
        if not name.lower().startswith("test")
    ]
    defines = f" (defines {', '.join(symbols)})" if symbols else ""
    forms = []
    for count, size in ((4, 200), (2, 140), (1, 90)):
        shown = purposes[-count:]
        parts = [quote(one["text"], size) for one in shown]
        parts += swaps[-count:] if count > 1 else []
        if parts:
            where = ref(trail["line"], *(one["line"] for one in shown))
            forms.append(f"{head}{defines}: {'; '.join(parts)} {where}")
    return (*forms, f"{head}{defines} {ref(trail['line'])}", f"{head} {ref(trail['line'])}")


def file_count_items(state: State, summary: SearchableSummary | None) -> Iterator[Item]:
    """One required item: how many files were created, edited and deleted. Which ones they are is
    listed below it, as far as the budget allows. Beside a summary the figures say nothing."""
    if summary is not None:
        return
    counts = {"created": 0, "edited": 0, "deleted": 0}
    last_line = 0
    for trail in state["files"].values():
        if (change := describe_change(trail)) in counts:
            counts[change] += 1
            last_line = max(last_line, trail["line"])
    if last_line:
        text = ", ".join(f"{count} {change}" for change, count in counts.items() if count)
        form = f"- {text} {ref(last_line)}"
        yield Item("files", "counts", COUNTS_VALUE, last_line, (form,), is_required=True)


def describe_change(trail: FileTrail) -> str:
    """What became of a file: created, edited, deleted; empty if it was only read."""
    if trail.get("deleted"):
        return "deleted"
    if trail.get("created"):
        return "created"
    if trail.get("edits"):
        return "edited"
    return "maybe edited" if trail.get("unknown") else ""


def code_items(state: State) -> Iterator[Item]:
    """The file types that were changed, and the manifests that declare dependencies."""
    changed = [
        (path, trail) for path, trail in state["files"].items()
        if trail.get("edits") and not trail.get("deleted")
    ]  # fmt: skip
    lines_by_type: dict[str, list[int]] = {}
    for path, trail in changed:
        base = base_name(path)
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
        text = ", ".join(plain_line(path, MAX_PATH_CHARS) for path, _ in manifests[-4:])
        where = cite_lines([line] for _, line in manifests[-4:])
        form = f"- depends on: {text} {where}"
        yield Item("code", "manifests", 44.0, manifests[-1][1], (form,))


def git_items(state: State) -> Iterator[Item]:
    """The branch, what is not committed or not pushed, the last commits, and pull requests."""
    line = state["usage"]["line"] or state["lines"]
    if state["branch"]:
        branch = plain_line(state["branch"], MAX_PATH_CHARS)
        yield Item(
            "git", "branch", BRANCH_VALUE, line, (f"- branch {branch} {ref(line)}",),
            # A branch called `main` or `fix` may occur as an ordinary word of the summary; only
            # “branch fix” says it.
            quote=f"branch {state['branch']}" if state["branch"].isalpha() else "",
            names=(state["branch"],),
        )  # fmt: skip
    yield from _uncommitted_items(state)
    commits = [one for one in state["commits"] if not is_in_earlier_stretch(state, one["line"])]
    for age, commit in enumerate(reversed(commits[-MAX_COMMITS:])):
        head = f"- commit {name_commit(commit, 120)}"
        body = commit.get("body", "")
        where = ref(commit["line"])
        forms = [f"{head}: {quote(body, size)} {where}" for size in (500, 220) if body]
        yield Item(
            "git", "commit", COMMIT_VALUE - 2 * age, commit["line"],
            (*forms, f"{head} {where}"),
            names=(commit["sha"][:7],) if commit["sha"] else (),
            quote=f"{name_commit(commit, 500)} {body}".strip(),
            is_prose=True,
        )  # fmt: skip
    unpushed = [
        plain_line(one["sha"], 9) or quote(one["subject"], 60)
        for one in commits
        if one["line"] > state["pushed"] > 0
    ]
    if unpushed:
        text = f"- committed and not pushed: {', '.join(unpushed)} {ref(commits[-1]['line'])}"
        yield Item("git", "unpushed", OPEN_WORK_VALUE, commits[-1]["line"], (text,))
    for link in state["pull_requests"][-3:]:
        text = f"- {plain_line(link['text'], MAX_PATH_CHARS)} {ref(link['line'])}"
        yield Item("git", "link", LINK_VALUE, link["line"], (text,), names=(link["text"],))


def _uncommitted_items(state: State) -> Iterator[Item]:
    """Which files were edited after the last commit of this session."""
    dirty = state["dirty"]
    clean_line = dirty["line"] if dirty and not dirty["files"] else 0
    edited = [
        (path, trail)
        for path, trail in state["files"].items()
        if trail.get("edits", 0) > trail.get("committed", 0)
        and trail["line"] > clean_line
        and not path.startswith(("/", "~"))
        and not trail.get("deleted")
    ]
    if not edited and clean_line:
        text = f"- nothing uncommitted {ref(clean_line)}"
        yield Item("git", "uncommitted", CLEAN_VALUE, clean_line, (text,))
    if not edited or not state["branch"]:
        return
    last = max(trail["line"] for _, trail in edited)
    what = "edited and not committed"
    names = [base_name(path) for path, _ in reversed(edited)]
    forms = [
        f"- {what} ({len(edited)}): {', '.join(names[:count])}"
        f"{', …' if len(names) > count else ''} {ref(last)}"
        for count in (12, 5)
    ]
    forms.append(f"- {what}: {len(edited)} files {ref(last)}")
    yield Item("git", "uncommitted", OPEN_WORK_VALUE, last, tuple(forms))
