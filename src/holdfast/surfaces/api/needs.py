"""What handlers are given by the application."""

from __future__ import annotations

from litestar.di import NamedDependency

from holdfast.surfaces.api.desk import Desk
from holdfast.surfaces.api.live import Live

TheDesk = NamedDependency[Desk]
TheLive = NamedDependency[Live]
HeldTo = NamedDependency[str]
"""The one project that the caller's token is for, or nothing."""
