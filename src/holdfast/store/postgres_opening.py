"""The first connection to a PostgreSQL that may not be there yet."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING

import psycopg

from holdfast.errors import HoldfastError, NoConnection

if TYPE_CHECKING:
    from collections.abc import Callable

# Whoever asks sooner is told what was found the last time.
AGAIN_SECONDS = 1.0
# What the server calls trouble of its own, or of the network: nobody has to change anything.
PASSING = ("08", "40", "53", "55P03", "57P")
# Of a connection that could not be made the driver has no such code, only words: PostgreSQL's own
# about who may come in, and the driver's about an address that cannot be used. A server that speaks
# another language is waited for, and its words are told.
FOR_GOOD = re.compile(
    r"authentication failed|no password supplied|does not exist|not permitted to log in"
    r'|pg_hba\.conf|permission denied for database|parameter "'
    r"|invalid (?:\w+ )?value|invalid port number"
)


def passes(problem: psycopg.Error) -> bool:
    """Whether it may be over by itself."""
    if not isinstance(problem, psycopg.OperationalError):
        return False
    if problem.sqlstate:
        return problem.sqlstate.startswith(PASSING)
    return FOR_GOOD.search(str(problem)) is None


class Opening:
    """What has to be done once before anything else. If it cannot be done at first, whoever needs
    it tries again.
    """

    def __init__(self, work: Callable[[], None], came: Callable[[], None] | None) -> None:
        """With `came` the database need not be there yet, and it is called when it is."""
        self.problem: HoldfastError | None = None
        self._work = work
        self._turn = threading.Lock()
        self._not_before = 0.0
        self._came = came
        try:
            self._try()
        except NoConnection:
            if came is None:
                raise

    def need(self) -> None:
        """Raises as long as it is not done."""
        if self.problem is not None:
            with self._turn:
                self._again()

    def _again(self) -> None:
        if self.problem is None:
            return
        if time.monotonic() < self._not_before:
            # One for many who are told of it: it would keep a trace of each.
            raise self.problem.with_traceback(None)
        self._try()
        if self._came is not None:
            self._came()

    def _try(self) -> None:
        try:
            self._work()
        except HoldfastError as problem:
            self.problem = problem
            self._not_before = time.monotonic() + AGAIN_SECONDS
            raise
        self.problem = None
