"""Secrets that are recognised by the file they are in: private keys, password files, base64."""

from __future__ import annotations

import re

from holdfast.redaction.assignments import PREFIX
from holdfast.redaction.budget import scan
from holdfast.redaction.values import DIGITS, is_placeholder, is_wordlike
from holdfast.redaction.web import decode_base64, decodes_to_pair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redaction.budget import Budget
    from holdfast.redaction.rules import Span

_LABEL = r"[A-Za-z0-9 ]{0,40}(?:PRIVATE KEY(?: BLOCK)?|SECRET KEY|Static key V1)"
_BEGIN = re.compile(rf"(?a)-{{4,5}} ?BEGIN {_LABEL} ?-{{4,5}}|Private-Lines: \d{{1,4}}")
_END = re.compile(rf"(?a)-{{4,5}} ?END {_LABEL} ?-{{4,5}}")
# What may be between the lines of a key: line ends (also escaped), quotes, diff marks, numbers.
_ARROW = "→".encode().decode("latin-1")
_GAP = rf"(?:\\+[nrt]|[\s\"'`+,>|#*]|-(?!-)|\d{{1,6}}(?:[\t:|]|{_ARROW}))*+"
_TIME = r"(?:\[?\d{4}-\d\d-\d\d[T ][\d:.,]{5,15}(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]*)?"
_BEFORE = (
    rf"{_GAP}{_TIME}(?:[\w./-]{{1,80}}(?:[:-]\d{{1,6}}[:-]|[ \t]{{0,10}}[|:][ \t]?))?{_TIME}{_GAP}"
)
_KEY_LINE = re.compile(rf"(?a){_BEFORE}(?:[A-Za-z0-9+/]{{16,}}+={{0,2}}|[0-9a-f]{{16,}}+)")
_HEADER_LINE = re.compile(rf"(?a){_BEFORE}[A-Z][A-Za-z-]{{2,20}}: [^\n\\]{{1,100}}")
_SHORT_LINE = re.compile(rf"(?a){_BEFORE}=?[A-Za-z0-9+/]{{1,64}}+={{0,2}}(?={_GAP}(?:-{{4}}|\Z))")
_LAST_LINE = re.compile(rf"(?a){_BEFORE}-{{4,5}} ?END {_LABEL} ?-{{4,5}}")
MAX_KEY_LINES, MAX_HEADERS = 1000, 5
_PASSWORD_LINE = re.compile(
    rf"(?am)^{PREFIX}(?:[\w.*-]|\\:){{1,100}}:(?:\d{{2,5}}|\*):[\w.*-]{{1,64}}:[\w.*@-]{{1,64}}:(\S{{3,200}})$"
)
_HASH = re.compile(
    r"(?a):(\$(?:apr1|1|2[abxy]|5|6|7|y|gy|argon2\w{1,2})\$[\w./$=,+-]{15,200}+|\{S?SHA\}[\w+/=]{16,}+)"
)
_MASTER_KEY = re.compile(r"(?a)\bmaster\.key\b")
_HEX_KEY = re.compile(r"(?a)\b[0-9a-f]{32}\b")
# How far after its name Rails' key is looked for, and what looking costs.
MASTER_KEY_CHARS, LINE_UNITS = 120, 1000
_BASE64 = re.compile(r"(?a)(?<![\w+/=-])[A-Za-z0-9+/_-]{12,}+={0,2}(?![\w+/])")
_DISCORD = re.compile(r"(?a)[.](?<=[\w-]{23}[.])([\w-]{6}[.][\w-]{27,}+)")
_TWILIO = re.compile(r"(?a)(AC[0-9a-f]{32}:[0-9a-f]{32})")
_SQL = re.compile(
    r"(?ai)(?:\bidentified[ \t]+(?:with[ \t]+\S{1,40}[ \t]+)?(?:by|as)[ \t]+(?:password[ \t]+)?"
    r"|\bpassword[ \t]*\(?[ \t]*(?=\\{0,3}'))\\{0,3}[\"']?([^\s\"'\\;]{3,200})"
)
MAX_BASE64_CHARS = 20_000


def find_private_keys(text: str, budget: Budget) -> Iterator[Span]:
    """Yield private keys whole, also with a prefix before each line, and without begin or end."""
    done = 0
    for begin in scan(_BEGIN, text, budget):
        if begin.start() < done:
            continue
        done = _find_key_end(text, begin.end(), budget)
        if done > begin.end():
            yield begin.start(), done, "private-key"
    for end in scan(_END, text, budget):
        if end.start() >= done:
            start = _find_key_start(text, max(done, end.start() - 100_000), end.start(), budget)
            if start < end.start():
                yield start, end.end(), "private-key"
        done = max(done, end.end())


def _find_key_end(text: str, at: int, budget: Budget) -> int:
    """Return where the key ends whose body begins at `at`; `at` if no body follows."""
    start, has_body = at, False
    for number in range(MAX_KEY_LINES):
        budget.spend(LINE_UNITS)
        if has_body and (end := _LAST_LINE.match(text, at)):
            return end.end()
        if line := _KEY_LINE.match(text, at):
            has_body = has_body or not is_wordlike(line[0].strip())
        elif not has_body and number < MAX_HEADERS and (line := _HEADER_LINE.match(text, at)):
            pass
        elif not has_body or not (line := _SHORT_LINE.match(text, at)):
            break
        at = line.end()
    return at if has_body else start


def _find_key_start(text: str, earliest: int, at: int, budget: Budget) -> int:
    """Return where the base64 lines before an end marker begin; `at` if there are none."""
    start = at
    budget.spend(min(at - earliest, 10_000))
    lines = text[earliest:at].split("\n")
    for line in reversed(lines[:-1]):
        last = line.split()[-1] if line.split() else ""
        last = re.split(r"[:|]|\xe2\x86\x92", last)[-1]
        if not re.fullmatch(r"(?a)=?[A-Za-z0-9+/]{4,}={0,2}", last) or " of " in line:
            break
        start -= len(line) + 1
    return start - len(lines[-1]) if start < at else at


def find_password_lines(text: str, budget: Budget) -> Iterator[Span]:
    """Yield the passwords in lines of .pgpass: host:port:database:user:password."""
    for match in scan(_PASSWORD_LINE, text, budget):
        if not is_placeholder(match[1]):
            yield (*match.span(1), "password-file")


def find_hashes(text: str, budget: Budget) -> Iterator[Span]:
    """Yield the password hashes in .htpasswd and shadow files."""
    for match in scan(_HASH, text, budget):
        yield (*match.span(1), "password-hash")


def find_master_keys(text: str, budget: Budget) -> Iterator[Span]:
    """Yield the key that is printed after the name of Rails' master.key."""
    for match in scan(_MASTER_KEY, text, budget):
        budget.spend(LINE_UNITS)
        if key := _HEX_KEY.search(text, match.end(), match.end() + MASTER_KEY_CHARS):
            yield (*key.span(), "master-key")


def find_sql_passwords(text: str, budget: Budget) -> Iterator[Span]:
    """Yield the passwords in statements that create or change a user."""
    for match in scan(_SQL, text, budget):
        is_quoted = text[match.start(1) - 1] in "\"'"
        if (is_quoted or not DIGITS.isdisjoint(match[1])) and not is_placeholder(match[1]):
            yield (*match.span(1), "sql-password")


def find_discord_tokens(text: str, budget: Budget) -> Iterator[Span]:
    """Yield the secret parts of Discord's tokens, near the name of the vendor."""
    for match in scan(_DISCORD, text, budget):
        if not is_wordlike(match[1]):
            yield (*match.span(1), "discord-token")


def find_twilio_tokens(text: str, budget: Budget) -> Iterator[Span]:
    """Yield the account id and token of Twilio."""
    for match in scan(_TWILIO, text, budget):
        yield (*match.span(1), "twilio-token")


def find_encoded(text: str, budget: Budget) -> Iterator[Span]:
    """Yield base64 of a text that contains a secret, or that is a user and a password."""
    from holdfast.redaction.rules import has_secret

    decodes = any(word in text for word in ("base64 -", "b64decode", "atob("))
    for match in scan(_BASE64, text, budget):
        value = match[0]
        if len(value) > MAX_BASE64_CHARS or value.lower() == value:
            continue  # Too long for a pair, or no base64.
        decoded = decode_base64(value)
        if decoded and ((decodes and decodes_to_pair(value)) or has_secret(decoded, budget)):
            yield (*match.span(), "encoded")
