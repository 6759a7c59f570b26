"""The real Claude Code with the layers around a compaction: commands, instructions, sub-agents."""

import json
from pathlib import Path

import pytest

from .commands import output_of
from .conftest import Converse
from .conversation import HEADLESS
from .sandbox import Sandbox
from .story import ANSWER, PLAN_ITEM, PROHIBITION, PROMPT, call_subagent, run_tests, work
from .terminal import screen
from .test_claude_code import MARKER

pytestmark = pytest.mark.client

SMALL_WINDOW = {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}
FULL = 99_000
MARKED = "<!-- COMPACT_SUMMARY_START -->\n{}\n<!-- COMPACT_SUMMARY_END -->\n"
ASK = "Ask the person before each step, in one question."
TWICE = "Never charge a card twice."
EPIC = "Write one epic and no more."


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
def test_the_summariser_is_given_the_rules_of_active_commands_verbatim(
    sandbox: Sandbox, converse: Converse, automatic: bool
) -> None:
    *steps, last = work(sandbox.project)
    after = (run_tests(usage=FULL), ANSWER) if automatic else (last, ANSWER)
    env = SMALL_WINDOW if automatic else {}
    conversation = converse(ANSWER, ANSWER, USE_SKILL, *steps, *after, ANSWER, **env)
    conversation.say("/team:babysit the retry")
    conversation.say("/epic")
    sandbox.holdfast("command", "stop", "epic", "--session", conversation.session_id)
    conversation.say(PROMPT)
    if not automatic:
        conversation.say("/compact")
    (asked,) = conversation.requests("compaction")
    told = asked.text.rpartition("Additional Instructions")[2]
    for rule in (ASK, TWICE, PROHIBITION, PLAN_ITEM):
        assert rule in told
    assert EPIC not in told


def test_a_sub_agent_is_told_the_rules_that_bind_it(sandbox: Sandbox, converse: Converse) -> None:
    sandbox.holdfast("install")
    conversation = converse(ANSWER, call_subagent(), ANSWER, subagent=(ANSWER,))
    conversation.say(PROMPT)
    conversation.say("Ask somebody else.")
    (to_subagent,) = conversation.requests("subagent")
    assert f"- “{PROHIBITION}”" in to_subagent.text
    assert "They bind you too" not in conversation.requests("main")[-1].text


def test_what_a_sub_agent_says_last_is_handed_on(sandbox: Sandbox, converse: Converse) -> None:
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


def test_the_gauge_stands_beside_the_status_line_that_was_there(
    sandbox: Sandbox, converse: Converse
) -> None:
    theirs = {"statusLine": {"type": "command", "command": "echo my-own-line"}}
    sandbox.settings.write_text(json.dumps(theirs))
    sandbox.holdfast("install", "--statusline")
    *steps, _ = work(sandbox.project)
    conversation = converse(*steps, run_tests(usage=60_000), {**ANSWER, "usage": 61_000})
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


@pytest.mark.parametrize("twice", [False, True], ids=["alone", "and the settings"])
def test_the_plugin_is_valid_and_its_brief_arrives_once(
    sandbox: Sandbox, converse: Converse, twice: bool
) -> None:
    folder = sandbox.holdfast("plugin", "build", str(sandbox.root / "plugin")).strip()
    conversation = converse(*work(sandbox.project), ANSWER, ANSWER, ANSWER)
    claude = [*conversation.command()[: -len(HEADLESS) - 2], "plugin"]
    for words in (
        ("validate", folder),
        ("marketplace", "add", folder),
        ("install", "holdfast@holdfast-local"),
    ):
        env = conversation.environment()
        output_of([*claude, *words], seconds=60, cwd=sandbox.project, env=env)
    if twice:
        sandbox.holdfast("install")
    for prompt in (PROMPT, "/compact", "Go on.", "/holdfast:brief"):
        conversation.say(prompt)
    after, asked = conversation.requests("main")[-2:]
    assert len(MARKER.findall(after.text)) == 1
    assert PROHIBITION in after.text.partition("holdfast:")[2]
    (told,) = sandbox.status(conversation.session_id)["compactions"]
    assert told["receipt"] == "whole"
    assert "# Where this session stands" in asked.text.rpartition("/holdfast:brief")[2]
