"""JSON for hook processes: the C code behind the standard library's `json`, without its imports.

`import json` also imports `re`, `enum` and `functools`, which is a third of a hook's start-up
time. Its scanner and encoder are C types that need none of them. They are private, so if they are
missing or behave differently, this module uses `json` itself.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

WHITESPACE = " \t\n\r"
CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class _DecoderOptions:
    """The attributes that the scanner reads from a decoder."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = CONSTANTS.__getitem__


def _load_c_functions() -> tuple[Callable[[str], Any], Callable[[Any], str]]:
    """Return loads and dumps; raises if the C types are missing or behave differently."""
    import _json

    scan: Any = _json.make_scanner(_DecoderOptions)  # type: ignore[arg-type]
    ascii_only = _json.encode_basestring_ascii
    make_encoder: Any = _json.make_encoder
    encode = make_encoder(None, None, ascii_only, None, ":", ",", False, False, True)

    def loads(text: str) -> Any:
        start = len(text) - len(text.lstrip(WHITESPACE))
        try:
            value, end = scan(text, start)
        except StopIteration as problem:
            raise ValueError(f"no JSON at character {problem.value}") from None
        except SystemError:
            # To report an error, Python 3.11 looks for `json.decoder`, which is not imported.
            raise ValueError("not JSON") from None
        if text[end:].strip(WHITESPACE):
            raise ValueError(f"more than one JSON value, at character {end}")
        return value

    def dumps(value: Any) -> str:
        return "".join(encode(value, 0))

    sample = {"a": [1, 2.5, None, True, "\u00e9\ud800"]}
    if loads(dumps(sample)) != sample:
        raise ValueError("the C functions do not round-trip")
    return loads, dumps


def _load_json_functions() -> tuple[Callable[[str], Any], Callable[[Any], str]]:
    import json

    return (
        lambda text: json.loads(text, strict=False),
        lambda value: json.dumps(value, separators=(",", ":")),
    )


try:
    loads, dumps = _load_c_functions()
except (ImportError, AttributeError, TypeError, ValueError):
    loads, dumps = _load_json_functions()
