"""Gives every file one key, however its path was written."""

from __future__ import annotations

import posixpath
import re

DRIVE = re.compile(r"[A-Za-z]:(?=[\\/]|$)")
GIT_BASH_DRIVE = re.compile(r"/([A-Za-z])(?=/|$)")
# The home folder that `~` means, taken from the first folder of the session.
OWN_HOME = re.compile(r"/(?:home|Users)/[^/]+(?=/|$)|/root(?=/|$)")
# macOS shows these folders with and without /private.
MAC_ALIAS = re.compile(r"^/private(?=/(?:tmp|var|etc)/)")
HOME = re.compile(r"~[\w.-]*(?=/|$)")


class PathKeys:
    """Turns paths into keys (absolute, with `/`), and keys into the paths of a report."""

    def __init__(self, first_cwd: str) -> None:
        self._windows = bool(DRIVE.match(first_cwd)) or "\\" in first_cwd
        self._with_backslashes: set[str] = set()
        self.root = _normalize(self._use_slashes(first_cwd)) if first_cwd else ""
        home = OWN_HOME.match(self.root)
        self.home = home[0] if home else ""

    def key(self, path: str, cwd: str) -> str:
        slashed = self._use_slashes(path)
        if self.home and (slashed == "~" or slashed.startswith("~/")):
            slashed = self.home + slashed[1:]
        slashed = MAC_ALIAS.sub("", slashed)
        if not (slashed.startswith("/") or HOME.match(slashed) or DRIVE.match(slashed)):
            slashed = f"{self._use_slashes(cwd)}/{slashed}" if cwd else slashed
        key = _normalize(slashed)
        if "\\" in path and slashed != path:
            self._with_backslashes.add(key)
        return key

    def display(self, key: str) -> str:
        """Return the path relative to the session's first folder, or absolute outside of it."""
        inside = self.root and key.startswith(self.root.rstrip("/") + "/")
        name = key[len(self.root.rstrip("/")) + 1 :] if inside else key
        return name.replace("/", "\\") if key in self._with_backslashes else name

    def _use_slashes(self, path: str) -> str:
        if not (self._windows or DRIVE.match(path)):
            return path  # elsewhere a backslash is an ordinary character of a name
        path = path.replace("\\", "/")
        if self._windows:
            path = GIT_BASH_DRIVE.sub(lambda drive: f"{drive[1]}:", path, count=1)
        return path[:1].upper() + path[1:] if DRIVE.match(path) else path


def _normalize(path: str) -> str:
    """Remove `.`, `..` and double slashes; a path that leaves `~` stays as it was written."""
    home = HOME.match(path)
    if home:
        rest = posixpath.normpath(path[home.end() :].lstrip("/") or ".")
        if rest.split("/")[0] == "..":
            return path
        return home[0] if rest == "." else f"{home[0]}/{rest}"
    resolved = posixpath.normpath(path)
    return resolved[1:] if resolved.startswith("//") else resolved
