"""Secrets in every part of a session are neither stored nor printed by real processes."""

from __future__ import annotations

import re
import subprocess
import sys

from tests.unit.transcript_lines import ROOT, Line, bash, call, reply, result, tool_use, user

from .hook_session import HOOK_TIMEOUT_SECONDS, HookSession

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
