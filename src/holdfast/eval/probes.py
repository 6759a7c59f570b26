"""Probes: questions about a session, with the words that a text must contain to answer them.

A file of probes is a JSON list of cases. A case is one compaction of one transcript:

  {"transcript": "owner__repo__session.jsonl.gz",   the file's path below the given folder
   "lines": 296,              the brief is built from this many lines
   "summary_line": 298,       the line that holds the host's summary
   "probes": [{"category": "decision", "question": "…", "answer": "…",
               "lines": [86, 88],                   where the answer stands
               "keys": [["read-only", "read only"], ["folder"]]}]}

A text answers a question if it contains at least one alternative of each group of `keys`. Case and
white space do not matter. `n`, the number of a question, may be left out. Other fields are ignored.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, NoReturn

from holdfast.errors import InvalidInput, UnreadableTranscript
from holdfast.eval.lines import parse_line, read_raw_lines
from holdfast.eval.rollout import Rollout, is_rollout
from holdfast.eval.session import parse_session_name, read_texts
from holdfast.eval.statistics import Key

FORMAT_HINT = "`holdfast eval --help` shows the format, docs/how-to/measure.md explains it"
SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One question; `keys` are groups of alternatives, of each of which a text must contain one."""

    number: int
    category: str
    question: str
    answer: str
    lines: tuple[int, ...]
    keys: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One compaction and its questions; `path` is the transcript, `number` counts from 1."""

    number: int
    transcript: str
    path: str
    lines: int
    summary_line: int
    probes: tuple[Probe, ...]

    @property
    def key(self) -> Key:
        """The repository and the session, which the bootstrap resamples."""
        session, repository = parse_session_name(self.path)
        return repository, session


def load_cases(path: str, folder: str) -> list[Case]:
    """Return the cases of a file of probes.

    Raises InvalidInput with the case and the field that is wrong.
    """
    cases = _read_json(path)
    if not isinstance(cases, list) or not cases:
        raise InvalidInput(f"{path}: must be a list of at least one case", hint=FORMAT_HINT)
    return [
        _FieldReader(f"{path}: case {number}", fields).read_case(number, folder)
        for number, fields in enumerate(cases, 1)
    ]


def select_cases(cases: Sequence[Case], pattern: str | None) -> list[Case]:
    """Return the cases whose transcript matches a file name pattern; with a leading `!`, the rest.

    Raises InvalidInput if there is none.
    """
    selected = [case for case in cases if matches_pattern(case.transcript, pattern)]
    if not selected:
        raise InvalidInput(
            f"--only: none of {len(cases)} transcripts matches {pattern!r}",
            hint="for example --only 'owner__*', or --only '!owner__*' for all others",
        )
    return selected


def matches_pattern(name: str, pattern: str | None) -> bool:
    """Return whether a name matches; every name matches None, and `!` inverts a pattern."""
    if pattern is None:
        return True
    return fnmatchcase(name, pattern.removeprefix("!")) != pattern.startswith("!")


def read_summary(case: Case) -> str:
    """Return the host's summary. Raises InvalidInput if there is no text in that line."""
    where, count = f"case {case.number}: summary_line", 0
    try:
        for count, raw in enumerate(read_raw_lines(case.path), 1):
            if count == case.summary_line:
                line = parse_line(raw) or {}
                line = Rollout().convert(line) if is_rollout(line) else line
                if text := "\n".join(read_texts(line)):
                    return text
                raise InvalidInput(
                    f"{where}: line {count} of {case.transcript} holds no text of a message",
                    hint="give the line of the host's summary, counted from 1",
                )
    except UnreadableTranscript as problem:
        raise InvalidInput(
            f"case {case.number}: transcript: {problem.detail}",
            hint="give the folder that the transcripts are in",
        ) from None
    raise InvalidInput(
        f"{where}: {case.transcript} has {count} lines, not {case.summary_line}",
        hint="give the line of the host's summary, counted from 1",
    )


def fold_spaces(text: str) -> str:
    """Return a text in lower case with each run of white space replaced by one space."""
    return SPACES.sub(" ", text).lower()


def find_missing_groups(folded_text: str, probe: Probe) -> tuple[tuple[str, ...], ...]:
    """Return the groups of keys of which a text, as `fold_spaces` returns it, has no alternative.

    A text answers the question if the result is empty.
    """
    return tuple(
        group for group in probe.keys if not any(fold_spaces(key) in folded_text for key in group)
    )


class _FieldReader:
    """Reads the fields of one JSON object; `where` is the place that an error names."""

    def __init__(self, where: str, fields: Any) -> None:
        self._where = where
        if not isinstance(fields, dict):
            raise InvalidInput(f"{where}: must be an object", hint=FORMAT_HINT)
        self._fields: dict[str, Any] = fields

    def read_case(self, number: int, folder: str) -> Case:
        transcript = self._read_text("transcript")
        path = os.path.join(folder, transcript)
        if not os.path.isfile(path):
            raise InvalidInput(
                f"{self._where}: transcript: there is no {path}",
                hint="give the folder that the transcripts are in",
            )
        return Case(
            number=number,
            transcript=transcript,
            path=path,
            lines=self._read_number("lines"),
            summary_line=self._read_number("summary_line"),
            probes=tuple(
                _FieldReader(f"{self._where}, question {position}", fields).read_probe(position)
                for position, fields in enumerate(self._read_list("probes", "questions"), 1)
            ),
        )

    def read_probe(self, position: int) -> Probe:
        return Probe(
            number=self._read_number("n") if "n" in self._fields else position,
            category=self._read_text("category"),
            question=self._read_text("question"),
            answer=self._read_text("answer"),
            lines=self._read_lines(),
            keys=self._read_keys(),
        )

    def _read_lines(self) -> tuple[int, ...]:
        lines = self._read_list("lines", "line numbers")
        if not all(_is_positive(line) for line in lines):
            self._fail("lines", "must be a list of line numbers, counted from 1")
        return tuple(lines)

    def _read_keys(self) -> tuple[tuple[str, ...], ...]:
        groups = self._read_list("keys", "groups")
        for number, group in enumerate(groups, 1):
            # An empty alternative would be in every text, and an empty group in none.
            is_valid = isinstance(group, list) and all(
                isinstance(key, str) and key.strip() for key in group
            )
            if not is_valid or not group:
                self._fail("keys", f"group {number} must be a list of texts, none of them empty")
        return tuple(tuple(group) for group in groups)

    def _read_text(self, name: str) -> str:
        value = self._fields.get(name)
        if not isinstance(value, str) or not value.strip():
            self._fail(name, "must be a text")
        return value

    def _read_number(self, name: str) -> int:
        value: Any = self._fields.get(name)
        if not _is_positive(value):
            self._fail(name, "must be a number from 1")
        return int(value)

    def _read_list(self, name: str, what: str) -> list[Any]:
        value = self._fields.get(name)
        if not isinstance(value, list) or not value:
            self._fail(name, f"must be a list of {what}, not empty")
        return value

    def _fail(self, name: str, problem: str) -> NoReturn:
        given = "it is missing" if name not in self._fields else f"it is {self._shorten(name)}"
        raise InvalidInput(f"{self._where}: {name}: {problem}; {given}", hint=FORMAT_HINT)

    def _shorten(self, name: str) -> str:
        text = json.dumps(self._fields[name], ensure_ascii=False)
        return text if len(text) <= 60 else f"{text[:60]}…"


def _is_positive(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _read_json(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except OSError as problem:
        raise InvalidInput(
            f"cannot read {path} ({problem.strerror})", hint="give a file of probes"
        ) from None
    except (ValueError, RecursionError) as problem:
        raise InvalidInput(f"{path} is not JSON: {problem}", hint=FORMAT_HINT) from None
