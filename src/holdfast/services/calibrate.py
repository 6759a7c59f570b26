"""Calibrate token estimates from transcripts. An unchanged transcript is not read again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from holdfast import own_files
from holdfast.errors import UnreadableTranscript
from holdfast.tokens.calibration import ModelCalibration, calibrate_model
from holdfast.tokens.samples import CONTENT_CLASSES, LogSamples, Sample, extract_samples
from holdfast.tokens.scales import FILE_NAME, VERSION, load_models
from holdfast.transcript.reader import read_lines

# The samples of all transcripts: numbers only, no text.
SAMPLES_FILE = "tokens-seen.json"
MAX_STEPS_PER_LOG = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """The result of all calibrations so far."""

    models: tuple[ModelCalibration, ...]
    logs: int
    compactions: tuple[float, ...]
    """Our token count before each compaction, divided by the host's own count."""


def calibrate(home: str, paths: Sequence[str]) -> Iterator[str]:
    """Read samples from each transcript, then write the calibration.

    Yields for each transcript an empty string, or why it was skipped.
    """
    logs = _load_samples(home)
    for path in paths:
        name = os.path.abspath(path)
        try:
            version = _file_version(name)
            if logs.get(name, {}).get("mark") != version:
                logs[name] = {"mark": version, **_to_rows(extract_samples(_read_json(name)))}
            yield ""
        except (UnreadableTranscript, OSError) as problem:
            yield getattr(problem, "detail", "") or str(problem)
    os.makedirs(home, mode=0o700, exist_ok=True)
    _write(home, SAMPLES_FILE, {"version": VERSION, "logs": logs})
    models = {model.model: asdict(model) for model in calibrate_models(logs)}
    _write(home, FILE_NAME, {"version": VERSION, "models": models})


def load_calibration(home: str) -> Calibration:
    """Return the result of all calibrations so far."""
    logs = _load_samples(home)
    return Calibration(
        models=tuple(ModelCalibration(**fields) for _, fields in sorted(load_models(home).items())),
        logs=len(logs),
        compactions=tuple(ratio for log in logs.values() for ratio in log["compactions"]),
    )


def calibrate_models(logs: dict[str, Any]) -> Iterator[ModelCalibration]:
    """Yield the calibration of each model. A step that two logs share counts once."""
    samples: dict[str, list[Sample]] = {}
    seen: set[Sample] = set()
    for name, log in sorted(logs.items()):
        steps = [_parse_row(row) for row in log["steps"]]
        samples[name] = [step for step in steps if step not in seen]
        seen.update(steps)
    for model in sorted({step.model for step in seen}):
        yield calibrate_model(samples, model)


def _to_rows(log: LogSamples) -> dict[str, Any]:
    """Return the samples of a log as rows of numbers, to be stored."""
    return {
        "steps": [
            [step.model, step.tokens, step.blocks, int(step.has_thinking), *step.characters,
             *step.result_characters]
            for step in log.steps[-MAX_STEPS_PER_LOG:]
        ],
        "compactions": [round(ours / theirs, 4) for ours, theirs in log.compactions],
    }  # fmt: skip


def _parse_row(row: list[Any]) -> Sample:
    model, tokens, blocks, has_thinking, *rest = row
    classes = len(CONTENT_CLASSES)
    return Sample(
        model=model,
        tokens=tokens,
        blocks=blocks,
        has_thinking=bool(has_thinking),
        characters=tuple(rest[:classes]),
        result_characters=tuple(rest[classes:]),
    )


def _read_json(path: str) -> Iterator[dict[str, Any]]:
    for _, raw in read_lines(path):
        try:
            line = json.loads(raw)
        except ValueError:
            continue
        if isinstance(line, dict):
            yield line


def _file_version(path: str) -> list[int]:
    """Return values that change when the file does."""
    status = os.stat(path)
    return [status.st_size, status.st_mtime_ns]


def _load_samples(home: str) -> dict[str, Any]:
    try:
        with open(os.path.join(home, SAMPLES_FILE), encoding="utf-8") as file:
            stored = json.load(file)
    except (OSError, ValueError):
        return {}
    is_current = isinstance(stored, dict) and stored.get("version") == VERSION
    return stored.get("logs", {}) if is_current else {}


def _write(home: str, name: str, value: dict[str, Any]) -> None:
    own_files.replace(os.path.join(home, name), json.dumps(value, separators=(",", ":")))
