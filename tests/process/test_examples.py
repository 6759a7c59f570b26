"""Every example runs unchanged against a local model server and stays within its window."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.contract.models.fake_models import (
    Response,
    make_anthropic_response,
    make_openai_response,
    run_model_server,
)
from tests.unit.conversations.api_rules import (
    assert_anthropic_accepts,
    assert_openai_accepts,
    count_tokens,
    get_text,
)

EXAMPLES = Path(__file__).parents[2] / "examples"
REQUIRED_PACKAGES = {
    "anthropic_loop": ("anthropic",),
    "openai_loop": ("openai",),
    "condenser": ("openai",),
    "langchain_agent": ("langchain", "langchain_anthropic"),
}
WINDOW_TOKENS = 2000
QUESTIONS = 40
RULE = "Never answer in German."


def make_responses(name: str) -> list[Response]:
    """One text for each question, and a tool call before every fifth."""
    is_openai = REQUIRED_PACKAGES[name] == ("openai",)
    responses = []
    for number in range(QUESTIONS):
        if number % 5 == 2:
            responses.append(_make_tool_call(number, is_openai))
        text = f"answer {number}: " + "quite a few words " * 12
        responses.append(make_openai_response(text) if is_openai else make_anthropic_response(text))
    return responses


def _make_tool_call(number: int, is_openai: bool) -> Response:
    call_id, arguments = f"call_{number}", {"text": "a b c"}
    response: Any = (
        make_openai_response(None, "tool_calls")
        if is_openai
        else make_anthropic_response("", "tool_use")
    )
    if is_openai:
        function = {"name": "word_count", "arguments": json.dumps(arguments)}
        call: Any = {"id": call_id, "type": "function", "function": function}
        response.body["choices"][0]["message"]["tool_calls"] = [call]
    else:
        call = {"type": "tool_use", "id": call_id, "name": "word_count", "input": arguments}
        response.body["content"] = [call]
    return response  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "name",
    [
        "anthropic_loop",
        "openai_loop",
        pytest.param("condenser", marks=pytest.mark.slow),
        # Importing langchain takes longer than the example itself.
        pytest.param("langchain_agent", marks=pytest.mark.slow),
    ],
)
def test_an_example_runs_and_its_requests_fit_the_window(name: str, tmp_path: Path) -> None:
    for package in REQUIRED_PACKAGES[name]:
        pytest.importorskip(package, reason=f"{package} is not installed")
    prompts = [RULE, *(f"Question {n} about the queue of the mailer?" for n in range(1, QUESTIONS))]
    with run_model_server(*make_responses(name)) as server:
        env = {
            **os.environ, "HOLDFAST_HOME": str(tmp_path), "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "none", "OPENAI_BASE_URL": f"{server.url}/v1",
            "OPENAI_API_KEY": "none", "LANGSMITH_TRACING": "false",
        }  # fmt: skip
        process = subprocess.run(
            [sys.executable, str(EXAMPLES / f"{name}.py"), str(WINDOW_TOKENS)],
            input="\n".join(prompts), capture_output=True, text=True, env=env, timeout=120,
            check=False,
        )  # fmt: skip
    assert process.returncode == 0, process.stderr[-2000:]
    assert process.stdout.count("answer ") == QUESTIONS
    bodies = [body for _, body, _ in server.requests]
    assert len(bodies) == QUESTIONS + QUESTIONS // 5
    for body in bodies:
        if REQUIRED_PACKAGES[name] == ("openai",):
            assert_openai_accepts(body)
        else:
            assert_anthropic_accepts(_with_content_blocks(body))
        assert count_tokens({"messages": body["messages"]}) <= WINDOW_TOKENS
    assert RULE in get_text({"messages": bodies[-1]["messages"]})
    assert "compactions=0" not in process.stderr


def _with_content_blocks(body: dict[str, Any]) -> dict[str, Any]:
    """The body with each text as a list with one block, which is what the check expects."""
    messages = [
        {"role": message["role"], "content": [{"type": "text", "text": message["content"]}]}
        if isinstance(message["content"], str)
        else message
        for message in body["messages"]
    ]
    return {"messages": messages}


def test_the_example_of_a_brief_reads_messages_and_prints_the_brief() -> None:
    messages = [
        {"role": "user", "content": f"{RULE} Fix the retry of the queue."},
        {"role": "assistant", "content": "I look at the queue."},
    ]
    process = subprocess.run(
        [sys.executable, str(EXAMPLES / "brief.py"), "500"],
        input=json.dumps(messages), capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert f"- “{RULE}” (L1)" in process.stdout
    assert "0 items left out" in process.stderr


def test_every_example_has_a_test() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*REQUIRED_PACKAGES, "brief"}
