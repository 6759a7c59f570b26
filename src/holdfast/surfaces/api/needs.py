"""What handlers are given by the application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from litestar.di import NamedDependency

from holdfast.surfaces.api.desk import Desk
from holdfast.surfaces.api.live import Live

TheDesk = NamedDependency[Desk]
Allowed = Callable[[], Awaitable[bool]]
StillAllowed = NamedDependency[Allowed]
"""Whether the caller's token is still good, for answers that go on for long."""
TheLive = NamedDependency[Live]
HeldTo = NamedDependency[str]
"""The one project that the caller's token is for, or nothing."""
