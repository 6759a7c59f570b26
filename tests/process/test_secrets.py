"""Secrets in every part of a session are neither stored nor printed by real processes."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from mcp import Client

from tests.unit.redaction.shapes import load_formats
from tests.unit.transcript_lines import ROOT, Line, bash, call, reply, result, tool_use, user

from .hook_session import HOOK_TIMEOUT_SECONDS, HookSession
from .serving import Start
from .test_mcp import run_client

TOKEN_END = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def secret(place: str) -> str:
    """A token that contains the name of its place, so that a leak shows where it came from."""
    return f"ghp_{place[:12]:7<12}{TOKEN_END}"


def find_secrets(text: str) -> set[str]:
    return set(re.findall(rf"ghp_\w{{12}}{TOKEN_END}", text))


def make_transcript() -> list[Line]:
    plan = [{"content": f"Use {secret('plan')}", "status": "pending", "activeForm": "Using"}]
    questions = [{"question": f"Is {secret('question')} the key?", "options": [], "header": "Key"}]
    command = (
        f"gh auth login --with-token {secret('flag')} && "
        f"curl -H 'X-Key: {secret('header')}' https://api.example.org/{secret('path')}"
    )
    return [
        user(f"Never print {secret('prompt')}, always use the variable instead."),
        reply(f"I decided to use {secret('reply')} because it still works."),
        *tool_use("TodoWrite", {"todos": plan}),
        *bash(command, f"token {secret('output')}\nAssertionError: {secret('error')}", ok=False),
        *bash(f"GH_TOKEN={secret('environ')} pytest -q", f"FAILED {secret('failing')}", ok=False),
        *bash(f"git commit -m 'Use {secret('message')}'", f"[main 3f2c1ab] {secret('commit')}"),
        *tool_use("Write", {
            "file_path": f"{ROOT}/{secret('name')}.py", "content": secret("content"),
        }),
        *tool_use("Edit", {
            "file_path": f"{ROOT}/a.py", "old_string": secret("old"), "new_string": secret("new"),
        }),
        *tool_use("Grep", {"pattern": secret("pattern"), "path": f"{ROOT}/{secret('folder')}"}),
        *tool_use("WebFetch", {"url": f"https://example.org/?q={secret('url')}", "prompt": "x"}),
        *tool_use("Task", {
            "description": f"Try {secret('task')}", "prompt": secret("brief"),
            "subagent_type": "Explore",
        }, f"It said {secret('report')}"),
        *tool_use("AskUserQuestion", {"questions": questions}, f"“{secret('answer')}”"),
        call("Bash", {"command": f"sleep 9 # {secret('open')}"}, "toolu_9"),
        result(f"<error>{secret('refused')}</error>", ok=False, call_id="toolu_9"),
        user(f"Go on with {secret('latest')}."),
    ]  # fmt: skip


def test_no_secret_of_a_session_is_written_or_printed(session: HookSession) -> None:
    session.write(make_transcript())
    results = [
        session.run_hook("SessionStart", source="startup"),
        session.run_hook("UserPromptSubmit", prompt=f"Use {secret('typed')}"),
        session.run_hook("Stop"),
        session.run_hook("PreCompact", custom_instructions=f"Keep {secret('instructions')}"),
        session.run_hook("SubagentStop", text=f"Summary: the key is {secret('summary')}."),
        session.run_hook("SessionStart", source="compact"),
        session.run_hook("PostCompact", compact_summary=f"The key is {secret('official')}."),
        session.run_hook("UserPromptSubmit", prompt="Go on."),
        session.run_hook("SessionEnd", reason="other"),
    ]
    assert [hook.exit_code for hook in results] == [0] * len(results)
    outputs = [hook.stdout + hook.stderr for hook in results]
    assert "always use the variable instead" in "".join(outputs), "no brief was printed"
    for command in (
        ["brief", "--session", "s1"], ["state", "--session", "s1", "--json"], ["status", "--json"],
        ["recall", "token", "--all-projects"], ["timeline", "--session", "s1"],
    ):  # fmt: skip
        process = subprocess.run(
            [sys.executable, "-m", "holdfast", *command], env=session.environment, cwd=session.root,
            capture_output=True, text=True, check=False, timeout=HOOK_TIMEOUT_SECONDS,
        )  # fmt: skip
        assert process.returncode == 0, (command, process.stderr)
        outputs.append(process.stdout + process.stderr)
    files = {str(path): path.read_bytes() for path in session.root.rglob("*") if path.is_file()}
    transcript = files.pop(str(session.transcript)).decode()
    assert str(session.database) in files
    secrets = find_secrets(transcript)
    assert len(secrets) > 25
    secrets |= {secret(place) for place in ("typed", "instructions", "summary", "official")}
    printed = {f"output {number}": text.encode() for number, text in enumerate(outputs)}
    leaks = [
        (token, where)
        for where, content in (files | printed).items()
        for token in secrets
        if token.encode() in content
    ]
    assert leaks == []


# No part of a secret of this length may be found.
PART_CHARS = 12


def make_disguised_transcript() -> tuple[list[Line], list[str]]:
    """Return a session in which every known format occurs, and its secrets."""
    lines = [user("Please keep the words of every tool in mind, and never print a key.")]
    secrets: list[str] = []
    for number, (_, text, hidden) in enumerate(load_formats()):
        secrets += hidden
        # A long line before it, so that a cut at some length comes before, in and after a secret.
        filler = "x" * (number * 7 % 500)
        if number % 4 == 0:
            lines += bash(f"cat note-{number}.txt", f"{filler}\n{text}\nmarker{number}")
        elif number % 4 == 1:
            lines.append(user(f"{filler}\n{text}\nUse it for marker{number}."))
        elif number % 4 == 2:
            content = {"file_path": f"{ROOT}/f{number}.txt", "content": text}
            lines += tool_use("Write", content, f"wrote marker{number}")
        else:
            lines.append(reply(f"I decided to keep marker{number}, because of this:\n\n{text}"))
    return lines, secrets


def find_parts(content: bytes, secrets: list[str]) -> set[str]:
    """Return the secrets of which a part is in the content."""
    text = content.decode("utf-8", "replace")
    parts = {
        secret[at : at + PART_CHARS]: secret
        for secret in secrets
        for at in range(0, max(1, len(secret) - PART_CHARS + 1), 4)
        if len(secret) >= PART_CHARS
    }
    return {secret for part, secret in parts.items() if part in text}


def read_database(path: Path) -> Iterator[bytes]:
    """Yield every value in a database, decompressed."""
    with closing(sqlite3.connect(path)) as connection:
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table'"
        ).fetchall()
        for (table,) in tables:
            for row in connection.execute(f'SELECT * FROM "{table}"').fetchall():
                for value in row:
                    data = value if isinstance(value, bytes) else str(value).encode()
                    yield data
                    for start in (data, data[1:]):
                        try:
                            yield zlib.decompress(start)
                        except zlib.error:
                            continue


def run_command(session: HookSession, *command: str) -> bytes:
    process = subprocess.run(
        [sys.executable, "-m", "holdfast", *command], env=session.environment, cwd=session.root,
        capture_output=True, check=False, timeout=HOOK_TIMEOUT_SECONDS,
    )  # fmt: skip
    assert process.returncode == 0, (command, process.stderr)
    return process.stdout + process.stderr


def test_no_disguised_secret_reaches_a_file_or_an_output(
    session: HookSession, start: Start
) -> None:
    lines, secrets = make_disguised_transcript()
    assert len(secrets) > 400
    session.write(lines)
    Path(session.demo.project_dir, ".holdfast").mkdir(parents=True)
    outputs: dict[str, bytes] = {}
    for number, (event, fields) in enumerate(
        (
            ("SessionStart", {"source": "startup"}),
            ("UserPromptSubmit", {"prompt": lines[2]["message"]["content"]}),
            ("Stop", {}),
            ("PreCompact", {}),
            ("SessionStart", {"source": "compact"}),
            ("SessionEnd", {"reason": "other"}),
        )
    ):
        hook = session.run_hook(event, **fields)
        assert hook.exit_code == 0
        outputs[f"{event} {number}"] = (hook.stdout + hook.stderr).encode()
    for command in (
        ("brief", "--session", "s1"), ("brief", "--session", "s1", "--json"),
        ("state", "--session", "s1", "--json"), ("status", "--json"),
        ("recall", "marker8", "--all-projects"), ("recall", "keep", "--all-projects", "--json"),
        ("timeline", "--session", "s1"), ("show", f"s1:L1-{len(lines)}", "--all-projects"),
        ("show", f"s1:L1-{len(lines)}", "--all-projects", "--json"),
        ("snapshots", "--session", "s1", "--json"),
    ):  # fmt: skip
        outputs[" ".join(command)] = run_command(session, *command)

    async def use_client(client: Client) -> list[str]:
        calls: list[tuple[str, dict[str, Any]]] = [
            ("recall", {"query": "keep", "max_tokens": 20_000, "all_projects": True}),
            ("show", {"ref": "s1:L1-400", "max_tokens": 20_000, "all_projects": True}),
            ("state", {"max_tokens": 20_000}),
        ]
        return [str(await client.call_tool(name, arguments)) for name, arguments in calls]

    outputs["mcp"] = "".join(
        run_client(session.demo.project_dir, use_client, **session.environment)
    ).encode()
    server = start(session.home)
    for _, text, _ in load_formats()[::3]:
        posted = server.post("/api/actions", tool_name="Bash", input={"command": text}, output=text)
        outputs[f"posted {len(outputs)}"] = json.dumps(posted).encode()
    outputs["actions"] = json.dumps(server.get("/api/actions?limit=100")).encode()
    outputs["session"] = json.dumps(server.get("/api/sessions/s1")).encode()
    outputs["found"] = json.dumps(server.get("/api/recall?q=keep&all_projects=true")).encode()
    outputs["stderr"] = server.stop()[1].encode()

    assert b"marker8" in outputs["recall marker8 --all-projects"]
    files = {str(path): path for path in session.root.rglob("*") if path.is_file()}
    del files[str(session.transcript)]
    leaks = {
        where: found for where, text in outputs.items() if (found := find_parts(text, secrets))
    }
    for name, path in files.items():
        contents = [path.read_bytes()]
        contents += read_database(path) if contents[0].startswith(b"SQLite format 3") else ()
        if found := find_parts(b"\n".join(contents), secrets):
            leaks[name] = found
    assert leaks == {}
