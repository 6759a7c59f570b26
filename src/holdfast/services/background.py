"""What the background processes of Holdfast have in common."""

from __future__ import annotations

import os


def report_to_log(database: str) -> None:
    """Send reports about a database that is set aside to the log, because stderr is closed."""
    from holdfast import diagnostics
    from holdfast.store import sqlite_migrations

    path = os.path.join(os.path.dirname(database), "holdfast.log")
    sqlite_migrations.report = lambda message: diagnostics.log(path, message, os.environ)
