"""Which Host headers a server accepts, given its listen address and its configured names."""

from __future__ import annotations

from pathlib import Path

from litestar.testing import TestClient

from holdfast import settings
from holdfast.server.app import create_app
from holdfast.server.auth import accept_all
from holdfast.server.databases import LocalDatabases
from holdfast.server.run import ListenAddress
from tests.contract.server.conftest import BASE_URL


def request_statuses(home: Path, address: ListenAddress, *hosts: str) -> list[int]:
    """The status of a request with each of these Host headers to a server at this address."""
    databases = LocalDatabases(settings.load({"HOLDFAST_HOME": str(home)}))
    app, *_ = create_app(databases, hosts=address.allowed_hosts, identify=accept_all)
    with TestClient(app, base_url=BASE_URL) as client:  # type: ignore[arg-type]
        responses = [client.get("/health", headers={"Host": host}) for host in hosts]
    databases.close()
    return [response.status_code for response in responses]


def test_a_configured_name_is_accepted_in_every_spelling(tmp_path: Path) -> None:
    cases = {
        "Example.ORG": ("example.org", "EXAMPLE.org:8443"),
        "build_host": ("build_host:3847",),
        "192.0.2.1": ("192.0.2.1:3847",),
        "2001:DB8::1": ("[2001:db8::1]:3847",),
        "[2001:db8::1]": ("[2001:DB8::1]",),
        "2001:db8:0:0::1": ("[2001:db8:0:0::1]", "[2001:db8::1]"),
    }
    for name, hosts in cases.items():
        address = ListenAddress(host="0.0.0.0", port=0, names=(name,))
        statuses = request_statuses(tmp_path, address, *hosts, "other.example")
        assert statuses == [*(200 for _ in hosts), 421], (name, hosts)


def test_the_listen_address_is_an_accepted_name(tmp_path: Path) -> None:
    cases = [
        ("Build.Example", "build.example"),
        ("192.0.2.1", "192.0.2.1"),
        ("2001:DB8:0::1", "[2001:db8::1]"),
    ]
    for listen_host, host in cases:
        address = ListenAddress(host=listen_host, port=0)
        assert request_statuses(tmp_path, address, host) == [200], listen_host
