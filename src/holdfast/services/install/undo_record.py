"""Records of what an install did to a settings file, so that an uninstall undoes exactly that."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, replace

from holdfast.errors import UnusableSettingsFile
from holdfast.hosts.json_edit import Splice
from holdfast.services.install import atomic_file


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoRecord:
    """One install in one settings file."""

    path: str
    existed: bool
    before: str
    """The digest of the file without Holdfast's entries."""
    after: str
    """The digest of the file as the install left it."""
    splices: tuple[Splice, ...]
    host: str = "claude-code"
    containers: tuple[str, ...] = ()
    """Which of "hooks" and its events existed before."""
    folders: tuple[str, ...] = ()
    """The folders that the install created for the settings file, innermost first."""
    own_folders: tuple[str, ...] = ()
    """The folders that it created for this record."""


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def record_path(home: str, path: str) -> str:
    """Return the path of the record of this settings file."""
    name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:16]
    return os.path.join(home, "installed", f"{name}.json")


def save_record(home: str, record: UndoRecord) -> None:
    """Write a record. Folders that this creates are readable by the user only.

    Raises UnusableSettingsFile if they cannot be created.
    """
    file, previous = record_path(home, record.path), load_record(home, record.path)
    missing = atomic_file.missing_folders(file)
    for folder in reversed(missing):
        try:
            os.makedirs(folder, 0o700, exist_ok=True)
        except OSError as problem:
            raise UnusableSettingsFile(
                f"{folder} ({problem.strerror})", hint="HOLDFAST_HOME must be a folder of yours"
            ) from None
    own = missing or (previous.own_folders if previous else ())
    fields = asdict(replace(record, own_folders=tuple(own)))
    atomic_file.write(file, json.dumps(fields, indent=1) + "\n", 0o600)


def load_record(home: str, path: str) -> UndoRecord | None:
    """Return the record of a settings file, or None."""
    return _load(record_path(home, path))


def delete_record(home: str, path: str) -> None:
    """Delete the record, and the folders created for it if they are empty."""
    file, record = record_path(home, path), load_record(home, path)
    atomic_file.delete(file)
    folder = os.path.dirname(file)
    created = [own for own in (record.own_folders if record else ()) if own != folder]
    atomic_file.remove_empty([folder, *created])


def list_installed_files(home: str, host: str | None = None) -> list[str]:
    """Return the settings files that Holdfast is installed in, of one host or of all."""
    folder = os.path.join(home, "installed")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    records = (_load(os.path.join(folder, name)) for name in names)
    return [record.path for record in records if record and host in (None, record.host)]


def _load(file: str) -> UndoRecord | None:
    """Return a record, or None if it is missing or damaged: an uninstall then removes the entries
    one by one.
    """
    try:
        with open(file, encoding="utf-8") as opened:
            fields = json.load(opened)
        return UndoRecord(
            path=str(fields["path"]),
            existed=bool(fields["existed"]),
            before=str(fields["before"]),
            after=str(fields["after"]),
            splices=tuple(
                Splice(int(at), str(old), str(new)) for at, old, new in fields["splices"]
            ),
            host=str(fields.get("host") or "claude-code"),
            containers=tuple(map(str, fields.get("containers", ()))),
            folders=tuple(map(str, fields.get("folders", ()))),
            own_folders=tuple(map(str, fields.get("own_folders", ()))),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
