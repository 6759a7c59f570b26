"""Types of the values that the application injects into handlers, by parameter name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from litestar.di import NamedDependency

from holdfast.server.databases import Databases
from holdfast.server.event_feed import EventFeed
from holdfast.settings import Settings

TokenCheck = Callable[[], Awaitable[bool]]

CallerDatabases = NamedDependency[Databases]
"""`databases`: limited to one project if the caller's token is."""
CallerProject = NamedDependency[str]
"""`caller_project`: the id of the project that the caller's token is limited to, or ""."""
IsTokenValid = NamedDependency[TokenCheck]
"""`is_token_valid`: checks the caller's token again, for responses that last long."""
IsAnonymous = NamedDependency[bool]
"""`is_anonymous`: whether the sender of a request without a token is unknown."""
PageSettings = NamedDependency[Settings]
"""`page_settings`: the settings of the user who runs the server."""
Feed = NamedDependency[EventFeed]
"""`feed`: the event feed, which reads the changes of the ledger."""
