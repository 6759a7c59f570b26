"""Which connection failures are temporary and can be retried."""

from __future__ import annotations

import psycopg
from psycopg import errors

from holdfast.store.postgres import is_temporary


def test_an_unreachable_or_starting_server_is_a_temporary_failure() -> None:
    cases = [
        'connection to server at "db", port 5432 failed: Connection refused',
        "failed to resolve host 'db': [Errno -2] Name or service not known",
        "connection timeout expired",
        "failed: No such file or directory\n\tIs the server running locally?",
        "FATAL:  the database system is starting up",
        "FATAL:  the database system is shutting down",
        "FATAL:  sorry, too many clients already",
        "FATAL:  server login has been failing, cached error: connect failed (server_login_retry)",
        "received invalid response to SSL negotiation: H",
    ]
    for message in cases:
        assert is_temporary(psycopg.OperationalError(message)), message


def test_a_wrong_configuration_is_not_a_temporary_failure() -> None:
    cases = [
        'FATAL:  password authentication failed for user "ada"',
        "fe_sendauth: no password supplied",
        'FATAL:  database "nowhere" does not exist',
        'FATAL:  role "unknown" does not exist',
        'FATAL:  role "ada" is not permitted to log in',
        'FATAL:  no pg_hba.conf entry for host "10.0.0.1", user "ada"',
        'FATAL:  permission denied for database "team"',
        'FATAL:  unrecognized configuration parameter "nonsense"',
        'connection is bad: invalid sslmode value: "bogus"',
        'connection is bad: invalid port number: "99999"',
    ]
    for message in cases:
        assert not is_temporary(psycopg.OperationalError(message)), message


def test_an_error_with_a_sqlstate_is_classified_by_it() -> None:
    assert is_temporary(errors.AdminShutdown('database "x" does not exist'))
    assert is_temporary(errors.LockNotAvailable())
    assert not is_temporary(errors.QueryCanceled())
    assert not is_temporary(errors.InsufficientPrivilege())
