"""Save before a compaction, restore after it: what was broken where the routes come from."""

from __future__ import annotations

import json

from holdfast.brief.fit_sections import TRUNCATION_NOTICE
from holdfast.tokens.estimate import estimate_tokens
from tests.contract.server.conftest import Caller, a_state

LONG = "a rather long sentence about the state of the authentication work, number "


def save(api: Caller, session: str = "session-abc123", **body: object) -> dict[str, str]:
    told: dict[str, str] = api.post("/api/compact/save", session_id=session, **body)
    return told


def restore(api: Caller, session: str = "session-abc123", **body: object) -> str:
    asked = {"agent_id": "orchestrator", "agent_type": "orchestrator", "max_tokens": 2000, **body}
    told: str = api.post("/api/compact/restore", session_id=session, **asked)["additionalContext"]
    return told


def fold_into(api: Caller, session: str, *requests: str) -> str:
    """What hooks do: save a session and a snapshot of it."""
    with api.databases.connect() as db:
        state = a_state(*requests)
        db.store.save_session(
            session=session, host="claude-code", project="/srv/a", transcript="", cursor=None,
            state=state, revision=0, now=1.0,
        )  # fmt: skip
        return db.store.add_snapshot(session, "auto", state, 2.0)


def test_what_is_saved_comes_back(api: Caller) -> None:
    told = save(
        api, trigger="auto", context_summary="Working on authentication",
        key_decisions=["Using JWT"], modified_files=["/app/User.php"],
        agent_states={"contexts": [{"agent_id": "backend-1", "status": "running"}]},
        active_tasks=[{"description": "auth routes", "status": "running"}],
    )  # fmt: skip
    assert set(told) == {"id", "saved_at"}
    text = restore(api)
    assert text.startswith("# Restored Context - Orchestration View")
    for part in (
        "Working on authentication", "- Using JWT", "- /app/User.php", "- backend-1 (running)",
        "- auth routes (running)",
    ):  # fmt: skip
        assert part in text


def test_nothing_saved_is_nothing_restored(api: Caller) -> None:
    assert restore(api, "nobody") == ""


def test_a_save_that_is_nothing_special_is_kept_too(api: Caller) -> None:
    """Where the routes come from, a transcript without a decision could not be saved."""
    assert save(api, trigger="manual", key_decisions=[])["id"]


def test_the_second_save_of_a_session_with_a_project_works(api: Caller) -> None:
    project = api.post("/api/projects", path="/home/user/project")["id"]
    first = save(api, project_id=project, context_summary="one")
    second = save(api, project_id=project, context_summary="two")
    assert first["id"] != second["id"]
    assert "two" in restore(api)
    found = api.get("/api/agent-contexts", project_id=project)["contexts"]
    assert [one["role_context"]["context_summary"] for one in found] == ["two", "one"]


def test_the_same_snapshot_sent_twice_is_kept_once(api: Caller) -> None:
    first, again = (save(api, context_summary="one") for _ in range(2))
    assert first["id"] == again["id"]
    assert first["saved_at"] <= again["saved_at"]
    assert "_at" not in api.get("/api/compact/snapshot/session-abc123")


def test_a_role_has_a_view_of_its_own(api: Caller) -> None:
    save(api, context_summary="x", key_decisions=["d"], modified_files=["f"])
    roles = {
        "orchestrator": "Orchestration", "tech-lead": "Orchestration", "developer": "Development",
        "backend-laravel": "Development", "specialist": "Specialist", "qa": "Validation",
    }  # fmt: skip
    for agent_type, view in roles.items():
        assert restore(api, agent_type=agent_type).startswith(f"# Restored Context - {view} View")


def test_a_token_limit_really_limits(api: Caller) -> None:
    save(api, key_decisions=[f"{LONG}{number}" for number in range(500)])
    assert "truncated" in restore(api, max_tokens=200)
    fold_into(api, "session-abc123", *(f"{LONG}{number}" for number in range(50)))
    for limit in (1, 50, 100, 500, 2000, 100_000):
        text = restore(api, max_tokens=limit)
        assert estimate_tokens(text) <= limit
        assert len(text) <= 10_000, "the host's own cap"
    assert restore(api, max_tokens=1) == ""


def test_a_long_summary_comes_back_whole_if_there_is_room(api: Caller) -> None:
    summary = " ".join(f"word{number}" for number in range(330))
    save(api, context_summary=summary)
    text = restore(api, max_tokens=2000)
    assert summary in text
    assert TRUNCATION_NOTICE not in text


def test_every_decision_and_file_comes_back_if_there_is_room(api: Caller) -> None:
    decisions = [f"Decision {number}" for number in range(41)]
    files = [f"src/f{number}.py" for number in range(41)]
    save(api, key_decisions=decisions, modified_files=files)
    text = restore(api, max_tokens=2000)
    told = [line.removeprefix("- ") for line in text.splitlines() if line.startswith("- ")]
    assert told == [*decisions, *files]
    assert TRUNCATION_NOTICE not in text


def test_where_something_must_go_the_newest_stay_and_it_is_said(api: Caller) -> None:
    save(
        api, key_decisions=[f"Decision {number}" for number in range(400)],
        modified_files=[f"src/f{number}.py" for number in range(400)],
        recent_messages=[{"from_agent_id": "a", "topic": f"t{n}", "created_at": f"2026-01-01T{n}"}
                         for n in range(100, 500)],
    )  # fmt: skip
    told = restore(api, max_tokens=500).splitlines()
    assert told[-1] == TRUNCATION_NOTICE
    for newest, oldest in (("Decision 399", "Decision 0"), ("src/f399.py", "src/f0.py"),
                           ("a: t499", "a: t100")):  # fmt: skip
        assert f"- {newest}" in told
        assert f"- {oldest}" not in told


def test_a_long_first_line_leaves_room_for_others(api: Caller) -> None:
    save(api, context_summary="words and words " * 200, key_decisions=["Using JWT"])
    text = restore(api, max_tokens=100)
    assert "words and words" in text
    assert "- Using JWT" in text
    assert text.endswith(TRUNCATION_NOTICE)
    assert estimate_tokens(text) <= 100


def test_all_open_work_of_the_ledger_is_told_if_there_is_room(api: Caller) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="add login")
    for number in range(25):
        api.post("/api/tasks", request_id=request["id"], name=f"Task {number}")
    text = restore(api, "s1")
    assert [number for number in range(25) if f"- Task {number} (" not in text] == []
    assert TRUNCATION_NOTICE not in text


def test_what_a_log_does_not_need_is_for_callers_and_the_other_way_round(api: Caller) -> None:
    fold_into(api, "s1", "fix the retry storm")
    save(api, "s1", key_decisions=[f"{LONG}{number}" for number in range(60)])
    text = restore(api, "s1")
    assert [number for number in range(60) if f"- {LONG}{number}\n" not in f"{text}\n"] == []
    assert estimate_tokens(restore(api, "s1", max_tokens=500)) <= 500


def test_a_session_never_gets_its_namesake_s_snapshot(api: Caller) -> None:
    save(api, "s10", context_summary="ten")
    fold_into(api, "s100", "hundred")
    assert restore(api, "s1") == restore(api, "s") == ""
    assert api.get("/api/agent-contexts", agent_id="s1")["contexts"] == []
    assert not api.get("/api/compact/status/s1")["has_snapshot"]
    api.get("/api/compact/snapshot/session-abc123", 404)


def test_a_thin_save_never_replaces_a_rich_one(api: Caller) -> None:
    save(api, context_summary="Working on authentication", key_decisions=["Using JWT"])
    for number in range(3):
        save(api, trigger="proactive", context_summary="", note=f"Guardian {number}")
    text = restore(api)
    assert "Working on authentication" in text
    assert "Using JWT" in text


def test_what_hooks_saved_is_restored_and_listed_like_what_callers_saved(api: Caller) -> None:
    ident = fold_into(api, "s1", "fix the retry storm", "never touch migrations/")
    save(api, "s1", context_summary="from a caller")
    text = restore(api, "s1", agent_type="developer")
    assert "never touch migrations/" in text
    assert "from a caller" in text
    found = api.get("/api/agent-contexts", agent_id="s1", agent_type="compact-snapshot")["contexts"]
    assert len(found) == 2
    own = next(one for one in found if one["id"] == ident)
    assert own["role_context"]["trigger"] == "auto"
    assert own["role_context"]["context_summary"] == "never touch migrations/"
    assert api.get("/api/agent-contexts", agent_type="backend")["contexts"] == []


def test_what_hooks_saved_is_listed_with_its_project(api: Caller) -> None:
    project, other = (api.post("/api/projects", path=path)["id"] for path in ("/srv/a", "/srv/b"))
    own = fold_into(api, "s1", "fix the retry storm")
    saved = save(api, "s2", project_id=project, context_summary="x")["id"]
    everything = {
        one["id"]: one["project_id"] for one in api.get("/api/agent-contexts")["contexts"]
    }
    assert everything == {own: project, saved: project}

    def listed(**query: str) -> list[str]:
        return [one["id"] for one in api.get("/api/agent-contexts", **query)["contexts"]]

    assert set(listed(project_id=project)) == {own, saved}
    assert listed(project_id=project, session_id="s1") == [own]
    assert listed(project_id=other) == listed(project_id=other, agent_id="s1") == []


def test_contexts_come_page_by_page_from_both_places(api: Caller) -> None:
    made = {save(api, f"c{number}")["id"] for number in range(3)}
    made |= {fold_into(api, f"h{number}", "go") for number in range(3)}
    seen: list[str] = []
    page: str | None = ""
    while page is not None:
        told = api.get("/api/agent-contexts", limit=2, page=page)
        seen += [one["id"] for one in told["contexts"]]
        page = told["next"]
    assert len(seen) == len(made)
    assert set(seen) == made


def test_an_orchestrator_is_told_waves_and_open_work(api: Caller) -> None:
    request = api.post("/api/requests", session_id="s1", prompt="add login")
    task = api.post("/api/tasks", request_id=request["id"], name="Backend Auth", wave_number=1)
    api.post("/api/subtasks", task_id=task["id"], description="routes", agent_type="backend")
    api.post("/api/messages", from_agent_id="backend", to_agent_id="lead", topic="api_created")
    text = restore(api, "s1", agent_id="lead", agent_type="orchestrator")
    assert "- Wave 1: pending (0 of 1 tasks)" in text
    assert "- backend: routes (pending)" in text
    assert "- backend: api_created" in text


def test_a_caller_s_extra_fields_are_not_thrown_away(api: Caller) -> None:
    save(api, wave_state={"current": 2}, deploy_target="staging", deployed=True)
    text = restore(api)
    assert [line for line in text.splitlines() if line.startswith("- ")] == [
        "- deploy_target: staging", "- deployed: true", "- wave_state: current: 2",
    ]  # fmt: skip
    (row,) = api.get("/api/agent-contexts", agent_id="session-abc123")["contexts"]
    assert row["role_context"]["wave_state"] == {"current": 2}


def test_sessions_compactions_and_losses_can_be_read(api: Caller) -> None:
    snapshot = fold_into(api, "s1", "fix it")
    with api.databases.connect() as db:
        db.store.open_compaction("s1", 1, trigger="auto", snapshot=snapshot, now=3.0)
        db.store.note_summary("s1", 1, "nothing of it")
        db.store.note_brief(
            "s1", 1, brief_id="0badcafe", brief="fix it", line=1, delivered_by="x", now=4.0
        )
    assert [one["id"] for one in api.get("/api/sessions")["sessions"]] == ["s1"]
    assert api.get("/api/sessions/s1")["state"]["requests"][0]["text"] == "fix it"
    (row,) = api.get("/api/compactions", session_id="s1")["compactions"]
    assert (row["ordinal"], row["receipt"]) == (1, "pending")
    losses = api.get("/api/compactions/1/losses", session_id="s1")
    assert [item["text"] for item in losses["restored"]] != []
    api.get("/api/compactions/9/losses", 404, session_id="s1")
    api.get("/api/sessions/s10", 404)


def test_a_session_that_only_callers_know_can_be_asked_for(api: Caller) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    for session in ("s1", "s10"):
        api.post("/api/requests", session_id=session, prompt="x", project_id=project)
    for _ in range(3):
        api.post("/api/actions", tool_name="Read", session_id="s1")
    told = api.get("/api/sessions/s1")
    assert (told["host"], told["project_path"], told["state"]) == (None, "/srv/a", None)
    assert told["total_tools_used"] == 3
    assert told["started_at"] < told["seen_at"]
    assert api.get("/api/compactions", session_id="s1") == {"compactions": [], "next": None}
    api.post("/api/compact/save", session_id="saved", context_summary="x")
    assert api.get("/api/sessions/saved")["project_path"] is None
    api.post("/api/agent-contexts", session_id="known", agent_id="a", agent_type="t")
    api.post("/api/waves/waves/create")
    for session in ("known", "waves"):
        assert api.get(f"/api/sessions/{session}")["id"] == session
    api.get("/api/sessions/s", 404)
    api.get("/api/compactions", 404, session_id="s")
    api.get("/api/compactions/1/losses", 404, session_id="s1")


def test_sessions_of_a_project_are_those_of_all_its_folders(api: Caller) -> None:
    fold_into(api, "s1", "fix it")
    (path,) = {one["project_path"] for one in api.get("/api/sessions")["sessions"]}
    project = api.post("/api/projects", path=path)["id"]
    other = api.post("/api/projects", path="/srv/other")["id"]
    assert len(api.get("/api/sessions", project_id=project)["sessions"]) == 1
    assert len(api.get("/api/sessions", project_id=project, project_path=path)["sessions"]) == 1
    assert api.get("/api/sessions", project_id=project, project_path="/srv")["sessions"] == []
    assert api.get("/api/sessions", project_id=other)["sessions"] == []


def seed_save(api: Caller, session: str, number: int) -> int:
    """What the original's hook collects and saves; how long that is."""
    told = {
        "session_id": session, "trigger": "auto", "context_summary": f"round {number}",
        "hierarchy": api.client.get("/api/hierarchy/null").json(),
        "agent_states": api.get("/api/agent-contexts"),
        "recent_messages": api.get("/api/messages", limit=50),
        "recent_actions": api.get("/api/actions", limit=100, session_id=session),
        "modified_files": [f"f{number}.py"], "key_decisions": [f"decision {number}"],
    }  # fmt: skip
    api.post("/api/compact/save", **told)
    return len(json.dumps(told))


def test_saves_that_collect_everything_do_not_grow_with_each_other(api: Caller) -> None:
    api.post(
        "/api/agent-contexts", agent_id="dev-1", agent_type="dev", session_id="s1",
        role_context={"current_task": "routes"},
    )  # fmt: skip
    api.post("/api/compact/save", session_id="other", context_summary="PRIVATE")
    sizes = [seed_save(api, "s1", number) for number in range(9)]
    assert sizes[-1] < 20_000
    assert sizes[-1] - sizes[-2] < 2 * (sizes[2] - sizes[1]), "each adds as much as the last one"
    text = api.post("/api/compact/restore", session_id="s1")["additionalContext"]
    assert "dev-1: routes" in text
    assert "PRIVATE" not in text
    assert "about:blank" not in text
    assert all(f"decision {number}" in text and f"f{number}.py" in text for number in range(9))
    assert text.count("round") == 1, "a snapshot is no agent"


def test_a_list_of_all_contexts_has_snapshots_in_short(api: Caller) -> None:
    api.post("/api/compact/save", session_id="s1", context_summary="x" * 5000, more=["y"] * 500)
    (short,) = api.get("/api/agent-contexts")["contexts"]
    assert len(json.dumps(short)) < 1500
    assert short["role_context"]["session_id"] == "s1"
    for named in ({"agent_type": "compact-snapshot"}, {"agent_id": "s1"}, {"session_id": "s1"}):
        (whole,) = api.get("/api/agent-contexts", **named)["contexts"]
        assert whole["role_context"]["more"] == ["y"] * 500


def test_all_decisions_and_files_are_told_and_work_that_is_over_is_not(api: Caller) -> None:
    task = {"description": "Write the parser", "status": "running"}
    api.post(
        "/api/compact/save", session_id="s1", context_summary="one", active_tasks=[task],
        key_decisions=["use sqlite", {"decision": "tabs"}], modified_files=["a.py"],
    )  # fmt: skip
    api.post(
        "/api/compact/save", session_id="s1", context_summary="all finished", active_tasks=[],
        key_decisions=["use postgres"], modified_files=["b.py", "a.py"],
    )  # fmt: skip
    text = api.post("/api/compact/restore", session_id="s1")["additionalContext"]
    told = [text.index(word) for word in ("use sqlite", "tabs", "use postgres")]
    assert told == sorted(told)
    assert (text.count("a.py"), text.count("b.py")) == (1, 1)
    assert "parser" not in text
    done = {"description": "Write the lexer", "status": "completed"}
    api.post("/api/compact/save", session_id="s1", active_tasks=[done, task])
    text = api.post("/api/compact/restore", session_id="s1")["additionalContext"]
    assert ("parser" in text, "lexer" in text) == (True, False)


def test_the_ledger_s_word_counts_and_not_what_was_saved_of_it(api: Caller) -> None:
    project = api.post("/api/projects", path="/srv/a")["id"]
    request = api.post("/api/requests", session_id="s1", prompt="add login", project_id=project)
    task = api.post("/api/tasks", request_id=request["id"], name="Backend", wave_number=1)["id"]
    subtask = api.post("/api/subtasks", task_id=task, description="routes", status="running")
    api.post(
        "/api/compact/save", session_id="s1", context_summary="half way",
        hierarchy=api.get(f"/api/hierarchy/{project}"), active_tasks=[subtask],
    )  # fmt: skip
    text = api.post("/api/compact/restore", session_id="s1")["additionalContext"]
    assert text.count("routes") == 1
    api.patch(f"/api/subtasks/{subtask['id']}", status="completed")
    text = api.post("/api/compact/restore", session_id="s1")["additionalContext"]
    assert "Wave 1: completed (1 of 1 tasks)" in text
    assert "routes" not in text
    assert "running" not in text


def test_what_the_ledger_knows_is_told_without_any_snapshot(api: Caller) -> None:
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
    told = api.post("/api/compact/restore", session_id="s1", agent_id="dev-1")
    text = told["additionalContext"]
    assert "Working on: “add login”" in text
    assert text.count("/app/auth.php") == 2, "as a file and as an action"
    assert "no schema" in text
    assert "dev-2: endpoint: /login" in text
    assert "- dev-2: ping" in text
