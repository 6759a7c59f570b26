"""The summarizer that uses the Claude Agent SDK, with the real client."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.conversations.validation import parse_checkpoint

from .claude_code import VERSIONS, install_client
from .requirements import new_namespace_command

pytest.importorskip("claude_agent_sdk", reason="the claude-agent extra is not installed")

ROOT = Path(__file__).parents[2]
CHECKPOINT = {"completed": ["read it"], "pending": ["write tests"]}


def summarise(folder: Path, *answers: Any, seconds: float = 60.0) -> tuple[Any, list[Any]]:
    """Run the summarizer and return its result and the bodies of the model's requests."""
    home, project, record = folder / "home", folder / "project", folder / "record.jsonl"
    home.mkdir()
    project.mkdir()
    arguments = {
        "cli": str(install_client(VERSIONS[0])), "answers": answers, "seconds": seconds,
        "record": str(record), "cwd": str(project),
    }  # fmt: skip
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    completed = subprocess.run(
        [*new_namespace_command(), sys.executable, "-m", "tests.client.agent_sdk_run"],
        input=json.dumps(arguments), capture_output=True, text=True, env=env, cwd=ROOT, timeout=180,
        check=False,
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr[-3000:]
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    return json.loads(completed.stdout.splitlines()[-1]), [
        json.loads(line)["body"] for line in lines
    ]


def test_the_real_client_returns_a_summary(tmp_path: Path) -> None:
    answer = {"text": f"Here it is:\n{json.dumps(CHECKPOINT)}", "usage": 700}
    result, (body,) = summarise(tmp_path, answer)
    assert parse_checkpoint(result["content"]).pending == ("write tests",)
    assert result["input"] == 700
    assert "Never push to main." in json.dumps(body["messages"])
    assert not body.get("tools"), "the summarizer must have no tools"
    assert "thinking" not in body or body["thinking"]["type"] == "disabled"


@pytest.mark.parametrize("answer", [{"text": ""}, {"error": "no such model"}])
def test_a_failure_is_explained_in_the_error(tmp_path: Path, answer: Any) -> None:
    result, _ = summarise(tmp_path, answer)
    assert result["error"].startswith("The model gave no usable summary: ")
    assert len(result["error"]) > 40


def test_a_client_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    result, _ = summarise(tmp_path, {"text": "late"}, seconds=0.01)
    assert "took too long" in result["error"]
    assert result["input"] > 0, "tokens that were sent count as used"
