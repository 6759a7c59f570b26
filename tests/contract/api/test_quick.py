"""The short way answers as the long way does; what is unusual goes the long way."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from holdfast.errors import StoreUnavailable
from holdfast.ledger import ids
from holdfast.ledger.tables import ACTIONS, CONTEXTS
from holdfast.surfaces.api import pause, quick
from holdfast.surfaces.api.desk import Desk
from holdfast.surfaces.api.held import KEY as HELD_TO
from holdfast.surfaces.api.local_desk import LocalDesk
from holdfast.surfaces.api.quick import SMALL, Quick
from tests.contract.api.conftest import Caller, a_state
from tests.contract.api.test_restore import folded

# A header that means nothing, except that the request is not a plain one.
LONG = {"Content-Encoding": "identity"}
# A project has the id of its path.
PROJECT = ids.ident("project", "/srv/a")
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def post(api: Caller, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any, str]:
    kind = {"Content-Type": "application/json", **headers}
    answer = api.client.post(path, content=body, headers=kind)
    told = answer.json()
    for name in ("id", "created_at", "updated_at", "saved_at"):
        # What differs from one request to the next, whichever way it goes.
        if isinstance(told, dict) and name in told:
            told[name] = len(told[name])
    return answer.status_code, told, answer.headers["content-type"]


ACTIONS_SENT: list[Any] = [
    {"tool_name": "Read"},
    {"tool_name": "Write", "session_id": "s1", "project_id": PROJECT, "subtask_id": "null",
     "file_paths": ["/app/a.php", "/é"], "exit_code": -1, "duration_ms": 5,
     "input": {"a": [1, None, "é\0"]}, "output": "done", "metadata": {"k": {"v": 1.5}}},
    {"tool_name": "Bash", "input": {"command": f"deploy {SECRET}"}, "unknown": True},
    {"tool_name": f"Bash {SECRET}"},
    {"tool_name": "mcp__x", "tool_type": "mcp", "id": "", "tool_use_id": ""},
    {"tool_name": "Read", "project_id": "nope"},
    {"tool_name": "Read", "subtask_id": "nope"},
    {"tool_name": ""},
    {"tool_name": 5},
    {"tool_name": "x", "exit_code": "0"},
    {"tool_name": "x", "file_paths": "a"},
    {"tool_name": "x" * 501},
    {},
    [],
    None,
]  # fmt: skip
SAVES: list[Any] = [
    {"session_id": "s1", "context_summary": "Working", "key_decisions": ["JWT"]},
    {"session_id": "s1", "project_id": PROJECT, "cwd": "/srv/a", "n": 1},
    {"session_id": "s1", "project_id": "nope", "n": 1},
    {"session_id": "s1", "cwd": "/nowhere", "n": 2},
    {"session_id": "s1", "summary": f"token {SECRET}"},
    {"session_id": 5},
    {"session_id": ""},
    {"context_summary": "whose?"},
    ["session_id"],
]
RESTORES: list[Any] = [
    {"session_id": "s1"},
    {"session_id": "s1", "agent_id": "a", "agent_type": "orchestrator", "max_tokens": 2000},
    {"session_id": "s1", "max_tokens": 0},
    {"session_id": "s1", "max_tokens": "many"},
    {},
]


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        *(("/api/actions", body) for body in ACTIONS_SENT),
        *(("/api/compact/save", body) for body in SAVES),
        *(("/api/compact/restore", body) for body in RESTORES),
    ],
)
def test_both_ways_give_the_same_answer(api: Caller, path: str, sent: Any) -> None:
    assert api.post("/api/projects", path="/srv/a")["id"] == PROJECT
    api.post("/api/compact/save", session_id="s1", context_summary="Login", project_id=PROJECT)
    body = json.dumps(sent).encode()
    assert post(api, path, body, {}) == post(api, path, body, LONG)


@pytest.mark.parametrize(
    ("takes", "packed"),
    [("gzip", True), ("br, gzip;q=0.5", True), ("gzip;q=0", False), ("br", False), ("", False)],
)
def test_a_long_restore_is_packed_for_who_takes_it(local: Caller, takes: str, packed: bool) -> None:
    local.post(
        "/api/compact/save", session_id="s1", key_decisions=["x" * 200 + c for c in "abcdef"]
    )
    answer = local.client.post(
        "/api/compact/restore", json={"session_id": "s1"}, headers={"Accept-Encoding": takes}
    )
    assert (answer.headers.get("content-encoding") == "gzip") == packed
    assert answer.json()["additionalContext"].count("xxx") > 5


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 30_000, b'{"tool_name": "a"} x'])
@pytest.mark.parametrize("path", ["/api/actions", "/api/compact/save", "/api/compact/restore"])
def test_what_is_no_json_is_refused_on_both_ways(api: Caller, path: str, body: bytes) -> None:
    found = post(api, path, body, {})
    assert found == post(api, path, body, LONG)
    assert found[0] == 400
    assert found[2] == "application/problem+json"


def test_both_ways_write_the_same_rows(api: Caller) -> None:
    sent = {"tool_name": "Bash", "session_id": "s", "input": {"b": 1, "a": f"x {SECRET}"}}
    saved = {"session_id": "s", "b": 1, "a": [f"x {SECRET}"]}
    for headers in ({}, LONG):
        post(api, "/api/actions", json.dumps(sent).encode(), headers)
    post(api, "/api/compact/save", json.dumps(saved).encode(), {})
    with api.desk.books() as books:
        rows = [books.ledger.rows(ACTIONS), books.ledger.rows(CONTEXTS)]
    assert len(rows[0]) == 2
    first, second = ({**row, "id": "", "created_at": 0, "updated_at": 0} for row in rows[0])
    assert first == second
    assert rows[1][0]["role_context"]["a"] == ["x [redacted:github-token]"]
    assert post(api, "/api/compact/save", json.dumps(saved).encode(), LONG)[0] == 200
    with api.desk.books() as books:
        (again,) = books.ledger.rows(CONTEXTS)
    later = {"updated_at": again["updated_at"]}
    assert again == {**rows[1][0], **later}, "the same snapshot is one, whichever way"


def test_a_snapshot_that_is_sent_again_is_read_once_and_saved_as_of_now(
    api: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = json.dumps({"session_id": "again", "a": f"x {SECRET}"}).encode()
    assert post(api, "/api/compact/save", body, {})[0] == 200
    with api.desk.books() as books:
        (first,) = books.ledger.rows(CONTEXTS)
        books.ledger.remove(CONTEXTS, first, first["updated_at"] + 1)
    project = api.post("/api/projects", path="/srv/a")["id"]
    api.post("/api/requests", project_id=project, session_id="again", prompt="go on")
    monkeypatch.setattr(quick, "saved_text", None)
    assert post(api, "/api/compact/save", body, {})[0] == 200
    with api.desk.books() as books:
        (again,) = books.ledger.rows(CONTEXTS)
    assert again["id"] == first["id"]
    assert again["role_context"]["a"] == "x [redacted:github-token]"
    assert (first["project"], again["project"]) == ("", project)
    assert again["updated_at"] == again["created_at"] > first["updated_at"]


def test_a_call_that_is_told_twice_is_one_action(api: Caller) -> None:
    body = json.dumps({"tool_name": "Read", "session_id": "s", "tool_use_id": "t1"}).encode()
    first, second = (
        api.client.post("/api/actions", content=body, headers={"Content-Type": "application/json"})
        for _ in range(2)
    )
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json()["id"] == second.json()["id"]
    assert len(api.get("/api/actions")["actions"]) == 1


def test_a_store_that_is_gone_is_a_503_and_says_when_to_come_back(
    api: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> Any:
        raise StoreUnavailable("restarting")

    for way in ("books", "add"):
        monkeypatch.setattr(api.desk, way, gone)
    for path, body in (
        ("/api/actions", ACTIONS_SENT[0]),
        ("/api/compact/save", SAVES[0]),
        ("/api/compact/restore", RESTORES[0]),
    ):
        answer = api.client.post(path, json=body)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
        assert answer.headers["content-type"] == "application/problem+json"
        assert "restarting" in answer.json()["detail"]


def test_a_bug_is_told_to_whoever_runs_the_server(
    api: Caller, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> str:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr(quick, "restoring", broken)
    monkeypatch.setattr(quick, "restored", broken)
    answer = api.client.post("/api/compact/restore", json=RESTORES[0])
    assert answer.status_code == 500
    assert "ZeroDivisionError" not in answer.text
    assert "ZeroDivisionError: of ours" in capsys.readouterr().err


def at_once(desk: Desk, asked: list[tuple[str, str, bytes]]) -> list[tuple[int, Any]]:
    """What requests are answered that come at the same time: method, path and body of each."""

    async def one(quick: Quick, method: str, path: str, body: bytes) -> tuple[int, Any]:
        sent = []

        async def receive() -> Any:
            return part(body)

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"content-length", b"%d" % len(body))] if body else []
        scope = {"type": "http", "method": method, "path": path, "headers": headers}
        await quick(scope, receive, send)
        return sent[0]["status"], json.loads(sent[1]["body"])

    async def work() -> list[tuple[int, Any]]:
        quick = Quick(Heard(), desk)
        try:
            return await asyncio.gather(*(one(quick, *request) for request in asked))
        finally:
            quick._close()

    return asyncio.run(work())


def restores(desk: Desk, *sessions: str) -> list[tuple[int, Any]]:
    bodies = [json.dumps({"session_id": session}).encode() for session in sessions]
    return at_once(desk, [("POST", "/api/compact/restore", body) for body in bodies])


class Counted(Desk):
    """Another desk's books, or trouble, and how often somebody wanted them."""

    def __init__(self, behind: Desk | None = None) -> None:
        super().__init__()
        self._behind = behind
        self.asked = 0

    def books(self) -> Any:
        self.asked += 1
        if self._behind is None:
            raise StoreUnavailable("it is being restarted")
        return self._behind.books()


def test_many_who_ask_at_once_whether_all_is_well_are_told_by_one_question(api: Caller) -> None:
    desk = Counted(api.desk)
    assert at_once(desk, [("GET", "/health", b"")] * 20) == [(200, api.get("/health"))] * 20
    assert desk.asked == 1


def test_whoever_asks_while_the_store_is_gone_is_told_so(local: Caller) -> None:
    gone = Counted()
    found = at_once(gone, [("GET", "/health", b"")] * 3)
    assert [(status, told["status"]) for status, told in found] == [(503, 503)] * 3
    assert gone.asked == 1


def test_a_restore_that_fails_is_nobody_else_s(
    api: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_loop, by_thread = quick.restoring, quick.restored
    api.post("/api/compact/save", session_id="s1", context_summary="Login")

    def check(wanted: Any) -> None:
        if wanted.session == "broken":
            raise StoreUnavailable("of this one")

    def loop(wanted: Any, *rest: Any) -> Any:
        check(wanted)
        return by_loop(wanted, *rest)

    def thread(store: Any, ledger: Any, wanted: Any, *rest: Any) -> str:
        check(wanted)
        return by_thread(store, ledger, wanted, *rest)

    monkeypatch.setattr(quick, "restoring", loop)
    monkeypatch.setattr(quick, "restored", thread)
    found = restores(api.desk, "s1", "broken", "s1")
    assert [status for status, _ in found] == [200, 503, 200]
    assert "Login" in found[2][1]["additionalContext"]


@pytest.mark.parametrize("by_whom", ["loop", "thread"])
def test_agents_of_one_session_who_ask_at_once_are_told_by_one_look(
    api: Caller, monkeypatch: pytest.MonkeyPatch, by_whom: str
) -> None:
    by_loop, by_thread, asked = quick.restoring, quick.restored, list[str]()
    api.post("/api/compact/save", session_id="s1", context_summary="Login")

    def loop(wanted: Any, *rest: Any) -> Any:
        asked.append(wanted.session)
        return by_loop(wanted, *rest)

    def thread(store: Any, ledger: Any, wanted: Any, *rest: Any) -> str:
        asked.append(wanted.session)
        return by_thread(store, ledger, wanted, *rest)

    monkeypatch.setattr(quick, "restoring", loop)
    monkeypatch.setattr(quick, "restored", thread)
    if by_whom == "thread":
        monkeypatch.setattr(api.desk, "ask", Desk().ask)
    found = restores(api.desk, "s1", "s2", "s1", "s1")
    assert ["Login" in told["additionalContext"] for _, told in found] == [True, False, True, True]
    assert sorted(asked) == ["s1", "s2"] if by_whom == "loop" else ["s1", "s1", "s2", "s2"]


def test_if_the_store_is_gone_restores_do_not_find_out_one_after_the_other(local: Caller) -> None:
    gone = Counted()
    assert [status for status, _ in restores(gone, *"abcdefgh")] == [503] * 8
    assert gone.asked <= 3


@pytest.mark.parametrize("slow", [False, True])
def test_the_loop_reads_itself_unless_this_machine_s_files_are_slow(
    api: Caller, monkeypatch: pytest.MonkeyPatch, slow: bool
) -> None:
    api.post("/api/compact/save", session_id="other", context_summary="x")
    really, by_threads = quick.restored, list[str]()

    def noted(store: Any, ledger: Any, wanted: Any, *rest: Any) -> str:
        by_threads.append(wanted.session)
        return really(store, ledger, wanted, *rest)

    monkeypatch.setattr(quick, "restored", noted)
    monkeypatch.setattr(pause, "SLOW", -1.0 if slow else 600.0)
    monkeypatch.setattr(pause, "SECONDS", 600.0)
    # In three rounds: the third is after two that were slow.
    sessions = [f"s{number}" for number in range(3 * quick.AT_ONCE)]
    found = restores(api.desk, *sessions)
    assert [status for status, _ in found] == [200] * len(sessions)
    # Nobody waits while a database far away takes its time.
    is_left = slow and isinstance(api.desk, LocalDesk)
    assert by_threads == (sessions[2 * quick.AT_ONCE :] if is_left else [])


def test_a_brief_of_a_session_s_own_log_is_made_by_a_thread_with_the_books_that_are_there(
    local: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    with local.desk.books() as books:
        folded(books, a_state("hello", "the login"), 0)

    def opened() -> Any:
        raise AssertionError("nothing was wrong with the others")

    monkeypatch.setattr(local.desk, "_opened", opened)
    first, again = restores(local.desk, "s1"), restores(local.desk, "s1")
    assert first == again
    assert "the login" in first[0][1]["additionalContext"]


def test_only_a_brief_of_a_session_s_own_log_is_left_to_a_thread(
    api: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    really, by_threads = quick.restored, list[str]()
    with api.desk.books() as books:
        folded(books, a_state("hello", "the login"), 0)

    def noted(store: Any, ledger: Any, wanted: Any, *rest: Any) -> str:
        by_threads.append(wanted.session)
        return really(store, ledger, wanted, *rest)

    monkeypatch.setattr(quick, "restored", noted)
    found = restores(api.desk, "s0", "s1", "s2")
    assert ["the login" in told["additionalContext"] for _, told in found] == [False, True, False]
    assert by_threads == ["s1"]


class Heard:
    """The application behind the short way: it notes what reaches it."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.left = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            self.left += message["type"] == "http.disconnect"
            body += message.get("body", b"")
            more = message.get("more_body", False)
        self.bodies.append(body)


def through(api: Caller, *parts: dict[str, Any], **scope: Any) -> tuple[Heard, list[Any]]:
    """These parts of one request, sent to the short way itself."""
    behind, sent = Heard(), []
    length = str(sum(len(part.get("body", b"")) for part in parts)).encode()
    whole = {
        "type": "http", "method": "POST", "path": "/api/actions",
        "headers": [(b"content-length", length)], **scope,
    }  # fmt: skip

    async def work() -> None:
        rest = iter(parts)

        async def receive() -> Any:
            return next(rest)

        async def send(message: Any) -> None:
            sent.append(message)

        await Quick(behind, api.desk)(whole, receive, send)

    asyncio.run(work())
    return behind, sent


def part(body: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_that_comes_in_parts_is_one(local: Caller) -> None:
    parts = part(b'{"tool_', more=True), part(b'name": "Re', more=True), part(b'ad"}')
    behind, sent = through(local, *parts)
    assert behind.bodies == []
    assert sent[0]["status"] == 201
    assert local.get("/api/actions")["actions"][0]["tool_name"] == "Read"


def test_a_broken_body_goes_on_in_full(local: Caller) -> None:
    behind, sent = through(local, part(b'{"tool_', more=True), part(b"name"))
    assert behind.bodies == [b'{"tool_name']
    assert sent == []


def test_of_a_client_who_leaves_in_the_middle_nothing_is_kept(local: Caller) -> None:
    behind, _ = through(local, part(b'{"tool_', more=True), {"type": "http.disconnect"})
    assert behind.left == 1
    assert local.get("/api/actions")["actions"] == []


@pytest.mark.parametrize(
    "headers",
    [
        [(b"content-length", str(SMALL + 1).encode())],
        [(b"content-length", b"-1")],
        [],
        [(b"content-length", b"19"), (b"cookie", b"a=b")],
        [(b"content-length", b"19"), (b"transfer-encoding", b"chunked")],
    ],
)
def test_what_is_not_plain_goes_the_long_way_untouched(local: Caller, headers: Any) -> None:
    behind, sent = through(local, part(b'{"tool_name": "Re"}'), headers=headers)
    assert behind.bodies == [b'{"tool_name": "Re"}']
    assert sent == []


def test_whoever_is_held_to_a_project_goes_the_long_way(local: Caller) -> None:
    behind, sent = through(local, part(b'{"tool_name": "Re"}'), **{HELD_TO: "p"})
    assert (behind.bodies, sent) == ([b'{"tool_name": "Re"}'], [])


@pytest.mark.parametrize(
    "scope", [{"method": "GET"}, {"path": "/api/messages"}, {"type": "websocket", "method": ""}]
)
def test_other_requests_go_the_long_way(local: Caller, scope: dict[str, str]) -> None:
    behind, _ = through(local, part(b'{"tool_name": "Re"}'), **scope)
    assert len(behind.bodies) == 1
