"""The real Claude Code: slash commands, notes, sub-agents and the status line."""

import json
from pathlib import Path

import pytest

from .conftest import StartConversation
from .conversation import Conversation
from .sandbox import Sandbox
from .scripted_api import Json
from .story import ANSWER, PLAN_ITEM, PROHIBITION, PROMPT, call_subagent, run_tests, work_steps
from .terminal import open_claude_code

pytestmark = pytest.mark.client

SMALL_WINDOW = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
FULL_CONTEXT_TOKENS = 99_000
MARKED = "<!-- COMPACT_SUMMARY_START -->\n{}\n<!-- COMPACT_SUMMARY_END -->\n"
ASK_RULE = "Ask the user before each step, in one question."
CHARGE_RULE = "Never charge a card twice."
EPIC_RULE = "Write one epic and no more."
NOTE_BY_COMMAND = "The bank allows five attempts."
NOTE_BY_HAND = "Ask Kim before the cap is raised."


def write_prompt_file(project: Path, name: str, text: str) -> None:
    file = project / ".claude" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\ndescription: A way to work.\n---\nProse.\n{text}", encoding="utf-8")


@pytest.fixture
def commands(sandbox: Sandbox) -> None:
    """Install Holdfast and write two commands with markers and a skill without."""
    write_prompt_file(sandbox.project, "commands/team/babysit.md", MARKED.format(ASK_RULE))
    write_prompt_file(sandbox.project, "skills/careful/SKILL.md", CHARGE_RULE)
    write_prompt_file(sandbox.project, "commands/epic.md", MARKED.format(EPIC_RULE))
    sandbox.holdfast("install")


USE_SKILL = {"tool": "Skill", "input": {"skill": "careful"}}


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize("automatic", [False, True], ids=["manual", "auto"])
def test_active_commands_and_notes_are_in_the_compaction_request_and_in_the_brief(
    sandbox: Sandbox, start_conversation: StartConversation, automatic: bool
) -> None:
    *steps, last = work_steps(sandbox.project)
    after = (run_tests(usage=FULL_CONTEXT_TOKENS), ANSWER) if automatic else (last, ANSWER)
    env = SMALL_WINDOW if automatic else {}
    conversation = start_conversation(ANSWER, ANSWER, USE_SKILL, *steps, *after, ANSWER, **env)
    conversation.send_prompt("/team:babysit the retry")
    conversation.send_prompt("/epic")
    session_option = ("--session", conversation.session_id)
    sandbox.holdfast("command", "stop", "epic", *session_option)
    sandbox.holdfast("note", NOTE_BY_COMMAND, "--decision", *session_option)
    notes = sandbox.project / ".holdfast" / "sessions" / conversation.session_id / "notes.md"
    notes.write_text(f"{notes.read_text()}\n{NOTE_BY_HAND}\n")
    conversation.send_prompt(PROMPT)
    if not automatic:
        conversation.send_prompt("/compact")
        conversation.send_prompt("Go on.")
    (request,) = conversation.requests("compaction")
    instructions = request.text.rpartition("Additional Instructions")[2]
    for rule in (ASK_RULE, CHARGE_RULE, PROHIBITION):
        assert rule in instructions
    assert EPIC_RULE not in instructions
    brief = conversation.requests("main")[-1].text.partition("# Where this session stands")[2]
    for text in (ASK_RULE, CHARGE_RULE, NOTE_BY_COMMAND, NOTE_BY_HAND, PROHIBITION, PLAN_ITEM):
        assert text in brief
    assert EPIC_RULE not in brief
    assert NOTE_BY_HAND in notes.read_text().splitlines(), "notes written by hand must stay"


@pytest.mark.usefixtures("commands")
def test_a_typed_command_is_listed_as_active(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    conversation = start_conversation(ANSWER, ANSWER)
    conversation.send_prompt("/team:babysit the retry")
    listed = json.loads(
        sandbox.holdfast("commands", "--json", "--session", conversation.session_id)
    )
    assert [(command["name"], command["status"]) for command in listed] == [
        ("team:babysit", "active")
    ]
    assert "UserPromptExpansion" in sandbox.holdfast("doctor", "--json")


def test_guard_edits_saves_a_snapshot_during_the_turn(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install", "--guard-edits")
    read, edit, *rest = work_steps(sandbox.project)
    conversation = start_conversation(
        {**read, "usage": 61_000}, {**edit, "usage": 62_000}, *rest, ANSWER
    )
    conversation.send_prompt(PROMPT)
    options = ("--json", "--session", conversation.session_id)
    (snapshot,) = json.loads(sandbox.holdfast("snapshots", *options))
    assert snapshot["reason"] == "threshold: 60000 tokens"
    lines = sandbox.transcript(conversation.session_id)
    last_line = max(n for n, line in enumerate(lines, 1) if line["type"] == "assistant")
    assert snapshot["line"] < last_line, "the snapshot must be saved before the turn ends"


def read_notes_with(pattern: str) -> Json:
    """A command that waits up to 10 seconds for a line in the notes and prints the notes.

    The pattern must not contain the text that the test looks for: the request repeats the command.
    """
    notes = ".holdfast/sessions/*/notes.md"
    wait = f"for _ in $(seq 100); do grep -q '{pattern}' {notes} && break; sleep 0.1; done"
    return {"tool": "Bash", "input": {"command": f"{wait}; cat {notes}"}}


def test_progress_and_commits_are_in_the_notes_before_the_turn_ends(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    (sandbox.project / ".holdfast").mkdir()
    sandbox.git("config", "user.name", "Dev")
    sandbox.git("config", "user.email", "dev@example.com")
    *steps, _ = work_steps(sandbox.project)
    commit = {"command": 'git add -A && git -c core.abbrev=9 commit -m "Back off"'}
    complete_task: Json = {"tool": "TaskUpdate", "input": {"taskId": "1", "status": "completed"}}
    conversation = start_conversation(
        *steps,
        {"tool": "Bash", "input": commit},
        read_notes_with("^. commit "),
        complete_task,
        read_notes_with("^. done: "),
        ANSWER,
    )
    conversation.send_prompt(PROMPT)
    *_, after_commit, _, after_step = [request.text for request in conversation.requests("main")]
    assert f"- **Active work:** “{PROMPT}”" in after_commit
    assert f"- **Current item:** {PLAN_ITEM}" in after_commit
    assert "- commit " in after_commit
    assert f"- done: {PLAN_ITEM}" not in after_commit
    assert f"- done: {PLAN_ITEM}" in after_step


def test_a_sub_agent_gets_the_users_rules(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    conversation = start_conversation(ANSWER, call_subagent(), ANSWER, subagent=(ANSWER,))
    conversation.send_prompt(PROMPT)
    conversation.send_prompt("Ask a sub-agent.")
    (to_subagent,) = conversation.requests("subagent")
    assert f"- “{PROHIBITION}”" in to_subagent.text
    assert "They bind you too" not in conversation.requests("main")[-1].text


def test_the_last_message_of_a_sub_agent_becomes_its_handoff(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    sandbox.holdfast("instructions", "add", "--handoff")
    conversation = start_conversation(ANSWER, call_subagent(), ANSWER, subagent=(ANSWER,))
    conversation.send_prompt(PROMPT)
    conversation.send_prompt("Ask a sub-agent.")
    (to_subagent,) = conversation.requests("subagent")
    assert "`context_summary` has at most 500 tokens" in to_subagent.text
    listed = sandbox.holdfast("handoff", "list", "--json", "--session", conversation.session_id)
    (handoff,) = json.loads(listed)
    assert handoff["agent_type"]
    assert handoff["context_summary"]
    assert handoff["tokens_after"] <= 500
    conversation.send_prompt("/compact")
    assert handoff["id"] in sandbox.holdfast("brief", "--session", conversation.session_id)


def test_a_suggestion_to_compact_is_shown_only_to_the_user_and_does_not_block(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    sandbox.holdfast("install")
    conversation = start_conversation(
        *work_steps(sandbox.project), ANSWER, ANSWER, HOLDFAST_SUGGEST_AT_CALLS="3"
    )  # fmt: skip
    lines = conversation.send_prompt(PROMPT)
    assert lines[-1]["is_error"] is False
    conversation.send_prompt("Go on.")
    assert "tool calls since the last compaction" in json.dumps(
        sandbox.transcript(conversation.session_id)
    )
    requests = conversation.requests("main")
    assert len(requests) == 7, "one request for each step of the script"
    assert [request for request in requests if "A good moment for" in request.text] == []


def install_gauge(
    sandbox: Sandbox, start_conversation: StartConversation, line: str
) -> tuple[Json, Conversation]:
    """Install the gauge beside an existing status line; the turn uses 61,000 tokens."""
    settings = {"statusLine": {"type": "command", "command": f"echo {line}"}}
    sandbox.settings.write_text(json.dumps(settings))
    sandbox.holdfast("install", "--statusline")
    *steps, _ = work_steps(sandbox.project)
    return settings, start_conversation(
        *steps, run_tests(usage=60_000), {**ANSWER, "usage": 61_000}
    )


def test_the_gauge_is_shown_after_the_existing_status_line(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    settings, conversation = install_gauge(sandbox, start_conversation, "my-own-line")
    with open_claude_code(conversation, columns=120) as terminal:
        terminal.wait_for("my-own-line │ ░░░░░░░░░░ –")
        terminal.type(PROMPT)
        screen_text = terminal.wait_for("31 % · 61k")
    assert "my-own-line │ ███░░░░░░░ 31 % · 61k · saved" in screen_text
    (session,) = json.loads(sandbox.holdfast("status", "--json"))["sessions"]
    snapshots = json.loads(sandbox.holdfast("snapshots", "--json", "--session", session["id"]))
    assert [snapshot["reason"] for snapshot in snapshots] == ["threshold: 60000 tokens"]
    sandbox.holdfast("uninstall")
    # The client has added a setting of its own, so that the file is not the same byte for byte.
    after = json.loads(sandbox.settings.read_text())
    assert (after["statusLine"], after.get("hooks")) == (settings["statusLine"], None)


def test_in_a_narrow_terminal_the_gauge_is_shorter_and_on_its_own_line(
    sandbox: Sandbox, start_conversation: StartConversation
) -> None:
    _, conversation = install_gauge(sandbox, start_conversation, "a-status-line-of-my-own")
    with open_claude_code(conversation, columns=34) as terminal:
        terminal.wait_for("░░░░░░░░░░ –")
        terminal.type(PROMPT)
        screen_lines = terminal.wait_for("31 %").splitlines()
    assert any("a-status-line-of-my-own" in line and "31 %" not in line for line in screen_lines)
    (gauge,) = [line.strip() for line in screen_lines if "31 %" in line]
    assert gauge.startswith("███░░░░░░░ 31 %")
    assert "saved" not in gauge
