"""What a secret looks like in full, and what only looks like one."""

from __future__ import annotations

from holdfast.redact import BODY, DIGITS, LOGIN_LENGTH, NAMES, is_secret_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

    from holdfast.redact import Rule

    Find = Callable[[re.Match[str]], int | str | None]

# Between the lines of a key: line ends (also escaped), quotes, diff marks and line numbers.
_GAP = r"(?:\\+[nrt]|[\s\"'`+,>|#*]|-(?!-)|\d{1,6}[\t→:|])*+"
_PEM = r"[A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----"
_PRIVATE_KEY = (
    rf"-----BEGIN {_PEM}(?:{_GAP}[A-Z][A-Za-z-]{{2,20}}: [^\n\\]{{1,100}})*+"
    rf"(?:{_GAP}[A-Za-z0-9+/=]{{20,}}+)++"
    rf"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END {_PEM}|{_GAP}[A-Za-z0-9+/=]+\Z)?"
)
_URL = r"://[^\s/@:\"'()<>\\]*+:(?!\d{1,5}[/?#,;)\]])([^\s/\"'`<>\\]+)@(?!sha\d)"
_DISCORD = r"[.](?<=[\w-]{23}[.])([\w-]{6}[.][\w-]{27,}+)"
_REST = rf"[^\n|;&]{{0,{LOGIN_LENGTH}}}?"
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
# Starts at a rare letter of toKen, Key, seCret, Credential, Password, authoriZation: a quick scan.
_ASSIGNMENT = (
    r"(?P<name>[KkCcPpZz](?i:en|ey|ret|redentials?|ass(?:w(?:or)?d|phrase)?|ation)(?:_?\d|_BASE)?)"
    r"(?:[\"'`\\]{1,5}\]?)?[ \t]{0,4}(?P<op>(?:=>|:[=-]|[=:](?![=:]))[ \t*]{0,4})" + _VALUE
)
_WORDS = {"string", "required", "optional", "invalid", "missing", "null", "none", "true", "false"}
_WORDS |= {"undefined", "changeme", "placeholder", *NAMES}
_STAND_INS = ("<", "$", "%", "[", "{", "*", "your", "my-", "my_", "example", "redacted", "arn:")
_MASKS = ("xxxx", "****", "...", "…", "${")
_WORDLIKE = r"\W*+(?:(?:[A-Z]*+[a-z]{2,}+|[A-Z]{2,}+|[A-Za-z](?![A-Za-z])|\d++)[-_./:@!?]*+)++"


def replaced(text: str, rules: list[Rule], *, keep_lines: bool) -> str:
    """The text without what these rules find; each is given what the one before it left."""
    import re

    for kind, hints, _, body in rules:
        pattern, find = (_pattern(hints[0], body), _key) if body else _SHAPES[kind]
        parts, at = [], 0
        for match in re.finditer(pattern, text):
            if (group := find(match)) is not None:
                parts += [text[at : match.start(group)], f"[redacted:{kind}]"]
                if keep_lines:
                    parts.append("\n" * match[group].count("\n"))
                at = match.end(group)
        text = "".join(parts) + text[at:]
    return text


def _pattern(prefix: str, body: str) -> str:
    prefix = prefix.replace(".", "[.]")
    word = rf"(?:(?<![\w-]{prefix})|(?<=\\[nrt]{prefix}))"  # or comes after an escaped line end
    return f"{prefix}({body.replace('^', word, 1) if body[0] == '^' else body})"


def _key(match: re.Match[str]) -> int | None:
    """The whole match, unless it is masked (`sk-XXXX`) or a slug (`sk-some-long-name`)."""
    body = match[1]
    slug = DIGITS.isdisjoint(body) and (body.islower() or not body.isalnum())
    return None if slug or "xxxxxx" in body.lower() else 0


def _opaque(match: re.Match[str]) -> int | None:
    """The part in brackets, or all where there are none, unless it reads as words."""
    group = match.lastindex or 0
    return None if _is_wordlike(match[group]) else group


def _logged_in(match: re.Match[str]) -> int | None:
    group = match.lastindex or 0
    return None if _is_stand_in(match[group]) else group


def _assigned(match: re.Match[str]) -> str | None:
    name = match.string[max(0, match.start() - 12) : match.start()] + match["name"]
    group = "bare" if match["quoted"] is None else "quoted"
    shell = match["op"] == "=" and match["name"].isupper()
    if match["code"] or not is_secret_name(name):
        return None
    quoted = group == "quoted" or match["name"].lower() == "zation"
    return group if is_literal(name, match[group], quoted=quoted, shell=shell) else None


def is_given_as(name: str, value: str) -> bool:
    """Whether a value that stands under a secret's name is one, behind `Bearer` or not."""
    import re

    return is_literal(name, re.sub(rf"\A\s*{_SCHEME}", "", value), quoted=True)


def is_literal(name: str, value: str, *, quoted: bool, shell: bool = False) -> bool:
    """Whether a value is spelled out, and not code, a type, a reference or a stand-in."""
    low, digit = value.lower(), not DIGITS.isdisjoint(value)
    path = value.startswith(("/", "./", "../", "~/")) and value.count("/") > 1 and "+" not in value
    if path or "://" in value or low in _WORDS or _is_stand_in(value):
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
    return digit and BODY.issuperset(value.encode("utf-8", "surrogatepass"))


def _is_wordlike(value: str) -> bool:
    import re

    # The digits of ed25519Seed and base64Key do not count; those of a random value soon do.
    few_digits = len(re.findall(r"\d(?!\d*[A-Z][a-z])", value)) < 4
    return few_digits and re.fullmatch(_WORDLIKE, value) is not None


def _is_stand_in(value: str) -> bool:
    low = value.lower()
    masked = low.endswith("xxx") or not low.strip("x*.-_#?0") or any(mask in low for mask in _MASKS)
    return masked or low.startswith(_STAND_INS) or ("{" in low and "}" in low)


_SHAPES: dict[str, tuple[str, Find]] = {
    "private-key": (_PRIVATE_KEY, _opaque),
    "url-password": (_URL, lambda found: None if _is_stand_in(found[1]) else 1),
    "login": (_LOGIN, _logged_in),
    "telegram-token": (r":(?<=\d{8}:)(AA[\w-]{30,}+)", _opaque),
    "discord-token": (_DISCORD, _opaque),
    "twilio-token": (r"AC[0-9a-f]{32}:([0-9a-f]{32})", _opaque),
    "azure-signature": (r"sig=([\w%+/]{40,}+=*)", _opaque),
    "flag": (_FLAG, _assigned),
    "assignment": (_ASSIGNMENT, _assigned),
}
