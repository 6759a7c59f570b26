"""The names that somebody gave the server are those that requests come by."""

from __future__ import annotations

from pathlib import Path

from litestar.testing import TestClient

from holdfast import settings
from holdfast.server.app import create_app
from holdfast.server.databases import LocalDatabases
from holdfast.server.run import ListenAddress
from tests.contract.server.conftest import HERE


def statuses(home: Path, place: ListenAddress, *hosts: str) -> list[int]:
    """What a server at this place answers to requests by each of these names."""
    databases = LocalDatabases(settings.load({"HOLDFAST_HOME": str(home)}))
    app, *_ = create_app(databases, hosts=place.allowed_hosts)
    with TestClient(app, base_url=HERE) as client:  # type: ignore[arg-type]
        answers = [client.get("/health", headers={"Host": host}) for host in hosts]
    databases.close()
    return [answer.status_code for answer in answers]


def test_a_name_is_known_however_it_is_written(tmp_path: Path) -> None:
    cases = {
        "Example.ORG": ("example.org", "EXAMPLE.org:8443"),
        "build_host": ("build_host:3847",),
        "192.0.2.1": ("192.0.2.1:3847",),
        "2001:DB8::1": ("[2001:db8::1]:3847",),
        "[2001:db8::1]": ("[2001:DB8::1]",),
        "2001:db8:0:0::1": ("[2001:db8:0:0::1]", "[2001:db8::1]"),
    }
    for name, hosts in cases.items():
        everywhere = ListenAddress(host="0.0.0.0", port=0, names=(name,))
        answered = statuses(tmp_path, everywhere, *hosts, "other.example")
        assert answered == [*(200 for _ in hosts), 421], (name, hosts)


def test_where_it_listens_is_a_name_too(tmp_path: Path) -> None:
    cases = [
        ("Build.Example", "build.example"),
        ("192.0.2.1", "192.0.2.1"),
        ("2001:DB8:0::1", "[2001:db8::1]"),
    ]
    for own, host in cases:
        assert statuses(tmp_path, ListenAddress(host=own, port=0), host) == [200], own
