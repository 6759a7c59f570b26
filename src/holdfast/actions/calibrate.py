"""Learn from transcripts how many tokens text takes. What was read once is not read again."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from holdfast.actions.learned_tokens import FILE, VERSION, known
from holdfast.calibration.learn import Figures, learned
from holdfast.calibration.samples import CLASSES, Log, Sample, read
from holdfast.errors import NotATranscript
from holdfast.transcript.reader import whole_file

# What was read: numbers only, no text of anybody's.
SEEN = "tokens-seen.json"
MOST_STEPS = 4000  # of one log


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """The figures by model, and what the host's count before compactions says about ours."""

    models: tuple[Figures, ...]
    logs: int
    compactions: tuple[float, ...]


def calibrate(home: str, paths: Sequence[str]) -> Iterator[str]:
    """Read the transcripts, one after the other, then write down what they say.

    Yields why a transcript was skipped, or nothing to say.
    """
    seen = _seen(home)
    for path in paths:
        name = os.path.abspath(path)
        try:
            mark = _mark(name)
            if seen.get(name, {}).get("mark") != mark:
                seen[name] = {"mark": mark, **_kept(read(_lines(name)))}
            yield ""
        except (NotATranscript, OSError) as problem:
            yield getattr(problem, "detail", "") or str(problem)
    os.makedirs(home, mode=0o700, exist_ok=True)
    _write(home, SEEN, {"version": VERSION, "logs": seen})
    models = {one.model: asdict(one) for one in figures(seen)}
    _write(home, FILE, {"version": VERSION, "models": models})


def what_is_learned(home: str) -> Learned:
    """What all calibrations together have shown."""
    seen = _seen(home)
    return Learned(
        models=tuple(Figures(**one) for _, one in sorted(known(home).items())),
        logs=len(seen),
        compactions=tuple(ratio for log in seen.values() for ratio in log["compactions"]),
    )


def figures(seen: dict[str, Any]) -> Iterator[Figures]:
    """Of every model that a log names; a step that two logs share counts once."""
    logs: dict[str, list[Sample]] = {}
    met: set[Sample] = set()
    for name, log in sorted(seen.items()):
        steps = [_step(row) for row in log["steps"]]
        logs[name] = [step for step in steps if step not in met]
        met.update(steps)
    for model in sorted({step.model for step in met}):
        yield learned(logs, model)


def _kept(log: Log) -> dict[str, Any]:
    """A log as it is kept: rows of numbers."""
    return {
        "steps": [
            [one.model, one.tokens, one.blocks, int(one.thought), *one.characters,
             *one.parts]
            for one in log.steps[-MOST_STEPS:]
        ],
        "compactions": [round(ours / theirs, 4) for ours, theirs in log.compactions],
    }  # fmt: skip


def _step(row: list[Any]) -> Sample:
    model, tokens, blocks, thought, *rest = row
    classes = len(CLASSES)
    return Sample(
        model=model,
        tokens=tokens,
        blocks=blocks,
        thought=bool(thought),
        characters=tuple(rest[:classes]),
        parts=tuple(rest[classes:]),
    )


def _lines(path: str) -> Iterator[dict[str, Any]]:
    for _, raw in whole_file(path):
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if isinstance(line, dict):
            yield line


def _mark(path: str) -> list[int]:
    """Changes when the file does."""
    told = os.stat(path)
    return [told.st_size, told.st_mtime_ns]


def _seen(home: str) -> dict[str, Any]:
    try:
        with open(os.path.join(home, SEEN), encoding="utf-8") as file:
            told = json.load(file)
    except (OSError, ValueError):
        return {}
    current = isinstance(told, dict) and told.get("version") == VERSION
    return told.get("logs", {}) if current else {}


def _write(home: str, name: str, value: dict[str, Any]) -> None:
    """Whole or not at all, and for nobody else to read."""
    handle, path = tempfile.mkstemp(dir=home, prefix=f"{name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(value, file, separators=(",", ":"))
    os.replace(path, os.path.join(home, name))
