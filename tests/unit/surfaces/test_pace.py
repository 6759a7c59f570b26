"""How often a caller may ask, also of several processes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from holdfast.surfaces.api.pace import MOST_KNOWN, PLACES, Pace


def test_a_bucket_empties_and_fills_with_time() -> None:
    pace = Pace(at_once=3, a_second=2)
    assert [pace.allows("a", 10.0) for _ in range(4)] == [True, True, True, False]
    assert [pace.allows("a", 11.0) for _ in range(3)] == [True, True, False]
    assert [pace.allows("a", 1000.0) for _ in range(4)] == [True, True, True, False]


def test_a_clock_that_goes_back_gives_nothing() -> None:
    pace = Pace(at_once=1, a_second=1)
    assert [pace.allows("a", now) for now in (10.0, 5.0, 5.5)] == [True, False, False]


def test_callers_do_not_share_a_bucket() -> None:
    pace = Pace(at_once=1, a_second=1)
    assert all(pace.allows(f"caller {number}", 1.0) for number in range(MOST_KNOWN // 4))


def test_whoever_has_not_asked_for_the_longest_makes_room() -> None:
    pace = Pace(at_once=1, a_second=0.001)

    class Name(str):
        """All at the same place."""

        __slots__ = ("number",)

        def __hash__(self) -> int:
            return 1 + int(self) * MOST_KNOWN

    for number in range(PLACES + 1):
        assert pace.allows(Name(number), float(number))
    assert not pace.allows(Name(PLACES), 20.0), "the last one is known"
    assert pace.allows(Name(0), 20.0), "the first one is not"


# In a process of its own: this one may have threads, with which one does not divide a process.
SHARED = """
import os
from holdfast.surfaces.api.pace import Pace
pace = Pace(at_once=3, a_second=0)
child = os.fork()
if not child:
    os._exit(sum(pace.allows("a", 1.0) for _ in range(2)))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(pace.allows("a", 1.0), pace.allows("a", 1.0))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot divide a process")
def test_processes_share_it() -> None:
    told = subprocess.check_output([sys.executable, "-c", SHARED], text=True)
    assert told.split() == ["2", "True", "False"]
