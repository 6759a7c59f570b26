"""Save before a compaction and restore after it.

The routes have the paths of an older server; some tests guard against its known bugs.
"""

from __future__ import annotations

import json

from holdfast.brief.fit_sections import TRUNCATION_NOTICE
from holdfast.tokens.estimate import estimate_tokens
from tests.contract.server.conftest import ApiClient, make_state

LONG_SENTENCE = "a rather long sentence about the state of the authentication work, number "


def save(api: ApiClient, session: str = "session-abc123", **body: object) -> dict[str, str]:
    response: dict[str, str] = api.post("/api/compact/save", session_id=session, **body)
    return response


def restore(api: ApiClient, session: str = "session-abc123", **body: object) -> str:
    fields = {"agent_id": "orchestrator", "agent_type": "orchestrator", "max_tokens": 2000, **body}
    brief: str = api.post("/api/compact/restore", session_id=session, **fields)["additionalContext"]
    return brief


def save_as_hook(api: ApiClient, session: str, *requests: str) -> str:
    """Save a session and a snapshot of it as a hook does; return the id of the snapshot."""
    with api.databases.connect() as db:
        state = make_state(*requests)
        db.store.save_session(
            session=session, host="claude-code", project="/srv/a", transcript="", cursor=None,
            state=state, revision=0, now=1.0,
        )  # fmt: skip
        return db.store.add_snapshot(session, "auto", state, 2.0)


def test_saved_context_is_restored(api: ApiClient) -> None:
    response = save(
        api, trigger="auto", context_summary="Working on authentication",
        key_decisions=["Using JWT"], modified_files=["/app/User.php"],
        agent_states={"contexts": [{"agent_id": "backend-1", "status": "running"}]},
        active_tasks=[{"description": "auth routes", "status": "running"}],
    )  # fmt: skip
    assert set(response) == {"id", "saved_at"}
    brief = restore(api)
    assert brief.startswith("# Restored Context - Orchestration View")
    for part in (
        "Working on authentication", "- Using JWT", "- /app/User.php", "- backend-1 (running)",
        "- auth routes (running)",
    ):  # fmt: skip
        assert part in brief


def test_restoring_an_unknown_session_returns_an_empty_brief(api: ApiClient) -> None:
    assert restore(api, "unknown") == ""


def test_a_save_without_decisions_is_accepted(api: ApiClient) -> None:
    """The older server refused this."""
    assert save(api, trigger="manual", key_decisions=[])["id"]


def test_a_session_with_a_project_can_be_saved_twice(api: ApiClient) -> None:
    project = api.post("/api/projects", path="/home/user/project")["id"]
    first = save(api, project_id=project, context_summary="one")
    second = save(api, project_id=project, context_summary="two")
    assert first["id"] != second["id"]
    assert "two" in restore(api)
    contexts = api.get("/api/agent-contexts", project_id=project)["contexts"]
    assert [context["role_context"]["context_summary"] for context in contexts] == ["two", "one"]


def test_an_identical_second_save_is_not_stored_again(api: ApiClient) -> None:
    first, second = (save(api, context_summary="one") for _ in range(2))
    assert first["id"] == second["id"]
    assert first["saved_at"] <= second["saved_at"]
    assert "_at" not in api.get("/api/compact/snapshot/session-abc123")


def test_the_view_depends_on_the_agent_type(api: ApiClient) -> None:
    save(api, context_summary="x", key_decisions=["d"], modified_files=["f"])
    roles = {
        "orchestrator": "Orchestration", "tech-lead": "Orchestration", "developer": "Development",
        "backend-laravel": "Development", "specialist": "Specialist", "qa": "Validation",
    }  # fmt: skip
    for agent_type, view in roles.items():
        assert restore(api, agent_type=agent_type).startswith(f"# Restored Context - {view} View")


def test_a_brief_fits_its_token_limit(api: ApiClient) -> None:
    save(api, key_decisions=[f"{LONG_SENTENCE}{number}" for number in range(500)])
    assert "truncated" in restore(api, max_tokens=200)
    save_as_hook(api, "session-abc123", *(f"{LONG_SENTENCE}{number}" for number in range(50)))
    for limit in (1, 50, 100, 500, 2000, 100_000):
        brief = restore(api, max_tokens=limit)
        assert estimate_tokens(brief) <= limit
        assert len(brief) <= 10_000, "the limit of the host"
    assert restore(api, max_tokens=1) == ""


def test_a_long_summary_that_fits_is_restored_whole(api: ApiClient) -> None:
    summary = " ".join(f"word{number}" for number in range(330))
    save(api, context_summary=summary)
    brief = restore(api, max_tokens=2000)
    assert summary in brief
    assert TRUNCATION_NOTICE not in brief


def test_all_decisions_and_files_that_fit_are_restored(api: ApiClient) -> None:
    decisions = [f"Decision {number}" for number in range(41)]
    files = [f"src/f{number}.py" for number in range(41)]
    save(api, key_decisions=decisions, modified_files=files)
    brief = restore(api, max_tokens=2000)
    items = [line.removeprefix("- ") for line in brief.splitlines() if line.startswith("- ")]
    assert items == [*decisions, *files]
    assert TRUNCATION_NOTICE not in brief


def test_the_oldest_items_are_truncated_first_with_a_notice(api: ApiClient) -> None:
    save(
        api, key_decisions=[f"Decision {number}" for number in range(400)],
        modified_files=[f"src/f{number}.py" for number in range(400)],
        recent_messages=[{"from_agent_id": "a", "topic": f"t{n}", "created_at": f"2026-01-01T{n}"}
                         for n in range(100, 500)],
    )  # fmt: skip
    lines = restore(api, max_tokens=500).splitlines()
    assert lines[-1] == TRUNCATION_NOTICE
    for newest, oldest in (("Decision 399", "Decision 0"), ("src/f399.py", "src/f0.py"),
                           ("a: t499", "a: t100")):  # fmt: skip
        assert f"- {newest}" in lines
        assert f"- {oldest}" not in lines


def test_a_long_summary_leaves_room_for_decisions(api: ApiClient) -> None:
    save(api, context_summary="words and words " * 200, key_decisions=["Using JWT"])
    brief = restore(api, max_tokens=100)
    assert "words and words" in brief
    assert "- Using JWT" in brief
    assert brief.endswith(TRUNCATION_NOTICE)
    assert estimate_tokens(brief) <= 100


def test_all_open_tasks_that_fit_are_restored(api: ApiClient) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="add login")
    for number in range(25):
        api.post("/api/tasks", request_id=request["id"], name=f"Task {number}")
    brief = restore(api, "s1")
    assert [number for number in range(25) if f"- Task {number} (" not in brief] == []
    assert TRUNCATION_NOTICE not in brief


def test_space_that_the_transcript_does_not_need_goes_to_saved_context(api: ApiClient) -> None:
    save_as_hook(api, "s1", "fix the retry storm")
    decisions = [f"{LONG_SENTENCE}{number}" for number in range(60)]
    save(api, "s1", key_decisions=decisions)
    lines = restore(api, "s1").splitlines()
    assert [decision for decision in decisions if f"- {decision}" not in lines] == []
    assert estimate_tokens(restore(api, "s1", max_tokens=500)) <= 500


def test_a_session_never_gets_the_snapshot_of_a_session_with_a_similar_id(api: ApiClient) -> None:
    save(api, "s10", context_summary="ten")
    save_as_hook(api, "s100", "hundred")
    assert restore(api, "s1") == restore(api, "s") == ""
    assert api.get("/api/agent-contexts", agent_id="s1")["contexts"] == []
    assert not api.get("/api/compact/status/s1")["has_snapshot"]
    api.get("/api/compact/snapshot/session-abc123", 404)


def test_an_almost_empty_save_does_not_hide_earlier_context(api: ApiClient) -> None:
    save(api, context_summary="Working on authentication", key_decisions=["Using JWT"])
    for number in range(3):
        save(api, trigger="proactive", context_summary="", note=f"Guardian {number}")
    brief = restore(api)
    assert "Working on authentication" in brief
    assert "Using JWT" in brief


def test_snapshots_of_hooks_are_restored_and_listed_like_those_of_callers(api: ApiClient) -> None:
    ident = save_as_hook(api, "s1", "fix the retry storm", "never touch migrations/")
    save(api, "s1", context_summary="from a caller")
    brief = restore(api, "s1", agent_type="developer")
    assert "never touch migrations/" in brief
    assert "from a caller" in brief
    filters = {"agent_id": "s1", "agent_type": "compact-snapshot"}
    contexts = api.get("/api/agent-contexts", **filters)["contexts"]
    assert len(contexts) == 2
    from_hook = next(context for context in contexts if context["id"] == ident)
    assert from_hook["role_context"]["trigger"] == "auto"
    assert from_hook["role_context"]["context_summary"] == "never touch migrations/"
    assert api.get("/api/agent-contexts", agent_type="backend")["contexts"] == []


def test_snapshots_of_hooks_are_listed_with_their_project(api: ApiClient) -> None:
    project, other = (api.post("/api/projects", path=path)["id"] for path in ("/srv/a", "/srv/b"))
    from_hook = save_as_hook(api, "s1", "fix the retry storm")
    from_caller = save(api, "s2", project_id=project, context_summary="x")["id"]
    projects = {
        context["id"]: context["project_id"]
        for context in api.get("/api/agent-contexts")["contexts"]
    }
    assert projects == {from_hook: project, from_caller: project}

    def list_ids(**query: str) -> list[str]:
        return [context["id"] for context in api.get("/api/agent-contexts", **query)["contexts"]]

    assert set(list_ids(project_id=project)) == {from_hook, from_caller}
    assert list_ids(project_id=project, session_id="s1") == [from_hook]
    assert list_ids(project_id=other) == list_ids(project_id=other, agent_id="s1") == []


def test_pages_of_contexts_include_snapshots_of_callers_and_hooks(api: ApiClient) -> None:
    expected = {save(api, f"c{number}")["id"] for number in range(3)}
    expected |= {save_as_hook(api, f"h{number}", "go") for number in range(3)}
    ids: list[str] = []
    page: str | None = ""
    while page is not None:
        response = api.get("/api/agent-contexts", limit=2, page=page)
        ids += [context["id"] for context in response["contexts"]]
        page = response["next"]
    assert len(ids) == len(expected)
    assert set(ids) == expected


def test_the_brief_of_an_orchestrator_has_waves_open_work_and_messages(api: ApiClient) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="add login")
    task = api.post("/api/tasks", request_id=request["id"], name="Backend Auth", wave_number=1)
    api.post("/api/subtasks", task_id=task["id"], description="routes", agent_type="backend")
    api.post("/api/messages", from_agent_id="backend", to_agent_id="lead", topic="api_created")
    brief = restore(api, "s1", agent_id="lead", agent_type="orchestrator")
    assert "- Wave 1: pending (0 of 1 tasks)" in brief
    assert "- backend: routes (pending)" in brief
    assert "- backend: api_created" in brief


def test_unknown_fields_of_a_save_are_stored_and_restored(api: ApiClient) -> None:
    save(api, wave_state={"current": 2}, deploy_target="staging", deployed=True)
    brief = restore(api)
    assert [line for line in brief.splitlines() if line.startswith("- ")] == [
        "- deploy_target: staging", "- deployed: true", "- wave_state: current: 2",
    ]  # fmt: skip
    (row,) = api.get("/api/agent-contexts", agent_id="session-abc123")["contexts"]
    assert row["role_context"]["wave_state"] == {"current": 2}


def test_sessions_compactions_and_losses_can_be_read(api: ApiClient) -> None:
    snapshot = save_as_hook(api, "s1", "fix it")
    with api.databases.connect() as db:
        db.store.open_compaction("s1", 1, trigger="auto", snapshot=snapshot, now=3.0)
        db.store.note_summary("s1", 1, "nothing of it")
        db.store.note_brief(
            "s1", 1, brief_id="0badcafe", brief="fix it", line=1, delivered_by="x", now=4.0
        )
    assert [session["id"] for session in api.get("/api/sessions")["sessions"]] == ["s1"]
    assert api.get("/api/sessions/s1")["state"]["requests"][0]["text"] == "fix it"
    (row,) = api.get("/api/compactions", session_id="s1")["compactions"]
    assert (row["ordinal"], row["receipt"]) == (1, "pending")
    losses = api.get("/api/compactions/1/losses", session_id="s1")
    assert [item["text"] for item in losses["restored"]] != []
    api.get("/api/compactions/9/losses", 404, session_id="s1")
    api.get("/api/sessions/s10", 404)


def test_a_session_that_only_api_callers_reported_can_be_read(api: ApiClient) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    for session in ("s1", "s10"):
        api.post("/api/requests", session_id=session, prompt="x", project_id=project)
    for _ in range(3):
        api.post("/api/actions", tool_name="Read", session_id="s1")
    row = api.get("/api/sessions/s1")
    assert (row["host"], row["project_path"], row["state"]) == (None, "/srv/a", None)
    assert row["total_tools_used"] == 3
    assert row["started_at"] < row["seen_at"]
    assert api.get("/api/compactions", session_id="s1") == {"compactions": [], "next": None}
    api.post("/api/compact/save", session_id="saved", context_summary="x")
    assert api.get("/api/sessions/saved")["project_path"] is None
    api.post("/api/agent-contexts", session_id="with-context", agent_id="a", agent_type="t")
    api.post("/api/waves/waves/create")
    for session in ("with-context", "waves"):
        assert api.get(f"/api/sessions/{session}")["id"] == session
    api.get("/api/sessions/s", 404)
    api.get("/api/compactions", 404, session_id="s")
    api.get("/api/compactions/1/losses", 404, session_id="s1")


def test_sessions_can_be_filtered_by_project_and_path(api: ApiClient) -> None:
    save_as_hook(api, "s1", "fix it")
    (path,) = {session["project_path"] for session in api.get("/api/sessions")["sessions"]}
    project = api.post("/api/projects", path=path)["id"]
    other = api.post("/api/projects", path="/srv/other")["id"]
    assert len(api.get("/api/sessions", project_id=project)["sessions"]) == 1
    assert len(api.get("/api/sessions", project_id=project, project_path=path)["sessions"]) == 1
    assert api.get("/api/sessions", project_id=project, project_path="/srv")["sessions"] == []
    assert api.get("/api/sessions", project_id=other)["sessions"] == []


def save_like_older_hook(api: ApiClient, session: str, number: int) -> int:
    """Save all lists as the hook of the older server does; return the length of the body."""
    body = {
        "session_id": session, "trigger": "auto", "context_summary": f"round {number}",
        "hierarchy": api.client.get("/api/hierarchy/null").json(),
        "agent_states": api.get("/api/agent-contexts"),
        "recent_messages": api.get("/api/messages", limit=50),
        "recent_actions": api.get("/api/actions", limit=100, session_id=session),
        "modified_files": [f"f{number}.py"], "key_decisions": [f"decision {number}"],
    }  # fmt: skip
    api.post("/api/compact/save", **body)
    return len(json.dumps(body))


def test_saves_that_contain_all_lists_do_not_contain_earlier_saves(api: ApiClient) -> None:
    api.post(
        "/api/agent-contexts", agent_id="dev-1", agent_type="dev", session_id="s1",
        role_context={"current_task": "routes"},
    )  # fmt: skip
    api.post("/api/compact/save", session_id="other", context_summary="PRIVATE")
    sizes = [save_like_older_hook(api, "s1", number) for number in range(9)]
    assert sizes[-1] < 20_000
    assert sizes[-1] - sizes[-2] < 2 * (sizes[2] - sizes[1]), "the growth per save is constant"
    brief = api.post("/api/compact/restore", session_id="s1")["additionalContext"]
    assert "dev-1: routes" in brief
    assert "PRIVATE" not in brief
    assert "about:blank" not in brief
    assert all(f"decision {number}" in brief and f"f{number}.py" in brief for number in range(9))
    assert brief.count("round") == 1, "other snapshots are not listed as agents"


def test_the_list_of_all_contexts_shortens_snapshots(api: ApiClient) -> None:
    api.post("/api/compact/save", session_id="s1", context_summary="x" * 5000, more=["y"] * 500)
    (short,) = api.get("/api/agent-contexts")["contexts"]
    assert len(json.dumps(short)) < 1500
    assert short["role_context"]["session_id"] == "s1"
    for filters in ({"agent_type": "compact-snapshot"}, {"agent_id": "s1"}, {"session_id": "s1"}):
        (whole,) = api.get("/api/agent-contexts", **filters)["contexts"]
        assert whole["role_context"]["more"] == ["y"] * 500


def test_decisions_and_files_accumulate_and_finished_tasks_are_omitted(api: ApiClient) -> None:
    task = {"description": "Write the parser", "status": "running"}
    api.post(
        "/api/compact/save", session_id="s1", context_summary="one", active_tasks=[task],
        key_decisions=["use sqlite", {"decision": "tabs"}], modified_files=["a.py"],
    )  # fmt: skip
    api.post(
        "/api/compact/save", session_id="s1", context_summary="all finished", active_tasks=[],
        key_decisions=["use postgres"], modified_files=["b.py", "a.py"],
    )  # fmt: skip
    brief = api.post("/api/compact/restore", session_id="s1")["additionalContext"]
    positions = [brief.index(decision) for decision in ("use sqlite", "tabs", "use postgres")]
    assert positions == sorted(positions)
    assert (brief.count("a.py"), brief.count("b.py")) == (1, 1)
    assert "parser" not in brief
    completed = {"description": "Write the lexer", "status": "completed"}
    api.post("/api/compact/save", session_id="s1", active_tasks=[completed, task])
    brief = api.post("/api/compact/restore", session_id="s1")["additionalContext"]
    assert ("parser" in brief, "lexer" in brief) == (True, False)


def test_current_task_statuses_replace_those_in_a_snapshot(api: ApiClient) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    request = api.post("/api/requests", session_id="s1", prompt="add login", project_id=project)
    task = api.post("/api/tasks", request_id=request["id"], name="Backend", wave_number=1)["id"]
    subtask = api.post("/api/subtasks", task_id=task, description="routes", status="running")
    api.post(
        "/api/compact/save", session_id="s1", context_summary="half way",
        hierarchy=api.get(f"/api/hierarchy/{project}"), active_tasks=[subtask],
    )  # fmt: skip
    brief = api.post("/api/compact/restore", session_id="s1")["additionalContext"]
    assert brief.count("routes") == 1
    api.patch(f"/api/subtasks/{subtask['id']}", status="completed")
    brief = api.post("/api/compact/restore", session_id="s1")["additionalContext"]
    assert "Wave 1: completed (1 of 1 tasks)" in brief
    assert "routes" not in brief
    assert "running" not in brief


def test_requests_actions_and_messages_are_restored_without_a_snapshot(api: ApiClient) -> None:
    api.post("/api/requests", session_id="s1", prompt="add login")
    api.post("/api/actions", session_id="s1", tool_name="Write", file_paths=["/app/auth.php"])
    api.post(
        "/api/agent-contexts", agent_id="dev-2", agent_type="dev", session_id="s1",
        role_context={"progress": "60%", "blockers": ["no schema"]}, progress_summary="half",
    )  # fmt: skip
    api.post(
        "/api/messages", from_agent_id="dev-2", to_agent_id="dev-1", topic="endpoint",
        payload={"path": "/login"},
    )  # fmt: skip
    api.post("/api/messages", from_agent_id="dev-2", to_agent_id="dev-1", message_type="ping")
    response = api.post("/api/compact/restore", session_id="s1", agent_id="dev-1")
    brief = response["additionalContext"]
    assert "Working on: “add login”" in brief
    assert brief.count("/app/auth.php") == 2, "as a file and as an action"
    assert "no schema" in brief
    assert "dev-2: endpoint: /login" in brief
    assert "- dev-2: ping" in brief
