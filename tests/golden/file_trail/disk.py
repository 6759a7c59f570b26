"""The files on disk as far as the session shows them, now and before the session.

Every present file has a token for its content. A file that was moved away and back, or restored by
git, has its old token again and so counts as unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

# Virtual file systems of the kernel: writing there creates no file.
NOT_FILES = ("/dev/", "/proc/", "/sys/")


class Disk:
    """Files by key. A file that was never mentioned is unknown: neither present nor absent."""

    def __init__(self) -> None:
        self.before: dict[str, bool] = {}
        self.now: dict[str, str] = {}
        self.read: set[str] = set()
        self.folders: set[str] = set()
        self.staged: dict[str, str | None] = {}
        self.committed: dict[str, str | None] = {}
        self._parent_folders: set[str] = set()  # every folder that contains a file in `before`
        self._contents = 0

    # -- lookups

    def exists(self, key: str) -> bool | None:
        if key in self.now:
            return True
        return False if key in self.before else None

    def is_folder(self, key: str) -> bool:
        return key in self.folders or key in self._parent_folders

    def under(self, key: str) -> list[str]:
        """Return the file itself, or every present file below that folder."""
        inside = key.rstrip("/") + "/"
        return [other for other in self.now if other == key or other.startswith(inside)]

    def mentioned_under(self, key: str) -> list[str]:
        """Like `under`, but also with deleted files."""
        inside = key.rstrip("/") + "/"
        return [other for other in self.before if other == key or other.startswith(inside)]

    def present_folders(self) -> set[str]:
        return self.folders | {parent for key in self.now for parent in _parents(key)}

    def _record_initial(self, key: str, existed: bool) -> None:
        """Record, once, whether the file existed when the session began."""
        if key not in self.before:
            self.before[key] = existed
            self._parent_folders.update(_parents(key))

    # -- evidence

    def mark_present(self, key: str) -> None:
        """The file exists; if it was deleted before, something unseen has created it again."""
        if key not in self.now:
            is_known = key in self.before
            self._record_initial(key, True)
            self.now[key] = self.new_content() if is_known else original(key)

    def mark_absent(self, key: str) -> None:
        """The file does not exist."""
        self._record_initial(key, False)
        self.now.pop(key, None)
        self.read.discard(key)

    # -- changes

    def new_content(self) -> str:
        self._contents += 1
        return f"new:{self._contents}"

    def write(self, key: str, content: str | None = None) -> None:
        """Replace the whole content; an unknown file counts as new."""
        self._record_initial(key, False)
        self.now[key] = content or self.new_content()

    def change(self, key: str) -> None:
        """Change a part of the content; an unknown file counts as one that existed."""
        self._record_initial(key, True)
        self.now[key] = self.new_content()

    def touch(self, key: str) -> None:
        if key not in self.now:
            self.write(key)

    def remove(self, key: str) -> None:
        self._record_initial(key, True)
        self.now.pop(key, None)
        self.read.discard(key)

    def copy(self, source: str, target: str) -> None:
        self.mark_present(source)
        self.write(target, self.now[source])

    def move(self, source: str, target: str) -> None:
        if source != target:
            self.copy(source, target)
            self.remove(source)

    # -- contents in git's index and HEAD

    def stage(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.staged[key] = self.now.get(key)

    def commit(self) -> None:
        self.committed.update(self.staged)

    def unstage(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.staged[key] = self.in_head(key)

    def in_head(self, key: str) -> str | None:
        if key in self.committed:
            return self.committed[key]
        return original(key) if self.before.get(key, True) else None

    def in_index(self, key: str) -> str | None:
        return self.staged[key] if key in self.staged else self.in_head(key)

    def restore(self, key: str, content: str | None) -> None:
        """Restore the content from git; a file that is not in git stays as it is."""
        if content is not None:
            self._record_initial(key, True)
            self.now[key] = content

    # -- the net result

    def created(self) -> Iterator[str]:
        return (key for key in self.now if not self.before[key])

    def modified(self) -> Iterator[str]:
        return (
            key
            for key, content in self.now.items()
            if self.before[key] and content != original(key)
        )

    def deleted(self) -> Iterator[str]:
        return (key for key, existed in self.before.items() if existed and key not in self.now)


def original(key: str) -> str:
    """The token of a file's content when the session began."""
    return f"before:{key}"


def is_file_name(key: str) -> bool:
    return not key.startswith(NOT_FILES)


def _parents(key: str) -> Iterator[str]:
    while "/" in key:
        key = key.rpartition("/")[0]
        if key:
            yield key
