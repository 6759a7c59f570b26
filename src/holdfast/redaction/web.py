"""Secrets in URLs, headers and HTTP clients: passwords, keys, cookies, users with passwords."""

from __future__ import annotations

import re

from holdfast.redaction.budget import scan
from holdfast.redaction.names import is_secret_name
from holdfast.redaction.values import DIGITS, is_placeholder, is_random, is_wordlike

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redaction.budget import Budget
    from holdfast.redaction.rules import Span

_URL_PASSWORD = re.compile(
    r"(?a)://[^\s/@:\"'()<>\\\[]*+:(?!\d{1,5}[/?#,;)\]])([^\s/\"'`<>\\]+)@(?!sha\d)"
)
_URL_USER = re.compile(r"(?a)://([\w.~+=-]{16,}+)@")
_URL_KEY = re.compile(
    r"(?a)(?i:[?&](?:key|auth|appid|hmac|sig|signature)|(?:x-(?:amz|goog)-)?signature|\bsig)"
    r"(?:=|%3D)([\w%+/.~-]{16,}+=*)"
)
_COOKIE = re.compile(
    r"(?ai)(?P<set>set-)?cookies?(?:\\{0,3}[\"'])?[ \t]*[:=,][ \t]*\\{0,3}[\"']?"
    r"(?P<pairs>[\w.$-]{1,80}=(?:[^;\s\"'\\,<>]++(?:;[ ]?[\w.$-]{1,80}(?:=[^;\s\"'\\,<>]*+)?)*+))"
)
_PAIR = re.compile(r"(?a)([\w.$-]{1,80})=([^;\s]{6,})")
_ATTRIBUTES = frozenset(("expires", "path", "domain", "max-age", "samesite", "priority", "version"))
_USER = r"\\{0,3}[\"'][^\"'\n\\]{0,100}\\{0,3}[\"']"
_SECOND = r"(?:Some\()?[bruf]?\\{0,3}[\"']([^\"'\n\\]{3,200})\\{0,3}[\"']"
_AUTH_PAIR = re.compile(
    r"(?a)(?:(?i:auth)\\{0,3}[\"']?\s{0,4}[=:]\s{0,4}[(\[]"
    r"|(?i:HTTP(?:Basic|Digest)Auth|BasicAuth|basic_auth|SetBasicAuth|NetworkCredential"
    r"|PasswordCredentials?|PasswordAuthentication|\.login|\.auth)\()"
    rf"\s{{0,8}}{_USER}\s{{0,4}},\s{{0,8}}{_SECOND}"
)
# "auth": "…" of Docker, _auth = … of npm: base64 of user and password.
_AUTH_BASE64 = re.compile(
    r"(?a)(?<![A-Za-z])_?auth\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?"
    r"([A-Za-z0-9+/_-]{8,}+={0,2})(?![\w(.])"
)


def find_url_passwords(text: str, budget: Budget) -> Iterator[Span]:
    """Yield the passwords in URLs, and users that are tokens."""
    for match in scan(_URL_PASSWORD, text, budget):
        if not is_placeholder(match[1]):
            yield (*match.span(1), "url-password")
    for match in scan(_URL_USER, text, budget):
        if is_random(match[1]):
            yield (*match.span(1), "url-password")


def find_url_keys(text: str, budget: Budget) -> Iterator[Span]:
    """Yield random values of the parameters `key`, `sig` and the like."""
    for match in scan(_URL_KEY, text, budget):
        if is_random(match[1]):
            yield (*match.span(1), "url-key")


def find_cookies(text: str, budget: Budget) -> Iterator[Span]:
    """Yield the values of cookies, except those that are plain words such as `theme=dark`."""
    for match in scan(_COOKIE, text, budget):
        offset = match.start("pairs")
        for pair in scan(_PAIR, match["pairs"], budget):
            if pair[1].lower() not in _ATTRIBUTES and is_cookie_secret(pair[1], pair[2]):
                yield offset + pair.start(2), offset + pair.end(2), "cookie"
            if match["set"]:
                break


def is_cookie_secret(name: str, value: str) -> bool:
    """Return whether the value of a cookie is more than a preference."""
    if is_placeholder(value):
        return False
    low = name.lower()
    named = is_secret_name(name) or any(
        part in low for part in ("sess", "sid", "auth", "csrf", "jwt")
    )
    return (named and not DIGITS.isdisjoint(value)) or (len(value) > 11 and not is_wordlike(value))


def find_auth_pairs(text: str, budget: Budget) -> Iterator[Span]:
    """Yield the passwords in pairs such as auth=("user", "password"), and encoded pairs."""
    for match in scan(_AUTH_PAIR, text, budget):
        if (not is_placeholder(match[1]) and "passw" not in match[1].lower()) or _has_digit(
            match[1]
        ):
            yield (*match.span(1), "auth-pair")
    for match in scan(_AUTH_BASE64, text, budget):
        if decodes_to_pair(match[1]):
            yield (*match.span(1), "auth-pair")


def _has_digit(value: str) -> bool:
    return not DIGITS.isdisjoint(value)


def decodes_to_pair(value: str) -> bool:
    """Return whether it is the base64 of `user:password`."""
    decoded = decode_base64(value)
    return decoded is not None and re.fullmatch(r"(?a)[\w.@+-]{1,64}:\S{3,}", decoded) is not None


def decode_base64(value: str) -> str | None:
    """Return the text that this is the base64 of, or None if it is no text."""
    import binascii

    value = value.replace("-", "+").replace("_", "/").rstrip("=")
    value = value[: len(value) - 1] if len(value) % 4 == 1 else value
    try:
        data = binascii.a2b_base64(value + "=" * (-len(value) % 4))
    except ValueError:
        return None
    text = data.decode("latin-1")
    return text if data and all(31 < byte < 127 or byte in b"\t\n\r" for byte in data) else None
