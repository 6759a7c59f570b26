"""Made-up secrets by their shape, so that the repository contains nothing that looks like one."""

from __future__ import annotations

import base64
import random
import re
import string
import uuid
from pathlib import Path

HERE = Path(__file__).parent
ALPHABETS = {
    "alnum": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "upper": string.ascii_uppercase + string.digits,
    "lower": string.ascii_lowercase + string.digits,
    "digits": string.digits,
    "url": string.ascii_letters + string.digits + "-_",
    "b64": string.ascii_letters + string.digits + "+/",
}
# What is wrapped in base64.
ENCODED = {"pair": "ada:{pw}", "password": "DB_PASSWORD={pw}", "token": "api_token: {key}"}
SHAPE = re.compile(r"([«‹])([a-z]+?)((?<=b)64)?(\d*)[»›]")


def make_secret(shape: str, length: int, source: random.Random) -> str:
    """Return random characters of an alphabet, with a digit and a letter at either end."""
    if shape == "uuid":
        return str(uuid.UUID(int=source.getrandbits(128), version=4))
    if shape == "pw":
        return "".join(source.choices(ALPHABETS["alnum"], k=8)) + "4q7X"
    if shape in ENCODED:
        text = ENCODED[shape].replace("{pw}", make_secret("pw", 0, source))
        text = text.replace("{key}", make_secret("alnum", 32, source))
        return base64.b64encode(text.encode()).decode()
    inner = "".join(source.choices(ALPHABETS[shape], k=length - 2))
    first = "7" if shape != "digits" else "1"
    last = "9" if shape in ("hex", "digits") else "Q" if shape != "lower" else "q"
    return first + inner + last


def fill(template: str, source: random.Random) -> tuple[str, list[str]]:
    """Return a row's text with its shapes filled in, and the secrets in it."""
    secrets: list[str] = []

    def replace(match: re.Match[str]) -> str:
        opening, name, base64_digits, length = match.groups()
        if base64_digits and name == "b":
            name = "b64"
        made = make_secret(name, int(length or 0), source)
        if opening == "«":
            secrets.append(made)
        return made

    text = re.sub(r"\\u([0-9a-f]{4})", lambda m: chr(int(m[1], 16)), template.replace("\\\\", "\0"))
    text = text.replace("\\n", "\n").replace("\\t", "\t").replace("\0", "\\")
    return SHAPE.sub(replace, text), secrets


def load_formats() -> list[tuple[str, str, list[str]]]:
    """Return the kind, the text and the secrets of each row of formats.tsv."""
    rows = []
    for number, line in enumerate((HERE / "formats.tsv").read_text("utf-8").splitlines()):
        if not line.startswith("#"):
            kind, _, template = line.partition("\t")
            rows.append((kind, *fill(template, random.Random(number))))
    return rows


def load_benign() -> list[str]:
    """Return the look-alikes of benign.txt."""
    lines = (HERE / "benign.txt").read_text("utf-8").splitlines()
    return [
        fill(line, random.Random(number))[0]
        for number, line in enumerate(lines)
        if not line.startswith("#")
    ]
