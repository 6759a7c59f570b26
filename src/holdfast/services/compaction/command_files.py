"""Find the file of a slash command or skill by its name, and no other file.

A name comes from a transcript and is not trusted: it must consist of plain words, and the file
must really be inside the folder that was searched, also after symbolic links.
"""

from __future__ import annotations

import os
import stat

from holdfast import fast_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_FILE_CHARS = 256 << 10
# Limits one search below a root: a project may hold any number of folders.
MAX_FOLDERS_SEARCHED = 300
# Where the AgileFlow tools keep their commands, in development and when installed.
AGILEFLOW_FOLDERS = ("packages/cli/src/core/commands", ".agileflow/commands")
NAME_PUNCTUATION = frozenset("._-")


class CommandRefused(ValueError):
    """The name is not that of a command, or its file is a link out of the command folder."""


class CommandRoot:
    """A folder to search. A file must really be under `boundary`, links resolved."""

    __slots__ = ("boundary", "folder", "plugin", "skills")

    def __init__(
        self, folder: str, boundary: str, *, skills: bool = False, plugin: str = ""
    ) -> None:
        self.folder = folder
        self.boundary = boundary
        self.skills = skills
        self.plugin = plugin
        """The plugin's name, which prefixes the names of its commands."""


def read_command(
    name: str, cwd: str, sources: tuple[str, ...], environ: Mapping[str, str]
) -> tuple[str, str]:
    """Return text and path of the command's file, both empty if there is none."""
    parts = split_command_name(name)
    for root in _roots(cwd, sources, environ):
        inner = parts
        if root.plugin:
            if len(parts) < 2 or parts[0] != root.plugin:
                continue
            inner = parts[1:]
        if path := _find(root, inner):
            return _read_text(path), path
    return "", ""


def split_command_name(name: str) -> list[str]:
    """Split a name such as `team:review` at the colons; raises CommandRefused for a path."""
    parts = name.split(":")
    for part in parts:
        is_word = part.strip("._-") and all(
            character.isalnum() or character in NAME_PUNCTUATION for character in part
        )
        if not is_word or ".." in part or len(part) > 100:
            raise CommandRefused(f"{name!r} is not the name of a command")
    return parts


def _find(root: CommandRoot, parts: list[str]) -> str:
    """Return the command's file below one root, or an empty string."""
    if root.skills:
        return _check_file(root, os.path.join(root.folder, *parts, "SKILL.md"))
    direct = _check_file(root, os.path.join(root.folder, *parts) + ".md")
    return direct or _search_subfolders(root, parts)


def _search_subfolders(root: CommandRoot, parts: list[str]) -> str:
    """Search below the root: clients show `team/review.md` as `review` or as `team:review`."""
    file, parents = f"{parts[-1]}.md", parts[:-1]
    for count, (folder, folders, files) in enumerate(os.walk(root.folder)):
        if count > MAX_FOLDERS_SEARCHED:
            break
        folders.sort()
        relative = os.path.relpath(folder, root.folder).split(os.sep)
        ending = relative[-len(parents) :] if parents else []
        if file in files and ending == parents:
            return _check_file(root, os.path.join(folder, file))
    return ""


def _check_file(root: CommandRoot, path: str) -> str:
    """Return the path if it is a regular file, else an empty string.

    Raises CommandRefused if a link leads out of the root's boundary.
    """
    if not os.path.lexists(path):
        return ""
    real = os.path.realpath(path)
    boundary = os.path.join(os.path.realpath(root.boundary), "")
    if not real.startswith(boundary):
        raise CommandRefused(f"{path} leads out of {root.boundary}")
    try:
        return path if stat.S_ISREG(os.stat(real).st_mode) else ""
    except OSError:
        return ""


def _read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read(MAX_FILE_CHARS)
    except OSError:
        return ""


def _roots(cwd: str, sources: tuple[str, ...], environ: Mapping[str, str]) -> Iterator[CommandRoot]:
    """Yield the folders to search, in order of precedence."""
    projects = _project_folders(cwd)
    for project in projects:
        for source in sources:
            yield CommandRoot(os.path.join(project, source), project)
    for project in projects:
        yield CommandRoot(os.path.join(project, ".claude", "commands"), project)
        yield CommandRoot(os.path.join(project, ".claude", "skills"), project, skills=True)
        for place in AGILEFLOW_FOLDERS:
            yield CommandRoot(os.path.join(project, place), project)
            yield CommandRoot(os.path.join(project, place), project, plugin="agileflow")
    user = environ.get("CLAUDE_CONFIG_DIR") or os.path.join(
        environ.get("HOME") or os.path.expanduser("~"), ".claude"
    )
    for name, folder in _plugins(user):
        yield CommandRoot(os.path.join(folder, "commands"), folder, plugin=name)
        yield CommandRoot(os.path.join(folder, "skills"), folder, plugin=name, skills=True)
    # The user's own folders may be links into another folder of theirs, such as dotfiles.
    for place, skills in (("commands", False), ("skills", True)):
        folder = os.path.join(user, place)
        yield CommandRoot(folder, folder, skills=skills)


def _project_folders(cwd: str) -> list[str]:
    """Return the agent's folder and its parents, up to the top of the working tree."""
    folders = []
    current = os.path.abspath(cwd or ".")
    while True:
        folders.append(current)
        parent = os.path.dirname(current)
        if os.path.lexists(os.path.join(current, ".git")):
            return folders
        if parent == current:
            return folders[:1]
        current = parent


def _plugins(user: str) -> list[tuple[str, str]]:
    """Return name and folder of each plugin that the client installed."""
    try:
        with open(
            os.path.join(user, "plugins", "installed_plugins.json"), encoding="utf-8"
        ) as file:
            installed = fast_json.loads(file.read(MAX_FILE_CHARS))
        return [
            (name.partition("@")[0], entry["installPath"])
            for name, entries in installed["plugins"].items()
            for entry in (entries if isinstance(entries, list) else [entries])
            if isinstance(entry.get("installPath"), str)
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return []
