"""Our MCP server goes into other people's files and out of them without a trace."""

from __future__ import annotations

import json

import pytest

from holdfast.errors import UnusableSettingsFile
from holdfast.hosts.mcp_settings import (
    add_server,
    existing_containers,
    find_our_entries,
    parse_settings,
    remove_our_entries,
    server_entry,
    settings_path,
)

SERVER = server_entry("/venv/bin/python")
FILES = [
    "",
    "\n",
    "{}",
    "{}\n",
    '{"mcpServers": {}}',
    '{\n  "mcpServers": {\n  }\n}',
    '{"x":1,"mcpServers":{"other":{"command":"a"}},"y":[]}',
    '{\n\t"numStartups": 3,\n\t"mcpServers": {\n\t\t"other": {"command": "a"}\n\t}\n}\n',
    '{"projects": {"/p": {"mcpServers": {}}}}',
    '{\r\n  "a": "\\u00e9"\r\n}\r\n',
]


def test_the_server_is_added_and_undone_exactly() -> None:
    for text in FILES:
        after, splices = add_server(text, SERVER)
        assert find_our_entries(parse_settings(after, "f")) == {"holdfast": SERVER}, text
        before = after
        for splice in reversed(splices):
            before = splice.undo(before)
        assert before == text, text


def test_the_server_is_removed_from_a_file_that_changed_since() -> None:
    for text in FILES:
        after, _ = add_server(text, SERVER)
        told = json.loads(after)
        told["added"] = True
        for changed in (json.dumps(told), json.dumps(told, indent=2)):
            out = json.loads(
                remove_our_entries(changed, existing_containers(parse_settings(text, "f")))
            )
            assert out == {**(json.loads(text) if text.strip() else {}), "added": True}, text


def test_a_server_of_the_same_name_that_is_not_ours_is_left_alone() -> None:
    other = '{"mcpServers": {"holdfast": {"command": "rope", "args": ["tie"]}}}'
    with pytest.raises(UnusableSettingsFile, match="another MCP server"):
        parse_settings(other, "f")
    with pytest.raises(UnusableSettingsFile, match="is not an object"):
        parse_settings('{"mcpServers": []}', "f")


def test_the_mcp_file_is_the_user_s_or_the_project_s() -> None:
    assert settings_path({"HOME": "/home/dev"}, None) == "/home/dev/.claude.json"
    assert (
        settings_path({"HOME": "/h", "CLAUDE_CONFIG_DIR": "/etc/cc"}, None)
        == "/etc/cc/.claude.json"
    )
    assert settings_path({"HOME": "/h"}, "/srv/app") == "/srv/app/.mcp.json"
