"""Bodies are read as they are described: a text is no number, and `"true"` is not true.

The framework takes one for the other, which is right for queries, where everything is text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec
from litestar import Request
from litestar.exceptions import ValidationException

from holdfast.surfaces.api.paths import whole

_PLACE = re.compile(r" - at `\$\.?(.+)`$")


class StrictRequest(Request[Any, Any, Any]):
    """One whose JSON is what its handler wants, or an error; ids in its path may have slashes."""

    @property
    def path_params(self) -> dict[str, Any]:
        return {
            name: whole(value) if isinstance(value, str) else value
            for name, value in super().path_params.items()
        }

    async def json(self) -> Any:
        wanted = self.route_handler.parsed_data_field
        if wanted is None or not await self.body():
            return await super().json()
        try:
            return _decoder(wanted.annotation).decode(await self.body())
        except msgspec.ValidationError as problem:
            said = str(problem)
            place = _PLACE.search(said)
            wrong = {"key": place[1] if place else "", "message": _PLACE.sub("", said)}
            raise ValidationException(said, extra=[wrong] if place else []) from None
        except msgspec.DecodeError:
            # No JSON at all: that is told as it always is.
            return await super().json()


@lru_cache(maxsize=128)
def _decoder(shape: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(shape)
