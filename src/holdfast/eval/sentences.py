"""Labelled sentences: is what the fold takes as a rule or a decision one, and which does it miss?

A file of sentences has tab-separated columns, named in its first line:

  session   repository, slash, and the first characters of the session's id
  line      the transcript line
  reader_1  the label of one reader: standing, decision, oneoff or other
  reader_2  the label of another reader
  text      the sentence, as the user typed it

It should hold every sentence that the user typed in a session. A sentence on which the readers
disagree counts neither as right nor as wrong.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from holdfast.errors import InvalidInput
from holdfast.eval.probe_report import TableRow, render_share
from holdfast.eval.session import parse_session_name
from holdfast.eval.statistics import Key, estimate_pooled

COLUMNS = ("session", "line", "reader_1", "reader_2", "text")
STANDING, DECISION, ONE_OFF, OTHER = LABELS = ("standing", "decision", "oneoff", "other")
RULES, DECISIONS, EITHER = "rules", "decisions", "rules or decisions"
# Which labels must be found among the statements of each kind.
WANTED = {RULES: (STANDING,), DECISIONS: (DECISION,), EITHER: (STANDING, DECISION)}
FORMAT_HINT = "`holdfast eval --help` shows the format, docs/how-to/measure.md explains it"
NOT_WORDS = re.compile(r"\W+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One labelled sentence; `label` is empty if the readers disagree."""

    line: int
    label: str
    text: str
    normalized: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSession:
    """All labelled sentences of a transcript; `row` is the first line of them in the file."""

    name: str
    row: int
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A text by the user that the fold took as a rule or as a decision."""

    text: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A statement that the fold took, or a wanted sentence, and whether that was right.

    `is_right` is None for a statement that is in no row of the file, and for one of whose rows
    the readers disagree.
    """

    key: Key
    kind: str
    line: int
    text: str
    is_right: bool | None
    is_labelled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionJudgements:
    taken: tuple[Judgement, ...]  # is_right: it is standing or decided
    wanted: tuple[Judgement, ...]  # is_right: the fold took it


def load_sentences(path: str) -> list[LabelledSession]:
    """Return the labelled sessions of a file. Raises InvalidInput with the row that is wrong."""
    by_session: dict[str, list[tuple[int, Sentence]]] = defaultdict(list)
    for number, row in _read_rows(path):
        by_session[row["session"]].append((number, _to_sentence(path, number, row)))
    if not by_session:
        raise InvalidInput(f"{path} holds no sentence", hint=FORMAT_HINT)
    return [
        LabelledSession(
            name=name, row=rows[0][0], sentences=tuple(sentence for _, sentence in rows)
        )
        for name, rows in by_session.items()
    ]


def _read_rows(path: str) -> Iterator[tuple[int, dict[str, str]]]:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            # A sentence may contain quotation marks, which have no meaning in this format.
            rows = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            columns = next(rows, [])
            if not set(COLUMNS) <= set(columns):
                raise InvalidInput(
                    f"{path}: the first line must name the columns {', '.join(COLUMNS)}",
                    hint=FORMAT_HINT,
                )
            for number, cells in enumerate(rows, 2):
                if len(cells) != len(columns):
                    raise InvalidInput(
                        f"{path}: line {number} has {len(cells)} columns, not {len(columns)}",
                        hint=FORMAT_HINT,
                    )
                yield number, dict(zip(columns, cells, strict=True))
    except OSError as problem:
        raise InvalidInput(
            f"cannot read {path} ({problem.strerror})", hint="give a file of sentences"
        ) from None
    except (UnicodeDecodeError, csv.Error) as problem:
        raise InvalidInput(f"{path} is not a table of text: {problem}", hint=FORMAT_HINT) from None


def _to_sentence(path: str, number: int, row: dict[str, str]) -> Sentence:
    for reader in ("reader_1", "reader_2"):
        if row[reader] not in LABELS:
            raise InvalidInput(
                f"{path}: line {number}: {reader}: must be one of {', '.join(LABELS)}; "
                f"it is {row[reader]!r}",
                hint=FORMAT_HINT,
            )
    if not (row["line"].isdecimal() and int(row["line"])):
        raise InvalidInput(
            f"{path}: line {number}: line: must be a number from 1; it is {row['line']!r}",
            hint=FORMAT_HINT,
        )
    return Sentence(
        line=int(row["line"]),
        label=row["reader_1"] if row["reader_1"] == row["reader_2"] else "",
        text=row["text"],
        normalized=normalize(row["text"]),
    )


def find_transcript(session: LabelledSession, paths: Iterable[str]) -> str:
    """Return the one transcript of a session. Raises InvalidInput if there is none, or several."""
    repository, _, start = session.name.rpartition("/")
    found = [
        path
        for path in paths
        for name, owner in [parse_session_name(path)]
        if owner == repository and name.startswith(start)
    ]
    if len(found) != 1:
        raise InvalidInput(
            f"line {session.row}: session: {len(found) or 'no'} transcripts of {session.name!r}",
            hint="a session is the repository, a slash and the first characters of its id",
        )
    return found[0]


def judge_session(
    session: LabelledSession, key: Key, rules: Sequence[Statement], decisions: Sequence[Statement]
) -> SessionJudgements:
    """Compare what the fold took with the labels of one session."""
    statements = {RULES: rules, DECISIONS: decisions, EITHER: _merge(rules, decisions)}
    return SessionJudgements(
        taken=tuple(
            _judge_taken(session, key, kind, statement)
            for kind, taken in statements.items()
            for statement in taken
        ),
        wanted=tuple(
            Judgement(
                key=key,
                kind=kind,
                line=sentence.line,
                text=sentence.text,
                is_right=any(_is_about(statement, sentence) for statement in statements[kind]),
            )
            for kind, labels in WANTED.items()
            for sentence in session.sentences
            if sentence.label in labels
        ),
    )


def _merge(rules: Sequence[Statement], decisions: Sequence[Statement]) -> list[Statement]:
    """Return each text once, because the fold may take one sentence as a rule and a decision."""
    merged = {normalize(statement.text): statement for statement in (*decisions, *rules)}
    return list(merged.values())


def _judge_taken(session: LabelledSession, key: Key, kind: str, statement: Statement) -> Judgement:
    """Judge a statement, which may span several sentences, by the best of their labels."""
    labels = {sentence.label for sentence in session.sentences if _is_about(statement, sentence)}
    is_right: bool | None = None
    if labels & {STANDING, DECISION}:
        is_right = True
    elif labels and "" not in labels:
        is_right = False
    return Judgement(
        key=key,
        kind=kind,
        line=statement.line,
        text=statement.text,
        is_right=is_right,
        is_labelled=bool(labels),
    )


def _is_about(statement: Statement, sentence: Sentence) -> bool:
    """Return whether a statement is a sentence, or one contains the other in the same line.

    The fold may split a message at other places than the readers did. A short sentence such as
    "yes" occurs in many messages, so the line must be the same.
    """
    taken = normalize(statement.text)
    if not taken or not sentence.normalized:
        return False
    if taken == sentence.normalized:
        return True
    padded, other = f" {taken} ", f" {sentence.normalized} "
    return statement.line == sentence.line and (padded in other or other in padded)


def normalize(text: str) -> str:
    """Return the words of a text in lower case, with one space between them."""
    return NOT_WORDS.sub(" ", text.casefold()).strip()


def build_sentence_report(judged: Sequence[SessionJudgements]) -> dict[str, Any]:
    """Return the report as it is printed with `--json`."""
    taken = [judgement for session in judged for judgement in session.taken]
    wanted = [judgement for session in judged for judgement in session.wanted]
    return {
        "sessions": len(judged),
        "kinds": [
            {
                "kind": kind,
                "taken": sum(judgement.kind == kind for judgement in taken),
                "unlabelled": sum(
                    judgement.kind == kind and not judgement.is_labelled for judgement in taken
                ),
                "right": _estimate(judgement for judgement in taken if judgement.kind == kind),
                "found": _estimate(judgement for judgement in wanted if judgement.kind == kind),
            }
            for kind in WANTED
        ],
        "wrong": [_to_json(judgement) for judgement in taken if _is_wrong(judgement)],
        "missed": [_to_json(judgement) for judgement in wanted if _is_wrong(judgement)],
    }


def _is_wrong(judgement: Judgement) -> bool:
    return judgement.is_right is False and judgement.kind != EITHER


def _estimate(judgements: Iterable[Judgement]) -> dict[str, Any]:
    return asdict(
        estimate_pooled(
            (judgement.key, float(judgement.is_right))
            for judgement in judgements
            if judgement.is_right is not None
        )
    )


def _to_json(judgement: Judgement) -> dict[str, Any]:
    return {
        "session": "/".join(judgement.key),
        "line": judgement.line,
        "kind": judgement.kind,
        "text": judgement.text,
    }


def sentence_table(report: dict[str, Any]) -> tuple[TableRow, list[TableRow]]:
    """Return one row for rules, for decisions and for both together."""
    columns = ("taken as", "standing or decided", "of taken", "taken", "of labelled")
    rows: list[TableRow] = [
        (
            kind["kind"],
            render_share(kind["right"]),
            str(kind["right"]["values"]),
            render_share(kind["found"]),
            f"{kind['found']['values']} {' or '.join(WANTED[kind['kind']])}",
        )
        for kind in report["kinds"]
    ]
    return columns, rows
