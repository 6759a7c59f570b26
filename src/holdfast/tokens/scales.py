"""Loads the results of `holdfast tokens --calibrate`; a hook needs one number of them, the scale.

They are a small file beside the store, which is replaced as a whole and read only where a brief is
built. It is not in the store because it belongs to no session, and transcripts of every project
contribute to it.
"""

from __future__ import annotations

import os

from holdfast.fast_json import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE_NAME = "tokens.json"
VERSION = 1
# A scale outside of this range cannot be right and is ignored.
MIN_PLAUSIBLE_SCALE, MAX_PLAUSIBLE_SCALE = 0.8, 1.6


def load_models(home: str) -> dict[str, Any]:
    """Return the calibrations by model; empty if there are none or the file is not readable."""
    try:
        with open(os.path.join(home, FILE_NAME), encoding="utf-8") as file:
            content = loads(file.read())
    except (OSError, ValueError):
        return {}
    if not isinstance(content, dict) or content.get("version") != VERSION:
        return {}
    models = content.get("models")
    return models if isinstance(models, dict) else {}


def load_scale(home: str, model: str) -> float:
    """Return the counted tokens per estimated token of a model; 1 if it was not calibrated."""
    calibration = load_models(home).get(model)
    scale = calibration.get("scale") if isinstance(calibration, dict) else None
    if isinstance(scale, float | int) and MIN_PLAUSIBLE_SCALE <= scale <= MAX_PLAUSIBLE_SCALE:
        return float(scale)
    return 1.0
