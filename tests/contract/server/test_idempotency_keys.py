"""A request that is repeated with the same idempotency key returns the row of the first one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from holdfast.ledger import work
from holdfast.ledger.schema import REQUESTS, TASKS
from holdfast.server.databases import Databases
from tests.contract.server.conftest import ApiClient, open_databases

TEXT_FIELDS = {"requests": "prompt", "tasks": "name", "subtasks": "description"}
EACH_KIND = pytest.mark.parametrize("kind", sorted(TEXT_FIELDS))


def make_body(api: ApiClient, kind: str, text: str = "go", session: str = "s1") -> dict[str, Any]:
    """A body to post without a key. Creates the parents of a task or subtask."""
    if kind == "requests":
        return {"session_id": session, "prompt": text}
    parent = {"session_id": session, "prompt": "login", "key": "parent"}
    request = api.post("/api/requests", **parent)["id"]
    if kind == "tasks":
        return {"request_id": request, "name": text}
    task = api.post("/api/tasks", request_id=request, name="Backend", key="parent")["id"]
    return {"task_id": task, "description": text}


def list_rows(api: ApiClient, kind: str, text: str = "go") -> list[Any]:
    rows = api.get(f"/api/{kind}")[kind]
    return [row for row in rows if row[TEXT_FIELDS[kind]] == text]


@EACH_KIND
def test_the_same_key_returns_the_same_row(api: ApiClient, kind: str) -> None:
    body = make_body(api, kind)
    first = api.post(f"/api/{kind}", **body, key="k1")
    assert api.post(f"/api/{kind}", **body, key="k1") == first
    assert api.post(f"/api/{kind}", **body, key="k2")["id"] != first["id"]
    assert api.post(f"/api/{kind}", **body)["id"] != first["id"]
    assert api.post(f"/api/{kind}", **body, key="")["id"] != first["id"]
    assert len(list_rows(api, kind)) == 4
    assert "key" not in first
    assert not {"retry", "retry_words"} & set(first)


@EACH_KIND
def test_the_same_key_with_another_text_is_refused(api: ApiClient, kind: str) -> None:
    body = make_body(api, kind, "x" * 200)
    first = api.post(f"/api/{kind}", **body, key="k1")
    problem = api.post(f"/api/{kind}", 409, **{**body, TEXT_FIELDS[kind]: "x" * 201}, key="k1")
    assert first["id"] in problem["detail"]
    assert "key" in problem["detail"]


def test_the_same_key_for_a_task_of_another_request_is_refused(api: ApiClient) -> None:
    body = make_body(api, "tasks")
    api.post("/api/tasks", **body, key="k1")
    other_request = api.post("/api/requests", session_id="s1", prompt="logout")["id"]
    problem = api.post("/api/tasks", 409, **{**body, "request_id": other_request}, key="k1")
    assert "key" in problem["detail"]


@EACH_KIND
def test_the_same_key_in_another_session_creates_another_row(api: ApiClient, kind: str) -> None:
    ids = {
        api.post(f"/api/{kind}", **make_body(api, kind, "go", session), key="k1")["id"]
        for session in ("s1", "s2")
    }
    assert len(ids) == 2


@EACH_KIND
def test_a_repeated_request_does_not_undo_later_changes(api: ApiClient, kind: str) -> None:
    body = make_body(api, kind)
    first = api.post(f"/api/{kind}", **body, key="k1", status="pending")
    api.patch(f"/api/{kind}/{first['id']}", status="completed")
    repeated = api.post(f"/api/{kind}", **body, key="k1", status="pending")
    assert (repeated["id"], repeated["status"]) == (first["id"], "completed")


@EACH_KIND
def test_concurrent_requests_with_one_key_create_one_row(
    api: ApiClient, kind: str, databases: Databases
) -> None:
    body = make_body(api, kind)

    def post_body(_: int) -> str:
        return str(api.post(f"/api/{kind}", **body, key="k1")["id"])

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(post_body, range(24)))
    assert len(ids) == len(list_rows(api, kind)) == 1


@EACH_KIND
def test_a_restarted_server_knows_earlier_keys(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, databases: Databases, api: ApiClient
) -> None:
    body = make_body(api, kind)
    first = api.post(f"/api/{kind}", **body, key="k1")
    restarted = open_databases(
        "postgres" if "postgres" in request.node.name else "sqlite", request, tmp_path
    )
    with restarted.connect() as db:
        parent = {
            "requests": lambda: {"project": "", "session": "s1"},
            "tasks": lambda: {"request": db.ledger.require(REQUESTS, body["request_id"])},
            "subtasks": lambda: {"task": db.ledger.require(TASKS, body["task_id"])},
        }[kind]()
        add = {"requests": work.add_request, "tasks": work.add_task, "subtasks": work.add_subtask}
        repeated = add[kind](db.ledger, 9e9, key="k1", **{TEXT_FIELDS[kind]: "go"}, **parent)  # type: ignore[operator]
    restarted.close()
    assert repeated["id"] == first["id"]


def test_keys_that_look_like_secrets_stay_distinct(api: ApiClient) -> None:
    keys = [f"ghp_{letter * 36}" for letter in "ab"]
    rows = [api.post("/api/requests", session_id="s1", prompt="go", key=key) for key in keys]
    assert rows[0]["id"] != rows[1]["id"]


def test_a_key_is_added_to_the_same_request_from_the_transcript(api: ApiClient) -> None:
    with api.databases.connect() as db:
        from_transcript = work.add_request(
            db.ledger, 1.0, project="p", session="s1", prompt="go", source="L3"
        )
    for _ in range(2):
        posted = api.post("/api/requests", session_id="s1", prompt="Go", key="k1")
        assert posted["id"] == from_transcript["id"]
    assert len(list_rows(api, "requests")) == 1


def test_the_key_of_a_deleted_row_creates_a_new_row(api: ApiClient) -> None:
    body = {"session_id": "s1", "prompt": "go", "key": "k1"}
    api.delete(f"/api/requests/{api.post('/api/requests', **body)['id']}")
    recreated = api.post("/api/requests", **body)
    assert api.post("/api/requests", **body) == recreated
    assert len(list_rows(api, "requests")) == 1


@pytest.mark.parametrize("key", ["x" * 201, 7, None])
def test_a_key_that_is_too_long_or_no_text_is_refused(api: ApiClient, key: Any) -> None:
    problem = api.post("/api/requests", 400, session_id="s1", prompt="go", key=key)
    assert "key" in problem["detail"]
