"""Who asks again because no answer came gets the row that was made the first time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from holdfast.ledger import work
from holdfast.ledger.schema import REQUESTS, SUBTASKS, TASKS
from holdfast.server.databases import Databases
from tests.contract.server.conftest import Caller, databases_at

TABLES = {"requests": REQUESTS, "tasks": TASKS, "subtasks": SUBTASKS}
WORDS = {"requests": "prompt", "tasks": "name", "subtasks": "description"}
KINDS = pytest.mark.parametrize("kind", sorted(TABLES))


def body(api: Caller, kind: str, words: str = "go", session: str = "s1") -> dict[str, Any]:
    """What a caller posts, and what it hangs on."""
    told = {"session_id": session, "prompt": "login", "key": "above"}
    if kind == "requests":
        return {"session_id": session, "prompt": words}
    request = api.post("/api/requests", **told)["id"]
    if kind == "tasks":
        return {"request_id": request, "name": words}
    task = api.post("/api/tasks", request_id=request, name="Backend", key="above")["id"]
    return {"task_id": task, "description": words}


def rows(api: Caller, kind: str, words: str = "go") -> list[Any]:
    found = api.get(f"/api/{kind}")[kind]
    return [one for one in found if one[WORDS[kind]] == words]


@KINDS
def test_the_same_key_is_the_same_row(api: Caller, kind: str) -> None:
    told = body(api, kind)
    first = api.post(f"/api/{kind}", **told, key="k1")
    assert api.post(f"/api/{kind}", **told, key="k1") == first
    assert api.post(f"/api/{kind}", **told, key="k2")["id"] != first["id"]
    assert api.post(f"/api/{kind}", **told)["id"] != first["id"]
    assert api.post(f"/api/{kind}", **told, key="")["id"] != first["id"]
    assert len(rows(api, kind)) == 4
    assert "key" not in first
    assert not {"retry", "retry_words"} & set(first)


@KINDS
def test_the_same_key_with_other_words_is_refused(api: Caller, kind: str) -> None:
    told = body(api, kind, "x" * 200)
    first = api.post(f"/api/{kind}", **told, key="k1")
    refused = api.post(f"/api/{kind}", 409, **{**told, WORDS[kind]: "x" * 201}, key="k1")
    assert first["id"] in refused["detail"]
    assert "key" in refused["detail"]


def test_the_same_key_for_another_request_is_refused(api: Caller) -> None:
    told = body(api, "tasks")
    api.post("/api/tasks", **told, key="k1")
    other = api.post("/api/requests", session_id="s1", prompt="logout")["id"]
    refused = api.post("/api/tasks", 409, **{**told, "request_id": other}, key="k1")
    assert "key" in refused["detail"]


@KINDS
def test_another_session_s_key_is_another_s(api: Caller, kind: str) -> None:
    made = {api.post(f"/api/{kind}", **body(api, kind, "go", session), key="k1")["id"]
            for session in ("s1", "s2")}  # fmt: skip
    assert len(made) == 2


@KINDS
def test_what_happened_since_is_not_undone_by_asking_again(api: Caller, kind: str) -> None:
    told = body(api, kind)
    first = api.post(f"/api/{kind}", **told, key="k1", status="pending")
    api.patch(f"/api/{kind}/{first['id']}", status="completed")
    again = api.post(f"/api/{kind}", **told, key="k1", status="pending")
    assert (again["id"], again["status"]) == (first["id"], "completed")


@KINDS
def test_many_who_ask_with_one_key_at_once_get_one_row(
    api: Caller, kind: str, databases: Databases
) -> None:
    told = body(api, kind)

    def ask(_: int) -> str:
        return str(api.post(f"/api/{kind}", **told, key="k1")["id"])

    with ThreadPoolExecutor(8) as callers:
        made = set(callers.map(ask, range(24)))
    assert len(made) == len(rows(api, kind)) == 1


@KINDS
def test_a_key_is_known_after_the_server_was_started_anew(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, databases: Databases, api: Caller
) -> None:
    told = body(api, kind)
    first = api.post(f"/api/{kind}", **told, key="k1")
    other = databases_at(
        "postgres" if "postgres" in request.node.name else "sqlite", request, tmp_path
    )
    with other.connect() as db:
        above = {
            "requests": lambda: {"project": "", "session": "s1"},
            "tasks": lambda: {"request": db.ledger.require(REQUESTS, told["request_id"])},
            "subtasks": lambda: {"task": db.ledger.require(TASKS, told["task_id"])},
        }[kind]()
        add = {"requests": work.add_request, "tasks": work.add_task, "subtasks": work.add_subtask}
        again = add[kind](db.ledger, 9e9, key="k1", **{WORDS[kind]: "go"}, **above)  # type: ignore[operator]
    other.close()
    assert again["id"] == first["id"]


def test_a_key_that_looks_like_a_secret_is_not_another_s(api: Caller) -> None:
    keys = [f"ghp_{letter * 36}" for letter in "ab"]
    made = [api.post("/api/requests", session_id="s1", prompt="go", key=key) for key in keys]
    assert made[0]["id"] != made[1]["id"]


def test_what_the_fold_has_found_first_is_met_and_takes_the_key(api: Caller) -> None:
    with api.databases.connect() as db:
        found = work.add_request(
            db.ledger, 1.0, project="p", session="s1", prompt="go", source="L3"
        )
    for _ in range(2):
        assert (
            api.post("/api/requests", session_id="s1", prompt="Go", key="k1")["id"] == (found["id"])
        )
    assert len(rows(api, "requests")) == 1


def test_what_was_deleted_is_made_again_by_its_key(api: Caller) -> None:
    told = {"session_id": "s1", "prompt": "go", "key": "k1"}
    api.delete(f"/api/requests/{api.post('/api/requests', **told)['id']}")
    made = api.post("/api/requests", **told)
    assert api.post("/api/requests", **told) == made
    assert len(rows(api, "requests")) == 1


@pytest.mark.parametrize("key", ["x" * 201, 7, None])
def test_a_key_is_a_short_text(api: Caller, key: Any) -> None:
    refused = api.post("/api/requests", 400, session_id="s1", prompt="go", key=key)
    assert "key" in refused["detail"]
