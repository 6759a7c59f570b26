"""Tell secrets from words, code, references and placeholders. Part of the second stage."""

from __future__ import annotations

import re

from holdfast.redaction.hints import KEY_CHARACTERS
from holdfast.redaction.names import SECRET_NAMES, is_password_name, is_secret_name

DIGITS = frozenset("0123456789")
_KEY_CHARACTERS = frozenset(KEY_CHARACTERS.decode())
# Values that are no secrets: types, placeholders, algorithms, and names of secrets.
_WORDS = {"string", "required", "optional", "invalid", "missing", "null", "none", "true", "false"}
_WORDS |= {"undefined", "changeme", "placeholder", "bool", "bytes", "boolean", "number", "integer"}
_WORDS |= {"include", "default", "enabled", "disabled", "basic", "bearer", "digest", "base64"}
_WORDS |= {"sha256", "sha1", "sha512", "md5", "bcrypt", "argon2", "pbkdf2", "utf8", "hs256"}
_WORDS |= {"rs256", "es256", "ed25519", "oauth2", "uuid4", "int32", "int64", "uint8"}
_WORDS |= {*SECRET_NAMES}
_PLACEHOLDERS = (
    *("<", "$", "%", "[", "{", "*", "&", "your", "my-", "my_", "example", "redacted", "arn:"),
    *("process.env", "os.environ", "env.", "env(", "vault:", "op://", "file:", "secrets.", "var."),
    *("local.", "data.", "ref+", "ssm:", "!vault", "!ref", "!sub", "self.", "this."),
)
_MASKS = ("xxxx", "****", "...", "…".encode().decode("latin-1"), "…", "${", "\\u2026", "••")
_WORDLIKE = r"\W*+(?:(?:[A-Z]*+[a-z]{2,}+|[A-Z]{2,}+|[A-Za-z](?![A-Za-z])|\d++)[-_./:@!?]*+)++"
_WORD = r"[A-Z]?[a-z]++|[A-Z]++(?![a-z])|[A-Z]|\d++"
# In a longer value with digits and both cases, words are longer than this on average.
MIN_WORD_CHARS, LONG_CHARS = 3.4, 16
# What follows `Authorization:` before the secret.
SCHEME = (
    r"(?:(?i:bearer|basic|bot|token|ssws|api-?key|key|geniekey|splunk|negotiate|oauth|jwt|sso-key"
    r"|hmac|aws4-hmac-sha256|klaviyo-api-key|pveapitoken)[ \t=]+)?+"
)


def is_secret_value(name: str, value: str) -> bool:
    """Return whether the value of a key with a secret-sounding name is a secret.

    A leading scheme such as `Bearer` is skipped.
    """
    return is_literal(name, re.sub(rf"\A\s*{SCHEME}", "", value), quoted=True)


def is_literal(name: str, value: str, *, quoted: bool, shell: bool = False) -> bool:
    """Return whether a value is a literal, not code, a type, a reference or a placeholder."""
    low, digit = value.lower(), not DIGITS.isdisjoint(value)
    path = value.startswith(("/", "./", "../", "~/")) and value.count("/") > 1 and "+" not in value
    if path or value[1:3] == ":\\" or "://" in value or low in _WORDS or is_placeholder(value):
        return False
    reference = is_secret_name(value) and not value.isalpha() and value[-1] not in DIGITS
    if reference or ("passw" in low and not digit):
        return False
    password = is_password_name(name)
    if not password and (low == value.upper() or len(value.split()) != 1):
        return False
    if shell or password:
        return len(value) > 3 and (digit or (not value.isupper() if shell else quoted))
    if len(value) < 6 or is_wordlike(value):
        return False
    if quoted:
        return digit or len(value) > 11
    return digit and _KEY_CHARACTERS.issuperset(value)


def is_wordlike(value: str) -> bool:
    """Return whether a value consists of words, not of random characters."""
    # Digits as in ed25519Seed and base64Key are not counted. A random value has at least four
    # others.
    few_digits = len(re.findall(r"\d(?!\d*[A-Z][a-z])", value)) < 4
    if not few_digits or re.fullmatch(_WORDLIKE, value) is None:
        return False
    is_mixed = value.isalnum() and value.lower() != value and not DIGITS.isdisjoint(value)
    if len(value) < LONG_CHARS or not is_mixed:
        return True
    return len(value) / len(re.findall(_WORD, value)) > MIN_WORD_CHARS


def is_random(value: str, min_chars: int = 16) -> bool:
    """Return whether a value looks like a key without any context: long, mixed, no words."""
    mixed = not DIGITS.isdisjoint(value) and value.lower() != value.upper()
    return (
        len(value) >= min_chars and mixed and not is_wordlike(value) and not is_placeholder(value)
    )


def is_placeholder(value: str) -> bool:
    """Return whether a value stands for a secret: `<token>`, `$TOKEN`, `***`, `your-key`."""
    low = value.lower()
    masked = low.endswith("xxx") or not low.strip("x*.-_#?0") or any(mask in low for mask in _MASKS)
    return masked or low.startswith(_PLACEHOLDERS) or ("{" in low and "}" in low)
