"""Options of `holdfast serve` that cannot be meant are refused before anything is served."""

from __future__ import annotations

import errno
import socket

import pytest

from holdfast.surfaces.api.serving import way_out
from tests.terminal import Terminal


@pytest.mark.parametrize("name", [
    "", " ", "a b", "x.org:8443", "http://x.org", "x.org/", "x.org.", ".x.org", "*.x.org", "-x.org",
    "me@x.org", "x,y", "10.0.0.300", "[10.0.0.1]", "[x.org]", "[::1", "::1]", "[::1]:80",
    "fe80::1%lo", "münchen.example", "x.org\n",
])  # fmt: skip
def test_a_name_that_no_request_can_have_is_refused(terminal: Terminal, name: str) -> None:
    ran = terminal.run("serve", "--port", "0", "--name", "good.example.org", f"--name={name}")
    assert ran.code == 1
    assert ran.err.startswith("error: ")
    assert f"--name {name!r}" in ran.err
    assert "\nhint: " in ran.err


@pytest.mark.parametrize(("host", "told"), [
    ("", "--host is empty"),
    # A name that nobody knows, without asking anybody.
    ("fe80::1%nowhere", "[fe80::1%nowhere]:0 cannot be listened on"),
    ("a..b", "a..b:0 cannot be listened on"),
    # Addresses for examples, which no machine has.
    ("192.0.2.1", "192.0.2.1:0 cannot be listened on"),
    ("2001:db8::1", "[2001:db8::1]:0 cannot be listened on"),
])  # fmt: skip
def test_where_this_machine_is_not_it_is_not_looked_for_another_server(
    terminal: Terminal, host: str, told: str
) -> None:
    ran = terminal.run("serve", "--port", "0", f"--host={host}")
    assert ran.code == 1
    assert told in ran.err
    assert "0.0.0.0 and ::" in ran.err.partition("\nhint: ")[2]
    assert "another server" not in ran.err


def test_the_way_out_is_that_of_what_is_wrong() -> None:
    assert "another server" in way_out(OSError(errno.EADDRINUSE, ""))
    assert "below 1024" in way_out(PermissionError(errno.EACCES, ""))
    assert "--host" in way_out(socket.gaierror(socket.EAI_NONAME, ""))
    assert way_out(OSError(errno.EMFILE, "")) == ""
