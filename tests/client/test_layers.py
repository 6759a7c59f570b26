"""The real Claude Code with the layers around a compaction: commands, instructions, sub-agents."""

import json
from pathlib import Path

import pytest

from .conftest import Converse
from .conversation import Conversation
from .sandbox import Sandbox
from .scripted_api import Json
from .story import ANSWER, PLAN_ITEM, PROHIBITION, PROMPT, call_subagent, run_tests, work
from .terminal import screen

pytestmark = pytest.mark.client

SMALL_WINDOW = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
FULL = 99_000
MARKED = "<!-- COMPACT_SUMMARY_START -->\n{}\n<!-- COMPACT_SUMMARY_END -->\n"
ASK = "Ask the person before each step, in one question."
TWICE = "Never charge a card twice."
EPIC = "Write one epic and no more."
BY_COMMAND = "The bank allows five attempts."
BY_HAND = "Ask Kim before the cap is raised."


def write(project: Path, name: str, text: str) -> None:
    file = project / ".claude" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\ndescription: A way to work.\n---\nProse.\n{text}", encoding="utf-8")


@pytest.fixture
def commands(sandbox: Sandbox) -> None:
    """One command with markers, a skill without, and one that will be finished."""
    write(sandbox.project, "commands/team/babysit.md", MARKED.format(ASK))
    write(sandbox.project, "skills/careful/SKILL.md", TWICE)
    write(sandbox.project, "commands/epic.md", MARKED.format(EPIC))
    sandbox.holdfast("install")


USE_SKILL = {"tool": "Skill", "input": {"skill": "careful"}}


@pytest.mark.usefixtures("commands")
@pytest.mark.parametrize("automatic", [False, True], ids=["manual", "auto"])
def test_active_commands_and_notes_reach_the_summariser_and_the_model(
    sandbox: Sandbox, converse: Converse, automatic: bool
) -> None:
    *steps, last = work(sandbox.project)
    after = (run_tests(usage=FULL), ANSWER) if automatic else (last, ANSWER)
    env = SMALL_WINDOW if automatic else {}
    conversation = converse(ANSWER, ANSWER, USE_SKILL, *steps, *after, ANSWER, **env)
    conversation.say("/team:babysit the retry")
    conversation.say("/epic")
    mine = ("--session", conversation.session_id)
    sandbox.holdfast("command", "stop", "epic", *mine)
    sandbox.holdfast("note", BY_COMMAND, "--decision", *mine)
    notes = sandbox.project / ".holdfast" / "sessions" / conversation.session_id / "notes.md"
    notes.write_text(f"{notes.read_text()}\n{BY_HAND}\n")
    conversation.say(PROMPT)
    if not automatic:
        conversation.say("/compact")
        conversation.say("Go on.")
    (asked,) = conversation.requests("compaction")
    told = asked.text.rpartition("Additional Instructions")[2]
    for rule in (ASK, TWICE, PROHIBITION, PLAN_ITEM):
        assert rule in told
    assert EPIC not in told
    brief = conversation.requests("main")[-1].text.partition("# Where this session stands")[2]
    for words in (ASK, TWICE, BY_COMMAND, BY_HAND, PROHIBITION, PLAN_ITEM):
        assert words in brief
    assert EPIC not in brief
    assert BY_HAND in notes.read_text().splitlines(), "what a person wrote stays"


@pytest.mark.usefixtures("commands")
def test_the_client_tells_of_a_command_as_it_is_typed(sandbox: Sandbox, converse: Converse) -> None:
    conversation = converse(ANSWER, ANSWER)
    conversation.say("/team:babysit the retry")
    seen = json.loads(sandbox.holdfast("commands", "--json", "--session", conversation.session_id))
    assert [(one["name"], one["status"]) for one in seen] == [("team:babysit", "active")]
    assert "UserPromptExpansion" in sandbox.holdfast("doctor", "--json")


def test_edits_are_checked_in_the_real_client_with_guard_edits(
    sandbox: Sandbox, converse: Converse
) -> None:
    sandbox.holdfast("install", "--guard-edits")
    read, edit, *rest = work(sandbox.project)
    conversation = converse({**read, "usage": 61_000}, {**edit, "usage": 62_000}, *rest, ANSWER)
    conversation.say(PROMPT)
    mine = ("--json", "--session", conversation.session_id)
    (saved,) = json.loads(sandbox.holdfast("snapshots", *mine))
    assert saved["reason"] == "threshold: 60000 tokens"
    lines = sandbox.transcript(conversation.session_id)
    ends = max(n for n, line in enumerate(lines, 1) if line["type"] == "assistant")
    assert saved["line"] < ends, "before the turn was over"


def test_progress_and_commits_are_in_the_notes_before_the_turn_ends(
    sandbox: Sandbox, converse: Converse
) -> None:
    sandbox.holdfast("install")
    (sandbox.project / ".holdfast").mkdir()
    sandbox.git("config", "user.name", "Dev")
    sandbox.git("config", "user.email", "dev@example.com")
    *steps, _ = work(sandbox.project)
    commit = {"command": 'git add -A && git -c core.abbrev=9 commit -m "Back off"'}
    done: Json = {"tool": "TaskUpdate", "input": {"taskId": "1", "status": "completed"}}
    # Whoever works on sees what stands in the notes by then.
    seen = {"command": "sleep 2; cat .holdfast/sessions/*/notes.md"}
    conversation = converse(
        *steps,
        {"tool": "Bash", "input": commit},
        {"tool": "Bash", "input": seen},
        done,
        {"tool": "Bash", "input": seen},
        ANSWER,
    )
    conversation.say(PROMPT)
    *_, after_commit, _, after_step = [one.text for one in conversation.requests("main")]
    assert f"- **Active work:** “{PROMPT}”" in after_commit
    assert f"- **Current item:** {PLAN_ITEM}" in after_commit
    assert "- commit " in after_commit
    assert f"- done: {PLAN_ITEM}" not in after_commit
    assert f"- done: {PLAN_ITEM}" in after_step


def test_a_sub_agent_gets_the_rules_that_bind_it(sandbox: Sandbox, converse: Converse) -> None:
    sandbox.holdfast("install")
    conversation = converse(ANSWER, call_subagent(), ANSWER, subagent=(ANSWER,))
    conversation.say(PROMPT)
    conversation.say("Ask somebody else.")
    (to_subagent,) = conversation.requests("subagent")
    assert f"- “{PROHIBITION}”" in to_subagent.text
    assert "They bind you too" not in conversation.requests("main")[-1].text


def test_the_last_message_of_a_sub_agent_becomes_its_handoff(
    sandbox: Sandbox, converse: Converse
) -> None:
    sandbox.holdfast("install")
    sandbox.holdfast("instructions", "add", "--handoff")
    conversation = converse(ANSWER, call_subagent(), ANSWER, subagent=(ANSWER,))
    conversation.say(PROMPT)
    conversation.say("Ask somebody else.")
    (to_subagent,) = conversation.requests("subagent")
    assert "`context_summary` has at most 500 tokens" in to_subagent.text
    listed = sandbox.holdfast("handoff", "list", "--json", "--session", conversation.session_id)
    (handed,) = json.loads(listed)
    assert handed["agent_type"]
    assert handed["context_summary"]
    assert handed["tokens_after"] <= 500
    conversation.say("/compact")
    assert handed["id"] in sandbox.holdfast("brief", "--session", conversation.session_id)


def test_a_suggestion_is_for_the_person_and_never_blocks(
    sandbox: Sandbox, converse: Converse
) -> None:
    sandbox.holdfast("install")
    conversation = converse(
        *work(sandbox.project), ANSWER, ANSWER, HOLDFAST_SUGGEST_AT_CALLS="3"
    )  # fmt: skip
    lines = conversation.say(PROMPT)
    assert lines[-1]["is_error"] is False
    conversation.say("Go on.")
    assert "tool calls since the last compaction" in json.dumps(
        sandbox.transcript(conversation.session_id)
    )
    requests = conversation.requests("main")
    assert len(requests) == 7, "one for each step of the script"
    assert [one for one in requests if "A good moment for" in one.text] == []


def wrapping(sandbox: Sandbox, converse: Converse, line: str) -> tuple[Json, Conversation]:
    """A user who has this status line and installs the gauge; a turn that fills 61k."""
    theirs = {"statusLine": {"type": "command", "command": f"echo {line}"}}
    sandbox.settings.write_text(json.dumps(theirs))
    sandbox.holdfast("install", "--statusline")
    *steps, _ = work(sandbox.project)
    return theirs, converse(*steps, run_tests(usage=60_000), {**ANSWER, "usage": 61_000})


def test_the_gauge_stands_beside_the_status_line_that_was_there(
    sandbox: Sandbox, converse: Converse
) -> None:
    theirs, conversation = wrapping(sandbox, converse, "my-own-line")
    with screen(conversation, columns=120) as terminal:
        terminal.wait_for("my-own-line │ ░░░░░░░░░░ –")
        terminal.type(PROMPT)
        shown = terminal.wait_for("31 % · 61k")
    assert "my-own-line │ ███░░░░░░░ 31 % · 61k · saved" in shown
    (session,) = json.loads(sandbox.holdfast("status", "--json"))["sessions"]
    saved = json.loads(sandbox.holdfast("snapshots", "--json", "--session", session["id"]))
    assert [one["reason"] for one in saved] == ["threshold: 60000 tokens"]
    sandbox.holdfast("uninstall")
    left = json.loads(sandbox.settings.read_text())  # the client has added an answer of its own
    assert (left["statusLine"], left.get("hooks")) == (theirs["statusLine"], None)


def test_a_narrow_terminal_gets_the_gauge_below_and_shorter(
    sandbox: Sandbox, converse: Converse
) -> None:
    _, conversation = wrapping(sandbox, converse, "a-status-line-of-my-own")
    with screen(conversation, columns=34) as terminal:
        terminal.wait_for("░░░░░░░░░░ –")
        terminal.type(PROMPT)
        shown = terminal.wait_for("31 %").splitlines()
    assert any("a-status-line-of-my-own" in line and "31 %" not in line for line in shown)
    (gauge,) = [line.strip() for line in shown if "31 %" in line]
    assert gauge.startswith("███░░░░░░░ 31 %")
    assert "saved" not in gauge
