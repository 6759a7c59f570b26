"""The effects of file tools, and what the host's backups of edited files show."""

from __future__ import annotations

from typing import Any

from tests.golden.file_trail.calls import Call
from tests.golden.file_trail.disk import Disk
from tests.golden.file_trail.paths import PathKeys

EDITORS = {"Edit", "Write", "MultiEdit", "NotebookEdit"}
READERS = {"Read", "NotebookRead"}
MCP_SERVERS = ("filesystem", "desktopcommander")
MCP_WRITERS = {"write_file", "create_file"}
MCP_EDITORS = {"edit_file", "edit_block"}
MCP_READERS = {"read_file", "read_text_file", "read_media_file", "read_multiple_files"}
MCP_MOVERS = {"move_file", "rename_file"}


def find_path(call: Call) -> str:
    """Return the path of a file tool's call; the result has the full path."""
    file = call.result.get("file")
    inner = file.get("filePath") if isinstance(file, dict) else None
    for candidate in (
        call.result.get("filePath"),
        inner,
        *(call.tool_input.get(name) for name in ("file_path", "notebook_path", "path", "source")),
    ):
        if isinstance(candidate, str) and candidate:
            return candidate
    return ""


def apply(call: Call, disk: Disk, path_keys: PathKeys) -> None:
    """Apply the effect of a successful call of a file tool."""
    path = find_path(call)
    key = path_keys.key(path, call.cwd) if path else ""
    tool = _mcp_tool(call.tool) if call.tool.startswith("mcp__") else call.tool
    if not call.ok:
        if key and tool in READERS and "does not exist" in call.text and disk.exists(key) is None:
            disk.mark_absent(key)
        return
    if tool in MCP_READERS:
        for mcp_path in _mcp_paths(call):
            _read(path_keys.key(mcp_path, call.cwd), disk)
    elif tool in MCP_MOVERS:
        _mcp_move(call, disk, path_keys)
    elif key:
        _on_file(tool, call, key, disk)


def _on_file(tool: str, call: Call, key: str, disk: Disk) -> None:
    if tool in READERS:
        _read(key, disk)
    elif tool == "Write":
        _write(call, key, disk)
    elif tool in MCP_WRITERS:
        disk.write(key)
    elif (tool in EDITORS and not _edit_created_file(call)) or _mcp_edited(tool, call):
        disk.change(key)
    elif tool in EDITORS:
        disk.write(key)


def _read(key: str, disk: Disk) -> None:
    disk.mark_present(key)
    disk.read.add(key)


def _write(call: Call, key: str, disk: Disk) -> None:
    kind = call.result.get("type")
    if kind == "create" or call.text.startswith("File created successfully"):
        disk.mark_absent(key)
    elif kind == "update" or "has been updated" in call.text[:2000]:
        disk.mark_present(key)
    disk.write(key)


def _edit_created_file(call: Call) -> bool:
    """Return whether an edit of an empty string created the file.

    A null `originalFile` alone proves nothing: newer clients omit it for long files.
    """
    if "originalFileContents" in call.result:
        return call.result["originalFileContents"] is None
    return call.result.get("oldString") == "" and not call.result.get("originalFile")


def _mcp_tool(name: str) -> str:
    server, _, tool = name.removeprefix("mcp__").rpartition("__")
    server = server.lower().replace("-", "").replace("_", "")
    return tool if any(name in server for name in MCP_SERVERS) else ""


def _mcp_edited(tool: str, call: Call) -> bool:
    return tool in MCP_EDITORS and call.tool_input.get("dryRun") is not True


def _mcp_paths(call: Call) -> list[str]:
    paths = call.tool_input.get("paths")
    several = paths if isinstance(paths, list) else [call.tool_input.get("path")]
    return [
        path
        for path in several
        if isinstance(path, str) and path and f"{path}: Error" not in call.text
    ]


def _mcp_move(call: Call, disk: Disk, path_keys: PathKeys) -> None:
    source, target = call.tool_input.get("source"), call.tool_input.get("destination")
    if not (isinstance(source, str) and isinstance(target, str)):
        return
    source, target = path_keys.key(source, call.cwd), path_keys.key(target, call.cwd)
    files = disk.under(source) if disk.is_folder(source) else [source]
    for file in files:
        disk.move(file, target + file[len(source) :])


def learn_from_backups(line: dict[str, Any], disk: Disk, path_keys: PathKeys) -> None:
    """Learn which files are new: the host backs up a file before its first edit.

    An empty entry means that the file did not exist. A full entry proves nothing: clients 2.0.76 to
    2.1.17 sometimes backed up a file that Write had created a few milliseconds before.
    """
    for path, backup in _backups(line).items():
        if isinstance(path, str) and path and isinstance(backup, dict):
            key = path_keys.key(path, path_keys.root)
            # Only for unknown files: the session itself may have deleted the file by now.
            if backup.get("backupFileName", "") is None and disk.exists(key) is None:
                disk.mark_absent(key)


def _backups(line: dict[str, Any]) -> dict[Any, Any]:
    if line.get("type") == "file-history-delta":
        path = line.get("trackingPath")
        return {path: line.get("backup")} if isinstance(path, str) else {}
    snapshot = line.get("snapshot") if line.get("type") == "file-history-snapshot" else None
    backups = snapshot.get("trackedFileBackups") if isinstance(snapshot, dict) else None
    return backups if isinstance(backups, dict) else {}
