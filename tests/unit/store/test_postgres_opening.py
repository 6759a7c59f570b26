"""A first connection that fails: what is waited for, and who tries when."""

from __future__ import annotations

import psycopg
import pytest
from psycopg import errors

from holdfast.errors import HoldfastError, NoConnection, StoreUnavailable
from holdfast.store import postgres_opening
from holdfast.store.postgres_opening import Opening, passes


class Work:
    """Fails with what it is given, in this order, and then no more."""

    def __init__(self, *problems: HoldfastError) -> None:
        self.problems = [*problems]
        self.tried = 0

    def __call__(self) -> None:
        self.tried += 1
        if self.problems:
            raise self.problems.pop(0)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_opening, "AGAIN_SECONDS", 0.0)


@pytest.mark.parametrize("words", [
    "connection to server at \"db\", port 5432 failed: Connection refused",
    "failed to resolve host 'db': [Errno -2] Name or service not known",
    "connection timeout expired",
    "failed: No such file or directory\n\tIs the server running locally?",
    "FATAL:  the database system is starting up",
    "FATAL:  the database system is shutting down",
    "FATAL:  sorry, too many clients already",
    "FATAL:  server login has been failing, cached error: connect failed (server_login_retry)",
    "received invalid response to SSL negotiation: H",
])  # fmt: skip
def test_what_may_be_over_by_itself_is_waited_for(words: str) -> None:
    assert passes(psycopg.OperationalError(words))


@pytest.mark.parametrize("words", [
    "FATAL:  password authentication failed for user \"ada\"",
    "fe_sendauth: no password supplied",
    "FATAL:  database \"nowhere\" does not exist",
    "FATAL:  role \"nobody\" does not exist",
    "FATAL:  role \"ada\" is not permitted to log in",
    "FATAL:  no pg_hba.conf entry for host \"10.0.0.1\", user \"ada\"",
    "FATAL:  permission denied for database \"team\"",
    "FATAL:  unrecognized configuration parameter \"nonsense\"",
    "connection is bad: invalid sslmode value: \"bogus\"",
    "connection is bad: invalid port number: \"99999\"",
])  # fmt: skip
def test_what_somebody_has_to_mend_is_not(words: str) -> None:
    assert not passes(psycopg.OperationalError(words))


def test_of_a_statement_the_server_s_code_counts() -> None:
    assert passes(errors.AdminShutdown('database "x" does not exist'))
    assert passes(errors.LockNotAvailable())
    assert not passes(errors.QueryCanceled())
    assert not passes(errors.InsufficientPrivilege())


def test_who_does_not_wait_is_told_at_once() -> None:
    with pytest.raises(NoConnection):
        Opening(Work(NoConnection()), None)


def test_who_waits_is_told_when_it_came_and_it_is_done_once() -> None:
    came: list[str] = []
    work = Work(NoConnection("first"), NoConnection("second"))
    opening = Opening(work, lambda: came.append("came"))
    assert str(opening.problem).endswith(": first")
    with pytest.raises(NoConnection, match="second"):
        opening.need()
    assert not came
    for _ in range(3):
        opening.need()
    assert (came, work.tried, opening.problem) == (["came"], 3, None)


def test_nobody_is_told_that_it_came_who_found_it_there() -> None:
    came: list[str] = []
    Opening(Work(), lambda: came.append("came")).need()
    assert not came


def test_what_somebody_has_to_mend_is_told_also_to_who_waits() -> None:
    with pytest.raises(StoreUnavailable, match="newer"):
        Opening(Work(StoreUnavailable("newer")), lambda: None)


def test_who_asks_again_soon_is_told_the_same_without_another_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(postgres_opening, "AGAIN_SECONDS", 600.0)
    work = Work(NoConnection("first"))
    opening = Opening(work, lambda: None)
    for _ in range(3):
        with pytest.raises(NoConnection, match="first"):
            opening.need()
    assert work.tried == 1
