"""What `holdfast tokens --calibrate` has learned of a model, as a hook needs it: one number.

A small file beside the store, written whole, read only where a brief is built. It is no part of the
store because it belongs to no session, and because logs of every project teach the same thing.
"""

from __future__ import annotations

import os

from holdfast.quick_json import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE = "tokens.json"
VERSION = 1
# What no honest calibration gives.
LEAST, MOST = 0.8, 1.6


def known(home: str) -> dict[str, Any]:
    """The figures by model; none if nothing was learned yet or the file is not ours."""
    try:
        with open(os.path.join(home, FILE), encoding="utf-8") as file:
            told = loads(file.read())
    except (OSError, ValueError):
        return {}
    if not isinstance(told, dict) or told.get("version") != VERSION:
        return {}
    models = told.get("models")
    return models if isinstance(models, dict) else {}


def scale_of(home: str, model: str) -> float:
    """Tokens that are counted for each that is estimated; 1 if nothing is known."""
    figures = known(home).get(model)
    scale = figures.get("scale") if isinstance(figures, dict) else None
    if isinstance(scale, float | int) and LEAST <= scale <= MOST:
        return float(scale)
    return 1.0
