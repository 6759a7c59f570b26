"""One thing that a look at the installation found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    name: str
    status: Literal["ok", "warn", "fail", "info"]
    detail: str
    hint: str = ""
