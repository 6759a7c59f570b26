"""What is on disk as far as the session's own acts tell, and what was there before them.

Every present file carries a token for its content. A file moved away and back, or restored
by git, has its old token again and so counts as untouched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

# The kernel's own trees: writing there makes no file.
NOT_FILES = ("/dev/", "/proc/", "/sys/")


class World:
    """Files by key. What was never mentioned is unknown, neither there nor absent."""

    def __init__(self) -> None:
        self.before: dict[str, bool] = {}
        self.now: dict[str, str] = {}
        self.read: set[str] = set()
        self.folders: set[str] = set()
        self.staged: dict[str, str | None] = {}
        self.committed: dict[str, str | None] = {}
        self._above: set[str] = set()  # every folder that holds a file in `before`
        self._contents = 0

    # -- what is known

    def exists(self, key: str) -> bool | None:
        if key in self.now:
            return True
        return False if key in self.before else None

    def is_folder(self, key: str) -> bool:
        return key in self.folders or key in self._above

    def under(self, key: str) -> list[str]:
        """The file itself, or every present file below that folder."""
        inside = key.rstrip("/") + "/"
        return [other for other in self.now if other == key or other.startswith(inside)]

    def mentioned_under(self, key: str) -> list[str]:
        """As `under`, with the files that are gone."""
        inside = key.rstrip("/") + "/"
        return [other for other in self.before if other == key or other.startswith(inside)]

    def present_folders(self) -> set[str]:
        return self.folders | {parent for key in self.now for parent in _parents(key)}

    def _know(self, key: str, was_there: bool) -> None:
        """Settles, once, whether the file was there when the session began."""
        if key not in self.before:
            self.before[key] = was_there
            self._above.update(_parents(key))

    # -- evidence

    def saw(self, key: str) -> None:
        """The file is there; if it was thought gone, something unseen made it anew."""
        if key not in self.now:
            known = key in self.before
            self._know(key, True)
            self.now[key] = self.new_content() if known else original(key)

    def missed(self, key: str) -> None:
        """The file is not there."""
        self._know(key, False)
        self.now.pop(key, None)
        self.read.discard(key)

    # -- acts

    def new_content(self) -> str:
        self._contents += 1
        return f"made:{self._contents}"

    def write(self, key: str, content: str | None = None) -> None:
        """Whole new content; a file nobody knew of is taken for a new one."""
        self._know(key, False)
        self.now[key] = content or self.new_content()

    def change(self, key: str) -> None:
        """A change within; a file nobody knew of is taken to have been there."""
        self._know(key, True)
        self.now[key] = self.new_content()

    def touch(self, key: str) -> None:
        if key not in self.now:
            self.write(key)

    def remove(self, key: str) -> None:
        self._know(key, True)
        self.now.pop(key, None)
        self.read.discard(key)

    def copy(self, source: str, target: str) -> None:
        self.saw(source)
        self.write(target, self.now[source])

    def move(self, source: str, target: str) -> None:
        if source != target:
            self.copy(source, target)
            self.remove(source)

    # -- git, which remembers contents of its own

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
        """Back to what git holds; a file that git does not hold stays as it is."""
        if content is not None:
            self._know(key, True)
            self.now[key] = content

    # -- the net result

    def created(self) -> Iterator[str]:
        return (key for key in self.now if not self.before[key])

    def modified(self) -> Iterator[str]:
        return (key for key, held in self.now.items() if self.before[key] and held != original(key))

    def deleted(self) -> Iterator[str]:
        return (key for key, was in self.before.items() if was and key not in self.now)


def original(key: str) -> str:
    """The token of what a file held when the session began."""
    return f"before:{key}"


def is_file_name(key: str) -> bool:
    return not key.startswith(NOT_FILES)


def _parents(key: str) -> Iterator[str]:
    while "/" in key:
        key = key.rpartition("/")[0]
        if key:
            yield key
