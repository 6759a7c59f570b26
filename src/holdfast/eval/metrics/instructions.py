"""M4: are the user's sentences there word for word? Constraints and prohibitions apart."""

from __future__ import annotations

from holdfast.eval.instructions import Instruction, normal


def retention(text: str, told: list[Instruction]) -> dict[str, float]:
    held = normal(text)
    groups = {
        "instructions": told,
        "constraints": [one for one in told if one.constraint],
        "prohibitions": [one for one in told if one.prohibition],
    }
    return {
        name: sum(normal(one.text) in held for one in group) / len(group)
        for name, group in groups.items()
        if group
    }
