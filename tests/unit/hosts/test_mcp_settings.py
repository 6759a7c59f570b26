"""Our MCP server goes into other people's files and out of them without a trace."""

from __future__ import annotations

import json

import pytest

from holdfast.errors import SettingsFileUnusable
from holdfast.hosts.mcp_settings import add, containers, entry, parse, path, registered, take_out

SERVER = entry("/venv/bin/python")
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


@pytest.mark.parametrize("text", FILES)
def test_it_is_added_and_undone_exactly(text: str) -> None:
    after, splices = add(text, SERVER)
    assert registered(parse(after, "f")) == {"holdfast": SERVER}
    before = after
    for splice in reversed(splices):
        before = splice.undo(before)
    assert before == text


@pytest.mark.parametrize("text", FILES)
def test_it_is_taken_out_of_a_file_that_changed_meanwhile(text: str) -> None:
    after, _ = add(text, SERVER)
    told = json.loads(after)
    told["added"] = True
    for changed in (json.dumps(told), json.dumps(told, indent=2)):
        out = json.loads(take_out(changed, containers(parse(text, "f"))))
        assert out == {**(json.loads(text) if text.strip() else {}), "added": True}


def test_a_server_of_the_same_name_that_is_not_ours_is_left_alone() -> None:
    other = '{"mcpServers": {"holdfast": {"command": "rope", "args": ["tie"]}}}'
    with pytest.raises(SettingsFileUnusable, match="another MCP server"):
        parse(other, "f")
    with pytest.raises(SettingsFileUnusable, match="is not an object"):
        parse('{"mcpServers": []}', "f")


def test_where_the_files_are() -> None:
    assert path({"HOME": "/home/dev"}, None) == "/home/dev/.claude.json"
    assert path({"HOME": "/h", "CLAUDE_CONFIG_DIR": "/etc/cc"}, None) == "/etc/cc/.claude.json"
    assert path({"HOME": "/h"}, "/srv/app") == "/srv/app/.mcp.json"
