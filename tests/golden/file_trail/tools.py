"""What the file tools did, and what the host's backups of edited files tell."""

from __future__ import annotations

from typing import Any

from tests.golden.file_trail.calls import Call
from tests.golden.file_trail.paths import Names
from tests.golden.file_trail.world import World

EDITORS = {"Edit", "Write", "MultiEdit", "NotebookEdit"}
READERS = {"Read", "NotebookRead"}
MCP_SERVERS = ("filesystem", "desktopcommander")
MCP_WRITERS = {"write_file", "create_file"}
MCP_EDITORS = {"edit_file", "edit_block"}
MCP_READERS = {"read_file", "read_text_file", "read_media_file", "read_multiple_files"}
MCP_MOVERS = {"move_file", "rename_file"}


def path_of(call: Call) -> str:
    """The path a file tool worked on; its result knows it in full."""
    file = call.result.get("file")
    inner = file.get("filePath") if isinstance(file, dict) else None
    for found in (
        call.result.get("filePath"),
        inner,
        *(call.given.get(name) for name in ("file_path", "notebook_path", "path", "source")),
    ):
        if isinstance(found, str) and found:
            return found
    return ""


def apply(call: Call, world: World, names: Names) -> None:
    """What this call did to the files, if it is a file tool and it succeeded."""
    path = path_of(call)
    key = names.key(path, call.cwd) if path else ""
    tool = _mcp_tool(call.tool) if call.tool.startswith("mcp__") else call.tool
    if not call.ok:
        if key and tool in READERS and "does not exist" in call.text and world.exists(key) is None:
            world.missed(key)
        return
    if tool in MCP_READERS:
        for each in _mcp_paths(call):
            _read(names.key(each, call.cwd), world)
    elif tool in MCP_MOVERS:
        _mcp_move(call, world, names)
    elif key:
        _on_file(tool, call, key, world)


def _on_file(tool: str, call: Call, key: str, world: World) -> None:
    if tool in READERS:
        _read(key, world)
    elif tool == "Write":
        _write(call, key, world)
    elif tool in MCP_WRITERS:
        world.write(key)
    elif (tool in EDITORS and not _edited_nothing_there(call)) or _mcp_edited(tool, call):
        world.change(key)
    elif tool in EDITORS:
        world.write(key)


def _read(key: str, world: World) -> None:
    world.saw(key)
    world.read.add(key)


def _write(call: Call, key: str, world: World) -> None:
    kind = call.result.get("type")
    if kind == "create" or call.text.startswith("File created successfully"):
        world.missed(key)
    elif kind == "update" or "has been updated" in call.text[:2000]:
        world.saw(key)
    world.write(key)


def _edited_nothing_there(call: Call) -> bool:
    """An edit of nothing into something makes the file.

    A null `originalFile` alone proves nothing: newer clients leave it out for long files.
    """
    if "originalFileContents" in call.result:
        return call.result["originalFileContents"] is None
    return call.result.get("oldString") == "" and not call.result.get("originalFile")


def _mcp_tool(name: str) -> str:
    server, _, tool = name.removeprefix("mcp__").rpartition("__")
    server = server.lower().replace("-", "").replace("_", "")
    return tool if any(known in server for known in MCP_SERVERS) else ""


def _mcp_edited(tool: str, call: Call) -> bool:
    return tool in MCP_EDITORS and call.given.get("dryRun") is not True


def _mcp_paths(call: Call) -> list[str]:
    paths = call.given.get("paths")
    several = paths if isinstance(paths, list) else [call.given.get("path")]
    return [
        path
        for path in several
        if isinstance(path, str) and path and f"{path}: Error" not in call.text
    ]


def _mcp_move(call: Call, world: World, names: Names) -> None:
    source, target = call.given.get("source"), call.given.get("destination")
    if not (isinstance(source, str) and isinstance(target, str)):
        return
    source, target = names.key(source, call.cwd), names.key(target, call.cwd)
    files = world.under(source) if world.is_folder(source) else [source]
    for file in files:
        world.move(file, target + file[len(source) :])


def learn_from_backups(line: dict[str, Any], world: World, names: Names) -> None:
    """The host saves a file before its first edit; an empty entry says there was none to save.

    A full entry proves nothing: clients 2.0.76 to 2.1.17 now and then saved a file that Write
    had made a few milliseconds before.
    """
    for path, backup in _backups(line).items():
        if isinstance(path, str) and path and isinstance(backup, dict):
            key = names.key(path, names.root)
            # Only news: the session itself may have removed the file by now.
            if backup.get("backupFileName", "") is None and world.exists(key) is None:
                world.missed(key)


def _backups(line: dict[str, Any]) -> dict[Any, Any]:
    if line.get("type") == "file-history-delta":
        path = line.get("trackingPath")
        return {path: line.get("backup")} if isinstance(path, str) else {}
    snapshot = line.get("snapshot") if line.get("type") == "file-history-snapshot" else None
    found = snapshot.get("trackedFileBackups") if isinstance(snapshot, dict) else None
    return found if isinstance(found, dict) else {}
