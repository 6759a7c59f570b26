"""A PostgreSQL address: completed for a connection, and shown without its secrets."""

from __future__ import annotations

from holdfast.errors import BadSetting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

VARIABLE = "HOLDFAST_DATABASE"
SCHEMES = ("postgresql://", "postgres://")
SECRET = ("password", "sslpassword", "sslkey", "passfile", "oauth_client_secret")
STATEMENT_SECONDS, CONNECT_SECONDS, IDLE_SECONDS = 30, 5, 60


def team_url(environ: Mapping[str, str]) -> str:
    """The team's database, or nothing. Never from a project's file: that comes with a clone."""
    url = environ.get(VARIABLE, "").strip()
    if url and not url.startswith(SCHEMES):
        # Not even the wrong value is repeated: it may be a password that was put into it.
        raise BadSetting(
            f"{VARIABLE} is not a PostgreSQL address",
            hint="it looks like postgresql://user@host:5432/database; unset it to stay local",
        )
    return url


def parts_of(url: str) -> dict[str, str]:
    """What an address says, by name."""
    from psycopg import Error
    from psycopg.conninfo import conninfo_to_dict

    try:
        found = conninfo_to_dict(url)
    except Error:
        # The library's message quotes what it could not read, which may be the password.
        raise _unreadable() from None
    parts = {name: str(value) for name, value in found.items() if value is not None}
    if _is_misread(parts):
        raise _unreadable() from None
    return parts


def _is_misread(parts: dict[str, str]) -> bool:
    """Whether part of a password was taken for a host, a port or a database: it would be shown."""
    elsewhere = parts.get("host", "") + parts.get("dbname", "")
    ports = parts.get("port", "").replace(",", "")
    socket = parts.get("host", "").startswith("/")
    name = parts.get("dbname", "") if socket else elsewhere
    return "@" in elsewhere or "/" in name or not (ports or "0").isdecimal()


def _unreadable() -> BadSetting:
    return BadSetting(
        f"{VARIABLE} cannot be read as an address",
        hint="signs like @ : / % in a password are written as %40 %3A %2F %25",
    )


def completed(parts: dict[str, str], busy_seconds: float) -> dict[str, str]:
    """With the limits that keep a lost network or a forgotten lock from holding anybody up."""
    limits = {
        "statement_timeout": f"{STATEMENT_SECONDS}s",
        "lock_timeout": f"{max(1, int(busy_seconds * 1000))}ms",
        "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
        # To compile a question takes longer than to answer it.
        "jit": "off",
    }
    ours = " ".join(f"-c {name}={value}" for name, value in limits.items())
    return {
        "application_name": "holdfast",
        "connect_timeout": str(CONNECT_SECONDS),
        **parts,
        "options": f"{parts.get('options', '')} {ours}".strip(),
    }


def shown(parts: dict[str, str]) -> str:
    """The address as it may be printed, logged and reported."""
    where = parts.get("host", "") or parts.get("hostaddr", "") or "localhost"
    port = f":{parts['port']}" if "port" in parts else ""
    user = f"{parts['user']}@" if "user" in parts else ""
    # Several teams may share a database, each with a schema of its own.
    schema = parts.get("options", "").partition("search_path=")[2].split(" ")[0]
    told = f" (schema {schema})" if schema else ""
    return f"postgresql://{user}{where}{port}/{parts.get('dbname', '')}{told}"


def without_secrets(text: str, parts: dict[str, str]) -> str:
    """Somebody else's message with our secrets taken out."""
    for name in SECRET:
        if value := parts.get(name):
            text = text.replace(value, "[redacted]")
    return " ".join(text.split())
