"""Secrets never reach the disk, the log, the summariser or the brief: every write comes here.

Hooks are fresh processes, in which `re` and one pattern cost more than all the rest. So this
module only looks for literal hints with a likely value behind them; what is a secret, and where it
ends, is for `shapes` to say, which is imported when there is something to look at.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")
    Likely = Callable[[bytes, str, str, int], bool]
    # Kind, hints, whether what stands at a hint is likely, and what follows a key's prefix.
    Rule = tuple[str, list[str], Likely, str]

# Keys by prefix: kind, prefixes (which are also the hints), what follows, where ^ is for a prefix
# that must begin a word. Lengths are below the official ones, so that a key cut short by truncated
# output is caught. A body of unbounded length is possessive and cannot fail once it has run:
# hostile input stays linear.
_KEYS = (
    ("anthropic-key", "sk-ant-", r"[\w-]{16,}+"),
    ("openrouter-key", "sk-or-", r"[\w-]{16,}+"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin-", r"[\w-]{16,}+"),
    ("openai-key", "sk-", r"^[\w-]{20,}+"),
    ("model-key", "gsk_ xai- r8_ pplx- nvapi- tvly- pcsk_ lsv2_pt_ lsv2_sk_", r"^[\w-]{30,}+"),
    ("huggingface-token", "hf_ api_org_", r"^[A-Za-z0-9]{30,}+"),
    ("holdfast-token", "hft_", r"[\w-]{20,}+"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\w{20,}+"),
    ("gitlab-token", "glpat- gldt- glrt- glptt- glft- glsoat- glimt- glcbt-", r"[\w.-]{16,}+"),
    ("atlassian-token", "ATATT", r"[\w=-]{30,}+"),
    ("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{20,}+"),
    ("notion-token", "ntn_ secret_", r"^[A-Za-z0-9]{40,}+"),
    ("sentry-token", "sntrys_ sntryu_", r"[\w+/=-]{20,}+"),
    ("npm-token", "npm_", r"^[A-Za-z0-9]{30,}+"),
    ("pypi-token", "pypi-AgEI", r"[\w-]{20,}+"),
    ("registry-token", "rubygems_ dckr_pat_ dckr_oat_", r"[\w-]{20,}+"),
    ("aws-key", "AKIA ASIA", r"^[A-Z0-9]{16}(?!\w)(?:[\s,:]{1,3}[A-Za-z0-9+/]{40}(?![\w+/]))?"),
    ("google-key", "AIza", r"^(?<![+/]AIza)[\w-]{30,}+"),
    ("google-token", "ya29. GOCSPX-", r"[\w.-]{20,}+"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[A-Za-z0-9]{32,}+"),
    ("databricks-token", "dapi", r"^[0-9a-f]{32}(?!\w)"),
    ("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"^[A-Za-z0-9]{24,}+"),
    ("supabase-key", "sbp_ sb_secret_", r"[\w-]{20,}+"),
    ("cloud-token", "nfp_ rnd_ HRKU- NRAK- PMAK- figd_ tskey- pul- pscale_", r"^[\w-]{30,}+"),
    ("vault-token", "hvs. hvb. hvr.", r"[\w-]{20,}+"),
    ("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[\w.-]{30,}+"),
    ("age-key", "AGE-SECRET-KEY-", r"[A-Za-z0-9]{20,}+"),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"[A-Za-z0-9+/=]{16,}+"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"[A-Za-z0-9]{20,}+"),
    ("square-token", "sq0atp- sq0csp-", r"[\w-]{20,}+"),
    ("square-token", "EAAA", r"^(?<![+/]EAAA)[\w-]{56,}+"),
    ("slack-token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", r"[\w%-]{16,}+"),
    ("slack-webhook", "hooks.slack.com/", r"[\w/]{20,}+"),
    ("discord-webhook", "discord.com/api/webhooks/", r"\d{8,20}/[\w-]{20,}+"),
    ("sendgrid-key", "SG.", r"[\w-]{16,64}\.[\w-]{16,}+"),
    ("mailgun-key", "key-", r"^[0-9a-f]{32}(?!\w)"),
    ("twilio-key", "SK", r"^[0-9a-f]{32}(?!\w)"),
    ("jwt", "eyJ", r"^[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+){0,3}"),
)

_KEY_NAMES = ["api", "access", "private", "secret", "auth", "encryption", "account", "role"]
NAMES = (
    *("password", "passwd", "passphrase", "secret", "token", "credential", "credentials"),
    *("authorization", "secretkeybase", *(f"{name}key" for name in _KEY_NAMES)),
)
_NAME_HINTS = [*NAMES, "_pass", "secret_key_base", *(f"{name}_key" for name in _KEY_NAMES)]
# Programs that take a password by a short option, and how far behind their name it is looked for.
_LOGINS = ["curl ", "docker login", "podman login", "sshpass ", "mysql", "mariadb", "redis-cli"]
LOGIN_LENGTH = 400
_TAKEN_OUT = "[redacted:assignment]"
DIGITS, _QUOTES = frozenset("0123456789"), frozenset("\"'`")
BODY = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~:+/=%")


def redact(text: str) -> str:
    """The text with every secret replaced by `[redacted:kind]`."""
    # Again, because keys that were glued together may only now stand apart.
    while (clean := _redact_once(text)) != text:
        text = clean
    return text


def redact_lines(text: str) -> list[str]:
    """The lines of a text without its secrets, and as many: one that went over several leaves
    empty ones."""
    while (clean := _redact_once(text, keep_lines=True)) != text:
        text = clean
    return text.split("\n")


def redact_value(value: T, name: object = None) -> T:
    """A JSON-shaped value without the secrets in its strings and under its secret names."""
    clean: Any = value
    secret = name if isinstance(name, str) and is_secret_name(name) else ""
    if isinstance(value, str):
        clean = redact(value)
        if secret and clean == value:
            from holdfast.redact.shapes import is_given_as

            clean = _TAKEN_OUT if is_given_as(secret, value) else value
    elif isinstance(value, dict):
        clean = {
            redact_value(key): redact_value(item, secret if key == "value" and secret else key)
            for key, item in value.items()
        }
    elif isinstance(value, list):
        clean = [redact_value(item, secret) for item in value]
    elif "pass" in secret.lower() and type(value) in (int, float):
        clean = _TAKEN_OUT
    same: T = value if clean == value else clean
    return same


def is_suspect(text: str) -> bool:
    """Whether anything in it may be a secret, or stands under a secret's name."""
    return bool(_rules_for(text))


def _redact_once(text: str, *, keep_lines: bool = False) -> str:
    if not (rules := _rules_for(text)):
        return text
    from holdfast.redact.shapes import replaced

    return replaced(text, rules, keep_lines=keep_lines)


def is_secret_name(name: str) -> bool:
    low = name.lower().rstrip("0123456789")
    return low.endswith("_pass") or low.replace("_", "").replace("-", "").endswith(NAMES)


def _followed(data: bytes, low: str, hint: str, at: int) -> bool:
    """Whether the beginning of a key comes after the hint."""
    body = data[at + len(hint) : at + len(hint) + 16]
    slug = body.islower() and DIGITS.isdisjoint(body.decode("latin-1"))
    fits = len(body) == 16 and not slug and BODY.issuperset(body)
    return fits and data.startswith(hint.encode(), at)


def _named(data: bytes, low: str, hint: str, at: int) -> bool:
    """Whether an operator comes after the name, or a flag's space, and then a possible literal."""
    end = at + len(hint)
    after = low[end : end + 99].lstrip("_0123456789").lstrip("\"'`]\\ \t")
    assigned = after[:1] in ("=", ":")
    if not assigned and "__" not in low[max(0, at - 40) : end]:
        return False
    value = after.lstrip("=:>* \t").removeprefix("bearer ").removeprefix("basic ").split(" ")[0]
    shell = after[:1] == "=" and data[end - 1 : end].isupper()
    quoted = not _QUOTES.isdisjoint(value[:5] if assigned else low[end : end + 9])
    literal = shell or quoted or hint == "authorization" or not DIGITS.isdisjoint(value)
    return literal and value.lstrip("\"'`\\")[:1] != "$"


def _logs_in(data: bytes, low: str, hint: str, at: int) -> bool:
    """Whether a short option follows that takes a password."""
    given = data[at : at + LOGIN_LENGTH]
    return any(flag in given for flag in (b" -u", b" -U", b"-user", b" -p", b" -a"))


def _exact(data: bytes, low: str, hint: str, at: int) -> bool:
    return data.startswith(hint.encode(), at)


def _in_url(data: bytes, low: str, hint: str, at: int) -> bool:
    scheme = low.rfind("://", max(0, at - 256), at)
    user = low[scheme + 3 : at] if scheme >= 0 else ""
    return ":" in user and "/" not in user and len(user.split()) == 1


_RULES: list[Rule] = [
    (kind, [prefix], _followed, body)
    for kind, prefixes, body in _KEYS
    for prefix in prefixes.split()
]
_RULES += [
    ("private-key", ["PRIVATE KEY"], _exact, ""),
    ("url-password", ["@"], _in_url, ""),
    ("telegram-token", [":AA"], _followed, ""),
    ("discord-token", ["discord.", "discord_", "DISCORD_"], _exact, ""),
    ("twilio-token", ["twilio.", "TWILIO_"], _exact, ""),
    ("azure-signature", ["windows.net"], _exact, ""),
    ("login", _LOGINS, _logs_in, ""),
    ("flag", _NAME_HINTS, _named, ""),
    ("assignment", _NAME_HINTS, _named, ""),
]

# One search for each hint would be slow on a long text. Hints in capitals are looked up among the
# capitals of the text, which are few. Most others hold a rare letter or a mark: the text is split
# there once, and what stands before a split is looked up. Folding leaves one letter and one mark.
_FOLD = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ-.jz", b"abcdefghikklmnopqrstuvwxyk__kk")
_NOT_CAPITAL = bytes({*range(256)} - {*b"ABCDEFGHIJKLMNOPQRSTUVWXYZ.:,\n"})
_SHELVES: dict[str, dict[str, tuple[Any, list[tuple[int, str, str, int]]]]]
_SHELVES = {"capitals": {}, "k": {}, "_": {}, "": {}}


def _shelve(hint: str, rule: int) -> None:
    plain = hint.encode()
    low = plain.translate(_FOLD).decode()
    shelf = "k" if low.find("k") > 1 else "_" if low.find("_") > 1 else ""
    anchor: Any
    if hint.isupper():
        shelf, key, anchor = "capitals", plain.translate(None, _NOT_CAPITAL).decode(), plain
    elif shelf:
        key = low.partition(shelf)[0][-3:]
        anchor = key + shelf
    else:
        key = anchor = _stem(low)
    offset = 0 if hint.isupper() else low.find(anchor)
    _SHELVES[shelf].setdefault(key, (anchor, []))[1].append((offset, low, hint, rule))


def _stem(low: str) -> str:
    """Names with something in common are looked up together."""
    for stem in ("pass", "secret", "credential"):
        if stem in low:
            return stem
    return low


for _number, _rule in enumerate(_RULES):
    for _hint in _rule[1]:
        _shelve(_hint, _number)


def _rules_for(text: str) -> list[Rule]:
    # By way of bytes, because lowering text beyond ASCII is thirty times slower.
    data = text.encode("utf-8", "surrogatepass")
    low = data.translate(_FOLD).decode("latin-1")
    capitals = data.translate(None, _NOT_CAPITAL).decode()
    shelved = [hints for key, hints in _SHELVES["capitals"].items() if key in capitals]
    shelved += [hints for key, hints in _SHELVES[""].items() if key in low]
    for joint in "k_":
        if joint in low:
            tails = {piece[-3:] for piece in low.split(joint)}
            shelf = _SHELVES[joint]
            shelved += [shelf[key] for key in shelf.keys() & (tails | {tail[1:] for tail in tails})]
    found: set[int] = set()
    for anchor, hints in shelved:
        where: Any = data if isinstance(anchor, bytes) else low
        at = where.find(anchor)
        while at >= 0:
            for offset, folded, hint, rule in hints:
                present = rule not in found and low.startswith(folded, at - offset)
                if present and _RULES[rule][2](data, low, hint, at - offset):
                    found.add(rule)
            at = where.find(anchor, at + 1)
    return [_RULES[rule] for rule in sorted(found)]
