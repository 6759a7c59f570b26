"""Render templates. All text is escaped, and text from logs loses what could hide or reorder it."""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from litestar.plugins.jinja import JinjaTemplateEngine
from litestar.response import Template
from litestar.template.config import TemplateConfig
from markupsafe import Markup

FOLDER = Path(__file__).parent
TEMPLATES, STATIC = FOLDER / "templates", FOLDER / "static"
VENDOR = STATIC / "vendor"
# No inline script or style, nothing from elsewhere, no frames around the page.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
ANSI_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
# Control characters, and those that reorder or hide text (bidirectional overrides, zero width).
UNSAFE_CHARS = dict.fromkeys(
    [
        *(code for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"),
        *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0x200B, 0x2010), 0x061C, 0xFEFF,
    ]
)  # fmt: skip
# A longer text is cut: a log can contain a line of a megabyte.
MAX_SHOWN_CHARS = 20_000


@functools.cache
def has_vendor_file(name: str) -> bool:
    """Return whether a file of an npm package was copied when Holdfast was installed."""
    return (VENDOR / name).is_file()


def clean(text: object, max_chars: int = MAX_SHOWN_CHARS) -> str:
    """Return a text without terminal codes and characters that reorder or hide others, cut if it is
    very long.
    """
    plain = str(text)
    is_cut = len(plain) > max_chars
    plain = ANSI_CODES.sub("", plain[:max_chars]).translate(UNSAFE_CHARS)
    return f"{plain}…" if is_cut else plain


def format_count(number: float | None) -> str:
    """Return a number with separators: `149,331`; a dash for None."""
    return "–" if number is None else f"{number:,.0f}"


def format_tokens(number: float | None) -> str:
    """Return a number of tokens in short: `200k`, `1M`."""
    if number is None:
        return "–"
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return f"{number:.0f}"


def format_age(then: float | None, now: float | None = None) -> str:
    """Return how long ago it was: `12 s ago`; a dash for None."""
    if then is None:
        return "–"
    seconds = max(0.0, (time.time() if now is None else now) - then)
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now" if seconds < 5 else f"{int(seconds)} s ago"


def format_plural(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 compaction`, `2 compactions`."""
    return f"{format_count(count)} {one if count == 1 else many or one + 's'}"


def to_shares(parts: Iterable[tuple[str, float]], total: float = 0) -> list[dict[str, Any]]:
    """Return names with their share of the total in per cent and where it begins, for a bar."""
    parts = [(name, value) for name, value in parts if value > 0]
    whole = max(total, sum(value for _, value in parts)) or 1
    shares, start = [], 0.0
    for name, value in parts:
        width = 100 * value / whole
        places = {"start": start, "width": width, "middle": start + width / 2}
        rounded = {place: round(number, 2) for place, number in places.items()}
        shares.append({"name": name, "value": value, **rounded})
        start += width
    return shares


def make_path(path: str, **parameters: str | None) -> str:
    """Return an address with those query parameters that have a value."""
    given = {name: value for name, value in parameters.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def make_next_path(path: str, cursor: str | None, **parameters: str | None) -> str:
    """Return the address of the next page; "" if there is none."""
    return make_path(path, page=cursor, **parameters) if cursor else ""


def to_safe_json(text: str) -> Markup:
    """Return JSON that can stand in a script element, which ends at the first `</script`."""
    return Markup(text.replace("<", "\\u003c"))


def make_environment() -> Environment:
    """Return the Jinja environment; an unknown variable in a template is an error."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "age": format_age, "clean": clean, "count": format_count, "tokens": format_tokens,
        "plural": format_plural, "shares": to_shares, "safe_json": to_safe_json,
    }  # fmt: skip
    environment.globals |= {"has_vendor_file": has_vendor_file}
    # What is shown without a filter is cleaned too.
    environment.finalize = _clean_text
    return environment


def _clean_text(value: Any) -> Any:
    """Clean a text; what a template has rendered already is left as it is."""
    return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@functools.cache
def _get_environment() -> Environment:
    return make_environment()


def render_text(name: str, **values: Any) -> str:
    """Return a template as text, for a file."""
    return _get_environment().get_template(name).render(css=read_css(), **values)


def read_css() -> Markup:
    """Return the style sheet, to stand in a style element."""
    return Markup((STATIC / "page.css").read_text(encoding="utf-8"))


def make_template_config() -> TemplateConfig[JinjaTemplateEngine]:
    return TemplateConfig(instance=JinjaTemplateEngine.from_environment(make_environment()))


def render(name: str, *, section: str, title: str, crumbs: Sequence[tuple[str, str]] = (),
           status_code: int = 200, **values: Any) -> Template:  # fmt: skip
    """Return a page. `section` is the entry of the navigation that it belongs to, `crumbs` are the
    titles and addresses of the pages above it.
    """
    return Template(
        name,
        context={"section": section, "title": title, "crumbs": crumbs, **values},
        status_code=status_code,
        headers={
            "Content-Security-Policy": CONTENT_SECURITY_POLICY,
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        },
    )
