"""Secrets are replaced and look-alikes are kept. No value here was ever a real secret."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdfast.redaction
from holdfast.redaction import redact, redact_lines, redact_value
from tests.unit.redaction.shapes import load_benign

MIXED = "a1B2" * 12
HEX = "0a1b2c3d" * 8
UPPER = "A2B3" * 4

KEYS = [
    ("anthropic-key", "sk-ant-" + "api03-" + MIXED),
    ("openrouter-key", "sk-or-" + "v1-" + HEX),
    ("openai-key", "sk-" + MIXED),
    ("openai-key", "sk-" + "proj-" + MIXED),
    ("openai-key", "sk-" + "svcacct-" + MIXED),
    ("model-key", "gsk_" + MIXED),
    ("model-key", "xai-" + MIXED),
    ("model-key", "r8_" + MIXED[:37]),
    ("model-key", "pplx-" + MIXED),
    ("huggingface-token", "hf_" + MIXED[:34]),
    ("holdfast-token", "hft_" + MIXED[:43]),
    ("github-token", "ghp_" + MIXED[:36]),
    ("github-token", "gho_" + MIXED[:36]),
    ("github-token", "ghu_" + MIXED[:36]),
    ("github-token", "ghs_" + MIXED[:36]),
    ("github-token", "ghr_" + MIXED[:36]),
    ("github-token", "github_" + "pat_" + MIXED[:22] + "_" + MIXED),
    ("gitlab-token", "glpat-" + MIXED[:20]),
    ("atlassian-token", "ATATT" + "3xFf" + MIXED * 3 + "=1A2B3C4D"),
    ("linear-key", "lin_" + "api_" + MIXED[:40]),
    ("notion-token", "ntn_" + MIXED[:46]),
    ("notion-token", "secret_" + MIXED[:43]),
    ("sentry-token", "sntrys_" + MIXED),
    ("npm-token", "npm_" + MIXED[:36]),
    ("pypi-token", "pypi-" + "AgEI" + MIXED),
    ("aws-key", "AKIA" + UPPER),
    ("aws-key", "ASIA" + UPPER),
    ("aws-key", "AKIA" + UPPER + "," + "wJ/+a1B2" * 5),
    ("google-key", "AIza" + MIXED[:35]),
    ("google-token", "ya29." + MIXED),
    ("digitalocean-token", "dop_" + "v1_" + HEX),
    ("databricks-token", "dapi" + HEX[:32]),
    ("vercel-token", "vcp_" + MIXED),
    ("supabase-key", "sbp_" + HEX[:40]),
    ("supabase-key", "sb_" + "secret_" + MIXED[:31]),
    ("vault-token", "hvs." + MIXED),
    ("doppler-token", "dp.st." + "dev." + MIXED[:43]),
    ("age-key", "AGE-SECRET-" + "KEY-1" + "QA2B" * 14),
    ("stripe-key", "sk_" + "live_" + MIXED[:24]),
    ("stripe-key", "rk_" + "live_" + MIXED[:24]),
    ("stripe-key", "sk_" + "test_" + MIXED[:24]),
    ("stripe-key", "whsec_" + MIXED[:32]),
    ("shopify-token", "shpat_" + HEX[:32]),
    ("square-token", "sq0atp-" + MIXED[:22]),
    ("square-token", "EAAA" + MIXED + MIXED[:12]),
    ("slack-token", "xoxb-" + "123456789012-" + MIXED[:24]),
    ("slack-token", "xapp-" + "1-A0123-" + HEX),
    ("slack-webhook", "hooks.slack.com/" + "services/T0A1B2C3D/B0A1B2C3D/" + MIXED[:24]),
    ("sendgrid-key", "SG." + MIXED[:22] + "." + MIXED[:43]),
    ("mailgun-key", "key-" + HEX[:32]),
    ("twilio-key", "SK" + HEX[:32]),
    ("jwt", "eyJ" + "hbGciOiJIUzI1NiJ9." + "eyJ" + "zdWIiOiIxIn0." + MIXED[:43]),
]

ASSIGNMENTS = [
    'password = "{}"',
    "DB_PASSWORD={}",
    "export API_TOKEN='{}'",
    '"client_secret": "{}",',
    r"{{\"apiKey\": \"{}\"}}",
    "  secret_key: {}\n",
    "aws_secret_access_key = {}",
    "x-api-key: {}",
    'os.environ["API_KEY"] = "{}"',
    "'password' => '{}',",
    "token := `{}`",
    "https://example.com/?access_token={}&page=2",
    "AccountName=a;AccountKey={};EndpointSuffix=b",
    '{{"SECRET_KEY_BASE": "{}"}}',
    "Authorization: Bearer {}",
    '-H "Authorization: Basic {}"',
    '"authorization": "Bearer {}"',
    "mysql --user root --password {} shop",
    "deploy --api-key '{}'",
    "deploy --token={}",
    'DB_PASSWORD="${{DB_PASSWORD:-{}}}"',
    r"A=1\nDB_PASSWORD={}\nB=2",
]

LOGINS = [
    "curl -u admin:{} http://x.local/",
    "curl -sS --user 'admin:{}' http://x.local/",
    'curl -X POST -d @body.json -u "admin:{}" http://x.local/',
    "docker login -u me -p {} registry.example.org",
    "sshpass -p '{}' ssh host",
    "sshpass -p{} ssh host",
    "mysql -h db -u root -p{} shop",
    "mysqldump -uroot -p'{}' shop > shop.sql",
    "redis-cli -h cache -a {} ping",
    r"{{\"command\": \"curl -u \\\"admin:{}\\\" http://x.local/\"}}",
]

LOOK_ALIKES = load_benign()


def test_a_key_is_replaced_by_its_kind() -> None:
    for kind, key in KEYS:
        for template in ("{}", "use {} now", 'x = "{}"', "see\\n{}\\nend", "({})", "k={},"):
            assert redact(template.format(key)) == template.format(f"[redacted:{kind}]"), kind


def test_a_key_is_replaced_in_long_text_with_other_scripts() -> None:
    for kind, key in KEYS:
        filler = "An ordinary sentence, é and 🙂 included.\n" * 2000
        assert redact(f"{filler}{key}\n{filler}") == f"{filler}[redacted:{kind}]\n{filler}", kind


def test_a_value_assigned_to_a_secret_name_is_replaced() -> None:
    for form in ASSIGNMENTS:
        cleaned = redact(form.format("q7Hs9-Lw2Xv_4T"))
        kind = "flag" if " --password " in form or "--api-key " in form else "assignment"
        assert cleaned == form.format(f"[redacted:{kind}]"), form


@pytest.mark.parametrize(
    ("form", "word"),
    [
        ('password: "{}"', "hunter"),
        ("password={}", "hunter2"),
        ("Password: {}", "hunter2"),
        ("DB_PASS={}", "hunter"),
        ("PGPASSWORD={}", "correct-horse"),
        ("POSTGRES_PASSWORD={} -p 5432:5432", "secret123"),
    ],
)
def test_a_plain_word_assigned_to_a_password_is_replaced(form: str, word: str) -> None:
    assert redact(form.format(word)) == form.format("[redacted:assignment]")


def test_a_password_behind_a_short_option_is_replaced() -> None:
    for login in LOGINS:
        for password in ["hunter2hunter2", "S3cretPass99", "plainwords"]:
            assert redact(login.format(password)) == login.format("[redacted:login]"), (
                login,
                password,
            )


def test_every_secret_in_a_text_is_replaced() -> None:
    text = f"A_TOKEN={MIXED}\nurl=redis://:{MIXED}@cache/0\nkey=ghp_{MIXED[:36]}\n"
    assert redact(text) == (
        "A_TOKEN=[redacted:assignment]\n"
        "url=redis://:[redacted:url-password]@cache/0\n"
        "key=[redacted:github-token]\n"
    )


def test_adjacent_keys_without_a_space_are_all_replaced() -> None:
    adjacent_keys = "dapi" + HEX[:32] + "SG." + MIXED[:22] + "." + MIXED[:43]
    assert redact(adjacent_keys) == "[redacted:databricks-token][redacted:sendgrid-key]"


def test_a_password_in_a_url_is_replaced_and_user_and_host_are_kept() -> None:
    for password in ("s3cret", "pw", "p@ss:w%20rd", "password"):
        url = f"postgres://app:{password}@db.example.com:5432/app"
        assert redact(url) == "postgres://app:[redacted:url-password]@db.example.com:5432/app"


def test_a_private_key_is_replaced_whole() -> None:
    for newline in ["\n", "\r\n", "\\n", "\\\\n", "\n  ", '\\n" +\n"', "\n+"]:
        for name in ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "PGP "]:
            for end in ["-----END {}PRIVATE KEY{}-----", ""]:
                block = " BLOCK" if name == "PGP " else ""
                lines = [
                    f"-----BEGIN {name}PRIVATE KEY{block}-----",
                    *[MIXED + "+/a1B2c3D4"] * 3,
                    "a1==",
                ]
                key = newline.join([*lines, end.format(name, block)] if end else lines)
                assert redact(f"key:\n{key}") == "key:\n[redacted:private-key]", (
                    newline,
                    name,
                    end,
                )


def test_a_private_key_with_headers_or_line_numbers_is_replaced() -> None:
    begin, end = "-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"
    headers = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0A1B\n\n"
    assert redact(f"{begin}\n{headers}{MIXED}\n{end}\nbye") == "[redacted:private-key]\nbye"
    assert redact(f"{begin}\n    2→{MIXED}\n    3→{end}") == "[redacted:private-key]"


def test_text_after_a_truncated_private_key_is_kept() -> None:
    text = f"-----BEGIN PRIVATE KEY-----\n{MIXED}\n\nThen we went on."
    assert redact(text) == "[redacted:private-key]\n\nThen we went on."


def test_a_token_without_a_prefix_is_found_near_the_name_of_its_vendor() -> None:
    discord = "M" + MIXED[:23] + ".GaBcDe." + MIXED[:38]
    assert redact(f"discord.Client().run('{discord}')").endswith(".[redacted:discord-token]')")
    twilio = f"curl https://api.twilio.com -u AC{HEX[:32]}:{HEX[:32]}"
    assert redact(twilio).endswith("-u [redacted:twilio-token]")
    azure = f"https://a.blob.core.windows.net/b?sv=1&sig={MIXED}%3D"
    assert redact(azure).endswith("?sv=1&sig=[redacted:url-key]")


def test_a_telegram_token_is_replaced_and_its_bot_is_kept() -> None:
    url = f"/bot123456789:AA{MIXED[:33]}/getMe"
    assert redact(url) == "/bot123456789:[redacted:telegram-token]/getMe"


def test_a_lone_surrogate_does_not_stop_redaction() -> None:
    assert redact("\ud800 password=hunter2") == "\ud800 password=[redacted:assignment]"
    assert redact("--token=q7Hs9-Lw2Xv_4T\ud800") == "--token=q7Hs9-Lw2Xv_4T\ud800"


def test_a_value_under_a_secret_key_is_replaced() -> None:
    value = {"user": "ada", "password": "hunter2", "nested": [{"api_key": "a1b2c3d4e5f6"}]}
    assert redact_value(value) == {
        "user": "ada",
        "password": "[redacted:assignment]",
        "nested": [{"api_key": "[redacted:assignment]"}],
    }
    assert value["password"] == "hunter2"


def test_several_words_are_replaced_under_password_and_kept_under_token() -> None:
    value = {"password": "correct horse battery", "token": "The token to use for the API"}
    assert redact_value(value) == {**value, "password": "[redacted:assignment]"}


def test_strings_and_keys_of_a_value_are_redacted() -> None:
    key = "ghp_" + MIXED[:36]
    cleaned = redact_value({key: [f"use {key}", 1, None, True, 2.5]})
    assert cleaned == {
        "[redacted:github-token]": ["use [redacted:github-token]", 1, None, True, 2.5]
    }


def test_an_untouched_value_is_the_same_object() -> None:
    value = {"token": "", "max_tokens": 5, "password": "$PASSWORD", "list": [{"a": ["b"]}]}
    assert redact_value(value) is value


FRAGMENTS = st.sampled_from(
    [
        *(key for _, key in KEYS),
        *(form.format("q7Hs9-Lw2Xv_4T") for form in ASSIGNMENTS),
        *LOOK_ALIKES,
        *("password", "TOKEN", "secret", "Bearer ", "--token ", "://u:", "@h", "a1", MIXED),
        *("=", ": ", ":=", "==", '"', "'", "\\", "\\n", "\n", " ", "-", "[", "]", "(", "{", "$"),
        *("-----BEGIN PRIVATE KEY-----\n", "-----END PRIVATE KEY-----", "[redacted:jwt]", "\ud800"),
    ]
)


@settings(deadline=None)  # patterns are compiled on first use
@given(st.lists(FRAGMENTS | st.text(max_size=8), max_size=12).map("".join))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@settings(deadline=None)  # patterns are compiled on first use
@given(st.lists(FRAGMENTS | st.text(max_size=8), max_size=12).map("".join))
def test_redact_lines_keeps_the_number_of_lines(text: str) -> None:
    assert len(redact_lines(text)) == text.count("\n") + 1


def test_a_key_of_several_lines_leaves_empty_lines() -> None:
    body = f"{MIXED[:40]}\n{MIXED[:40]}"
    text = f"a\n-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----\nb"
    assert redact_lines(text) == ["a", "[redacted:private-key]", "", "", "", "b"]


@settings(deadline=None)  # patterns are compiled on first use
@given(st.text(st.characters(codec="utf-8"), max_size=200), st.sampled_from(KEYS))
def test_a_key_between_spaces_is_found_in_any_text(text: str, case: tuple[str, str]) -> None:
    assert case[1] not in redact(f"{text} {case[1]} {text}")


@settings(deadline=None)  # patterns are compiled on first use
@given(
    st.recursive(
        st.none() | st.integers() | FRAGMENTS,
        lambda inner: st.lists(inner) | st.dictionaries(FRAGMENTS, inner),
        max_leaves=8,
    )
)
def test_redacting_a_value_twice_changes_nothing_more(value: object) -> None:
    once = redact_value(value)
    assert redact_value(once) == once


def test_ordinary_text_is_redacted_without_importing_regular_expressions() -> None:
    root = Path(holdfast.redaction.__file__).parents[2]
    text = (
        "token: string; password = input(); see https://example.com and me@example.com. "
        "max_tokens=4096, TOKEN=$TOKEN, task-notification, BEGIN with a RISK."
    )
    code = (
        f"import sys; sys.path.insert(0, {str(root)!r}); from holdfast.redaction import redact; "
        f"assert redact({text!r}) == {text!r}; assert 're' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-I", "-S", "-c", code], check=False).returncode == 0
