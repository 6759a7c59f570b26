"""Templates: what a project may write, and what is said when it is wrong."""

from __future__ import annotations

import pytest

from holdfast.brief.roles import built_in, of_agent, template
from holdfast.brief.template import ALWAYS, SECTIONS, parse
from holdfast.errors import BadTemplate, BadUsage

REVIEW = """\
# Where this review stands
for: reviewer, Quality

## Broken {failing x1.5}
## Plan of the review {plan}
"""


def test_a_template_names_sections_headings_weights_and_agents() -> None:
    made = parse("review", REVIEW)
    assert made.title == "Where this review stands"
    assert made.agents == ("reviewer", "quality")
    assert made.sections["failing"] == "Broken"
    assert made.weights == {"failing": 1.5, "plan": 1.0}
    assert made.heading("plan") == "## Plan of the review"


def test_what_was_asked_and_what_binds_cannot_be_left_out() -> None:
    assert [*parse("review", REVIEW).sections][: len(ALWAYS)] == [*ALWAYS]


@pytest.mark.parametrize("role", sorted(built_in()))
def test_a_role_can_be_written_out_and_read_again(role: str) -> None:
    made = template(role)
    again = parse(role, made.text())
    assert (again.title, again.sections, again.agents) == (made.title, made.sections, made.agents)
    assert {key: value for key, value in again.weights.items() if value != 1.0} == {
        key: value for key, value in made.weights.items() if value != 1.0
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no section"),
        ("# Title only", "no section"),
        ("## Plan", "names no part"),
        ("## Plan {plans}", "names no part"),
        ("## Plan {plan", "names no part"),
        ("## Plan {plan x}", "no weight"),
        ("## Plan {plan x-1}", "no weight"),
        ("## Plan {plan xnan}", "no weight"),
        ("Be sure to {plan}", "line 1: neither a heading"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str) -> None:
    with pytest.raises(BadTemplate) as told:
        parse("mine", text)
    assert said in told.value.detail
    assert told.value.hint


def test_a_heading_may_be_left_to_us_and_is_never_long() -> None:
    assert parse("mine", "## {plan}").sections["plan"] == SECTIONS["plan"]
    assert len(parse("mine", f"## {'x' * 500} {{plan}}").sections["plan"]) == 80


@pytest.mark.parametrize(
    ("agent_type", "role"),
    [
        ("", None),
        ("orchestrator", "orchestrator"),
        ("Tech-Lead-2", "orchestrator"),
        ("frontend-react", "developer"),
        ("specialist-sql", "specialist"),
        ("anything else", "validator"),
    ],
)
def test_the_role_is_found_by_the_agent_s_type(agent_type: str, role: str | None) -> None:
    assert of_agent(agent_type) == role


def test_a_project_s_own_role_is_asked_first() -> None:
    own = {"review": parse("review", REVIEW)}
    assert of_agent("backend-reviewer", own) == "review"
    assert template("review", own).title == "Where this review stands"
    with pytest.raises(BadUsage) as told:
        template("boss", own)
    assert "review" in str(told.value.hint)
