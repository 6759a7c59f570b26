"""Every format of formats.tsv is caught, every look-alike of benign.txt is kept, and an independent
scanner finds nothing in the redacted formats.
"""

from __future__ import annotations

import json
from pathlib import Path

from detect_secrets import SecretsCollection
from detect_secrets.settings import default_settings

from holdfast.redaction import may_contain_secret, redact, redact_value
from tests.cases import report_case
from tests.unit.redaction.shapes import load_benign, load_formats

# No part of a secret of this length may be left.
MAX_LEFT_CHARS = 7
MIN_FORMATS, MIN_LOOK_ALIKES = 250, 135
# detect-secrets finds fewer than the table has: it knows no disguises and few vendors.
MIN_JUDGED = 60


def find_leaks(text: str, secrets: list[str]) -> list[str]:
    size = MAX_LEFT_CHARS + 1
    return [
        secret
        for secret in secrets
        if any(secret[at : at + size] in text for at in range(max(1, len(secret) - size + 1)))
    ]


def test_every_known_format_is_caught() -> None:
    rows = load_formats()
    assert len(rows) >= MIN_FORMATS
    for kind, text, secrets in rows:
        with report_case(f"{kind}: {text}"):
            assert secrets
            assert find_leaks(redact(text), secrets) == []


def test_every_known_format_is_caught_between_other_text() -> None:
    for kind, text, secrets in load_formats():
        with report_case(f"{kind}: {text}"):
            assert find_leaks(redact(f"Zuerst — ein Satz.\n{text}\nThen another."), secrets) == []


def test_every_known_format_is_caught_in_json_text_that_stays_json() -> None:
    for kind, text, secrets in load_formats():
        with report_case(f"{kind}: {text}"):
            cleaned = redact(json.dumps({"text": text}))
            json.loads(cleaned)
            assert find_leaks(json.dumps(redact_value(json.loads(cleaned))), secrets) == []


def test_a_known_format_leaves_a_hint_in_the_json_of_a_transcript_line() -> None:
    for kind, text, _ in load_formats():
        for placed in (text, f"x\n{text}\ny"):
            with report_case(f"{kind}: {placed}"):
                assert may_contain_secret(json.dumps({"text": placed}))
                assert may_contain_secret(json.dumps({"text": placed}, ensure_ascii=False))


def test_every_look_alike_is_kept() -> None:
    lines = load_benign()
    assert len(lines) >= MIN_LOOK_ALIKES
    for text in lines:
        assert redact(text) == text


def test_an_independent_scanner_finds_nothing_in_redacted_formats(tmp_path: Path) -> None:
    texts = [text for _, text, _ in load_formats()]
    assert len(scan("\n".join(texts), tmp_path / "as they are")) >= MIN_JUDGED
    assert scan("\n".join(map(redact, texts)), tmp_path / "redacted") == []


def scan(text: str, path: Path) -> list[str]:
    """Return what detect-secrets finds."""
    path.write_text(text, encoding="utf-8")
    found = SecretsCollection()
    with default_settings():
        found.scan_file(str(path))
    return [f"{secret.type}: {secret.secret_value}" for secret in found[str(path)]]


def test_values_beside_their_names_are_caught_in_structured_data() -> None:
    for value in (
        {"name": "DB_PASSWORD", "value": "hunter2abc"},
        {"env": [{"Name": "API_TOKEN", "Value": "q7Hs9Lw2Xv4Tq7Hs9Lw2"}]},
        ["--password", "hunter2abc"],
        {"args": ["mysql", "-u", "root", "-phunter2abc"]},
        {"command": ["curl", "-u", "ada:hunter2abc", "http://x.local"]},
        {"auth": ["ada", "hunter2abc"]},
        {"headers": {"Cookie": "session=q7Hs9Lw2Xv4Tq7Hs9Lw2"}},
    ):
        cleaned = json.dumps(redact_value(value))
        assert "[redacted:" in cleaned, value
        assert "hunter2abc" not in cleaned, value
        assert "q7Hs9Lw2Xv4T" not in cleaned, value


def test_lists_and_pairs_without_secrets_are_kept() -> None:
    for value in (
        {"name": "LOG_LEVEL", "value": "debug"},
        ["--password", "$PASSWORD"],
        ["mysql", "-u", "root", "-p"],
        ["mkdir", "-p", "src"],
        {"auth": ["required"]},
        {"key": "token", "value": "string"},
    ):
        assert redact_value(value) is value
