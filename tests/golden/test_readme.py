"""The README shows a brief that Holdfast really makes."""

from __future__ import annotations

from pathlib import Path

from holdfast.brief.render import build_brief
from holdfast.demo import load_demo
from holdfast.fast_json import dumps
from holdfast.mentions.index import add_events, new_index
from holdfast.state.fold import advance, new_state
from holdfast.transcript.decoder import decode

README = Path(__file__).parents[2] / "README.md"


def brief_of_the_demo() -> str:
    made = load_demo("/home/dev/courier", "session-1", 1_790_000_000.0)
    state = new_state()
    lines = ((number, dumps(line).encode()) for number, line in enumerate(made.before, 1))
    events = list(decode(lines))
    advance(state, events)
    index = new_index()
    add_events(index, events)
    return build_brief(state, index=index, tokens=640, characters=9500, summary=made.summary).text


def test_the_brief_in_the_readme_is_the_one_that_the_demo_gives() -> None:
    block = README.read_text(encoding="utf-8").split("```markdown\n")[1].split("```")[0]
    assert block == brief_of_the_demo()


def test_the_readme_stays_short() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 120
