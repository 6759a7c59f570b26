"""PostgreSQL addresses: parse them, add timeouts, and show them without secrets."""

from __future__ import annotations

from holdfast.errors import BadSetting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

DATABASE_VARIABLE = "HOLDFAST_DATABASE"
SCHEMES = ("postgresql://", "postgres://")
SECRET_PARAMETERS = ("password", "sslpassword", "sslkey", "passfile", "oauth_client_secret")
# Limits of a statement, of a connection attempt, and of an idle open transaction.
STATEMENT_SECONDS, CONNECT_SECONDS, IDLE_SECONDS = 30, 5, 60


def find_team_url(environ: Mapping[str, str]) -> str:
    """Return the address of the team's database from the environment, "" if none is set.

    It is never read from a file of the project, because such a file comes with a clone. Raises
    BadSetting if it is not a PostgreSQL address.
    """
    url = environ.get(DATABASE_VARIABLE, "").strip()
    if url and not url.startswith(SCHEMES):
        # The message does not repeat the value: it may be a password by mistake.
        raise BadSetting(
            f"{DATABASE_VARIABLE} is not a PostgreSQL address",
            hint="it looks like postgresql://user@host:5432/database; unset it to stay local",
        )
    return url


def parse_dsn(url: str) -> dict[str, str]:
    """Return the parts of an address by name. Raises BadSetting if it cannot be parsed."""
    from psycopg import Error
    from psycopg.conninfo import conninfo_to_dict

    try:
        values = conninfo_to_dict(url)
    except Error:
        # The library's message quotes the text that it could not parse, which may be the password.
        raise _make_parse_error() from None
    parts = {name: str(value) for name, value in values.items() if value is not None}
    if _is_misread(parts):
        raise _make_parse_error() from None
    return parts


def _is_misread(parts: dict[str, str]) -> bool:
    """Return whether part of a password was parsed as host, port or database and would be shown."""
    displayed = parts.get("host", "") + parts.get("dbname", "")
    ports = parts.get("port", "").replace(",", "")
    is_socket = parts.get("host", "").startswith("/")
    name = parts.get("dbname", "") if is_socket else displayed
    return "@" in displayed or "/" in name or not (ports or "0").isdecimal()


def _make_parse_error() -> BadSetting:
    return BadSetting(
        f"{DATABASE_VARIABLE} cannot be read as an address",
        hint="write @ : / % in a password as %40 %3A %2F %25",
    )


def add_limits(parts: dict[str, str], busy_seconds: float) -> dict[str, str]:
    """Return the parts with timeouts, so that no process waits long for a lost network or for a
    lock that is never released.
    """
    limits = {
        "statement_timeout": f"{STATEMENT_SECONDS}s",
        "lock_timeout": f"{max(1, int(busy_seconds * 1000))}ms",
        "idle_in_transaction_session_timeout": f"{IDLE_SECONDS}s",
        # Compiling these short queries takes longer than running them.
        "jit": "off",
    }
    options = " ".join(f"-c {name}={value}" for name, value in limits.items())
    return {
        "application_name": "holdfast",
        "connect_timeout": str(CONNECT_SECONDS),
        # Without these, a lost network connection would be noticed only after hours.
        "keepalives_idle": "15",
        "keepalives_interval": "5",
        "keepalives_count": "3",
        "tcp_user_timeout": "30000",
        **parts,
        "options": f"{parts.get('options', '')} {options}".strip(),
    }


def render_dsn(parts: dict[str, str]) -> str:
    """Return the address without secrets, for output, logs and errors."""
    host = parts.get("host", "") or parts.get("hostaddr", "") or "localhost"
    port = f":{parts['port']}" if "port" in parts else ""
    user = f"{parts['user']}@" if "user" in parts else ""
    # Several teams may share a database, each with a schema of its own.
    schema = parts.get("options", "").partition("search_path=")[2].split(" ")[0]
    suffix = f" (schema {schema})" if schema else ""
    return f"postgresql://{user}{host}{port}/{parts.get('dbname', '')}{suffix}"


def remove_secrets(text: str, parts: dict[str, str]) -> str:
    """Return a message of the driver or server without the secrets in the address."""
    for name in SECRET_PARAMETERS:
        if value := parts.get(name):
            text = text.replace(value, "[redacted]")
    return " ".join(text.split())
