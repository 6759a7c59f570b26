"""The rollout lines of Codex: their events, and the state that is folded from them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.brief.render import build_brief
from holdfast.state.fold import fold, new_state
from holdfast.transcript.codex import render_remaining_context
from holdfast.transcript.decoder import Decoder, decode
from tests.cases import report_case
from tests.unit.rollout_lines import (
    MODEL,
    ROOT,
    SESSION,
    WINDOW,
    apply_patch,
    call,
    command_output,
    compacted,
    custom,
    exec_command,
    from_hook,
    item,
    line,
    message,
    meta,
    output,
    patch,
    plan,
    prompt,
    reply,
    tokens,
    turn,
)
from tests.unit.transcript_lines import Line, events_of, numbered, state_of


def kinds(*lines: Line) -> list[str]:
    return [event["kind"] for event in events_of(*lines)]


def single_event(*lines: Line) -> Any:
    (event,) = events_of(*lines)
    return event


def test_only_the_first_line_sets_the_session_id() -> None:
    parent = meta(id="the-parent", cwd="/elsewhere")
    (first, *_) = decode(numbered([meta(), parent]))
    place = {"cwd": ROOT, "client": "0.166.0", "branch": "main", "session": SESSION}
    assert first["kind"] == "place"
    assert first["place"] == {**place, "host": "codex"}
    assert state_of(meta(), parent, turn())["place"]["session"] == SESSION
    assert state_of(meta(), parent, turn())["place"]["cwd"] == ROOT


CLIENT_TEXTS = [
    "# AGENTS.md instructions for /srv/app\n\n<INSTRUCTIONS>\nNever push.\n</INSTRUCTIONS>",
    "<user_instructions>\nNever push.\n</user_instructions>",
    "<environment_context>\n  <cwd>/srv/app</cwd>\n</environment_context>",
    "<recommended_plugins>\n- Airtable\n</recommended_plugins>",
    "<turn_aborted>\nThe user interrupted\n</turn_aborted>",
    "Another language model started to solve this problem and produced a summary",
    "  ",
]


@pytest.mark.parametrize("text", CLIENT_TEXTS)
def test_text_of_the_client_in_the_users_role_is_no_prompt(text: str) -> None:
    assert kinds(prompt(text)) == []


USER_TEXTS = [
    ("Make it faster.", "Make it faster."),
    ("<task>Review the change.</task>", "<task>Review the change.</task>"),
    ("# Plan\n\nFirst this.", "# Plan\n\nFirst this."),
    ("# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nFix it.\n",
     "Fix it."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), USER_TEXTS)
def test_text_that_the_user_typed_is_a_prompt(text: str, expected: str) -> None:
    assert single_event(prompt(text))["text"] == expected


def test_each_part_of_a_message_is_classified_separately() -> None:
    assert [event["text"] for event in events_of(message("user", CLIENT_TEXTS[0], "Go on."))] == [
        "Go on."
    ]


def test_developer_messages_are_no_prompts() -> None:
    assert kinds(message("developer", "Never spawn agents.")) == []


def test_a_brief_in_the_log_is_recognised_by_its_marker() -> None:
    brief = "Working state (holdfast:0a1b2c3d)\n- go on"
    for brief_line in (from_hook(brief), message("developer", brief)):
        assert single_event(brief_line)["kind"] == "injected"
        state = state_of(meta(), compacted(""), brief_line)
        (delivery,) = state["compactions"][0]["deliveries"]
        assert (delivery["id"], delivery["length"]) == ("0a1b2c3d", len(brief))


def test_a_reply_is_an_event_and_the_text_of_a_summary_is_not() -> None:
    assert single_event(reply("Done."))["kind"] == "reply"
    summary = message("assistant", "what happened", metadata={"compaction_output": True})
    assert kinds(summary) == []


COMMANDS: list[tuple[Line, str, str]] = [
    (call("exec_command", {"cmd": "make", "workdir": "/srv/app/lib"}), "make", "/srv/app/lib"),
    (call("shell", {"command": ["bash", "-lc", "make | tail"]}), "make | tail", ""),
    (call("shell", {"command": ["ls", "a b"], "workdir": "/x"}), "ls 'a b'", "/x"),
    (call("shell_command", {"command": "ls -l"}), "ls -l", ""),
    (item("local_shell_call", call_id="c", action={"type": "exec", "command": ["ls"]}), "ls", ""),
    (custom("exec", 'const r = await tools.exec_command({cmd:"make\\nls","workdir":"/x"});'),
     "make\nls", "/x"),
    (custom("exec", 'await Promise.all([tools.exec_command({cmd:"a"}),'
                    " tools.exec_command({cmd:'b'})])"), "a\nb", ""),
]  # fmt: skip


@pytest.mark.parametrize(("call_line", "command", "folder"), COMMANDS)
def test_every_form_of_a_command_call_becomes_a_bash_call(
    call_line: Line, command: str, folder: str
) -> None:
    event = single_event(call_line)
    assert (event["kind"], event["name"]) == ("tool_call", "Bash")
    assert event["input"] == {"command": command}
    assert event.get("cwd", "") == folder


OUTPUTS: list[tuple[Any, bool, str]] = [
    (command_output(0, "fine\n"), True, "fine\n"),
    (command_output(2, "no\n"), False, "no\n"),
    (command_output(-1, "killed"), False, "killed"),
    ("Exit code: 1\nWall time: 0 seconds\nOutput:\nno", False, "no"),
    ('{"output":"fine","metadata":{"exit_code":0,"duration_seconds":0.1}}', True, "fine"),
    ('{"output":"no","metadata":{"exit_code":1}}', False, "no"),
    ('{"answer": 42}', True, '{"answer": 42}'),
    ("{ not JSON", True, "{ not JSON"),
    ("aborted by user after 3.2s", False, "aborted by user after 3.2s"),
    ({"content": "no", "success": False}, False, "no"),
    ([{"type": "input_text", "text": "Script completed\nWall time 0.1 seconds\nOutput:\n"},
      {"type": "input_text", "text": "fine"}], True, "fine"),
    ([{"type": "input_text", "text": "Script failed\nWall time 0.1 seconds\nOutput:\n"},
      {"type": "input_text", "text": "no"}], False, "no"),
    (None, True, ""),
]  # fmt: skip


def test_success_is_read_from_the_header_of_the_output() -> None:
    for payload, ok, text in OUTPUTS:
        event = single_event(output(payload))
        assert (event["kind"], event["ok"], event["text"]) == ("tool_result", ok, text), payload


STILL_RUNNING = (
    "Chunk ID: 1\nWall time: 10 seconds\nProcess running with session ID 36373\nOutput:\n...."
)


def test_the_outcome_of_a_long_command_comes_with_a_later_call() -> None:
    start = [meta(), call("exec_command", {"cmd": "pytest -q"}), output(STILL_RUNNING)]
    assert state_of(*start)["checks"] == []
    poll = call("write_stdin", {"session_id": 36373, "chars": ""}, "call_2")
    (check,) = state_of(*start, poll, output(command_output(1, "1 failed"), "call_2"))["checks"]
    assert (check["command"], check["ok"], check["call"]) == ("pytest -q", False, 2)


def test_a_running_command_stays_pending_until_its_end() -> None:
    start = [meta(), call("exec_command", {"cmd": "pytest -q"}), output(STILL_RUNNING)]
    poll = call("write_stdin", {"session_id": 36373, "chars": ""}, "call_2")
    running = state_of(*start, poll, output(STILL_RUNNING, "call_2"))
    assert [*running["calls"]] == ["process 36373"]
    assert "no result was recorded" not in build_brief(running, tokens=2000, characters=9000).text
    ended = state_of(*start, poll, output(command_output(0, "3 passed"), "call_2"))
    assert ended["calls"] == {}


def test_a_running_script_stays_pending_until_its_end() -> None:
    script = custom("exec", 'await tools.exec_command({cmd:"pytest -q"})')
    still_running = output("Script running with cell ID 45\nWall time 1.0 seconds\nOutput:\n")
    wait = call("wait", {"cell_id": "45"}, "call_2")
    completed = output("Script completed\nWall time 0.0 seconds\nOutput:\n3 passed", "call_2")
    (check,) = state_of(meta(), script, still_running, wait, completed)["checks"]
    assert (check["command"], check["ok"]) == ("pytest -q", True)


def test_a_patch_changes_its_files() -> None:
    state = state_of(
        meta(),
        *apply_patch(
            "*** Add File: new.py", "+x = 1", "*** Update File: /srv/app/old.py", "@@", "+y"
        ),
        *apply_patch("*** Update File: a.py", "*** Move to: b.py", "@@", "-x", "+y"),
        *apply_patch("*** Delete File: gone.py"),
    )
    files = state["files"]
    assert files["new.py"]["created"] == 3
    assert (files["old.py"]["edits"], files["old.py"]["line"]) == (1, 3)
    assert files["b.py"]["created"] == 5
    assert files["a.py"]["deleted"] == 5
    assert files["gone.py"]["deleted"] == 7


def test_a_failed_patch_changes_no_files() -> None:
    assert state_of(meta(), *apply_patch("*** Update File: a.py", ok=False))["files"] == {}


def test_paths_of_a_patch_are_relative_to_its_folder() -> None:
    text = patch("*** Update File: a.py", "@@", "+x")
    shell = {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{text}EOF"]}
    lines = [
        call("shell", {**shell, "workdir": "/srv/app/lib"}),
        output(command_output(0, "Success.")),
    ]
    assert list(state_of(meta(), *lines)["files"]) == ["lib/a.py"]


def test_a_patch_inside_a_script_is_read_from_the_clients_report() -> None:
    changes = {
        "/srv/app/a.py": {"type": "update", "unified_diff": "@@", "move_path": None},
        "/srv/app/b.py": {"type": "add", "content": "x"},
        "/srv/app/c.py": {"type": "delete", "content": "x"},
    }
    end = {"type": "patch_apply_end", "success": True, "changes": changes, "stdout": "Success."}
    inner = line("event_msg", {**end, "call_id": "exec-1"})
    assert sorted(state_of(meta(), inner)["files"]) == ["a.py", "b.py", "c.py"]
    # A call that is logged as an item must not be counted twice.
    assert kinds(line("event_msg", {**end, "call_id": "call_1"})) == []
    assert (
        state_of(meta(), line("event_msg", {**end, "call_id": "exec-1", "success": False}))["files"]
        == {}
    )


def test_a_command_inside_a_script_is_one_call_in_old_and_new_clients() -> None:
    script = custom("exec", 'await tools.exec_command({cmd:"pytest -q"})')
    completed = output("Script completed\nWall time 0.1 seconds\nOutput:\n1 failed")
    inner_item = {
        "type": "CommandExecution", "id": "exec-1", "command": ["/bin/bash", "-lc", "pytest -q"],
        "cwd": "file:///srv/app", "aggregated_output": "1 failed", "exit_code": 1,
    }  # fmt: skip
    inner = line("event_msg", {"type": "item_completed", "item": inner_item})
    old_client = state_of(meta(), script, completed)
    new_client = state_of(meta(), script | {"ordinal": 1}, inner, completed | {"ordinal": 3})
    for state in (old_client, new_client):
        (check,) = state["checks"]
        assert (check["command"], check["ok"], check["runs"]) == ("pytest -q", False, 1)


def test_file_paths_of_a_command_are_relative_to_its_folder() -> None:
    lines = exec_command("echo x > made.txt && rm old.txt", workdir="/srv/app/lib")
    files = state_of(meta(), *lines)["files"]
    assert (files["lib/made.txt"]["created"], files["lib/old.txt"]["deleted"]) == (2, 2)


def test_each_plan_update_replaces_the_plan() -> None:
    state = state_of(meta(), plan(Look="completed", Build_it="in_progress"), output("Plan updated"))
    assert [(step["text"], step["status"]) for step in state["plan"]] == [
        ("Look", "completed"),
        ("Build it", "in_progress"),
    ]
    script = 'await tools.update_plan({plan:[{step:"Look",status:"pending"}]})'
    assert [step["text"] for step in state_of(meta(), custom("exec", script))["plan"]] == ["Look"]


def test_usage_is_that_of_the_last_request_with_the_hosts_window() -> None:
    usage = state_of(meta(), turn(), tokens(60_000))["usage"]
    assert (usage["context"], usage["window"], usage["model"]) == (60_000, WINDOW, MODEL)
    assert kinds(line("event_msg", {"type": "token_count", "info": None})) == []


def test_the_size_after_a_compaction_is_the_clients_estimate() -> None:
    estimate = tokens(0)
    estimate["payload"]["info"]["last_token_usage"]["total_tokens"] = 6086
    state = state_of(meta(), tokens(60_000), compacted("short"), estimate, reply("On."), tokens(9))
    (compaction,) = state["compactions"]
    assert (compaction["before"], compaction["after"]) == (60_000, 6086)


def test_one_line_contains_a_compaction_and_its_summary() -> None:
    state = state_of(meta(), prompt("Go."), compacted("what happened"), reply("On it."))
    (compaction,) = state["compactions"]
    assert (compaction["id"], compaction["line"]) == ("w1", 3)
    assert (compaction["summary_line"], compaction["reply_line"]) == (3, 4)


def test_an_encrypted_summary_is_empty_but_still_a_compaction() -> None:
    encrypted = compacted("", prompt("Go."))
    encrypted["payload"]["replacement_history"].append(
        {"type": "compaction", "encrypted_content": "x"}
    )
    state = state_of(meta(), prompt("Go."), encrypted, reply("On it."))
    assert [compaction["reply_line"] for compaction in state["compactions"]] == [4]
    assert render_remaining_context(encrypted["payload"]) == "Go."


def test_the_remaining_context_is_the_summary_and_the_kept_prompts() -> None:
    kept = (prompt("Go."), prompt(CLIENT_TEXTS[0]), message("developer", "Be nice."))
    assert render_remaining_context(compacted("short", *kept)["payload"]) == "short\n\nGo."


def test_a_sub_agent_is_followed_from_start_to_final_answer() -> None:
    spawned = call("spawn_agent", {"task_name": "look", "message": "Look around."})
    answer = (
        "Message Type: FINAL_ANSWER\nTask name: /root\nSender: /root/look\nPayload:\nAll quiet."
    )
    final_message = item(
        "agent_message", author="/root/look", content=[{"type": "input_text", "text": answer}]
    )
    start = [meta(), spawned, output('{"task_name":"/root/look"}')]
    (agent,) = state_of(*start)["agents"]
    assert (agent["id"], agent["task"], agent["status"]) == ("/root/look", "look", "running")
    (agent,) = state_of(*start, final_message)["agents"]
    assert (agent["status"], agent["result"]) == ("completed", "All quiet.")


def test_viewing_an_image_counts_as_reading_it() -> None:
    state = state_of(meta(), call("view_image", {"path": "/srv/app/a.png"}), output("attached"))
    assert state["files"]["a.png"]["reads"] == 1


def test_a_web_search_leaves_no_pending_call() -> None:
    search = item("web_search_call", id="ws_1", action={"type": "search", "query": "e2big"})
    assert state_of(meta(), search)["calls"] == {}


MALFORMED_PAYLOADS: list[Any] = [
    None, 7, "text", [], {}, {"type": None}, {"type": "message"}, {"type": "message", "content": 7},
    {"type": "message", "role": "user", "content": [7, {"text": 7}]}, {"type": "function_call"},
    {"type": "function_call", "name": 7, "arguments": 7}, {"type": "token_count", "info": 7},
    {"type": "function_call", "name": "update_plan", "arguments": '{"plan": [7, {"step": 7}]}'},
    {"type": "function_call", "name": "shell", "arguments": '{"command": [7, null]}'},
    {"type": "function_call", "name": "shell", "arguments": "[" * 100_000},
    {"type": "function_call_output", "output": [7, {"text": 7}]}, {"type": "custom_tool_call"},
    {"type": "custom_tool_call", "name": "exec", "input": "tools.x({a:[1,{b"},
    {"type": "patch_apply_end", "call_id": "exec-1", "success": True, "changes": {"a": 7, "": {}}},
    {"type": "item_completed", "item": 7}, {"message": 7, "replacement_history": [7, {"role": 7}]},
    {"type": "agent_message", "content": 7}, {"type": "web_search_call", "action": 7},
    {"type": "local_shell_call", "action": 7},
]  # fmt: skip


def test_malformed_lines_never_raise() -> None:
    line_types = ["session_meta", "turn_context", "response_item", "event_msg", "compacted"]
    for payload in MALFORMED_PAYLOADS:
        for kind in line_types:
            with report_case(payload, kind):
                state = state_of(meta(), line(kind, payload), prompt("Still here."))
                assert [request["text"] for request in state["requests"]] == ["Still here."]


def test_each_line_is_decoded_by_its_own_host_format() -> None:
    """The host is recognised by the type of each line."""
    from tests.unit.transcript_lines import user

    assert kinds(prompt("one"), user("two")) == ["prompt", "prompt"]
    assert kinds({"type": "response_item"}, {"type": "compacted", "payload": None}) == [
        "compaction", "summary",
    ]  # fmt: skip


def test_splitting_a_rollout_anywhere_gives_the_same_state() -> None:
    lines = numbered(
        [
            meta(),
            turn(),
            prompt("Go."),
            call("exec_command", {"cmd": "pytest -q"}, "a"),
            output(STILL_RUNNING, "a"),
            *apply_patch("*** Update File: a.py", "*** Move to: b.py", call_id="b"),
            call("write_stdin", {"session_id": 36373}, "c"),
            output(command_output(1, "1 failed"), "c"),
            plan(Look="completed"),
            output("Plan updated"),
            tokens(60_000),
            compacted("short"),
            tokens(600),
            from_hook("Working state (holdfast:0a1b2c3d)"),
            reply("On it."),
        ]
    )
    whole = fold(new_state(), decode(lines))
    for cut in range(len(lines)):
        first = Decoder()
        state = fold(new_state(), first.events(lines[:cut]))
        stored_state, cursor = json.loads(json.dumps([state, first.cursor()]))
        rest = Decoder(cursor).events(lines[cut:])
        assert json.dumps(fold(stored_state, rest)) == json.dumps(whole)
    assert whole["checks"][0]["ok"] is False


def test_a_patch_has_the_path_of_its_first_file() -> None:
    event = single_event(custom("apply_patch", patch("*** Add File: a.py", "+x")))
    assert event["input"]["path"] == "a.py"
