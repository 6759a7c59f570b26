"""Handoffs: every response can be parsed, and a summary keeps its paths within 500 tokens."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.handoff.orchestrator import OrchestratorState, Task
from holdfast.handoff.parser import check_summary
from holdfast.handoff.path_list import group_paths, render_path_list
from holdfast.handoff.shorten import MAX_TOKENS, shorten
from holdfast.handoff.types import Handoff, HandoffRequest
from holdfast.tokens.estimate import estimate_tokens

# A good and a bad summary, taken from the design of handoffs.
GOOD_SUMMARY = """\
Auth utilities exist in src/lib/auth.ts using JWT with httpOnly cookies.
Extend with loginUser/logoutUser. Follow existing validateToken pattern.
No conflicts found. Recommend: add tests to auth.test.ts."""
BAD_SUMMARY = """\
I searched for 'auth' and found several files. First I looked at
src/lib/auth.ts which contains 150 lines of code including imports
from jsonwebtoken and cookie packages. The file exports validateToken
which takes a token string parameter and returns a boolean. I also
checked src/hooks/useAuth.ts but that's just a React hook wrapper.
There was also mention of auth in the README but that's documentation.
After analyzing all this, I think we should..."""


def test_a_good_summary_is_not_changed() -> None:
    assert check_summary(GOOD_SUMMARY) == []
    assert shorten(GOOD_SUMMARY) == GOOD_SUMMARY


def test_a_bad_summary_is_reported_and_shortened_without_losing_paths() -> None:
    (problem,) = check_summary(BAD_SUMMARY)
    assert "how it was found: “I searched for 'auth'" in problem
    finding = "The file exports validateToken which takes a token string parameter"
    assert shorten(BAD_SUMMARY, 60).splitlines() == [
        f"{finding} and returns a boolean.",
        "Files: src/lib/auth.ts, src/hooks/useAuth.ts",
    ]


REPORT = """\
Perfect! Here is my report.

## What I did
I searched for `retry` with grep -rn "retry" src and got 40 hits.
Let me summarise what I found in src/worker/lease.py.

```python
def very_long_function():
    return "contents of a file"
```

## Findings
- The backoff lives in `src/retry/backoff.py` and follows the Scheduler.tick pattern.
- Root cause: `Queue.push` takes a lock that `Scheduler.tick` already holds.
- The import error in tests/test_queue.py failed at first and is fixed now.
- Alternatively one could rewrite the queue with asyncio.

**Constraint:** never call `Queue.push` while holding the scheduler's lock.
Decision: PROCEED. Next step: add jitter to `next_delay`.
""" + "\n".join(f"- Routine remark number {n} about nothing in particular." for n in range(120))


def test_shortening_keeps_findings_and_drops_the_description_of_the_process() -> None:
    assert estimate_tokens(REPORT) > MAX_TOKENS
    short = shorten(REPORT, 200)
    assert estimate_tokens(short) <= 200
    for text in (
        "src/retry/backoff.py", "Root cause", "never call `Queue.push`", "PROCEED", "next_delay",
        "src/worker/lease.py", "tests/test_queue.py",
    ):  # fmt: skip
        assert text in short, text
    for text in ("grep", "very_long_function", "is fixed now", "asyncio", "Perfect"):
        assert text not in short, text


TEXTS = st.text(alphabet=st.sampled_from("abZ9 /_.-é日\n`#*|{}"), max_size=400)


@settings(max_examples=80, deadline=None)
@given(st.lists(TEXTS, max_size=40).map("\n".join), st.integers(40, 500))
def test_any_text_is_shortened_to_the_budget(text: str, max_tokens: int) -> None:
    assert estimate_tokens(shorten(text, max_tokens)) <= max_tokens


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["a", "lib", "x1"]), min_size=1, max_size=4), st.integers(1, 25))
def test_shortening_keeps_every_path_that_fits(folders: list[str], count: int) -> None:
    paths = [f"{'/'.join(folders)}/file_{n}.py" for n in range(count)]
    filler = "\n".join(f"- routine remark {n} about nothing in particular" for n in range(200))
    text = "\n".join(f"I looked at {path} for a while." for path in paths) + "\n" + filler
    short = shorten(text)
    assert [path for path in paths if path.rpartition("/")[2] not in short] == []


def test_paths_are_grouped_by_their_common_folder() -> None:
    assert group_paths(["src/a.py", "src/b/c.py", "src/b/d.py", "x.md"]) == (
        "src/{a.py, b/{c.py, d.py}}; x.md"
    )
    assert render_path_list([f"src/file_{n}.py" for n in range(500)], 60).endswith("more")
    assert render_path_list([], 60) == ""
    assert render_path_list(["b.py", "src/a/b.py", "a/b.py"], 60) == "Files: src/a/b.py"


# Responses

VALID_RESPONSE: dict[str, Any] = {
    "task_id": "research-123",
    "phase": "research",
    "status": "complete",
    "decision": "PROCEED",
    "findings": {"patterns": ["JWT in httpOnly cookies"]},
    "files_changed": ["src/lib/auth.ts"],
    "context_summary": "JWT auth exists in src/lib/auth.ts.",
    "tokens_used": 15000,
    "issues": ["no tests yet"],
}


def to_camel_case(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


@pytest.mark.parametrize("raw", [
    json.dumps(VALID_RESPONSE),
    f"I am done.\n\n```json\n{json.dumps(VALID_RESPONSE, indent=2)}\n```\nShall I go on?",
    json.dumps({to_camel_case(name): value for name, value in VALID_RESPONSE.items()}),
    '{"note": "first"} some {broken '
    + json.dumps({**VALID_RESPONSE, "decision": "go", "status": "Done"}),
    json.dumps({
        **VALID_RESPONSE, "tokens_used": "15,000", "files_changed": [{"path": "src/lib/auth.ts"}],
    }),
])  # fmt: skip
def test_a_response_is_parsed_in_every_form(raw: str) -> None:
    handoff = Handoff.parse(raw)
    assert handoff == Handoff(
        **{**VALID_RESPONSE, "files_changed": ("src/lib/auth.ts",), "issues": ("no tests yet",)}
    )
    assert handoff.problems == ()


def test_problems_of_a_response_are_reported_and_the_rest_is_used() -> None:
    cases = [
        ("", "context_summary is empty"),
        ("Just words.", "no JSON object"),
        (json.dumps({**VALID_RESPONSE, "decision": "maybe"}), "decision 'MAYBE' is none of"),
        (
            json.dumps({**VALID_RESPONSE, "decision": None, "context_summary": "x"}),
            "decision is missing",
        ),
        (json.dumps({**VALID_RESPONSE, "status": "odd"}), "status 'odd' is not known"),
        (json.dumps({**VALID_RESPONSE, "files_changed": 7}), "files_changed is int"),
        (json.dumps({**VALID_RESPONSE, "tokens_used": "many"}), "tokens_used is no number"),
        (json.dumps({**VALID_RESPONSE, "context_summary": {"a": 1}}), "context_summary is dict"),
        (json.dumps({**VALID_RESPONSE, "context_summary": None}), "the findings are taken for it"),
        (
            json.dumps({**VALID_RESPONSE, "context_summary": "word " * 900}),
            "tokens, 500 are allowed",
        ),
    ]
    for raw, problem in cases:
        handoff = Handoff.parse(raw)
        assert any(problem in reported for reported in handoff.problems), (raw, handoff.problems)
        assert estimate_tokens(handoff.context_summary) <= MAX_TOKENS, raw


@given(st.text(max_size=300))
def test_parsing_never_raises(raw: str) -> None:
    handoff = Handoff.parse(raw)
    assert json.dumps(handoff.as_dict())


def test_a_decision_in_prose_is_recognised_only_in_capital_letters() -> None:
    assert Handoff.parse("All good.\n\n**Decision: PROCEED.**").decision == "PROCEED"
    assert Handoff.parse("We can proceed or stop.").decision == ""


def test_a_secret_is_redacted_in_a_handoff() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    assert token not in json.dumps(Handoff.parse(f"use {token}").as_dict())


def test_a_prompt_has_the_constraints_and_the_rules_for_handoffs() -> None:
    prompt = HandoffRequest(
        task_id="t1", phase="write", context="Add login.", constraints=("Never push.",),
        previous_findings=REPORT, expected_output="a patch",
    ).prompt()  # fmt: skip
    assert "- Never push." in prompt
    assert "at most 500 tokens" in prompt
    assert estimate_tokens(prompt) < 1000


# The orchestrator


def test_a_response_is_absorbed_without_its_raw_output() -> None:
    findings = {"existing": ["long finding about the code " * 40] * 8}
    raw = json.dumps({**VALID_RESPONSE, "findings": findings})
    state = OrchestratorState(task=Task(id="task-123", feature="user-auth")).absorb(raw, ref="h1")
    exported = state.as_dict()
    assert exported["decisions"] == {"research": "PROCEED"}
    assert exported["progress"]["summaries"] == {"research": VALID_RESPONSE["context_summary"]}
    assert exported["progress"]["files_changed"] == ["src/lib/auth.ts"]
    assert exported["refs"] == ["h1"]
    assert "long finding" not in json.dumps(exported)
    assert state.tokens_retained < 0.2 * state.tokens_seen, (
        "at most a fifth of the tokens is retained"
    )
    assert Handoff.parse(raw).tokens < 0.04 * Handoff.parse(raw).raw_tokens


def test_a_response_of_a_new_phase_completes_the_current_one() -> None:
    state = OrchestratorState(task=Task(id="t"))
    for phase in ("research", "research", "write"):
        state = state.absorb(json.dumps({**VALID_RESPONSE, "phase": phase}))
    exported = state.as_dict()
    assert exported["progress"]["completed_phases"] == ["research"]
    assert exported["progress"]["current_phase"] == "write"
    assert state.completed[0].agents == 2


def make_response(number: int) -> str:
    paths = [f"src/part_{number}/module_{n}.py" for n in range(5)]
    return json.dumps({
        "phase": f"phase-{number // 40}", "status": "complete", "decision": "PROCEED",
        "context_summary": f"Found {number} things in {paths[0]}. Must not touch it. " * 6,
        "files_changed": paths, "issues": [f"issue {number}: {'word ' * 80}"],
    })  # fmt: skip


def test_the_orchestrator_state_is_bounded_for_hundreds_of_sub_agents() -> None:
    state = OrchestratorState(task=Task(id="t"))
    sizes = []
    for number in range(600):
        state = state.absorb(make_response(number), ref=f"h{number}")
        sizes.append(state.tokens_retained)
    assert max(sizes) <= 7000
    assert max(sizes[500:]) <= 1.1 * max(sizes[:500]), "the state no longer grows"
    assert state.absorbed == 600
    assert state.refs[-1] == "h599"
    assert state.files_left_out == 3000 - len(state.files_changed)
    assert state.tokens_discarded > 0.9 * state.tokens_seen
    assert "src/part_599/module_0.py" in state.as_dict()["progress"]["files_changed"]
