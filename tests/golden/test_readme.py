"""The README shows the brief that the demo really produces."""

from __future__ import annotations

from pathlib import Path

from holdfast.brief.render import build_brief
from holdfast.demo import load_demo
from holdfast.fast_json import dumps
from holdfast.state.fold import advance, new_state
from holdfast.transcript.decoder import decode

README = Path(__file__).parents[2] / "README.md"


def build_demo_brief() -> str:
    demo = load_demo("/home/dev/courier", "session-1", 1_790_000_000.0)
    state = new_state()
    lines = ((number, dumps(line).encode()) for number, line in enumerate(demo.before, 1))
    advance(state, decode(lines))
    return build_brief(state, tokens=700, characters=9500, summary=demo.summary).text


def test_the_brief_in_the_readme_equals_the_brief_of_the_demo() -> None:
    block = README.read_text(encoding="utf-8").split("```markdown\n")[1].split("```")[0]
    assert block == build_demo_brief()


def test_the_readme_has_at_most_120_lines() -> None:
    assert len(README.read_text(encoding="utf-8").splitlines()) <= 120
