"""The demo session, which the tests only read."""

from __future__ import annotations

import pytest

from holdfast.demo import DemoSession, load_demo
from tests.unit.state.folding import BRIEF, SESSION
from tests.unit.transcript_lines import Line


@pytest.fixture(scope="module")
def session() -> DemoSession:
    return load_demo("/srv/courier", SESSION, 1_760_000_000.0)


@pytest.fixture(scope="module")
def before(session: DemoSession) -> list[Line]:
    """The lines before the compaction."""
    return list(session.before)


@pytest.fixture(scope="module")
def compacted(session: DemoSession) -> list[Line]:
    """All lines of the session, with its compaction and the restored brief."""
    brief = session.hook_attachment(BRIEF)
    return [*session.before, *session.after(brief)]
