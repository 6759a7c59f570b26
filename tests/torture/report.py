"""What a part of the run tried, and what it lost."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field

MAX_DETAILS = 10


@dataclass(slots=True)
class Row:
    """One line of the report."""

    name: str
    unit: str
    """What is counted, in the plural."""
    tried: int = 0
    lost: int = 0
    details: list[str] = field(default_factory=list)

    def check(self, holds: bool, detail: str) -> None:
        """Count one try; `detail` says what was lost if it does not hold."""
        self.tried += 1
        if not holds:
            self.lost += 1
            self.details = [*self.details, detail][:MAX_DETAILS]


@dataclass(slots=True)
class Run:
    """The time and the random numbers of one part, and the rows that it adds to the report."""

    random: random.Random
    deadline: float
    rows: list[Row] = field(default_factory=list)

    def row(self, name: str, unit: str) -> Row:
        """Return the row of that name, which is added the first time."""
        for row in self.rows:
            if row.name == name:
                return row
        self.rows.append(Row(name, unit))
        return self.rows[-1]

    def has_time(self) -> bool:
        return time.monotonic() < self.deadline

    def split(self, count: int) -> list[Run]:
        """Divide the rest of the time among runs that share the rows."""
        now = time.monotonic()
        share = max(0.0, self.deadline - now) / count
        return [Run(self.random, now + share * (number + 1), self.rows) for number in range(count)]
