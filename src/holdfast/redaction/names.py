"""Names of variables, keys, options and columns that usually hold a secret. Hooks import this."""

from __future__ import annotations

# Words before `key` in names such as `api_key`.
KEY_WORDS = (
    *("api", "access", "private", "secret", "auth", "encryption", "account", "role", "master"),
    *("signing", "shared", "subscription", "functions", "application", "storage", "service"),
    *("license", "consumer", "preshared", "hmac", "fernet", "session", "client", "deploy", "app"),
    *("admin", "server", "rest"),
)
FOREIGN_NAMES = (
    *("passwort", "kennwort", "senha", "contrasena", "contraseña", "motdepasse", "mot de passe"),
    *("пароль", "Пароль", "密码", "密碼", "口令", "パスワード", "비밀번호"),
)
# Names that end with one of these, without separators and in lower case.
SECRET_NAMES = (
    *("password", "passwd", "passphrase", "passcode", "secret", "token", "authtoken"),
    *("credential", "credentials", "authorization", "secretkeybase", "clientkeydata"),
    *("keymaterial", "connectionstring", "identitytoken", "mnemonic", "seedphrase"),
    *(f"{word}key" for word in KEY_WORDS),
    *(name.replace(" ", "") for name in FOREIGN_NAMES),
)
# Only these are written with a space in prose: others, like `signing key`, precede fingerprints.
_SPACED_NAMES = ("api key", "access key", "secret key", "private key", "mot de passe")
# Names whose last word is one of these: too short to be searched for inside a word.
SHORT_NAMES = frozenset(("pass", "pwd", "pw", "psk"))
_FOREIGN_BYTES = tuple(name.encode().decode("latin-1") for name in FOREIGN_NAMES)
# Latin-1 has other capitals than the text that the bytes stand for, hence `lower`.
_ENDINGS = (*SECRET_NAMES, *(name.lower() for name in _FOREIGN_BYTES if not name.isascii()))
_PASSWORD_PARTS = ("pass", "pwd", "pw", "psk", "wort", "senha", "contrase", "mnemonic", "phrase")
# Text to search for, in lower case and as bytes in Latin-1; `-` and `.` are folded to `_`.
NAME_HINTS = (
    *("password", "passwd", "passphrase", "passcode", "passwort", "secret", "token", "credential"),
    *("credentials", "authorization", "identitytoken", "secret_key_base", "client_key_data"),
    *("connection_string", *_SPACED_NAMES, "pass", "pwd", "pw", "psk"),
    *(f"{word}{gap}key" for word in KEY_WORDS for gap in ("", "_")),
)


# The same for scripts other than Latin.
FOREIGN_HINTS = tuple(name for name in _FOREIGN_BYTES if not name.isascii())


def is_secret_name(name: str) -> bool:
    """Return whether a variable or key of this name usually holds a secret."""
    name = name.rstrip("0123456789_-. ")
    low = name.lower()
    if low.replace("_", "").replace("-", "").replace(".", "").endswith(_ENDINGS):
        return True
    if low.endswith(_SPACED_NAMES):
        return True
    for short in SHORT_NAMES:
        if low.endswith(short):
            before = name[: -len(short)][-1:]
            starts_word = name[-len(short)].isupper() and before.islower()
            return starts_word or not before.isalnum()
    return False


def is_password_name(name: str) -> bool:
    """Return whether it is the name of a password, which people choose, not of a random key."""
    low = name.lower()
    return not low.isascii() or any(part in low for part in _PASSWORD_PARTS)
