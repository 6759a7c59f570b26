"""The Claude Agent SDK with the real client, as a summarizer."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.conversations.validation import parse_checkpoint

from .claude_code import VERSIONS, required_client
from .requirements import in_new_namespace

pytest.importorskip("claude_agent_sdk", reason="the claude-agent extra is not installed")

ROOT = Path(__file__).parents[2]
LISTS = {"completed": ["read it"], "pending": ["write tests"]}


def summarise(folder: Path, *answers: Any, seconds: float = 60.0) -> tuple[Any, list[Any]]:
    """What the summarizer said, and what the model was sent."""
    home, project, record = folder / "home", folder / "project", folder / "record.jsonl"
    home.mkdir()
    project.mkdir()
    given = {
        "cli": str(required_client(VERSIONS[0])), "answers": answers, "seconds": seconds,
        "record": str(record), "cwd": str(project),
    }  # fmt: skip
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*in_new_namespace(), sys.executable, "-m", "tests.client.agent_sdk_run"],
        input=json.dumps(given), capture_output=True, text=True, env=env, cwd=ROOT, timeout=180,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    return json.loads(done.stdout.splitlines()[-1]), [json.loads(line)["body"] for line in lines]


def test_a_summary_comes_through_the_real_client(tmp_path: Path) -> None:
    told, (body,) = summarise(tmp_path, {"text": f"Here it is:\n{json.dumps(LISTS)}", "usage": 700})
    assert parse_checkpoint(told["content"]).pending == ("write tests",)
    assert told["input"] == 700
    assert "Never push to main." in json.dumps(body["messages"])
    assert not body.get("tools"), "nothing can be done there but answer"
    assert "thinking" not in body or body["thinking"]["type"] == "disabled"


@pytest.mark.parametrize("answer", [{"text": ""}, {"error": "no such model"}])
def test_what_goes_wrong_in_it_is_explained(tmp_path: Path, answer: Any) -> None:
    told, _ = summarise(tmp_path, answer)
    assert told["error"].startswith("The model gave no usable summary: ")
    assert len(told["error"]) > 40


def test_a_client_that_takes_too_long_is_abandoned(tmp_path: Path) -> None:
    told, _ = summarise(tmp_path, {"text": "late"}, seconds=0.01)
    assert "took too long" in told["error"]
    assert told["input"] > 0, "what was sent counts as spent"
