"""The names that somebody gave the server are those that requests come by."""

from __future__ import annotations

from pathlib import Path

import pytest
from litestar.testing import TestClient

from holdfast import settings
from holdfast.surfaces.api.app import guarded
from holdfast.surfaces.api.local_desk import LocalDesk
from holdfast.surfaces.api.serving import Place
from tests.contract.api.conftest import HERE


def answer(home: Path, place: Place, host: str) -> int:
    desk = LocalDesk(settings.load({"HOLDFAST_HOME": str(home)}))
    app, *_ = guarded(desk, hosts=place.all_names)
    with TestClient(app, base_url=HERE) as client:  # type: ignore[arg-type]
        status = client.get("/health", headers={"Host": host}).status_code
    desk.close()
    return status


@pytest.mark.parametrize(("name", "host"), [
    ("Example.ORG", "example.org"),
    ("example.org", "EXAMPLE.org:8443"),
    ("build_host", "build_host:3847"),
    ("192.0.2.1", "192.0.2.1:3847"),
    ("2001:DB8::1", "[2001:db8::1]:3847"),
    ("[2001:db8::1]", "[2001:DB8::1]"),
    ("2001:db8:0:0::1", "[2001:db8:0:0::1]"),
    ("2001:db8:0:0::1", "[2001:db8::1]"),
])  # fmt: skip
def test_a_name_is_known_however_it_is_written(tmp_path: Path, name: str, host: str) -> None:
    everywhere = Place(host="0.0.0.0", port=0, names=(name,))
    assert answer(tmp_path, everywhere, host) == 200
    assert answer(tmp_path, everywhere, "other.example") == 421


@pytest.mark.parametrize(("own", "host"), [
    ("Build.Example", "build.example"), ("192.0.2.1", "192.0.2.1"),
    ("2001:DB8:0::1", "[2001:db8::1]"),
])  # fmt: skip
def test_where_it_listens_is_a_name_too(tmp_path: Path, own: str, host: str) -> None:
    assert answer(tmp_path, Place(host=own, port=0), host) == 200
