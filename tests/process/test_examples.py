"""Every example runs unchanged against a local model server and stays within its window."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.contract.models.fake_models import Answer, claude, gpt, serving
from tests.unit.conversations.api_rules import (
    assert_anthropic_accepts,
    assert_openai_accepts,
    tokens,
    told,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
NEEDS = {
    "anthropic_loop": ("anthropic",),
    "openai_loop": ("openai",),
    "condenser": ("openai",),
    "langchain_agent": ("langchain", "langchain_anthropic"),
}
LIMIT = 2000
QUESTIONS = 40
RULE = "Never answer in German."


def answers(name: str) -> list[Answer]:
    """Sometimes a tool call, else text."""
    is_openai = NEEDS[name] == ("openai",)
    found = []
    for number in range(QUESTIONS):
        if number % 5 == 2:
            found.append(_call(number, is_openai))
        words = f"answer {number}: " + "quite a few words " * 12
        found.append(gpt(words) if is_openai else claude(words))
    return found


def _call(number: int, is_openai: bool) -> Answer:
    ident, given = f"call_{number}", '{"text": "a b c"}'
    made: Any = gpt(None, "tool_calls") if is_openai else claude("", "tool_use")
    if is_openai:
        function = {"name": "word_count", "arguments": given}
        call: Any = {"id": ident, "type": "function", "function": function}
        made.body["choices"][0]["message"]["tool_calls"] = [call]
    else:
        call = {"type": "tool_use", "id": ident, "name": "word_count", "input": {"text": "a b c"}}
        made.body["content"] = [call]
    return made  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "name",
    [
        "anthropic_loop",
        "openai_loop",
        pytest.param("condenser", marks=pytest.mark.slow),
        # To import langchain takes longer than the example itself.
        pytest.param("langchain_agent", marks=pytest.mark.slow),
    ],
)
def test_an_example_runs_and_its_requests_always_fit(name: str, tmp_path: Path) -> None:
    for package in NEEDS[name]:
        pytest.importorskip(package, reason=f"{package} is not installed")
    lines = [RULE, *(f"Question {n} about the queue of the mailer?" for n in range(1, QUESTIONS))]
    with serving(*answers(name)) as server:
        env = {
            **os.environ, "HOLDFAST_HOME": str(tmp_path), "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "none", "OPENAI_BASE_URL": f"{server.url}/v1",
            "OPENAI_API_KEY": "none", "LANGSMITH_TRACING": "false",
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, str(EXAMPLES / f"{name}.py"), str(LIMIT)], input="\n".join(lines),
            capture_output=True, text=True, env=env, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("answer ") == QUESTIONS
    bodies = [given for _, given, _ in server.asked]
    assert len(bodies) == QUESTIONS + QUESTIONS // 5
    for given in bodies:
        if NEEDS[name] == ("openai",):
            assert_openai_accepts(given)
        else:
            assert_anthropic_accepts(_as_blocks(given))
        assert tokens({"messages": given["messages"]}) <= LIMIT
    assert RULE in told({"messages": bodies[-1]["messages"]})
    assert "compactions=0" not in done.stderr


def _as_blocks(given: dict[str, Any]) -> dict[str, Any]:
    """Text content as one block."""
    messages = [
        {"role": one["role"], "content": [{"type": "text", "text": one["content"]}]}
        if isinstance(one["content"], str)
        else one
        for one in given["messages"]
    ]
    return {"messages": messages}


def test_every_example_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(NEEDS)
