"""JSON for hook processes: the standard library's own C code, without what `json` brings along.

`import json` pulls in `re`, `enum` and `functools`, which is a third of a hook's start-up. The
scanner and encoder behind it are C types that need none of that. They are private, so wherever
they are missing or differ, `json` does the work.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

SPACE = " \t\n\r"
CONSTANTS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class _Context:
    """What the scanner asks of a decoder."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = CONSTANTS.__getitem__


def _with_c() -> tuple[Callable[[str], Any], Callable[[Any], str]]:
    import _json

    scan: Any = _json.make_scanner(_Context)  # type: ignore[arg-type]
    ascii_only = _json.encode_basestring_ascii
    make: Any = _json.make_encoder
    encode = make(None, None, ascii_only, None, ":", ",", False, False, True)

    def loads(text: str) -> Any:
        start = len(text) - len(text.lstrip(SPACE))
        try:
            value, end = scan(text, start)
        except StopIteration as problem:
            raise ValueError(f"no JSON at character {problem.value}") from None
        except SystemError:
            # Python 3.11 looks for `json.decoder` to report an error, and it is not loaded.
            raise ValueError("not JSON") from None
        if text[end:].strip(SPACE):
            raise ValueError(f"more than one JSON value, at character {end}")
        return value

    def dumps(value: Any) -> str:
        return "".join(encode(value, 0))

    probe = {"a": [1, 2.5, None, True, "\u00e9\ud800"]}
    if loads(dumps(probe)) != probe:
        raise ValueError("the C encoder is not what it used to be")
    return loads, dumps


def _with_json() -> tuple[Callable[[str], Any], Callable[[Any], str]]:
    import json

    return (
        lambda text: json.loads(text, strict=False),
        lambda value: json.dumps(value, separators=(",", ":")),
    )


try:
    loads, dumps = _with_c()
except (ImportError, AttributeError, TypeError, ValueError):
    loads, dumps = _with_json()
