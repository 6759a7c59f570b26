"""Passwords that programs take on their command line, and those that are piped into them."""

from __future__ import annotations

import re

from holdfast.redaction.budget import scan
from holdfast.redaction.values import is_placeholder
from holdfast.redaction.web import is_cookie_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redaction.budget import Budget
    from holdfast.redaction.rules import Span

# Programs, and their options by what their value is. `value`: all of it is secret. `attached`: so
# is what follows the option without a space. `pair`: user, a separator, and the password.
# `cookie`: a cookie, not a file. `prefixed`: the password follows `pass:`.
_TABLE = (
    ("curl", "pair", "-u --user -U --proxy-user -E --cert"),
    ("curl", "cookie", "-b --cookie"),
    ("curl", "value", "--pass --oauth2-bearer --proxy-pass --tlspassword"),
    ("http https", "pair", "-a --auth"),
    ("docker|login podman|login registry|login nerdctl|login oras|login crane|auth", "value", "-p"),
    ("skopeo buildah", "pair", "--creds --src-creds --dest-creds"),
    ("sshpass", "value attached", "-p"),
    ("mysql mysqldump mysqladmin mysqlimport mariadb mariadb-dump", "attached", "-p --password"),
    ("redis-cli", "value", "-a --pass"),
    ("mongo mongosh mongodump mongorestore mongoexport mongoimport", "value", "-p --password"),
    ("az", "value", "-p --password --account-key --sas-token --connection-string"),
    ("twine", "value", "-p --password"),
    ("ldapsearch ldapmodify ldapadd ldapdelete ldapwhoami ldappasswd", "value", "-w -s"),
    ("smbclient rpcclient winexe net", "pair", "-U --user"),
    ("smbmap nxc crackmapexec psexec cqlsh", "value", "-p --password"),
    ("sqlcmd bcp", "value attached", "-P"),
    ("keytool jarsigner", "value", "-storepass -keypass -srcstorepass -deststorepass -destkeypass"),
    ("openssl", "prefixed", "-pass -passin -passout"),
    ("openssl", "value", "-k -K"),
    ("zip unzip", "value attached", "-P --password"),
    ("7z 7za", "attached", "-p"),
    ("rar unrar", "attached", "-p -hp"),
    ("ssh-keygen", "value", "-N -P"),
    ("plink pscp psftp putty", "value", "-pw"),
    ("lftp", "pair", "-u --user"),
    ("mosquitto_pub mosquitto_sub", "value", "-P --pw"),
    ("ipmitool", "value", "-P"),
    ("snmpwalk snmpget", "value", "-A -X"),
    ("swaks", "value", "-ap --auth-password"),
    ("snowsql", "value", "--password"),
)
_OPTIONS = {
    (program.replace("|", " "), option): kinds.split()
    for programs, kinds, options in _TABLE
    for program in programs.split()
    for option in options.split()
}
# program -> its options whose value may follow without a space
_ATTACHED: dict[str, list[str]] = {}
for (_program, _option), _kinds in _OPTIONS.items():
    if "attached" in _kinds and not _option.startswith("--"):
        _ATTACHED.setdefault(_program, []).append(_option)
_PROGRAMS = frozenset(program for program, _ in _OPTIONS)
_LONGEST_FIRST = sorted(_PROGRAMS, key=len, reverse=True)
_OPEN = r"\\{0,3}[\"']"
# A program, the end of a command, or an option with what may be its value.
_TOKENS = re.compile(
    r"(?a)(?P<program>(?:(?<![\w.-])|(?<=\\[nrt]))(?:"
    + "|".join(map(re.escape, _LONGEST_FIRST))
    + r")(?:\.exe)?"
    r"(?=[ \t\"'\\]))"
    r"|(?P<end>\n|[ \t](?:\|\|?|&&)[ \t]|;[ \t]|\\n)"
    r"|(?<=[\s\"'\\])(?P<option>--?[A-Za-z][\w-]{0,30}+|/[a-z]{1,4}:?)"
    rf"(?P<gap>[ \t]*=[ \t]*|[ \t]+|\\{{0,3}}[\"'],\s{{0,4}}|)"
    rf"(?P<open>\$?{_OPEN})?(?P<value>(?!--?[A-Za-z])[^\s\"'\\]*+)"
)
_CONTINUED = re.compile(r"\\[ \t]*\r?\Z")
_POSITIONAL = [
    # sqlplus user/password@host
    r"\bsqlplus\b[^\n|;]{0,80}?[ =][\w$#]{1,40}/([^\s/@\"'\\]{3,})@?",
    r"\bhtpasswd[ \t]+-[a-zA-Z]*b[a-zA-Z]*(?:[ \t]+[^\s\"'\\]{1,200}){1,3}?[ \t]+"
    r"([^\s\"'\\-][^\s\"'\\]*+)(?![ \t]+[^\s|;&>])",
    r"\brabbitmqctl[ \t]+(?:add_user|change_password)[ \t]+\S{1,80}[ \t]+([^\s\"']+)",
    r"\bngrok[ \t]+(?:authtoken|config add-authtoken)[ \t]+([\w-]{16,})",
    r"\bwpa_passphrase[ \t]+(?:\"[^\"\n]{1,64}\"|\S{1,64})[ \t]+[\"']?([^\s\"']{8,})",
    r"\bConvertTo-SecureString[ \t]+(?:-String[ \t]+)?[\"']([^\"'\n]{3,})[\"']",
]
_POSITIONAL_COMPILED = [re.compile(f"(?a){pattern}") for pattern in _POSITIONAL]
# echo password | sudo -S, sudo -S <<< password
_READERS = (
    r"(?:sudo[ \t]+(?:-\w+[ \t]+){0,4}-\w*S"
    r"|(?:\w+[ \t]+){0,4}login[ \t][^\n|]{0,200}?--(?:password-stdin|with-token)"
    r"|gh[ \t]+auth[ \t]+login|(?:sudo[ \t]+)?(?:passwd[ \t]+--stdin|chpasswd))"
)
_PIPED = re.compile(
    r"(?a)\b(?:echo|printf)[ \t]+(?:-\w+[ \t]+|[\"']?%s(?:\\n)?[\"']?[ \t]+)?\\{0,3}[\"']?"
    r"(?:[\w.-]{1,32}:)?([^\s\"'|\\]{3,200}+)(?:\\{1,2}n)?\\{0,3}[\"']?[ \t]*"
    rf"\|[ \t]*{_READERS}"
)
# The same without words before `login`, which the search would begin with at every letter.
_READERS_ALONE = _READERS.replace(r"(?:\w+[ \t]+){0,4}login", r"\blogin")
_HERE_STRING = re.compile(
    rf"(?a){_READERS_ALONE}[^\n|]{{0,100}}?<<<[ \t]*\\{{0,3}}[\"']?([^\s\"'\\]{{3,}}+)"
)


def find_logins(text: str, budget: Budget) -> Iterator[Span]:
    """Yield the passwords among the options of known programs.

    The text is read once, from left to right: an option belongs to the last program before it in
    the same command.
    """
    program = ""
    for match in scan(_TOKENS, text, budget):
        if match["program"]:
            program = match["program"].removesuffix(".exe")
        elif match["end"]:
            is_continued = match["end"] in ("\n", "\\n") and _CONTINUED.search(
                text, max(0, match.start() - 3), match.start()
            )
            program = program if is_continued else ""
        elif program and (span := _find_option_value(match, program)):
            yield (*span, "login")


def find_positional(text: str, budget: Budget) -> Iterator[Span]:
    """Yield passwords that programs take without an option."""
    for pattern in _POSITIONAL_COMPILED:
        for match in scan(pattern, text, budget):
            if not is_placeholder(match[1]):
                yield (*match.span(1), "login")


def _find_option_value(match: re.Match[str], program: str) -> tuple[int, int] | None:
    """Return the span of the secret in an option's value."""
    kinds = _OPTIONS.get((program, match["option"]), [])
    value, (start, end) = match["value"], match.span("value")
    if "pair" in kinds:
        separator = next((sign for sign in ":%," if sign in value), "")
        start += value.find(separator) + 1 if separator else len(value)
    elif "prefixed" in kinds:
        start += len("pass:") if value.startswith("pass:") else len(value)
    elif "cookie" in kinds:
        name, _, content = value.partition("=")
        start += len(name) + 1 if is_cookie_secret(name, content) else len(value)
    elif "value" not in kinds or not match["gap"]:
        start, end = _find_attached(match, program)
    secret = match.string[start:end]
    return (start, end) if len(secret) > 2 and not is_placeholder(secret) else None


def _find_attached(match: re.Match[str], program: str) -> tuple[int, int]:
    """Return the span of a value that follows its option without a space: -psecret, -p'secret'."""
    name = _find_attached_option(program, match["option"])
    start = match.start("option") + len(name)
    if not name or (start == match.end("option") and (match["gap"] or not match["open"])):
        return start, start
    if start == match.end("option"):
        return match.span("value")
    return start, match.end("option" if match["gap"] or match["open"] else "value")


def _find_attached_option(program: str, given: str) -> str:
    """Return the option that the given one begins with and that takes its value attached."""
    options = (option for option in _ATTACHED.get(program, ()) if given.startswith(option))
    return next(options, "")


def find_piped(text: str, budget: Budget) -> Iterator[Span]:
    """Yield the passwords that are piped into sudo and other programs."""
    for pattern in (_PIPED, _HERE_STRING):
        for match in scan(pattern, text, budget):
            if not is_placeholder(match[1]):
                yield (*match.span(1), "login")


def find_list_secrets(items: list[str]) -> set[int]:
    """Return which items of a list of arguments are secrets: ["mysql", "-psecret"]."""
    from holdfast.redaction.names import is_secret_name

    found, program = set(), ""
    for index, item in enumerate(items):
        name = item.rpartition("/")[2].removesuffix(".exe")
        following = items[index + 1] if index + 1 < len(items) else ""
        program = name if name in _PROGRAMS else program
        is_flag = item.startswith("-") and "=" not in item and is_secret_name(item.lstrip("-"))
        if (
            is_flag
            and following
            and not following.startswith("-")
            and not is_placeholder(following)
        ):
            found.add(index + 1)
        kinds = _OPTIONS.get((program, item), [])
        if following and not is_placeholder(following) and {"value", "pair", "cookie"} & {*kinds}:
            found.add(index + 1)
        attached = _find_attached_option(program, item)
        if attached and len(item) > len(attached):
            found.add(index)
    return found
