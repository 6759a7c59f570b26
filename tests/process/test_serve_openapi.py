"""Whatever the description of the API allows or forbids to send, the answer is one it describes,
field by field.

`HOLDFAST_TEST_EXAMPLES=300 pytest tests/process/test_serve_openapi.py` looks longer.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.process.serving import PATIENCE, Server

EXAMPLES = int(os.environ.get("HOLDFAST_TEST_EXAMPLES", "6"))
# `make test` visits one route in this many; the contract tests check what all routes answer.
FAST_EVERY = 5
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance,
    response_schema_conformance,
]  # fmt: skip
# A stream does not end.
ENDLESS = ("/api/events",)


class Visitor:
    """Sends what schemathesis makes up, now and then with the id of something that is there."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.session = requests.Session()
        self.seen: Counter[int] = Counter()
        self.known: dict[str, list[str]] = {}

    def settle(self) -> None:
        """Something of each kind to be named; what was there may have been deleted."""
        post = self.server.post
        project = post("/api/projects", path="/srv/a")["id"]
        request = post("/api/requests", session_id="s1", project_id=project, prompt="x")["id"]
        task = post("/api/tasks", request_id=request, name="Backend", wave_number=1)["id"]
        subtask = post("/api/subtasks", task_id=task, description="routes")["id"]
        action = post("/api/actions", session_id="s1", tool_name="Read")["id"]
        message = post("/api/messages", from_agent_id="a1", topic="t")["id"]
        post("/api/agents", agent_id="a1", session_id="s1")
        post("/api/compact/save", session_id="s1", context_summary="so far")
        self.known = {
            "ident": [project, request, task, subtask, action, message, "a1"],
            "session_id": ["s1"], "project_id": [project], "request_id": [request],
            "task_id": [task], "task_list_id": [task], "blocked_by": [subtask],
            "agent_id": ["a1"], "subtask_id": [subtask],
        }  # fmt: skip

    def visit(self, operation: Any, mode: GenerationMode) -> None:
        @seed(7)
        @settings(
            max_examples=EXAMPLES, database=None, deadline=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(operation.as_strategy(generation_mode=mode), st.data())
        def one(case: Any, data: Any) -> None:
            if data.draw(st.booleans()):
                self._name_what_is_there(case, data)
            answer = case.call(base_url=self.server.url, session=self.session, timeout=PATIENCE)
            self.seen[answer.status_code] += 1
            case.validate_response(answer, checks=CHECKS)

        one()

    def _name_what_is_there(self, case: Any, data: Any) -> None:
        for part in (case.path_parameters, case.query, case.body):
            for name in self.known if isinstance(part, dict) else ():
                if isinstance(part.get(name), str):
                    part[name] = data.draw(st.sampled_from(self.known[name]))


def operations(server: Server) -> Iterator[Any]:
    schema = schemathesis.openapi.from_dict(server.get("/openapi/openapi.json"))
    for found in schema.get_all_operations():
        operation = found.ok()
        if operation.path not in ENDLESS:
            yield operation


def modes(operation: Any) -> list[GenerationMode]:
    """Nothing that can stand in a path is wrong there."""
    can_be_wrong = operation.definition.raw.get("requestBody") or any(
        one["in"] == "query" for one in operation.definition.raw.get("parameters", ())
    )
    return [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if can_be_wrong else [])]


@pytest.mark.parametrize(
    ("server", "every"),
    [
        ("sqlite", FAST_EVERY),
        pytest.param("sqlite", 1, marks=pytest.mark.slow),
        pytest.param("postgres", 1, marks=pytest.mark.slow),
    ],
    indirect=["server"],
)
def test_every_answer_is_one_that_is_described(server: Server, every: int) -> None:
    visitor = Visitor(server)
    failed = []
    for operation in islice(operations(server), 0, None, every):
        visitor.settle()
        for mode in modes(operation):
            try:
                visitor.visit(operation, mode)
            except Exception as problem:
                failed.append(f"{operation.label} ({mode.name}): {str(problem)[:2000]}")
    code, said = server.stop()
    assert not failed, "\n\n".join(failed)
    expected = {200, 201, 204, 400, 404} if every == 1 else {200, 400}
    assert expected <= set(visitor.seen), "or it did not try much"
    assert code == 0
    assert "error:" not in said
