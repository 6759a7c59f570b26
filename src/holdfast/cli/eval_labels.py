"""Run and print `holdfast eval --probes` and `holdfast eval --sentences`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from holdfast import settings
from holdfast.cli.console import (
    make_console,
    make_table,
    print_json,
    print_message,
    show_progress,
    strip_control_chars,
)
from holdfast.errors import InvalidInput, UnreadableTranscript
from holdfast.eval.lines import find_transcripts
from holdfast.eval.probe_report import (
    BriefTexts,
    CaseScores,
    build_probe_report,
    describe_sections,
    name_joint_arm,
    probe_table,
    score_case,
)
from holdfast.eval.probes import (
    Case,
    load_cases,
    matches_pattern,
    read_summary,
    select_cases,
)
from holdfast.eval.product import build_brief_texts, find_statements
from holdfast.eval.sentences import (
    LabelledSession,
    SessionJudgements,
    build_sentence_report,
    find_transcript,
    judge_session,
    load_sentences,
    sentence_table,
)
from holdfast.eval.session import parse_session_name


def run_probes(
    path: str,
    folder: str,
    budgets: Sequence[int],
    *,
    only: str | None,
    with_misses: bool,
    as_json: bool,
) -> int:
    """Score all cases of a file of probes and print the report."""
    _check_folder(folder)
    cases = select_cases(load_cases(path, folder), only)
    scored = list(show_progress(_score_cases(cases, budgets), "measuring", len(cases)))
    report = build_probe_report(scored, budgets)
    if as_json:
        print_json(report)
        return 0
    screen = make_console()
    screen.print(make_table(*probe_table(report)))
    screen.print()
    arm = name_joint_arm(max(budgets))
    # Rich would read a heading in square brackets as a style.
    screen.print(
        strip_control_chars(f"sections of {arm} by characters: {describe_sections(report)}"),
        markup=False,
    )
    if with_misses:
        for miss in report["misses"]:
            screen.print()
            screen.print(strip_control_chars(_render_miss(miss)), markup=False)
    print_message(
        f"{report['questions']} questions about {report['cases']} compactions of "
        f"{report['sessions']} sessions; {arm} leaves {len(report['misses'])} unanswered. "
        "Per cent of the questions of which a text contains the keys, with 95 % intervals by "
        "session; the gain is over the summary alone, in points. No model reads the texts."
    )
    return 0


def _score_cases(cases: Sequence[Case], budgets: Sequence[int]) -> Iterator[CaseScores]:
    home = settings.find_home(os.environ)

    def build_texts(case: Case, summary: str) -> list[BriefTexts]:
        try:
            return build_brief_texts(case.path, case.lines, summary, budgets, home)
        except UnreadableTranscript as problem:
            raise UnreadableTranscript(f"case {case.number}: {problem.detail}") from None

    for case in cases:
        yield score_case(case, read_summary(case), build_texts)


def _render_miss(miss: dict[str, Any]) -> str:
    lines = ", ".join(f"L{line}" for line in miss["lines"])
    missing = "\n".join(f"  missing: {' | '.join(group)}" for group in miss["missing"])
    return (
        f"case {miss['case']} ({miss['transcript']}), question {miss['n']}, {miss['category']}: "
        f"{miss['question']}\n  answer: {miss['answer']} ({lines})\n{missing}"
    )


def run_sentences(
    path: str, folder: str, *, only: str | None, with_misses: bool, as_json: bool
) -> int:
    """Compare the rules and decisions of the fold with labelled sentences; print the report."""
    _check_folder(folder)
    sessions = load_sentences(path)
    selected = [session for session in sessions if matches_pattern(session.name, only)]
    if not selected:
        raise InvalidInput(
            f"--only: none of {len(sessions)} sessions matches {only!r}",
            hint="for example --only 'owner__*', or --only '!owner__*' for all others",
        )
    paths = list(find_transcripts([folder]))
    found = [(session, find_transcript(session, paths)) for session in selected]
    judged = list(show_progress(_judge_sessions(found), "measuring", len(found)))
    report = build_sentence_report(judged)
    if as_json:
        print_json(report)
        return 0
    screen = make_console()
    screen.print(make_table(*sentence_table(report)))
    if with_misses:
        for title, name in (("not standing or decided", "wrong"), ("not taken", "missed")):
            for item in report[name]:
                text = (
                    f"{item['kind']}, {title}: {item['text']} ({item['session']} L{item['line']})"
                )
                screen.print(strip_control_chars(text), markup=False)
    unlabelled = sum(kind["unlabelled"] for kind in report["kinds"][:2])
    print_message(
        f"{sum(len(session.sentences) for session in selected)} sentences of {len(selected)} "
        "sessions. Per cent, with 95 % intervals by session. Sentences on which the readers "
        f"disagree do not count, nor do {unlabelled} rules and decisions that are not in the file."
    )
    return 0


def _judge_sessions(
    found: Sequence[tuple[LabelledSession, str]],
) -> Iterator[SessionJudgements]:
    for session, path in found:
        name, repository = parse_session_name(path)
        yield judge_session(session, (repository, name), *find_statements(path))


def _check_folder(folder: str) -> None:
    if not os.path.isdir(folder):
        raise InvalidInput(
            f"{folder} is not a folder", hint="give the folder that the transcripts are in"
        )
