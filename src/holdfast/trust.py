"""Which settings and templates of projects the user trusts.

A cloned repository can contain a `.holdfast` folder. Its settings and brief templates are used only
after the user has looked at them and run `holdfast trust`; any change to them has to be trusted
again. The checksums are kept in Holdfast's own folder.
"""

from __future__ import annotations

import os
import stat

from holdfast import fast_json, own_files
from holdfast.errors import InvalidInput

FOLDER, SETTINGS, BRIEFS = ".holdfast", "settings.json", "briefs"
TRUSTED_FILE = "trusted.json"
# A folder with more files, or with a larger one, cannot be trusted: it is too much to look through.
MAX_FILES, MAX_FILE_BYTES = 50, 20_000


def is_trusted(home: str, project: str) -> bool:
    """Return whether the user trusts the `.holdfast` folder of this project as it is now."""
    folder = _folder_of(project)
    checksum = _checksum(folder)
    return bool(checksum) and _load(home).get(folder) == checksum


def list_files(project: str) -> list[str]:
    """Return the paths of the settings and templates of a project, which need to be trusted."""
    folder = _folder_of(project)
    names = [SETTINGS]
    try:
        briefs = sorted(os.listdir(os.path.join(folder, BRIEFS)))
    except OSError:
        briefs = []
    names += [os.path.join(BRIEFS, name) for name in briefs if name.endswith(".md")]
    paths = [os.path.join(folder, name) for name in names]
    return [path for path in paths if os.path.lexists(path)]


def read_files(project: str) -> list[tuple[str, bytes]]:
    """Return path and content of each file that needs to be trusted.

    Raises InvalidInput if one cannot be read, or if they are too many or too large to look at.
    """
    files = _read_all(_folder_of(project))
    if files is None:
        raise InvalidInput(
            f"{_folder_of(project)} cannot be trusted",
            hint=f"its settings and templates must be at most {MAX_FILES} regular files of "
            f"{MAX_FILE_BYTES:,} bytes",
        )
    return files


def trust(home: str, project: str, files: list[tuple[str, bytes]] | None = None) -> None:
    """Record that the user trusts these files of the project; by default, as they are now.

    Raises InvalidInput if they cannot be read, and OSError if that cannot be recorded.
    """
    folder = _folder_of(project)
    checksum = _checksum_of(folder, read_files(project) if files is None else files)
    _save(home, {**_load(home), folder: checksum})


def distrust(home: str, project: str) -> bool:
    """Forget that the user trusts the folder; returns False if it was not trusted."""
    trusted = _load(home)
    known = trusted.pop(_folder_of(project), None) is not None
    if known:
        _save(home, trusted)
    return known


def _folder_of(project: str) -> str:
    return os.path.join(os.path.realpath(project), FOLDER)


def _load(home: str) -> dict[str, str]:
    try:
        with open(os.path.join(home, TRUSTED_FILE), encoding="utf-8") as file:
            trusted = fast_json.loads(file.read())
    except (OSError, ValueError, RecursionError):
        return {}
    return trusted if isinstance(trusted, dict) else {}


def _save(home: str, trusted: dict[str, str]) -> None:
    os.makedirs(home, own_files.FOLDER_MODE, exist_ok=True)
    own_files.replace(os.path.join(home, TRUSTED_FILE), fast_json.dumps(trusted))


def _checksum(folder: str) -> str:
    """Return a checksum of the names and contents of the settings and templates; "" if one of
    them cannot be read or there are too many."""
    files = _read_all(folder)
    return "" if files is None else _checksum_of(folder, files)


def _checksum_of(folder: str, files: list[tuple[str, bytes]]) -> str:
    import hashlib  # only a project with such files needs it, and it takes a millisecond

    digest = hashlib.sha256()
    for path, content in files:
        digest.update(f"{os.path.relpath(path, folder)}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _read_all(folder: str) -> list[tuple[str, bytes]] | None:
    """Return path and content of each file; None if one cannot be read or there are too many."""
    paths = list_files(os.path.dirname(folder))
    if len(paths) > MAX_FILES:
        return None
    files = []
    for path in paths:
        content = _read(path)
        if content is None:
            return None
        files.append((path, content))
    return files


def _read(path: str) -> bytes | None:
    """Return the content of a regular file of moderate size; None for anything else."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
            # A repository may contain a link to a device, and reading one could never end.
            return None
        with open(path, "rb") as file:
            return file.read(MAX_FILE_BYTES)
    except OSError:
        return None
