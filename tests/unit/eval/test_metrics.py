"""Each metric on a small text with a known result."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.eval.cuts import REAL, Cut, find_cuts
from holdfast.eval.entities import Paths
from holdfast.eval.failures import CheckRun
from holdfast.eval.ground_truth import GroundTruth
from holdfast.eval.instructions import Instruction
from holdfast.eval.line_refs import find_refs, names_lookup
from holdfast.eval.matching import TextMatcher
from holdfast.eval.measure import check_limits
from holdfast.eval.methods import Candidate
from holdfast.eval.metrics.provenance import (
    find_unsupported_claims,
    measure_provenance,
    split_statements,
)
from holdfast.eval.metrics.recall import measure_precision, measure_recall
from holdfast.eval.metrics.recovery import measure_recovery
from holdfast.eval.metrics.retention import measure_last_error, measure_retention
from holdfast.eval.metrics.staleness import measure_staleness
from holdfast.eval.multi_compaction import find_first_spans, measure_survival
from holdfast.eval.references import References, find_references
from holdfast.eval.session import load_session
from holdfast.eval.todos import Todos
from tests.unit.eval.transcript import bash, compaction_summary, prompt, read, session_file

REPO = Paths(["/repo"])


def matcher(text: str) -> TextMatcher:
    return TextMatcher(text, REPO)


REFERENCES = References(
    weights={("P", "src/a.py"): 2.0, ("I", "load_settings"): 1.0, ("C", "npm run test"): 1.0},
    from_memory=frozenset({("P", "src/a.py")}),
    known=frozenset(
        {
            ("P", "src/a.py"),
            ("P", "src/b.py"),
            ("I", "load_settings"),
            ("C", "npm run test"),
            ("C", "npm run"),
        }
    ),
)


def test_recall_is_weighted_and_split_by_class_and_origin() -> None:
    figures = measure_recall(matcher("a.py and load_settings"), REFERENCES)
    assert figures["frr"] == 0.25
    assert figures["frr_basename"] == 0.75
    assert (figures["frr_P"], figures["frr_I"], figures["frr_C"]) == (0.0, 1.0, 0.0)
    assert (figures["frr_memory"], figures["frr_rediscovered"]) == (0.0, 0.5)
    assert "frr_U" not in figures  # no reference is of that class


def test_precision_counts_names_that_were_not_used() -> None:
    figures = measure_precision(
        matcher("src/a.py src/b.py, run `npm run test`; otherThing"), REFERENCES
    )
    assert figures["frp"] == pytest.approx(2 / 4)


def test_files_listed_under_their_folder_are_counted_once() -> None:
    assert measure_precision(matcher("src/: a.py, b.py"), REFERENCES)["frp"] == 0.5


def test_a_line_with_nothing_but_names_is_a_bare_list() -> None:
    bare = "src/a.py src/b.py load_settings"
    sentence = "src/a.py was edited so that load_settings no longer needs what src/b.py gave it"
    figures = measure_precision(matcher(f"{bare}\n{sentence}"), REFERENCES)["bare_list_share"]
    assert figures == pytest.approx(len(bare) / len(bare + sentence))


def test_one_name_per_line_is_a_bare_list_too() -> None:
    names = "- src/a.py\n- src/b.py\n- load_settings"
    assert measure_precision(matcher(names), REFERENCES)["bare_list_share"] == 1.0
    described = "- src/a.py — edited\n- src/b.py — read\n- load_settings — new"
    assert measure_precision(matcher(described), REFERENCES)["bare_list_share"] == 0.0


def test_only_verbatim_instructions_count_as_kept() -> None:
    instructions = [
        Instruction(text="Never push to main.", line=1, constraint=True, prohibition=True),
        Instruction(text="Always run the linter.", line=2, constraint=True, prohibition=False),
        Instruction(text="Look at the parser first.", line=3, constraint=False, prohibition=False),
    ]
    figures = measure_retention(
        "- “Never push  to main” (L1)\n- run the linter, always", instructions
    )
    assert figures == {
        "instructions": pytest.approx(1 / 3),
        "constraints": 0.5,
        "prohibitions": 1.0,
    }


def ground_truth(**changes: object) -> GroundTruth:
    fields = {
        "session": None,
        "cut": Cut(arm=REAL, line=9, first=10, last=20),
        "references": REFERENCES,
        "instructions": [],
        "todos": Todos(open=("Write the parser tests",), done=("Add retries to the client",)),
        "runs": [],
        "error": None,
        "branch": "main",
    }
    return GroundTruth(**{**fields, **changes})  # type: ignore[arg-type]


def check_run(command: str, ok: bool) -> CheckRun:
    return CheckRun(command=command, kind="test", line=1, ok=ok, output="")


def test_outdated_statements_are_counted() -> None:
    cases = [
        ("- pending: Write the parser tests", 0, 1),
        ("- pending: Add retries to the client", 1, 1),
        ("## Next steps\n- Add retries to the client", 1, 1),
        ("- done: Add retries to the client, nothing pending", 0, 0),
        ("- Add retries to the client (pending)", 1, 1),
        ("- Add retries to the pending client", 0, 0),
        ("- “pending: Add retries to the client”", 0, 0),
        ("- branch main", 0, 1),
        ("- branch feature/x", 1, 1),
    ]
    for text, errors, checked in cases:
        figures = measure_staleness(matcher(text), ground_truth())
        assert (figures["stale_errors"], figures["stale_checked"]) == (errors, checked), text


def test_a_passing_check_reported_as_failing_is_stale() -> None:
    truth = ground_truth(
        runs=[
            check_run("make test", False),
            check_run("make test", True),
            check_run("make lint", False),
        ]
    )
    figures = measure_staleness(matcher("- `make test` fails\n- `make lint` fails"), truth)
    assert (figures["stale_errors"], figures["stale_checked"]) == (1, 2)


def test_a_command_that_searches_for_failures_does_not_report_one() -> None:
    truth = ground_truth(runs=[check_run("make test", True)])
    figures = measure_staleness(matcher('- `grep -E "FAIL|fails"` · `make test` (L3)'), truth)
    assert (figures["stale_errors"], figures["stale_checked"]) == (0, 0)


def test_kept_open_items_are_measured() -> None:
    assert (
        measure_staleness(matcher("- Write the parser tests"), ground_truth())["open_todos"] == 1.0
    )
    assert measure_staleness(matcher("- something else"), ground_truth())["open_todos"] == 0.0


def test_the_last_error_counts_only_if_it_is_verbatim() -> None:
    error = CheckRun(
        command="make test", kind="test", line=3, ok=False, output="E  KeyError: 'port'"
    )
    kept = measure_last_error(matcher("`make test` fails\n  `E  KeyError: 'port'`"), error)
    assert kept == {"last_error": 1.0, "last_error_command": 1.0}
    assert measure_last_error(matcher("a KeyError about a port"), error)["last_error"] == 0.0
    assert measure_last_error(matcher("x"), None) == {}


def test_the_scorer_checks_the_limits_of_a_brief() -> None:
    valid = Candidate(method="brief", budget=100, text="short", ours="short", rebuilt="short")
    assert set(check_limits(valid, 1000).values()) == {0.0}
    invalid = Candidate(method="brief", budget=10, text="", ours="𝄞" * 5001, rebuilt="other")
    violations = check_limits(invalid, 100)
    assert [
        violations[name] for name in ("overshoots", "over_cap", "not_repeatable", "not_shorter")
    ] == [1.0] * 4


# References to lines


def test_line_references_are_found_in_every_form() -> None:
    assert list(find_refs("a (L12), b (L3–5) and (L7, L9)")) == [12, 3, 4, 5, 7, 9]
    assert list(find_refs("HTML5, XL12")) == []
    assert names_lookup('`holdfast recall "words"`')


def test_claims_that_the_referenced_lines_do_not_support_are_found(tmp_path: Path) -> None:
    session = load_session(
        session_file(
            tmp_path,
            prompt("Please keep   the port at 8080."),
            bash("npm run test", stdout="loadSettings failed in src/a.py"),
        )
    )
    good = (
        "# Title (holdfast:1234abcd)\n\n“quotes” are verbatim, (L12) is transcript line 12.\n"
        "- “keep the port at 8080” (L1)\n- “Please keep … 8080” (L1)\n"
        "- “Please […] at 8080” (L1)\n"
        "- src/a.py — edited 14× · loadSettings (L3)\n"
        "- `npm run test` fails (L2, L3)\n  `loadSettings failed`\n"
        'Everything else: `holdfast recall "words"`, or `holdfast recall L12`.\n'
    )
    assert find_unsupported_claims(good, session) == []
    assert set(measure_provenance(good, session).values()) == {1.0}
    bad = "- port 9090 (L1)\n- src/b.py (L3)\n- “keep the port open” (L1)\n- no ref to parseConfig"
    assert [claim for _, claim in find_unsupported_claims(bad, session)] == [
        "9090",
        "src/b.py",
        "keep the port open",
        "parseConfig",
    ]
    assert measure_provenance(bad, session)["lines_with_ref"] == 0.75
    assert measure_provenance(bad, session)["refs_hold"] == 0.0


def test_a_claim_supported_only_by_the_call_of_a_result_is_counted_separately(
    tmp_path: Path,
) -> None:
    session = load_session(session_file(tmp_path, bash("npm run test", stdout="1 failed")))
    figures = measure_provenance("- `npm run test` fails (L2)", session)
    assert (figures["refs_hold"], figures["refs_hold_with_calls"]) == (0.0, 1.0)


def test_an_indented_line_belongs_to_the_statement_above() -> None:
    assert list(split_statements("## A\n- one\n  two\n- three\n\nsrc/auth/\n- four")) == [
        "- one\n  two",
        "- three",
        "- four",
    ]


def test_slash_commands_and_line_continuations_match_as_they_were_typed(
    tmp_path: Path,
) -> None:
    typed = (
        "<command-message>review</command-message>\n<command-name>/review</command-name>\n"
        "<command-args>this branch</command-args>"
    )
    session = load_session(session_file(tmp_path, prompt(typed), bash("git add a.py \\\n  b.py")))
    assert (
        find_unsupported_claims("- “/review this branch” (L1)\n- `git add a.py b.py` (L2)", session)
        == []
    )


def test_output_matches_without_its_escape_sequences(tmp_path: Path) -> None:
    red = "\x1b[31mError:\x1b[0m \x1b[2mmaxRetries\x1b[22m is 3"
    session = load_session(session_file(tmp_path, bash("npm test", stdout=red)))
    assert find_unsupported_claims("- `Error: maxRetries is 3` (L2)", session) == []


def test_a_quoted_request_about_lookups_is_a_statement(tmp_path: Path) -> None:
    session = load_session(session_file(tmp_path, prompt("Make the lookup 8080.")))
    assert list(split_statements("- “Make the lookup 8080.” (L1)")) == [
        "- “Make the lookup 8080.” (L1)"
    ]
    assert measure_provenance("- “Make the lookup 8080.” (L1)", session)["lines_with_ref"] == 1.0


def test_missing_names_are_recovered_by_reference_or_search_or_are_lost(tmp_path: Path) -> None:
    session = load_session(session_file(tmp_path, read("src/a.py"), prompt("call load_settings")))
    brief = matcher("- something (L3); more: `holdfast recall`")
    figures = measure_recovery(
        brief, REFERENCES, session, lambda words: f"L1 {words}" if "/" in words else ""
    )
    assert figures == {
        "retained": 0.0,
        "by_reference": pytest.approx(1 / 3),
        "by_search": pytest.approx(1 / 3),
        "lost": pytest.approx(1 / 3),
    }


def test_survival_counts_only_names_from_earlier_spans(tmp_path: Path) -> None:
    files = [line for number in range(9) for line in read(f"f{number}.py")]
    steps = (read("old.py"), compaction_summary("x"), read("newer.py"), compaction_summary("y"))
    after = [*read("old.py"), *read("newer.py"), *files]
    session = load_session(session_file(tmp_path, *steps, after))
    last = [cut for cut in find_cuts(session) if cut.arm == REAL][-1]
    references = find_references(session, last)
    first_spans = find_first_spans(session)
    assert measure_survival(matcher("newer.py"), references, first_spans, last) == {
        "survival_1": 0.0
    }
    assert measure_survival(matcher("old.py"), references, first_spans, last) == {"survival_1": 1.0}
