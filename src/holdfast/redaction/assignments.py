"""Values that belong to a name such as `password`: in code, shells, settings and tables.

The text is searched for names. What follows each name, and a little of what precedes it, decides
whether and where a value is given.
"""

from __future__ import annotations

import re

from holdfast.redaction.budget import MATCH_UNITS, scan
from holdfast.redaction.names import is_password_name, is_secret_name
from holdfast.redaction.values import DIGITS, SCHEME, is_literal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redaction.budget import Budget
    from holdfast.redaction.rules import Span

# What looking at the surroundings of one name costs.
NAME_UNITS = 10 * MATCH_UNITS
# How much before a name is looked at.
BEFORE_CHARS = 100
MAX_TABLE_ROWS, MAX_ROW_CHARS = 2000, 2000
_BAR = r"(?:\||\xe2\x94\x82)"
# A line break, also escaped, and what tools print before a line: a file and its number, a time, a
# diff mark, the name of a container.
PREFIX = (
    r"(?:(?:[\w./-]{1,80}[:-])?\d{1,6}[:|-]|[ ]{0,8}\d{1,6}(?:\t|\xe2\x86\x92)|[+>|#*-](?=[ \t]))?"
    r"(?:\[?\d{4}-\d\d-\d\d[T ][\d:.,]{5,15}(?:Z|[+-]\d\d:?\d\d)?\]?[ \t])?"
    r"(?:[\w.-]{1,40}[ \t]{1,10}\|[ \t])?"
)
# Before a row of a table: a bar may belong to the table.
_ROW_PREFIX = re.compile(
    r"(?a)(?:\[?\d{4}-\d\d-\d\d[T ][\d:.,]{5,15}(?:Z|[+-]\d\d:?\d\d)?\]?[ ]"
    r"|(?:[\w./-]{1,80}[:-])?\d{1,6}[:-]|[ ]{0,8}\d{1,6}(?:\t|\xe2\x86\x92))?"
)
BREAK = rf"(?:\r?\n|\\{{1,3}}(?:r\\{{1,3}})?n){PREFIX}"
_QUOTE = r"\\{0,3}[\"'`]"
_LITERAL = rf"(?P<quote>{_QUOTE})(?P<quoted>(?:(?!(?P=quote))[^\n]){{1,1000}}+)(?P=quote)"
_VALUE = (
    rf"(?:[bruf]?(?P<quote>{_QUOTE}){SCHEME}(?P<quoted>(?!\$)(?:(?!(?P=quote))[^\n]){{1,1000}}+)"
    rf"(?:(?P=quote)|\Z|(?=\n))|{SCHEME}"
    r"(?P<bare>[^\s\"'`,;&(){}<>\[\]\\$|][^\s\"'`,;&(){}<>\[\]\\]{0,1000}+)(?P<code>[(\[{<])?)"
)
# The end of a name. To make the scan fast, it begins with a rare letter: the capital in toKen, Key,
# seCret, Credential, Password.
_NAME = re.compile(
    r"(?a)(?:[Kk](?i:en|ey(?:_BASE|[-_]?material|[-_]data)?)|[Cc](?i:ret|redentials?)"
    r"|[Pp](?i:ass(?:w(?:or)?[dt]|phrase|code|e)?|wd|w|sk)|[Zz](?i:ation)|(?i:nection[-_]?string))"
    r"(?:_?\d{1,2})?(?![A-Za-z0-9])"
)
_FOREIGN_NAME = re.compile(
    "(?i:contrase\xc3[\xb1\x91]a)|"
    + "|".join(
        word.encode().decode("latin-1")
        for word in ("пароль", "Пароль", "密码", "密碼", "口令", "パスワード", "비밀번호")
    )
)
_CLOSE = r"(?:[\"'`\\]{1,5}\]?|\])?[ \t]{0,4}"
_TYPE = r":[ \t]*&?[A-Za-z][\w.]*(?:\[[\w., |]{0,40}\])?(?:[ \t]*\|[ \t]*\w{1,20})?[ \t]*=(?!=)"
_ASSIGNED = re.compile(
    rf"(?a){_CLOSE}(?P<op>(?:{_TYPE}|=>|->|\?=|\|\|=|string[ \t]*=|:[=-]|[=:](?![=:]))[ \t*]{{0,4}}"
    rf"|(?:is|ist)[ \t]+|\([ \t]*(?=\\{{0,3}}[\"'])){_VALUE}"
)
_NEXT_LINE = re.compile(
    r"(?a)[\"'\\]{0,4}[ \t]*(?::[ \t]*(?P<folded>[>|][+-]?\d?)?|[:=][ \t]*<<[-~]?\w+)[ \t]*"
    rf"{BREAK}"
    r"(?:[ \t]|\\{1,3}t){1,40}[\"']?(?P<line>[^\s\"'\\\xe2]++)(?=[\"'\s\\]|\Z)"
)
_ARGUMENT = re.compile(rf"(?a)\\{{0,3}}[\"'][ \t]{{0,4}},\s{{0,8}}{_LITERAL}")
_VALUE_BESIDE = re.compile(
    rf"(?a)\\{{0,3}}[\"']?,?(?:{BREAK}|\s){{0,4}}(?:[ \t]|\\{{1,3}}t){{0,40}}"
    rf"\\{{0,3}}[\"']?(?i:value|val|default)\\{{0,3}}[\"']?[ \t]*[:=][ \t]*{_VALUE}"
)
_NAME_BESIDE = re.compile(
    r"(?ai)\b(?:name|key|variable|id)\\{0,3}[\"']?[ \t]*[:=][ \t]*\\{0,3}[\"']?[\w.-]*\Z"
)
_DEFAULT = re.compile(rf"(?a)\\?[\"'][ \t]*\{{[^{{}}]{{0,300}}?\bdefault[ \t]*=[ \t]*{_LITERAL}")
_ELEMENT = re.compile(
    r"(?a)(?:\\?[\"'])?(?:\s[^<>]{0,200})?>"
    r"(?P<element>[^<>\s][^<>]{0,500})</"
)
_PLIST = re.compile(
    rf"(?a)</key>(?:{BREAK}|\s){{0,8}}[ \t]{{0,40}}<string>(?P<element>[^<>]{{1,500}})</"
)
_IN_TAG = re.compile(
    r"(?a)<(?:\w{1,20}:)?(?:[\w.-]*|key>[\w.-]*"
    r"|[\w.-]+\s[^<>]{0,80}\b(?:key|name)=\\?[\"'][\w.-]*)\Z"
)
_CELL = re.compile(
    rf"(?a)[`*]{{0,3}}[ \t]*{_BAR}[ \t]*[`*]{{0,3}}(?P<cell>[^\s|`\xe2][^|\n`\xe2]{{0,200}}?)"
    rf"[`*]{{0,3}}[ \t]*(?:{_BAR}|\n|\Z)"
)
_AFTER_SPACE = re.compile(r"(?a)[ \t]{1,4}(?!-)" + _VALUE)
_SETS_VARIABLE = re.compile(
    r"(?a)(?:\b(?:ENV|setx|setenv|set(?: -[a-zA-Z]+)+|configure set|config(?: (?:set|--\w+)){0,3})"
    r"|#[ ]?define)[ \t]+[\w./:-]*\Z"
)
_LOGIN = re.compile(
    rf"(?a)\blogin[ \t]+\S{{1,60}}(?:[ \t]|{BREAK}){{1,20}}(?:account[ \t]+\S+\s+)?\Z"
)
_OPTION = re.compile(r"(?a)(?<![\w-])-{1,2}[A-Za-z]?[\w-]*\Z")
_IDENTIFIER = re.compile(r"(?a)[\w.-]{0,40}\Z")
_HEADER_CELL = re.compile(r"(?a)[\w .#/-]{0,40}")


def find_assigned(text: str, budget: Budget) -> Iterator[Span]:
    """Yield the values that belong to the name of a secret."""
    for pattern in (_NAME,) if text.isascii() else (_NAME, _FOREIGN_NAME):
        for match in scan(pattern, text, budget):
            start, end = match.span()
            if is_secret_name(text[max(0, start - 40) : end]):
                budget.spend(NAME_UNITS)
                for span in _find_value(text, start, end):
                    budget.spend(span[1] - end)
                    yield span
    yield from _find_columns(text, budget)


def _find_value(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the value of the name that ends at `end`."""
    before = text[max(0, start - BEFORE_CHARS) : start]
    name = _IDENTIFIER.search(before)[0] + text[start:end]  # type: ignore[index]
    is_option = _OPTION.search(before) is not None
    takes_argument = is_option or _SETS_VARIABLE.search(before) or _LOGIN.search(before)
    kind = "flag" if is_option else "assignment"
    if takes_argument and (found := _AFTER_SPACE.match(text, end)):
        yield from _pick(found, name, kind)
    elif (found := _ASSIGNED.match(text, end)) and _is_assigned(found, name):
        yield (*_group_span(found), "assignment")
    elif found := _find_beside(text, end, before):
        yield from _pick(found, name)
    elif (found := _ARGUMENT.match(text, end)) and not DIGITS.isdisjoint(found["quoted"]):
        yield from _pick(found, name, kind)
    elif found := _CELL.match(text, end):
        yield from _pick(found, name)


def _find_beside(text: str, end: int, before: str) -> re.Match[str] | None:
    """Return the match of a value in the next line, in an element, or under a key of its own."""
    if found := _NEXT_LINE.match(text, end):
        return found
    in_tag = _IN_TAG.search(before)
    if in_tag and (found := _PLIST.match(text, end) or _ELEMENT.match(text, end)):
        return found
    if _NAME_BESIDE.search(before) and (found := _VALUE_BESIDE.match(text, end)):
        return found
    return _DEFAULT.match(text, end)


def _group_span(match: re.Match[str]) -> tuple[int, int]:
    groups = ("quoted", "bare", "element", "line", "cell")
    group = next(g for g in groups if g in match.re.groupindex and match[g] is not None)
    return match.span(group)


def _is_assigned(match: re.Match[str], name: str) -> bool:
    """Return whether what follows `=` or `:` is a literal."""
    is_quoted = match["quoted"] is not None
    value, operator = match["quoted"] or match["bare"], match["op"].strip()
    if match["code"] or (" " in value.strip() and "phrase" not in name.lower()):
        return False
    if operator in ("is", "ist", "("):
        plain = value.rstrip(".,!?").replace("@", "").replace("!", "")
        mixed = not DIGITS.isdisjoint(plain) and not plain.isdigit() and plain.isalnum()
        return mixed and len(plain) > 5 and is_literal(name, plain, quoted=True)
    shell = match["op"] == "=" and name.rstrip("0123456789_")[-3:].isupper()
    is_quoted = is_quoted or name.lower().endswith("authorization")
    if not is_quoted and not shell and _is_short(name) and not _is_plain_password(value):
        return False
    return is_literal(name, value, quoted=is_quoted, shell=shell)


def _is_short(name: str) -> bool:
    return name.lower().rstrip("0123456789_").endswith(("pass", "pwd", "pw", "psk"))


def _is_plain_password(value: str) -> bool:
    """Return whether a value after `pass:` is a password, not a count or the name of a test."""
    has_letter = value.lower() != value.upper()
    return len(value) > 5 and has_letter and not any(sign in value for sign in "_/.:")


def _pick(match: re.Match[str], name: str, kind: str = "assignment") -> Iterator[Span]:
    """Yield the span of a value that is not assigned with `=` or `:`, if it is a secret."""
    groups = match.groupdict()
    start, end = _group_span(match)
    value = match.string[start:end].strip()
    is_quoted = groups.get("quoted") is not None or groups.get("element") is not None
    if groups.get("code") or (" " in value and "phrase" not in name.lower()):
        return
    is_plain_line = groups.get("line") and not groups.get("folded")
    if is_plain_line and (value.endswith((":", "=", ",", "{")) or value[:1] in "-{[#(|"):
        return
    if not is_quoted and _is_short(name) and not _is_plain_password(value):
        return
    if is_password_name(name):
        is_quoted = is_quoted or not DIGITS.isdisjoint(value)
    if is_literal(name, value, quoted=is_quoted):
        yield start, end, kind


def _find_columns(text: str, budget: Budget) -> Iterator[Span]:
    """Yield the cells below a column whose header is a secret name, in tables with bars."""
    if "|" not in text and "\xe2\x94\x82" not in text:
        return
    columns: list[int] = []
    at = rows = width = 0
    for line in text.split("\n"):
        prefix = len(_ROW_PREFIX.match(line)[0]) if len(line) < MAX_ROW_CHARS else 0  # type: ignore[index]
        row = line[prefix:].replace("\xe2\x94\x82", "|||")
        cells = row.split("|") if len(line) < MAX_ROW_CHARS else []
        budget.spend(len(line) + 10)
        is_rule = set(row) <= set("-+= ")
        if columns and rows < MAX_TABLE_ROWS and (len(cells) == width or is_rule):
            rows += 1
            yield from _pick_cells(cells, columns, at + prefix)
        else:
            rows, width, columns = 0, len(cells), _find_secret_columns(cells)
        at += len(line) + 1


def _find_secret_columns(cells: list[str]) -> list[int]:
    """Return which cells of a header are secret names."""
    names = [cell.strip(" \t`*\"'") for cell in cells]
    if sum(map(bool, names)) < 2 or not all(_HEADER_CELL.fullmatch(name) for name in names):
        return []
    return [index for index, name in enumerate(names) if name and is_secret_name(name)]


def _pick_cells(cells: list[str], columns: list[int], start: int) -> Iterator[Span]:
    for index, cell in enumerate(cells):
        value = cell.strip(" \t\r`*\"'")
        is_word = len(value) > 5 and " " not in value and not DIGITS.isdisjoint(value)
        if index in columns and is_word and is_literal("password", value, quoted=True):
            at = start + cell.index(value)
            yield at, at + len(value), "assignment"
        start += len(cell) + 1
