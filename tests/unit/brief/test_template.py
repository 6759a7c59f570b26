"""Parsing templates, and the errors for wrong ones."""

from __future__ import annotations

import pytest

from holdfast.brief.roles import built_in_templates, find_role, find_template
from holdfast.brief.template import REQUIRED_SECTIONS, SECTIONS, parse_template
from holdfast.errors import BadTemplate, InvalidInput
from tests.cases import report_case

REVIEW = """\
# Where this review stands
for: reviewer, Quality

## Broken {failing x1.5}
## Plan of the review {plan}
"""


def test_a_template_names_sections_headings_weights_and_agents() -> None:
    made = parse_template("review", REVIEW)
    assert made.title == "Where this review stands"
    assert made.agents == ("reviewer", "quality")
    assert made.sections["failing"] == "Broken"
    assert made.weights == {"failing": 1.5, "plan": 1.0}
    assert made.heading("plan") == "## Plan of the review"


def test_requests_and_rules_cannot_be_left_out() -> None:
    assert [*parse_template("review", REVIEW).sections][: len(REQUIRED_SECTIONS)] == [
        *REQUIRED_SECTIONS
    ]


@pytest.mark.parametrize("role", sorted(built_in_templates()))
def test_a_rendered_template_is_parsed_to_the_same(role: str) -> None:
    made = find_template(role)
    again = parse_template(role, made.render())
    assert (again.title, again.sections, again.agents) == (made.title, made.sections, made.agents)
    assert {key: value for key, value in again.weights.items() if value != 1.0} == {
        key: value for key, value in made.weights.items() if value != 1.0
    }


def test_a_wrong_template_is_rejected_with_the_reason() -> None:
    cases = [
        ("", "no section"),
        ("# Title only", "no section"),
        ("## Plan", "names no part"),
        ("## Plan {plans}", "names no part"),
        ("## Plan {plan", "names no part"),
        ("## Plan {plan x}", "no weight"),
        ("## Plan {plan x-1}", "no weight"),
        ("## Plan {plan xnan}", "no weight"),
        ("Be sure to {plan}", "line 1: neither a heading"),
    ]
    for text, said in cases:
        with report_case(text, said):
            with pytest.raises(BadTemplate) as caught:
                parse_template("mine", text)
            assert said in caught.value.detail
            assert caught.value.hint


def test_a_heading_has_a_default_and_a_limit() -> None:
    assert parse_template("mine", "## {plan}").sections["plan"] == SECTIONS["plan"]
    assert len(parse_template("mine", f"## {'x' * 500} {{plan}}").sections["plan"]) == 80


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
    assert find_role(agent_type) == role


def test_a_projects_own_role_wins_over_built_in_ones() -> None:
    own = {"review": parse_template("review", REVIEW)}
    assert find_role("backend-reviewer", own) == "review"
    assert find_template("review", own).title == "Where this review stands"
    with pytest.raises(InvalidInput) as caught:
        find_template("boss", own)
    assert "review" in str(caught.value.hint)
