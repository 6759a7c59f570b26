"""Secrets never reach the disk, the log, the summariser or the brief: every write comes here.

No pattern is compiled before a literal hint for it occurs in the text: hooks are fresh processes,
and one compilation costs more than redacting a page.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeVar

    T = TypeVar("T")
    Rule = tuple[str, str, Callable[[re.Match[str]], int | str | None]]

# Keys by prefix: kind, prefixes (which are also the hints), what follows. Lengths are below the
# official ones, so that a key cut short by truncated output is caught. Bodies are possessive, and
# one of unbounded length cannot fail after it has run: hostile input stays linear.
_KEYS = (
    ("anthropic-key", "sk-ant-", r"[\w-]{16,}+"),
    ("openrouter-key", "sk-or-", r"[\w-]{16,}+"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin-", r"[\w-]{16,}+"),
    ("openai-key", "sk-", r"(?:(?<![A-Za-z0-9]sk-)|(?<=\\[nrt]sk-))[\w-]{20,}+"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\w{20,}+"),
    ("gitlab-token", "glpat- gldt- glrt- glptt- glft- glsoat- glimt- glcbt-", r"[\w.-]{16,}+"),
    ("aws-key", "AKIA ASIA", r"[A-Z2-7]{16}(?!\w)(?:[\s,:]{1,3}[A-Za-z0-9+/]{40}(?![\w+/]))?"),
    ("google-key", "AIza", r"(?:(?<![\w+/]AIza)|(?<=\\[nrt]AIza))[\w-]{30,}+"),
    ("google-token", "ya29. GOCSPX-", r"[\w.-]{20,}+"),
    ("slack-token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", r"[\w%-]{10,}+"),
    ("slack-webhook", "hooks.slack.com/", r"[\w/]{20,}+"),
    ("discord-webhook", "discord.com/api/webhooks/", r"\d{8,20}/[\w-]{20,}+"),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"[A-Za-z0-9+/=]{16,}+"),
    ("npm-token", "npm_", r"[A-Za-z0-9]{30,}+"),
    ("pypi-token", "pypi-AgEI", r"[\w-]{20,}+"),
    ("registry-token", "rubygems_ dckr_pat_ dckr_oat_", r"[\w-]{20,}+"),
    ("huggingface-token", "hf_ api_org_", r"[A-Za-z0-9]{30,}+"),
    ("sendgrid-key", "SG.", r"[\w-]{16,64}\.[\w-]{16,}+"),
    ("twilio-key", "SK", r"[0-9a-f]{32}(?!\w)"),
    ("databricks-token", "dapi", r"[0-9a-f]{32}(?!\w)"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{32,}+"),
    ("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{20,}+"),
    ("notion-token", "ntn_ secret_", r"[A-Za-z0-9]{40,}+"),
    ("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"[A-Za-z0-9]{24,}+"),
    ("supabase-key", "sbp_ sb_secret_", r"[\w-]{20,}+"),
    ("sentry-token", "sntrys_ sntryu_", r"[\w+/=-]{20,}+"),
    ("vault-token", "hvs. hvb. hvr.", r"[\w-]{20,}+"),
    ("age-key", "AGE-SECRET-KEY-", r"[A-Z0-9]{20,}+"),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[\w.-]{30,}+"),
    ("mailgun-key", "key-", r"[0-9a-f]{32}(?!\w)"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[0-9a-fA-F]{20,}+"),
    ("square-token", "sq0atp- sq0csp- EAAA", r"(?<![A-Za-z0-9+/]EAAA)[\w-]{22,}+"),
    ("atlassian-token", "ATATT", r"[\w=-]{30,}+"),
    ("groq-key", "gsk_", r"[A-Za-z0-9]{30,}+"),
    ("xai-key", "xai-", r"[A-Za-z0-9]{30,}+"),
    ("replicate-token", "r8_", r"[A-Za-z0-9]{30,}+"),
    ("perplexity-key", "pplx-", r"[A-Za-z0-9]{30,}+"),
    ("model-key", "nvapi- tvly- pcsk_ lsv2_pt_ lsv2_sk_", r"[\w-]{30,}+"),
    ("cloud-token", "nfp_ rnd_ HRKU- NRAK- PMAK- figd_ tskey- pul- pscale_", r"[\w-]{30,}+"),
    ("jwt", "eyJ", r"(?:(?<![\w-]eyJ)|(?<=\\[nrt]eyJ))[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+){0,3}"),
)

# Between the lines of a key: line ends (also escaped), quotes, diff marks and line numbers.
_GAP = r"(?:\\+[nrt]|[\s\"'`+,>|#*]|-(?!-)|\d{1,6}[\t→:|])*+"
_PEM = r"[A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----"
_PRIVATE_KEY = (
    rf"-----BEGIN {_PEM}(?:{_GAP}[A-Z][A-Za-z-]{{2,20}}: [^\n\\]{{1,100}})*+"
    rf"(?:{_GAP}[A-Za-z0-9+/=]{{20,}}+)++"
    rf"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END {_PEM}|{_GAP}[A-Za-z0-9+/=]+\Z)?"
)
_URL = r"://[^\s/@:\"'()<>\\]*+:(?!\d{1,5}[/?#,;)\]])([^\s/\"'`<>\\]+)@(?!sha\d)"
_HEADER = (
    r"[Aa](?i:uthorization)[\"'\]\\ \t]{0,6}[:=,][ \t]{0,4}[bfru]?[\"'`\\]{0,4}"
    r"(?:(?i:bearer|basic|token|bot|apikey)[ \t]+([\w.~+/=:-]{6,}+)|([\w.~+/=:-]{20,}+))"
)
_VALUE = (
    r"(?:[bru]?(?P<quote>\\{0,3}[\"'`])(?P<quoted>(?:(?!(?P=quote))\S)++)(?:(?P=quote)|\Z)"
    r"|(?P<bare>[^\s\"'`,;&(){}<>\[\]\\$](?:[^\s\"'`,;&(){}<>\[\]\\]|&(?!\w+=))*+)(?P<code>[(\[{<])?)"
)
_FLAG = r"--(?P<name>[a-z][\w-]{1,40}+)(?P<op>[ \t]{1,4})(?!-)" + _VALUE
# Starts at the rarest letter of toKen, Key, seCret, Credential, Password: the scan skips the rest.
_ASSIGNMENT = (
    r"(?P<name>[KkCcPp](?i:en|ey|ret|redentials?|ass(?:w(?:or)?d|phrase)?)(?:_?\d{1,2}|_BASE)?)"
    r"[\"'`\]\\]{0,6}[ \t]{0,4}(?P<op>(?:=>|:=|[=:](?![=:]))[ \t*]{0,4})" + _VALUE
)
_NAMES = (
    *("password", "passwd", "passphrase", "secret", "token", "credential", "credentials"),
    *("apikey", "accesskey", "privatekey", "secretkey", "secretkeybase", "authkey"),
    *("encryptionkey", "masterkey", "accountkey", "rolekey"),
)
_NAME_HINTS = ["passw", "passp", "_pass", "secret", "token", "credential"] + [
    name[:-3] + mark + "key" for name in _NAMES if name.endswith("key") for mark in ("", "_", "-")
]
_STAND_INS = ("your", "my-", "example", "change", "placeholder", "redacted", "dummy", "insert")
_WORDS = {"string", "required", "optional", "invalid", "missing", "null", "none", "true", "false"}
_WORDLIKE = (
    r"[./~@_-]*+(?:(?:[A-Z]*+[a-z]{2,}+|[A-Z]{2,}+|[A-Za-z](?![A-Za-z])|\d{1,3}+(?!\d)"
    r"|\d++(?=[A-Z][a-z]))[-_./:@!?]*+)++"
)
_DEEPEST = 100


def redact(text: str) -> str:
    """The text with every secret replaced by `[redacted:kind]`."""
    for rule in _rules_for(text):
        text = _apply(rule, text)
    return text


def redact_value(value: T) -> T:
    """A JSON-shaped value without the secrets in its strings and under its secret names."""
    clean: T = _clean(value, "", 0)
    return clean


def _clean(value: Any, name: Any, depth: int) -> Any:
    clean: Any = value
    if isinstance(value, str):
        clean = redact(value)
        named = isinstance(name, str) and _is_secret_name(name) and clean == value != ""
        if named and _is_literal(name, value, quoted=True):
            return "[redacted:assignment]"
    elif depth == _DEEPEST and isinstance(value, dict | list):
        return "[redacted:too-deep]"
    elif isinstance(value, dict):
        clean = {_clean(key, "", 0): _clean(item, key, depth + 1) for key, item in value.items()}
    elif isinstance(value, list):
        clean = [_clean(item, "", depth + 1) for item in value]
    return value if clean == value else clean


def _apply(rule: Rule, text: str) -> str:
    kind, pattern, find = rule

    def replaced(match: re.Match[str]) -> str:
        group = find(match)
        if group is None:
            return match[0]
        start, end = (edge - match.start() for edge in match.span(group))
        return f"{match[0][:start]}[redacted:{kind}]{match[0][end:]}"

    return re.compile(pattern).sub(replaced, text)


def _key(match: re.Match[str]) -> int | None:
    """The whole match, unless it is masked (`sk-XXXX`) or a slug (`sk-some-long-name`)."""
    body = match[1]
    slug = (body.islower() or body.isupper()) and not re.search(r"\d", body)
    return None if slug or "xxxxxx" in body.lower() else 0


def _part(match: re.Match[str]) -> int | None:
    """The marked part, or all where nothing is marked."""
    group = match.lastindex or 0
    return None if _is_stand_in(match[group]) else group


def _header(match: re.Match[str]) -> int | None:
    value = match[match.lastindex or 0]
    return None if len(value) < 16 and _is_wordlike(value) else _part(match)


def _assigned(match: re.Match[str]) -> str | None:
    """The value given to a secret name, unless it is code, a type, a reference or a stand-in."""
    name = match.string[max(0, match.start() - 12) : match.start()] + match["name"]
    if match["code"] or not _is_secret_name(name):
        return None
    group = "bare" if match["quoted"] is None else "quoted"
    shell = match["op"] == "=" and match["name"].isupper()
    return group if _is_literal(name, match[group], quoted=group == "quoted", shell=shell) else None


def _is_secret_name(name: str) -> bool:
    low = name.lower().rstrip("0123456789")
    return low.replace("_", "").replace("-", "").endswith(_NAMES) or low.endswith(("_pass", "-pass"))


def _is_literal(name: str, value: str, *, quoted: bool, shell: bool = False) -> bool:
    digit, password = re.search(r"\d", value), "pass" in name.lower()
    if _is_stand_in(value) or re.match(r"\w+://|(?:\.{0,2}|~)/[A-Za-z.]+/", value):
        return False
    if not digit and (_is_secret_name(value) and not value.isalpha() or "passw" in value.lower()):
        return False
    if len(value) < 4 or shell or password:
        code = value.isupper() if shell else not quoted
        return len(value) > 3 and (bool(digit) or not code)
    if len(value) < 6 or _is_wordlike(value) or not re.search(r"[A-Za-z]", value):
        return False
    if quoted:
        return bool(digit) or len(value) > 11
    return bool(digit) and bool(re.fullmatch(r"[\w+/=.~:%-]+", value))


def _is_wordlike(value: str) -> bool:
    return len(re.findall(r"\d+", value)) < 3 and bool(re.fullmatch(_WORDLIKE, value))


def _is_stand_in(value: str) -> bool:
    low = value.lower()
    return (
        low[0] in "<$%[{*"
        or low in _WORDS
        or low in _NAMES
        or low.startswith(_STAND_INS)
        or low.endswith("xxx")
        or not low.strip("x*.-_#?0")
        or any(mask in low for mask in ("xxxx", "****", "...", "…", "${", "{{"))
        or ("{" in low and "}" in low)
    )


_RULES: list[Rule] = []
_CAPITAL_HINTS: dict[bytes, tuple[bytes, list[int]]] = {}
_NOT_CAPITAL = bytes(byte for byte in range(256) if not 65 <= byte <= 90)
_JOINT_HINTS: dict[str, dict[str, dict[str, list[int]]]] = {joint: {} for joint in "-_.kz"}
_PLAIN_HINTS: dict[str, list[int]] = {}


def _add(kind: str, hints: Iterable[str], pattern: str, find: Any) -> None:
    """File a rule under its hints: one search for each of them would be slow on a long text.

    Hints with capitals are looked up among the text's capitals, which are few. Most others hold a
    rare letter or mark: the text is split there once, and what stands before each split looked up.
    """
    for hint in hints:
        joint = next((joint for joint in _JOINT_HINTS if hint.find(joint) > 1), "")
        if hint != hint.lower():
            letters = hint.encode().translate(None, _NOT_CAPITAL)
            _CAPITAL_HINTS.setdefault(hint.encode(), (letters, []))[1].append(len(_RULES))
        elif joint:
            tail = hint.partition(joint)[0][-3:]
            _JOINT_HINTS[joint].setdefault(tail, {}).setdefault(hint, []).append(len(_RULES))
        else:
            _PLAIN_HINTS.setdefault(hint, []).append(len(_RULES))
    _RULES.append((kind, pattern, find))


def _rules_for(text: str) -> list[Rule]:
    # By way of bytes, because lowering text beyond ASCII is thirty times slower.
    data = text.encode("utf-8", "surrogatepass")
    low = data.lower().decode("latin-1")
    capitals = data.translate(None, _NOT_CAPITAL)
    found: set[int] = set()
    for capital, (letters, rules) in _CAPITAL_HINTS.items():
        if letters in capitals and capital in data:
            found.update(rules)
    for hint, rules in _PLAIN_HINTS.items():
        if hint in low:
            found.update(rules)
    for joint, shelf in _JOINT_HINTS.items():
        if joint in low:
            tails = {piece[-3:] for piece in low.split(joint)}
            for tail in shelf.keys() & (tails | {tail[1:] for tail in tails}):
                for hint, rules in shelf[tail].items():
                    if hint in low:
                        found.update(rules)
    return [_RULES[rule] for rule in sorted(found)]


for _kind, _prefixes, _body in _KEYS:
    for _prefix in _prefixes.split():
        _add(_kind, [_prefix], f"{_prefix.replace('.', '[.]')}({_body})", _key)
_add("private-key", ["PRIVATE KEY"], _PRIVATE_KEY, _part)
_add("url-password", ["@"], _URL, _part)
_add("authorization", ["authorization"], _HEADER, _header)
_add("authorization", ["bearer "], r"[Bb](?i:earer)[ \t]+([\w.~+/=-]{12,}+)", _header)
_add("telegram-token", [":AA"], r":(?<=\d{8}:)(AA[\w-]{30,}+)", _part)
_add("discord-token", "MNO", r"[.](?<=[\w-]{23}[.])([\w-]{6}[.][\w-]{27,}+)", _part)
_add("twilio-key", ["AC"], r"AC[0-9a-f]{32}:([0-9a-f]{32})", _part)
_add("azure-signature", ["windows.net", "azure.com"], r"sig=([A-Za-z0-9%+/]{40,}+=*)", _part)
_add("flag", _NAME_HINTS, _FLAG, _assigned)
_add("assignment", _NAME_HINTS, _ASSIGNMENT, _assigned)
