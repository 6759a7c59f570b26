"""The first stage: search for fixed strings, without regular expressions.

In a hook process, importing `re` and compiling one pattern takes longer than everything else. This
module finds the hints (`ghp_`, `password`) and checks whether the text after one may be a secret.
Only the rules with such a hint are applied by the second stage, see `rules`.
"""

from __future__ import annotations

from itertools import accumulate

from holdfast.redaction.names import FOREIGN_HINTS, NAME_HINTS
from holdfast.redaction.vendor_keys import INFIX_KEYS, PREFIXED_KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    # Returns whether the text at a hint may be a secret. The arguments are the bytes of the text,
    # the same folded (see _FOLD), the hint, and its position.
    Check = Callable[[bytes, str, bytes, int], bool]
    # The name of a rule, its hints and the check of each.
    HintRule = tuple[str, tuple[str, ...], Check]

DIGITS = b"0123456789"
KEY_CHARACTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~:+/=%"
# A key is checked in this many characters after its prefix, and shorter ones are no keys.
KEY_WINDOW, MIN_KEY_CHARS = 16, 8
# After so many failed checks or places, a rule is applied without further checks: a long text of
# hints costs more here than in the second stage.
MAX_CHECKS, MAX_PLACES = 2000, 20_000
# How much of a piece is looked up, and how many capitals make a hint rare; see `_add_hint`.
TAIL_CHARS, MIN_CAPITALS = 3, 2
_QUOTES = frozenset("\"'`")
_OPEN = "\"'`]\\)>* \t"


def _precedes_key(data: bytes, low: str, hint: bytes, at: int) -> bool:
    """Return whether characters that could be the beginning of a key follow the hint."""
    body = data[at + len(hint) : at + len(hint) + KEY_WINDOW]
    run = body[: len(body) - len(body.lstrip(KEY_CHARACTERS))]
    slug = run.islower() and run == run.strip(DIGITS) and not any(d in DIGITS for d in run)
    return len(run) >= MIN_KEY_CHARS and not slug and data.startswith(hint, at)


def _precedes_hex(data: bytes, low: str, hint: bytes, at: int) -> bool:
    """Return whether hexadecimal digits follow the hint."""
    body = data[at + len(hint) : at + len(hint) + KEY_WINDOW]
    return (
        len(body) == KEY_WINDOW
        and not body.strip(b"0123456789abcdef")
        and (data.startswith(hint, at))
    )


def _precedes_dot(data: bytes, low: str, hint: bytes, at: int) -> bool:
    """Return whether the hint is followed by 14 letters or digits and a dot."""
    end = at + len(hint) + 14
    return data[end : end + 1] == b"." and data[at:end].isalnum() and data.startswith(hint, at)


def _is_inside_key(data: bytes, low: str, hint: bytes, at: int) -> bool:
    """Return whether the hint is exactly this, between characters of a key."""
    before, after = data[max(0, at - 3) : at], data[at + len(hint) : at + len(hint) + 1]
    fits = len(before) == 3 and not before.strip(KEY_CHARACTERS) and data.startswith(hint, at)
    return fits and (hint != b"-us" or after.isdigit())


def _is_assigned(data: bytes, low: str, hint: bytes, at: int) -> bool:
    """Return whether a literal is assigned to this name, or follows it as an argument."""
    end = at + len(hint)
    if data[end : end + 1] in (b".", b"-"):
        return False
    rest = low[end : end + 160].lstrip("_0123456789")
    after = rest.lstrip(_OPEN)
    if hint == b"authorization":
        return after.lstrip("=:, \"'\\")[:1] not in ("$", "<", "{")
    if after[:1] in ("=", ":", "?") and after[:2] not in ("==", "::"):
        value, equals, typed = after.lstrip("?").lstrip("=:>_* \t"), "", ""
        if after[0] == ":":
            _, equals, typed = value[:60].partition("\n")[0].partition("= ")
        return _is_literal(data, end, value, after[0] == "=") or (
            bool(equals) and not _QUOTES.isdisjoint(typed[:5])
        )
    before = low[max(0, at - 48) : at]
    if "__" in low[max(0, at - 40) : end] and rest[:1] in (" ", '"', "'", "\\"):
        return "'" in rest[:3] or '"' in rest[:3] or _has_digit(rest)
    if after[:1] in ("|", "\xe2") or "|" in before:
        return _has_digit(rest)
    if rest[:1] in _QUOTES or rest[:1] in ("\\", ">", "<"):
        in_tag = "<" in before and (">" in rest[:2] or "</" in rest)
        return (
            in_tag or after[:1] == "," or "value" in rest or (after[:1] == "{" and "var" in before)
        )
    is_call = rest[:1] == "(" and not _QUOTES.isdisjoint(rest[1:4])
    is_beside = rest[:1] in ("\n", "\r") and "value" in rest
    return is_call or is_beside or _names_variable(before) or after.startswith(("is ", "ist "))


def _has_digit(text: str) -> bool:
    return any(char in "0123456789" for char in text)


def _is_literal(data: bytes, end: int, value: str, is_equals: bool) -> bool:
    """Return whether the text after `=` or `:` may be a literal value."""
    value = value.removeprefix("bearer ").removeprefix("basic ").removeprefix("\\ ")
    word = value.split(" ", 1)[0]
    shell = is_equals and data[end - 1 : end].isupper()
    quoted = (
        not _QUOTES.isdisjoint(word[:5]) or word[:1] in ("\n", "\r", "|", "<", "") or "\\n" in word
    )
    literal = shell or quoted or _has_digit(word)
    return literal and word.lstrip("\"'`\\")[:1] != "$"


def _names_variable(before: str) -> bool:
    """Return whether a command that sets a variable precedes the name."""
    words = ("env ", "setx ", "setenv ", "set _", "configure set ", "define ", "login ", "config ")
    return any(word in before for word in words)


def _follows_header(data: bytes, low: str, hint: bytes, at: int) -> bool:
    """Return whether a header's value or an assigned value with a `=` follows."""
    after = low[at + len(hint) : at + len(hint) + 60].lstrip("s\"'`\\ \t")
    return after[:1] in (":", "=", ",") and "=" in after[1:]


def _precedes_auth(data: bytes, low: str, hint: bytes, at: int) -> bool:
    """Return whether `auth` is given a literal or a pair."""
    end = at + len(hint.rstrip(b"("))
    after = low[end : end + 40].lstrip("\"'\\ \t")
    value = after[1:].lstrip("\"'\\ \t")
    return after[:1] in ("=", ":", "(") and (value[:1] == "(" or after[0] == "(" or len(value) > 7)


def _has_password_option(data: bytes, low: str, hint: bytes, at: int) -> bool:
    """Return whether an option that takes a password may follow the program's name."""
    before = data[max(0, at - 2) : at]
    starts_word = not before[-1:].isalnum() and before[-1:] not in (b"_", b".", b"-")
    if before and not starts_word and before not in (b"\\n", b"\\t", b"\\r"):
        return False
    given = low[at : at + 400].partition("\n")[0]
    return any(flag in given for flag in (" _", '"_', "'_", " /", "%", "<<<"))


def _is_exact(data: bytes, low: str, hint: bytes, at: int) -> bool:
    """Return whether the hint occurs here in exactly this spelling, with the same case."""
    return data.startswith(hint, at)


def _is_present(data: bytes, low: str, hint: bytes, at: int) -> bool:
    return True


def _ends_url_user(data: bytes, low: str, hint: bytes, at: int) -> bool:
    """Return whether the @ follows a user with a password, or a long one, in a URL."""
    scheme = low.rfind("://", max(0, at - 256), at)
    user = low[scheme + 3 : at] if scheme >= 0 else ""
    return (":" in user or len(user) > 15) and "/" not in user and len(user.split()) == 1


def _precedes_random(data: bytes, low: str, hint: bytes, at: int) -> bool:
    """Return whether a value of at least 16 characters with a digit follows."""
    body = data[at + len(hint) : at + len(hint) + 20]
    run = body[: len(body) - len(body.lstrip(KEY_CHARACTERS))]
    return len(run) > 15 and run != run.translate(None, DIGITS)


# Programs that take a password as an option, and what is between the name and the first option;
# `command_lines` says which options these are.
_PROGRAM_HINTS = (
    *("curl ", "http -", "https -", "docker login -", "podman login -", "oras login -"),
    *("nerdctl login -", "registry login -", "sshpass -", "mysql -"),
    *("mysqldump -", "mysqladmin -", "mysqlimport -", "mariadb -", "mariadb-dump -", "redis-cli -"),
    *("mongo -", "mongosh -", "mongodump -", "mongorestore -", "mongoexport -", "mongoimport -"),
    *("az login -", "upload -", "ldapsearch -", "ldapmodify -", "ldapadd -", "ldapdelete -"),
    *("ldapwhoami -", "ldappasswd -", "smbclient ", "rpcclient -", "winexe -", "smbmap -"),
    *("sqlcmd -", "bcp -", "cqlsh -", "keytool -", "jarsigner -", "passin", "passout", "pass:"),
    *("openssl enc -", "zip -", "unzip -", "7z x -", "7z a -", "7z e -", "unrar x -", "rar a -"),
    *("ssh-keygen -", "plink -", "pscp -", "psexec -", "lftp -", "mosquitto_pub -"),
    *("mosquitto_sub -", "ipmitool -", "snmpwalk -", "snmpget -", "swaks -", "snowsql -"),
)
_POSITIONAL_HINTS = (
    *("sqlplus ", "htpasswd -", "add_user ", "change_password ", "ngrok ", "wpa_passphrase "),
    "convertto-securestring",
)
# Base64 of `password`, `secret`, `token` and the like in the usual spellings, at each of the three
# offsets in a group, without the characters that depend on what is around the word.
ENCODED_HINTS = (
    *("cGFzc3dvcm", "Bhc3N3b3Jk", "wYXNzd29yZ", "UEFTU1dPUk", "BBU1NXT1JE", "QQVNTV09SR"),
    *("UGFzc3dvcm", "QYXNzd29yZ", "cGFzc3dk", "Bhc3N3Z", "wYXNzd2", "c2VjcmV0", "NlY3Jld"),
    *("zZWNyZX", "U0VDUkVU", "NFQ1JFV", "TRUNSRV", "U2VjcmV0", "TZWNyZX", "dG9rZW"),
    *("VE9LRU", "RPS0VO", "UT0tFT", "VG9rZW", "FwaV9rZX", "hcGlfa2V5", "QVBJX0tFW"),
    *("FQSV9LRV", "BUElfS0VZ", "YXBpS2V5", "FwaUtle", "hcGlLZX", "cHJpdmF0ZV9rZX"),
    *("ByaXZhdGVfa2V5", "UFJJVkFURSBLRV", "BSSVZBVEUgS0VZ", "QUklWQVRFIEtFW", "c2tfbGl2Z"),
    *(
        "Z2xwYXQt",
        "QXV0aG9yaXphdGlvb",
        "F1dGhvcml6YXRpb2",
        "BdXRob3JpemF0aW9u",
    ),
)
_CHECKS: dict[str, Check] = {
    **dict.fromkeys(("SK", "key-", "pubkey-", "dapi"), _precedes_hex),
    "pat": _precedes_dot,
}
RULES: list[HintRule] = [
    *(
        (f"key {prefix}", (prefix,), _CHECKS.get(prefix, _precedes_key))
        for _, prefixes, _ in PREFIXED_KEYS
        for prefix in prefixes.split()
    ),
    *((f"key {marker}", (marker,), _is_inside_key) for _, marker, *_ in INFIX_KEYS),
    ("private-key", ("PRIVATE KEY", "SECRET KEY", "Static key", "Private-Lines", "Private-Hash"),
     _is_exact),
    ("url-password", ("@",), _ends_url_user),
    ("url-key", ("?key=", "&key=", "sig=", "signature="), _precedes_random),
    ("discord-token", ("discord.", "discord_", "DISCORD_"), _is_exact),
    ("twilio-token", ("twilio.", "TWILIO_"), _is_exact),
    ("login", _PROGRAM_HINTS, _has_password_option),
    ("login", ("src-creds", "dest-creds"), _is_present),
    ("positional", _POSITIONAL_HINTS, _is_present),
    ("piped-password", ("sudo -", "password-stdin", "passwd --stdin", "chpasswd", "with-token"),
     _is_present),
    ("cookie", ("cookie",), _follows_header),
    ("auth-pair", ("auth", "auths", "credential", "credentials", "login("), _precedes_auth),
    ("password-hash", (":$", ":{SHA}", ":{SSHA}"), _is_exact),
    ("password-file", (":5432:", ":*:"), _is_present),
    ("sql-password", ("identified by", "identified with", "password '", "password('"), _is_present),
    ("master-key", ("master.key",), _is_present),
    ("encoded", (*ENCODED_HINTS, "base64 -", "base64.b64decode"), _is_exact),
    ("assignment", NAME_HINTS, _is_assigned),
    ("assignment", FOREIGN_HINTS, _is_present),
]  # fmt: skip

# Searching a long text for each hint would be slow, so hints are grouped by how they are found.
# Hints in capitals are searched in the capital letters of the text, which are few. Most other hints
# contain a rare letter (j, k, z) or a separator (- . _). Folding maps these to `_`; the folded text
# is split there once, and the end of each piece is looked up in a dictionary. The remaining hints
# are searched one by one.
_FOLD = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ-.jkz", b"abcdefghi__lmnopqrstuvwxy______")
_NOT_CAPITAL = bytes({*range(256)} - {*b"ABCDEFGHIJKLMNOPQRSTUVWXYZ.:,\n"})
# What is searched for -> for each hint its offset in the hint, the folded hint, the hint, and the
# number of its rule.
Hints = list[tuple[int, str, bytes, int]]
_capitals: dict[str, tuple[str, Hints]] = {}
_pieces: dict[str, Hints] = {}
_exact: dict[str, Hints] = {}
_others: dict[str, Hints] = {}
_foreign: dict[str, Hints] = {}
# Related hints are searched for together, by the part that they share.
_STEMS = ("s__", "pass", "secret", "credential", "auth", "pw", "to_en", "_ey=", "identified ")


def _add_hint(hint: str, rule: int) -> None:
    """Add a hint to the group in which it is found fastest."""
    plain = hint.encode("latin-1")
    low = plain.translate(_FOLD).decode("latin-1")
    capitals = "" if hint.islower() else plain.translate(None, _NOT_CAPITAL).decode()
    stem = longest = ""
    for part in _STEMS:
        if part in low:
            stem = part
            break
    else:
        # Every piece before a separator can be looked up; the longest is the rarest.
        longest = max(low.split("_")[:-1], key=len, default="")[-TAIL_CHARS:]
    if not plain.isascii():
        _foreign.setdefault(low, []).append((0, low, plain, rule))
    elif len(longest) > 1 and len(capitals) < 4:
        _pieces.setdefault(longest, []).append((low.find(longest + "_"), low, plain, rule))
    elif len(capitals) >= MIN_CAPITALS:
        _capitals.setdefault(hint, (capitals, []))[1].append((0, low, plain, rule))
    elif capitals and not stem:
        _exact.setdefault(hint, []).append((0, low, plain, rule))
    elif RULES[rule][0] != "encoded":
        # Base64 without a rare letter is left to its other words: there are too many to search for.
        _others.setdefault(stem or low, []).append((low.find(stem or low), low, plain, rule))


for _number, _rule in enumerate(RULES):
    for _hint in _rule[1]:
        _add_hint(_hint, _number)
_short_pieces = {key for key in _pieces if len(key) < TAIL_CHARS}


def find_rules(data: bytes) -> list[str]:
    """Return the names of the rules with a hint after which the check finds a possible secret."""
    low = data.translate(_FOLD).decode("latin-1")
    matching: set[int] = set()
    capitals = data.translate(None, _NOT_CAPITAL).decode()
    text = data.decode("latin-1")
    if len(capitals) > 1:
        for hint, (key, hints) in _capitals.items():
            if key in capitals and hint in text:
                _check_all(data, low, hints[0][1], hints, matching)
    for key, hints in _exact.items():
        if key in text:
            _check_all(data, low, hints[0][1], hints, matching)
    for key, hints in _others.items():
        if key in low:
            _check_all(data, low, key, hints, matching)
    if not data.isascii():
        for key, hints in _foreign.items():
            if key in low:
                _check_all(data, low, key, hints, matching)
    _check_pieces(data, low, matching)
    return list(dict.fromkeys(RULES[number][0] for number in sorted(matching)))


def _check_all(data: bytes, low: str, key: str, hints: Hints, matching: set[int]) -> None:
    """Check these hints wherever the key occurs."""
    open_hints = [hint for hint in hints if hint[3] not in matching]
    at, checks = low.find(key), 0
    for _ in range(MAX_PLACES):
        if at < 0 or not open_hints:
            return
        for offset, folded, hint, rule in open_hints:
            if low.startswith(folded, at - offset):
                checks += 1
                if checks > MAX_CHECKS or RULES[rule][2](data, low, hint, at - offset):
                    matching.add(rule)
        if checks:
            open_hints = [hint for hint in open_hints if hint[3] not in matching]
        at = low.find(key, at + 1)
    matching.update(hint[3] for hint in open_hints)


def _check_pieces(data: bytes, low: str, matching: set[int]) -> None:
    """Check the hints whose key ends a piece of the text before a separator."""
    pieces = low.split("_")
    if len(pieces) < 2:
        return
    found = [
        number
        for number, piece in enumerate(pieces)
        if piece[-3:] in _pieces or piece[-2:] in _short_pieces
    ]
    if not found:
        return
    ends = list(accumulate(map(len, pieces)))
    checks: dict[str, int] = {}
    for number in found:
        end = ends[number] + number
        for size in (3, 2):
            key = pieces[number][-size:]
            for offset, folded, hint, rule in _pieces.get(key, ()) if len(key) == size else ():
                start = end - size - offset
                if rule not in matching and low.startswith(folded, start):
                    checks[key] = checks.get(key, 0) + 1
                    if checks[key] > MAX_CHECKS or RULES[rule][2](data, low, hint, start):
                        matching.add(rule)
