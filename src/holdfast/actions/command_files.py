"""Find the file behind the name of a slash command or skill, and nothing else.

A name comes from a transcript, so it is never used as a path: it must be made of plain words,
and the file must really lie in the folder where it was looked for.
"""

from __future__ import annotations

import os
import stat

from holdfast import quick_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LARGEST = 256 << 10
# Folders looked at in one search below a root: a project may hold anything.
MOST_FOLDERS = 300
# Where the AgileFlow tools keep theirs, in development and installed.
AGILEFLOW = ("packages/cli/src/core/commands", ".agileflow/commands")
SIGNS = frozenset("._-")


class Refused(ValueError):
    """A name or a link that leads elsewhere."""


class Root:
    """A folder to look in. `fence` is what a file must really lie under."""

    __slots__ = ("fence", "folder", "plugin", "skills")

    def __init__(self, folder: str, fence: str, *, skills: bool = False, plugin: str = "") -> None:
        self.folder = folder
        self.fence = fence
        self.skills = skills
        self.plugin = plugin
        """Commands of a plugin carry its name before theirs."""


def read(
    name: str, cwd: str, sources: tuple[str, ...], environ: Mapping[str, str]
) -> tuple[str, str]:
    """The text behind a name and the file it comes from, both empty if there is none."""
    parts = words_of(name)
    for root in _roots(cwd, sources, environ):
        wanted = parts
        if root.plugin:
            if len(parts) < 2 or parts[0] != root.plugin:
                continue
            wanted = parts[1:]
        if path := _find(root, wanted):
            return _text(path), path
    return "", ""


def words_of(name: str) -> list[str]:
    """The words of a name such as `team:review`; a path is refused."""
    parts = name.split(":")
    for part in parts:
        plain = part.strip("._-") and all(sign.isalnum() or sign in SIGNS for sign in part)
        if not plain or ".." in part or len(part) > 100:
            raise Refused(f"{name!r} is not the name of a command")
    return parts


def _find(root: Root, parts: list[str]) -> str:
    """The file for these words below one root; the first word may be a folder or left out."""
    if root.skills:
        return _inside(root, os.path.join(root.folder, *parts, "SKILL.md"))
    direct = _inside(root, os.path.join(root.folder, *parts) + ".md")
    return direct or _deeper(root, parts)


def _deeper(root: Root, parts: list[str]) -> str:
    """In a folder below: clients show `team/review.md` as `review` or as `team:review`."""
    file, above = f"{parts[-1]}.md", parts[:-1]
    for seen, (folder, folders, files) in enumerate(os.walk(root.folder)):
        if seen > MOST_FOLDERS:
            break
        folders.sort()
        ending = os.path.relpath(folder, root.folder).split(os.sep)[-len(above) :] if above else []
        if file in files and ending == above:
            return _inside(root, os.path.join(folder, file))
    return ""


def _inside(root: Root, path: str) -> str:
    """The path, if it is a regular file that lies where it seems to."""
    if not os.path.lexists(path):
        return ""
    real = os.path.realpath(path)
    fence = os.path.join(os.path.realpath(root.fence), "")
    if not real.startswith(fence):
        raise Refused(f"{path} leads out of {root.fence}")
    try:
        return path if stat.S_ISREG(os.stat(real).st_mode) else ""
    except OSError:
        return ""


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(LARGEST)
    except OSError:
        return ""


def _roots(cwd: str, sources: tuple[str, ...], environ: Mapping[str, str]) -> Iterator[Root]:
    """In the order in which the first find counts."""
    projects = _projects(cwd)
    for project in projects:
        for source in sources:
            yield Root(os.path.join(project, source), project)
    for project in projects:
        yield Root(os.path.join(project, ".claude", "commands"), project)
        yield Root(os.path.join(project, ".claude", "skills"), project, skills=True)
        for place in AGILEFLOW:
            yield Root(os.path.join(project, place), project)
            yield Root(os.path.join(project, place), project, plugin="agileflow")
    user = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(
        environ.get("HOME") or os.path.expanduser("~"), ".claude"
    )
    for name, folder in _plugins(user):
        yield Root(os.path.join(folder, "commands"), folder, plugin=name)
        yield Root(os.path.join(folder, "skills"), folder, plugin=name, skills=True)
    # A person's own folders may well be links into a folder of theirs.
    for place, skills in (("commands", False), ("skills", True)):
        folder = os.path.join(user, place)
        yield Root(folder, folder, skills=skills)


def _projects(cwd: str) -> list[str]:
    """The folder that the agent works in and those above it, up to the working tree's top."""
    found = []
    here = os.path.abspath(cwd or ".")
    while True:
        found.append(here)
        above = os.path.dirname(here)
        if os.path.lexists(os.path.join(here, ".git")):
            return found
        if above == here:
            return found[:1]
        here = above


def _plugins(user: str) -> list[tuple[str, str]]:
    """Name and folder of each plugin that the client installed."""
    try:
        with open(
            os.path.join(user, "plugins", "installed_plugins.json"), encoding="utf-8"
        ) as file:
            told = quick_json.loads(file.read(LARGEST))
        return [
            (name.partition("@")[0], entry["installPath"])
            for name, entries in told["plugins"].items()
            for entry in (entries if isinstance(entries, list) else [entries])
            if isinstance(entry.get("installPath"), str)
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []
