"""The example's session, which is only read."""

from __future__ import annotations

import pytest

from holdfast import example
from tests.unit.state.folding import BRIEF, SESSION
from tests.unit.transcript_lines import Line


@pytest.fixture(scope="module")
def session() -> example.Example:
    return example.build("/srv/courier", SESSION, 1_760_000_000.0)


@pytest.fixture(scope="module")
def before(session: example.Example) -> list[Line]:
    return list(session.before)


@pytest.fixture(scope="module")
def whole(session: example.Example) -> list[Line]:
    brief = example.hook_attachment(session.session, BRIEF)
    return [*session.before, *session.after(brief)]
