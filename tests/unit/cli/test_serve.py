"""Invalid options of `holdfast serve` are refused before the server starts."""

from __future__ import annotations

import errno
import socket
from typing import Any

import pytest

from holdfast.server import run
from holdfast.server.run import ListenAddress, listen, to_listen_hint
from tests.terminal import Terminal


@pytest.mark.parametrize("name", [
    "", " ", "a b", "x.org:8443", "http://x.org", "x.org/", "x.org.", ".x.org", "*.x.org", "-x.org",
    "me@x.org", "x,y", "10.0.0.300", "[10.0.0.1]", "[x.org]", "[::1", "::1]", "[::1]:80",
    "fe80::1%lo", "münchen.example", "x.org\n",
])  # fmt: skip
def test_an_invalid_host_name_is_refused(terminal: Terminal, name: str) -> None:
    result = terminal.run("serve", "--port", "0", "--name", "good.example.org", f"--name={name}")
    assert result.code == 1
    assert result.err.startswith("error: ")
    assert f"--name {name!r}" in result.err
    assert "\nhint: " in result.err


@pytest.mark.parametrize(("host", "message"), [
    ("", "--host is empty"),
    # A name that does not resolve, without a DNS query.
    ("fe80::1%nowhere", "[fe80::1%nowhere]:0 cannot be listened on"),
    ("a..b", "a..b:0 cannot be listened on"),
    # Addresses reserved for documentation, which no machine has.
    ("192.0.2.1", "192.0.2.1:0 cannot be listened on"),
    ("2001:db8::1", "[2001:db8::1]:0 cannot be listened on"),
])  # fmt: skip
def test_an_address_of_another_machine_is_not_reported_as_in_use(
    terminal: Terminal, host: str, message: str
) -> None:
    result = terminal.run("serve", "--port", "0", f"--host={host}")
    assert result.code == 1
    assert message in result.err
    assert "0.0.0.0 and ::" in result.err.partition("\nhint: ")[2]
    assert "another server" not in result.err


def test_options_that_contradict_each_other_are_refused(terminal: Terminal) -> None:
    for options, message in (
        (("--unix-socket", "s", "--proxy"), "--unix-socket cannot be combined"),
        (("--unix-socket", "s", "--open-loopback"), "--unix-socket cannot be combined"),
        (("--open-loopback", "--proxy"), "--open-loopback cannot be combined"),
        (("--open-loopback", "--host", "0.0.0.0"), "--open-loopback cannot be combined"),
    ):
        result = terminal.run("serve", "--port", "0", *options)
        assert result.code == 1
        assert message in result.err
        assert "\nhint: " in result.err


def test_localhost_is_listened_on_even_if_it_has_only_an_ipv6_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    real = socket.getaddrinfo

    def resolve(host: str, *args: Any, **named: Any) -> Any:
        return real("::1" if host == "localhost" else host, *args, **named)

    with listen(ListenAddress(host="localhost", port=0)) as bound:
        assert bound.getsockname()[0] == "127.0.0.1"
    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    address = ListenAddress(host="localhost", port=0)
    assert address.is_local
    # `bind` resolves the name by itself, so only the choice of the address family is tested.
    monkeypatch.setattr(socket, "create_server", lambda _, family, **options: family)
    monkeypatch.setattr(run, "_close_stuck_connections", lambda _: None)
    assert listen(address) == socket.AF_INET6


def test_the_hint_depends_on_the_error() -> None:
    assert "another server" in to_listen_hint(OSError(errno.EADDRINUSE, ""))
    assert "below 1024" in to_listen_hint(PermissionError(errno.EACCES, ""))
    assert "--host" in to_listen_hint(socket.gaierror(socket.EAI_NONAME, ""))
    assert to_listen_hint(OSError(errno.EMFILE, "")) == ""
