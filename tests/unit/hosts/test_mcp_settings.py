"""The MCP server is added to settings files and removed without changing other content."""

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


def test_the_server_is_added_and_the_change_can_be_undone_exactly() -> None:
    for text in FILES:
        after, splices = add_server(text, SERVER)
        assert find_our_entries(parse_settings(after, "f")) == {"holdfast": SERVER}, text
        before = after
        for splice in reversed(splices):
            before = splice.undo(before)
        assert before == text, text


def test_the_server_is_removed_from_a_file_that_was_changed() -> None:
    for text in FILES:
        after, _ = add_server(text, SERVER)
        content = json.loads(after)
        content["added"] = True
        for changed in (json.dumps(content), json.dumps(content, indent=2)):
            restored = json.loads(
                remove_our_entries(changed, existing_containers(parse_settings(text, "f")))
            )
            assert restored == {**(json.loads(text) if text.strip() else {}), "added": True}, text


def test_another_server_of_the_same_name_raises_an_error() -> None:
    other = '{"mcpServers": {"holdfast": {"command": "rope", "args": ["tie"]}}}'
    with pytest.raises(UnusableSettingsFile, match="another MCP server"):
        parse_settings(other, "f")
    with pytest.raises(UnusableSettingsFile, match="is not an object"):
        parse_settings('{"mcpServers": []}', "f")


def test_the_mcp_file_is_that_of_the_user_or_the_project() -> None:
    assert settings_path({"HOME": "/home/dev"}, None) == "/home/dev/.claude.json"
    assert (
        settings_path({"HOME": "/h", "CLAUDE_CONFIG_DIR": "/etc/cc"}, None)
        == "/etc/cc/.claude.json"
    )
    assert settings_path({"HOME": "/h"}, "/srv/app") == "/srv/app/.mcp.json"
