"""Requests that the OpenAPI schema allows or forbids get responses that match the schema.

`HOLDFAST_TEST_EXAMPLES=300 pytest tests/process/test_serve_openapi.py` tries more requests.
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

from tests.process.serving import Server
from tests.process.waiting import TIMEOUT_SECONDS

EXAMPLES = int(os.environ.get("HOLDFAST_TEST_EXAMPLES", "6"))
# `make test` tries every fifth operation; the contract tests cover the responses of all.
FAST_STEP = 5
CHECKS = [
    not_a_server_error, status_code_conformance, content_type_conformance,
    response_schema_conformance,
]  # fmt: skip
# The response of an event stream does not end.
STREAM_PATHS = ("/api/events",)


class Fuzzer:
    """Sends requests that schemathesis generates, some of them with ids of rows that exist."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.session = requests.Session()
        self.status_codes: Counter[int] = Counter()
        self.existing_ids: dict[str, list[str]] = {}

    def create_rows(self) -> None:
        """Create a row of each kind; those of an earlier call may have been deleted."""
        post = self.server.post
        project = post("/api/projects", path="/srv/a")["id"]
        request = post("/api/requests", session_id="s1", project_id=project, prompt="x")["id"]
        task = post("/api/tasks", request_id=request, name="Backend", wave_number=1)["id"]
        subtask = post("/api/subtasks", task_id=task, description="routes")["id"]
        action = post("/api/actions", session_id="s1", tool_name="Read")["id"]
        message = post("/api/messages", from_agent_id="a1", topic="t")["id"]
        post("/api/agents", agent_id="a1", session_id="s1")
        post("/api/compact/save", session_id="s1", context_summary="so far")
        self.existing_ids = {
            "ident": [project, request, task, subtask, action, message, "a1"],
            "session_id": ["s1"], "project_id": [project], "request_id": [request],
            "task_id": [task], "task_list_id": [task], "blocked_by": [subtask],
            "agent_id": ["a1"], "subtask_id": [subtask],
        }  # fmt: skip

    def send_requests(self, operation: Any, mode: GenerationMode) -> None:
        @seed(7)
        @settings(
            max_examples=EXAMPLES, database=None, deadline=None, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(operation.as_strategy(generation_mode=mode), st.data())
        def send(case: Any, data: Any) -> None:
            if data.draw(st.booleans()):
                self._use_existing_ids(case, data)
            response = case.call(
                base_url=self.server.url, session=self.session, timeout=TIMEOUT_SECONDS
            )
            self.status_codes[response.status_code] += 1
            case.validate_response(response, checks=CHECKS)

        send()

    def _use_existing_ids(self, case: Any, data: Any) -> None:
        for part in (case.path_parameters, case.query, case.body):
            for name in self.existing_ids if isinstance(part, dict) else ():
                if isinstance(part.get(name), str):
                    part[name] = data.draw(st.sampled_from(self.existing_ids[name]))


def list_operations(server: Server) -> Iterator[Any]:
    schema = schemathesis.openapi.from_dict(server.get("/openapi/openapi.json"))
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path not in STREAM_PATHS:
            yield operation


def list_modes(operation: Any) -> list[GenerationMode]:
    """Only bodies and queries can violate the schema: every string is allowed in a path."""
    can_be_invalid = operation.definition.raw.get("requestBody") or any(
        parameter["in"] == "query" for parameter in operation.definition.raw.get("parameters", ())
    )
    return [GenerationMode.POSITIVE, *([GenerationMode.NEGATIVE] if can_be_invalid else [])]


@pytest.mark.parametrize(
    ("server", "step"),
    [
        ("sqlite", FAST_STEP),
        pytest.param("sqlite", 1, marks=pytest.mark.slow),
        pytest.param("postgres", 1, marks=pytest.mark.slow),
    ],
    indirect=["server"],
)
def test_every_response_matches_the_schema(server: Server, step: int) -> None:
    fuzzer = Fuzzer(server)
    failures = []
    for operation in islice(list_operations(server), 0, None, step):
        fuzzer.create_rows()
        for mode in list_modes(operation):
            try:
                fuzzer.send_requests(operation, mode)
            except Exception as error:
                failures.append(f"{operation.label} ({mode.name}): {str(error)[:2000]}")
    exit_code, stderr = server.stop()
    assert not failures, "\n\n".join(failures)
    expected = {200, 201, 204, 400, 404} if step == 1 else {200, 400}
    assert expected <= set(fuzzer.status_codes), "the requests were not varied enough"
    assert exit_code == 0
    assert "error:" not in stderr
