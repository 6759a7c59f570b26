"""Remove secrets from text before it is stored, logged, or shown to a summarizer or a model.

This is done in two stages, because in a hook process importing `re` and compiling one pattern takes
longer than everything else. This module searches for fixed strings, the hints (`ghp_`, `password`),
and checks whether the text after one may be a secret. Only then it imports `patterns`, whose
regular expressions decide what is a secret and where it ends.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    T = TypeVar("T")
    # Returns whether the text at a hint may be a secret. The arguments are the text as UTF-8, the
    # same folded (see _FOLD), the hint, and its position.
    Check = Callable[[bytes, str, str, int], bool]
    # The kind of secret, its hints, the check, and the regular expression of what follows a prefix.
    Rule = tuple[str, list[str], Check, str]

# Keys with a fixed prefix: kind, prefixes, which are also the hints, and the regular expression of
# what follows. ^ means that the prefix must begin a word. The minimum lengths are below the
# official ones, to find keys in truncated output too. Repetitions without an upper limit are
# possessive (`++`), so that no input takes quadratic time.
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

# Words before `key` in names such as `api_key`.
_KEY_NAMES = ["api", "access", "private", "secret", "auth", "encryption", "account", "role"]
# Variables and JSON keys whose names end with one of these usually hold a secret.
SECRET_NAMES = (
    *("password", "passwd", "passphrase", "secret", "token", "credential", "credentials"),
    *("authorization", "secretkeybase", *(f"{name}key" for name in _KEY_NAMES)),
)
_NAME_HINTS = [*SECRET_NAMES, "_pass", "secret_key_base", *(f"{name}_key" for name in _KEY_NAMES)]
# Programs that take a password as a short option, and how far after the name the option may be.
_LOGINS = ["curl ", "docker login", "podman login", "sshpass ", "mysql", "mariadb", "redis-cli"]
MAX_LOGIN_CHARS = 400
_REPLACEMENT = "[redacted:assignment]"
DIGITS, _QUOTES = frozenset("0123456789"), frozenset("\"'`")
KEY_CHARACTERS = frozenset(
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.~:+/=%"
)


def redact(text: str) -> str:
    """Return the text with every secret replaced by `[redacted:kind]`."""
    # Repeated until nothing changes, because a pass finds only the first of two adjoining keys.
    while (clean := _redact_once(text)) != text:
        text = clean
    return text


def redact_lines(text: str) -> list[str]:
    """Return the lines of a text with its secrets replaced. The number of lines stays the same: a
    secret of several lines is replaced by one line and empty ones.
    """
    while (clean := _redact_once(text, keep_lines=True)) != text:
        text = clean
    return text.split("\n")


def redact_value(value: T, name: object = None) -> T:
    """Return a JSON value without the secrets in its strings and under secret-sounding keys.

    `name` is the key that the value is stored under. Returns `value` itself if nothing changed.
    """
    clean: Any = value
    secret = name if isinstance(name, str) and is_secret_name(name) else ""
    if isinstance(value, str):
        clean = redact(value)
        if secret and clean == value:
            from holdfast.redaction.patterns import is_secret_value

            clean = _REPLACEMENT if is_secret_value(secret, value) else value
    elif isinstance(value, dict):
        clean = {
            redact_value(key): redact_value(item, secret if key == "value" and secret else key)
            for key, item in value.items()
        }
    elif isinstance(value, list):
        clean = [redact_value(item, secret) for item in value]
    elif "pass" in secret.lower() and type(value) in (int, float):
        clean = _REPLACEMENT
    same: T = value if clean == value else clean
    return same


def may_contain_secret(text: str) -> bool:
    """Return whether any hint of a secret was found; False means that there is no secret."""
    return bool(_find_rules(text))


def _redact_once(text: str, *, keep_lines: bool = False) -> str:
    if not (rules := _find_rules(text)):
        return text
    from holdfast.redaction.patterns import redact_matches

    return redact_matches(text, rules, keep_lines=keep_lines)


def is_secret_name(name: str) -> bool:
    """Return whether a variable or key of this name usually holds a secret."""
    low = name.lower().rstrip("0123456789")
    return low.endswith("_pass") or low.replace("_", "").replace("-", "").endswith(SECRET_NAMES)


def _precedes_key(data: bytes, low: str, hint: str, at: int) -> bool:
    """Return whether 16 characters that could be the beginning of a key follow the hint."""
    body = data[at + len(hint) : at + len(hint) + 16]
    slug = body.islower() and DIGITS.isdisjoint(body.decode("latin-1"))
    fits = len(body) == 16 and not slug and KEY_CHARACTERS.issuperset(body)
    return fits and data.startswith(hint.encode(), at)


def _is_assigned(data: bytes, low: str, hint: str, at: int) -> bool:
    """Return whether a value is assigned to this name, or follows it as a flag's argument."""
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


def _has_password_option(data: bytes, low: str, hint: str, at: int) -> bool:
    """Return whether a short option that takes a password follows the program's name."""
    given = data[at : at + MAX_LOGIN_CHARS]
    return any(flag in given for flag in (b" -u", b" -U", b"-user", b" -p", b" -a"))


def _has_exact_case(data: bytes, low: str, hint: str, at: int) -> bool:
    """Return whether the hint occurs here in exactly this spelling, with the same case."""
    return data.startswith(hint.encode(), at)


def _ends_url_password(data: bytes, low: str, hint: str, at: int) -> bool:
    """Return whether the @ follows a user and a password in a URL."""
    scheme = low.rfind("://", max(0, at - 256), at)
    user = low[scheme + 3 : at] if scheme >= 0 else ""
    return ":" in user and "/" not in user and len(user.split()) == 1


_RULES: list[Rule] = [
    (kind, [prefix], _precedes_key, body)
    for kind, prefixes, body in _KEYS
    for prefix in prefixes.split()
]
_RULES += [
    ("private-key", ["PRIVATE KEY"], _has_exact_case, ""),
    ("url-password", ["@"], _ends_url_password, ""),
    ("telegram-token", [":AA"], _precedes_key, ""),
    ("discord-token", ["discord.", "discord_", "DISCORD_"], _has_exact_case, ""),
    ("twilio-token", ["twilio.", "TWILIO_"], _has_exact_case, ""),
    ("azure-signature", ["windows.net"], _has_exact_case, ""),
    ("login", _LOGINS, _has_password_option, ""),
    ("flag", _NAME_HINTS, _is_assigned, ""),
    ("assignment", _NAME_HINTS, _is_assigned, ""),
]

# Searching a long text for each hint would be slow, so hints are grouped by how they are found.
# Hints in capitals are searched in the capital letters of the text, which are few. Most other hints
# contain a rare letter (j, k, z) or a separator (- . _). Folding maps the letters to `k` and the
# separators to `_`; the folded text is split there once, and the end of each piece is looked up in
# a dictionary. The remaining hints are searched one by one.
_FOLD = bytes.maketrans(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ-.jz", b"abcdefghikklmnopqrstuvwxyk__kk")
_NOT_CAPITAL = bytes({*range(256)} - {*b"ABCDEFGHIJKLMNOPQRSTUVWXYZ.:,\n"})
# Group -> key -> (anchor, which is searched for in the text; for each hint the offset of the anchor
# in it, the folded hint, the hint, and the number of its rule).
_HINT_GROUPS: dict[str, dict[str, tuple[Any, list[tuple[int, str, str, int]]]]]
_HINT_GROUPS = {"capitals": {}, "k": {}, "_": {}, "": {}}


def _add_hint(hint: str, rule: int) -> None:
    """Add a hint to the group in which it is found fastest."""
    plain = hint.encode()
    low = plain.translate(_FOLD).decode()
    group = "k" if low.find("k") > 1 else "_" if low.find("_") > 1 else ""
    anchor: Any
    if hint.isupper():
        group, key, anchor = "capitals", plain.translate(None, _NOT_CAPITAL).decode(), plain
    elif group:
        key = low.partition(group)[0][-3:]
        anchor = key + group
    else:
        key = anchor = _find_stem(low)
    offset = 0 if hint.isupper() else low.find(anchor)
    _HINT_GROUPS[group].setdefault(key, (anchor, []))[1].append((offset, low, hint, rule))


def _find_stem(low: str) -> str:
    """Return the part that related names share, so that they are searched for together."""
    for stem in ("pass", "secret", "credential"):
        if stem in low:
            return stem
    return low


for _number, _rule in enumerate(_RULES):
    for _hint in _rule[1]:
        _add_hint(_hint, _number)


def _find_rules(text: str) -> list[Rule]:
    """Return the rules with a hint in the text after which the check finds a possible secret."""
    # In bytes, because str.lower is thirty times slower for text that is not ASCII.
    data = text.encode("utf-8", "surrogatepass")
    low = data.translate(_FOLD).decode("latin-1")
    capitals = data.translate(None, _NOT_CAPITAL).decode()
    candidates = [hints for key, hints in _HINT_GROUPS["capitals"].items() if key in capitals]
    candidates += [hints for key, hints in _HINT_GROUPS[""].items() if key in low]
    for separator in "k_":
        if separator in low:
            tails = {piece[-3:] for piece in low.split(separator)}
            group = _HINT_GROUPS[separator]
            candidates += [
                group[key] for key in group.keys() & (tails | {tail[1:] for tail in tails})
            ]
    matching: set[int] = set()
    for anchor, hints in candidates:
        where: Any = data if isinstance(anchor, bytes) else low
        at = where.find(anchor)
        while at >= 0:
            for offset, folded, hint, rule in hints:
                present = rule not in matching and low.startswith(folded, at - offset)
                if present and _RULES[rule][2](data, low, hint, at - offset):
                    matching.add(rule)
            at = where.find(anchor, at + 1)
    return [_RULES[rule] for rule in sorted(matching)]
