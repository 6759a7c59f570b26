"""What an install did to a settings file, so that uninstalling can undo exactly that."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, replace

from holdfast.actions import settings_file
from holdfast.errors import SettingsFileUnusable
from holdfast.hosts.json_text import Splice


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    path: str
    existed: bool
    before: str
    """The digest of the file without us."""
    after: str
    """The digest of the file as the install left it."""
    splices: tuple[Splice, ...]
    host: str = "claude-code"
    containers: tuple[str, ...] = ()
    """Which of "hooks" and its events were there before."""
    folders: tuple[str, ...] = ()
    """The folders that the install made for the settings file, innermost first."""
    own_folders: tuple[str, ...] = ()
    """The same for this record."""


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def place(home: str, path: str) -> str:
    """Where the record of this settings file lies."""
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:16]
    return os.path.join(home, "installed", f"{name}.json")


def remember(home: str, record: Record) -> None:
    """Write it down. Folders that this makes are the user's alone."""
    file, earlier = place(home, record.path), known(home, record.path)
    missing = settings_file.missing_folders(file)
    for folder in reversed(missing):
        try:
            os.makedirs(folder, 0o700, exist_ok=True)
        except OSError as problem:
            raise SettingsFileUnusable(
                f"{folder} ({problem.strerror})", hint="HOLDFAST_HOME must be a folder of yours"
            ) from None
    own = missing or (earlier.own_folders if earlier else ())
    told = asdict(replace(record, own_folders=tuple(own)))
    settings_file.write(file, json.dumps(told, indent=1) + "\n", 0o600)


def known(home: str, path: str) -> Record | None:
    return _load(place(home, path))


def forget(home: str, path: str) -> None:
    """Take the record away, and the folders that were made for it if nothing else is in them."""
    file, record = place(home, path), known(home, path)
    settings_file.delete(file)
    folder = os.path.dirname(file)
    made = [own for own in (record.own_folders if record else ()) if own != folder]
    settings_file.remove_empty([folder, *made])


def paths(home: str, host: str | None = None) -> list[str]:
    """The settings files, of one host or of all, that Holdfast is installed in."""
    folder = os.path.join(home, "installed")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    found = (_load(os.path.join(folder, name)) for name in names)
    return [record.path for record in found if record and host in (None, record.host)]


def _load(file: str) -> Record | None:
    """A record that is missing or damaged is none: entries are then taken out one by one."""
    try:
        with open(file, encoding="utf-8") as opened:
            told = json.load(opened)
        return Record(
            path=str(told["path"]),
            existed=bool(told["existed"]),
            before=str(told["before"]),
            after=str(told["after"]),
            splices=tuple(Splice(int(at), str(old), str(new)) for at, old, new in told["splices"]),
            host=str(told.get("host") or "claude-code"),
            containers=tuple(map(str, told.get("containers", ()))),
            folders=tuple(map(str, told.get("folders", ()))),
            own_folders=tuple(map(str, told.get("own_folders", ()))),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
