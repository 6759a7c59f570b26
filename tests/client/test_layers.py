"""The real Claude Code with the layers around a compaction: commands, instructions, sub-agents."""

from pathlib import Path

import pytest

from .conftest import Converse
from .sandbox import Sandbox
from .story import ANSWER, PLAN_ITEM, PROHIBITION, PROMPT, run_tests, work

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
