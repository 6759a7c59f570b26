"""A secret in every place of a session, and real processes: none of it is written or printed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.process.scene import PATIENCE, Scene
from tests.unit.transcript_lines import ROOT, Line, bash, call, reply, result, used, user

BODY = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def secret(place: str) -> str:
    """Another one for each place, so that a leak tells where it came from."""
    return f"ghp_{place.replace(' ', '')[:12]:7<12}{BODY}"


def session() -> list[Line]:
    plan = [{"content": f"Use {secret('plan')}", "status": "pending", "activeForm": "Using"}]
    asked = [{"question": f"Is {secret('question')} the key?", "options": [], "header": "Key"}]
    command = (
        f"gh auth login --with-token {secret('flag')} && "
        f"curl -H 'X-Key: {secret('header')}' https://api.example.org/{secret('path')}"
    )
    return [
        user(f"Never print {secret('prompt')}, always use the variable instead."),
        reply(f"I decided to use {secret('reply')} because it still works."),
        *used("TodoWrite", {"todos": plan}),
        *bash(command, f"token {secret('output')}\nAssertionError: {secret('error')}", ok=False),
        *bash(f"GH_TOKEN={secret('environ')} pytest -q", f"FAILED {secret('failing')}", ok=False),
        *bash(f"git commit -m 'Use {secret('message')}'", f"[main 3f2c1ab] {secret('commit')}"),
        *used("Write", {"file_path": f"{ROOT}/{secret('name')}.py", "content": secret("content")}),
        *used("Edit", {
            "file_path": f"{ROOT}/a.py", "old_string": secret("old"), "new_string": secret("new"),
        }),
        *used("Grep", {"pattern": secret("pattern"), "path": f"{ROOT}/{secret('folder')}"}),
        *used("WebFetch", {"url": f"https://example.org/?q={secret('url')}", "prompt": "x"}),
        *used("Task", {
            "description": f"Try {secret('task')}", "prompt": secret("brief"),
            "subagent_type": "Explore",
        }, f"It said {secret('report')}"),
        *used("AskUserQuestion", {"questions": asked}, f"“{secret('answer')}”"),
        call("Bash", {"command": f"sleep 9 # {secret('open')}"}, "toolu_9"),
        result(f"<error>{secret('refused')}</error>", ok=False, ident="toolu_9"),
        user(f"Go on with {secret('latest')}."),
    ]  # fmt: skip


def places() -> list[str]:
    text = Path(__file__).read_text().split("def session")[1].split("def places")[0]
    return [part.partition(")")[0].strip("\"'") for part in text.split("secret(")[1:]]


def test_no_secret_of_a_session_is_written_or_printed(scene: Scene) -> None:
    scene.write(session())
    said = [
        scene.fire("SessionStart", source="startup"),
        scene.fire("UserPromptSubmit", prompt=f"Use {secret('typed')}"),
        scene.fire("Stop"),
        scene.fire("PreCompact", custom_instructions=f"Keep {secret('instructions')}"),
    ]
    scene.wait_for_names()
    said += [
        scene.fire("SubagentStop", text=f"Summary: the key is {secret('summary')}."),
        scene.fire("SessionStart", source="compact"),
        scene.fire("PostCompact", compact_summary=f"The key is {secret('official')}."),
        scene.fire("UserPromptSubmit", prompt="Go on."),
        scene.fire("SessionEnd", reason="other"),
    ]
    shown = [one.out + one.err for one in said]
    assert [one.code for one in said] == [0] * len(said)
    assert "always use the variable instead" in "".join(shown), "a brief was put back"
    for command in (
        ["brief", "--session", "s1"], ["state", "--session", "s1", "--json"], ["status", "--json"],
        ["recall", "token", "--all-projects"], ["timeline", "--session", "s1"],
    ):  # fmt: skip
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", *command], env=scene.environment, cwd=scene.root,
            capture_output=True, text=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stderr)
        shown.append(done.stdout + done.stderr)
    written = {path: path.read_bytes() for path in scene.root.rglob("*") if path.is_file()}
    del written[scene.transcript]
    assert any(path.name == "holdfast.db" for path in written)
    known = [*places(), "typed", "instructions", "summary", "official"]
    assert len(known) > 25
    leaked = [
        (place, where)
        for place in known
        for where, text in [
            *((str(path), data) for path, data in written.items()),
            *((f"output {number}", text.encode()) for number, text in enumerate(shown)),
        ]
        if secret(place).encode() in text
    ]
    assert leaked == []
