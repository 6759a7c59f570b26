"""Regular expressions for secrets, and checks that distinguish secrets from words, code and
placeholders.
"""

from __future__ import annotations

from holdfast.redaction import DIGITS, KEY_CHARACTERS, MAX_LOGIN_CHARS, SECRET_NAMES, is_secret_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    from holdfast.redaction import Rule

    # Returns the group of a match to redact, or None if it is no secret.
    FindGroup = Callable[[re.Match[str]], int | str | None]

# What may be between the lines of a key: line ends (also escaped), quotes, diff marks, numbers.
_GAP = r"(?:\\+[nrt]|[\s\"'`+,>|#*]|-(?!-)|\d{1,6}[\t→:|])*+"
_PEM = r"[A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----"
_PRIVATE_KEY = (
    rf"-----BEGIN {_PEM}(?:{_GAP}[A-Z][A-Za-z-]{{2,20}}: [^\n\\]{{1,100}})*+"
    rf"(?:{_GAP}[A-Za-z0-9+/=]{{20,}}+)++"
    rf"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END {_PEM}|{_GAP}[A-Za-z0-9+/=]+\Z)?"
)
_URL = r"://[^\s/@:\"'()<>\\]*+:(?!\d{1,5}[/?#,;)\]])([^\s/\"'`<>\\]+)@(?!sha\d)"
_DISCORD = r"[.](?<=[\w-]{23}[.])([\w-]{6}[.][\w-]{27,}+)"
_REST = rf"[^\n|;&]{{0,{MAX_LOGIN_CHARS}}}?"
_OPEN, _PASSWORD = r"(?:\\{0,3}[\"'])?", r"([^\s\"'\\]+)"
_LOGIN = "|".join((
    rf"curl {_REST}(?:-[uU]|-user)[ =]?{_OPEN}[^\s:\"'\\]+:{_PASSWORD}",
    rf"(?:docker|podman) login {_REST}-p[ =]{_OPEN}{_PASSWORD}",
    rf"sshpass -p ?{_OPEN}{_PASSWORD}",
    rf"(?:mysql|mariadb)\w* {_REST}(?<= )-p{_OPEN}{_PASSWORD}",
    rf"redis-cli {_REST}(?<= )-a {_OPEN}{_PASSWORD}",
))  # fmt: skip
_SCHEME = r"(?:(?i:bearer|basic|bot|token)[ \t]+)?+"
_VALUE = (
    rf"(?:[bru]?(?P<quote>\\{{0,3}}[\"'`]){_SCHEME}(?P<quoted>(?!\$)(?:(?!(?P=quote))\S)++)"
    rf"(?:(?P=quote)|\Z)|{_SCHEME}(?P<bare>[^\s\"'`,;&(){{}}<>\[\]\\$][^\s\"'`,;&(){{}}<>\[\]\\]*+)"
    r"(?P<code>[(\[{<])?)"
)
_FLAG = r"--(?P<name>[a-z][\w-]{1,40}+)(?P<op>[ \t]{1,4})(?!-)" + _VALUE
# To make the scan fast, the match begins with a rare letter of the name: the capital in toKen, Key,
# seCret, Credential, Password, authoriZation.
_ASSIGNMENT = (
    r"(?P<name>[KkCcPpZz](?i:en|ey|ret|redentials?|ass(?:w(?:or)?d|phrase)?|ation)(?:_?\d|_BASE)?)"
    r"(?:[\"'`\\]{1,5}\]?)?[ \t]{0,4}(?P<op>(?:=>|:[=-]|[=:](?![=:]))[ \t*]{0,4})" + _VALUE
)
# Values that are no secrets: types, placeholders, and names of secrets.
_WORDS = {"string", "required", "optional", "invalid", "missing", "null", "none", "true", "false"}
_WORDS |= {"undefined", "changeme", "placeholder", *SECRET_NAMES}
_PLACEHOLDERS = ("<", "$", "%", "[", "{", "*", "your", "my-", "my_", "example", "redacted", "arn:")
_MASKS = ("xxxx", "****", "...", "…", "${")
_WORDLIKE = r"\W*+(?:(?:[A-Z]*+[a-z]{2,}+|[A-Z]{2,}+|[A-Za-z](?![A-Za-z])|\d++)[-_./:@!?]*+)++"


def redact_matches(text: str, rules: list[Rule], *, keep_lines: bool) -> str:
    """Return the text with the matches of each rule replaced by `[redacted:kind]`.

    With `keep_lines`, the line breaks of a match are kept.
    """
    import re

    for kind, hints, _, body in rules:
        pattern, find = (
            (_build_key_pattern(hints[0], body), _find_key_group) if body else _PATTERNS[kind]
        )
        parts, at = [], 0
        for match in re.finditer(pattern, text):
            if (group := find(match)) is not None:
                parts += [text[at : match.start(group)], f"[redacted:{kind}]"]
                if keep_lines:
                    parts.append("\n" * match[group].count("\n"))
                at = match.end(group)
        text = "".join(parts) + text[at:]
    return text


def _build_key_pattern(prefix: str, body: str) -> str:
    """Return the regular expression for a prefix and what follows it; group 1 is what follows."""
    prefix = prefix.replace(".", "[.]")
    word = rf"(?:(?<![\w-]{prefix})|(?<=\\[nrt]{prefix}))"  # or follows an escaped line end
    return f"{prefix}({body.replace('^', word, 1) if body[0] == '^' else body})"


def _find_key_group(match: re.Match[str]) -> int | None:
    """Return group 0, or None for a masked key (`sk-XXXX`) or a slug (`sk-some-long-name`)."""
    body = match[1]
    slug = DIGITS.isdisjoint(body) and (body.islower() or not body.isalnum())
    return None if slug or "xxxxxx" in body.lower() else 0


def _find_random_group(match: re.Match[str]) -> int | None:
    """Return the group of the pattern, or 0 if it has none; None if its text consists of words."""
    group = match.lastindex or 0
    return None if _is_wordlike(match[group]) else group


def _find_password_group(match: re.Match[str]) -> int | None:
    """Return the group of the password, or None if it is a placeholder."""
    group = match.lastindex or 0
    return None if _is_placeholder(match[group]) else group


def _find_value_group(match: re.Match[str]) -> str | None:
    """Return the group of an assigned value, or None if it is not a secret."""
    name = match.string[max(0, match.start() - 12) : match.start()] + match["name"]
    group = "bare" if match["quoted"] is None else "quoted"
    shell = match["op"] == "=" and match["name"].isupper()
    if match["code"] or not is_secret_name(name):
        return None
    quoted = group == "quoted" or match["name"].lower() == "zation"
    return group if is_literal(name, match[group], quoted=quoted, shell=shell) else None


def is_secret_value(name: str, value: str) -> bool:
    """Return whether the value of a key with a secret-sounding name is a secret.

    A leading scheme such as `Bearer` is skipped.
    """
    import re

    return is_literal(name, re.sub(rf"\A\s*{_SCHEME}", "", value), quoted=True)


def is_literal(name: str, value: str, *, quoted: bool, shell: bool = False) -> bool:
    """Return whether a value is a literal, not code, a type, a reference or a placeholder."""
    low, digit = value.lower(), not DIGITS.isdisjoint(value)
    path = value.startswith(("/", "./", "../", "~/")) and value.count("/") > 1 and "+" not in value
    if path or "://" in value or low in _WORDS or _is_placeholder(value):
        return False
    reference = is_secret_name(value) and not value.isalpha() and value[-1] not in DIGITS
    if reference or ("passw" in low and not digit):
        return False
    password = "pass" in name.lower()
    if not password and (low == value.upper() or len(value.split()) != 1):
        return False
    if shell or password:
        return len(value) > 3 and (digit or (not value.isupper() if shell else quoted))
    if len(value) < 6 or _is_wordlike(value):
        return False
    if quoted:
        return digit or len(value) > 11
    return digit and KEY_CHARACTERS.issuperset(value.encode("utf-8", "surrogatepass"))


def _is_wordlike(value: str) -> bool:
    """Return whether a value consists of words, not of random characters."""
    import re

    # Digits as in ed25519Seed and base64Key are not counted. A random value has at least four
    # others.
    few_digits = len(re.findall(r"\d(?!\d*[A-Z][a-z])", value)) < 4
    return few_digits and re.fullmatch(_WORDLIKE, value) is not None


def _is_placeholder(value: str) -> bool:
    low = value.lower()
    masked = low.endswith("xxx") or not low.strip("x*.-_#?0") or any(mask in low for mask in _MASKS)
    return masked or low.startswith(_PLACEHOLDERS) or ("{" in low and "}" in low)


_PATTERNS: dict[str, tuple[str, FindGroup]] = {
    "private-key": (_PRIVATE_KEY, _find_random_group),
    "url-password": (_URL, lambda match: None if _is_placeholder(match[1]) else 1),
    "login": (_LOGIN, _find_password_group),
    "telegram-token": (r":(?<=\d{8}:)(AA[\w-]{30,}+)", _find_random_group),
    "discord-token": (_DISCORD, _find_random_group),
    "twilio-token": (r"AC[0-9a-f]{32}:([0-9a-f]{32})", _find_random_group),
    "azure-signature": (r"sig=([\w%+/]{40,}+=*)", _find_random_group),
    "flag": (_FLAG, _find_value_group),
    "assignment": (_ASSIGNMENT, _find_value_group),
}
