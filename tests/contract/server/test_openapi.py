"""The OpenAPI schema describes what the server accepts and returns."""

from __future__ import annotations

import re

from tests.contract.server.conftest import ApiClient


def test_the_schema_describes_every_request(sqlite_api: ApiClient) -> None:
    schema = sqlite_api.client.get("/openapi/openapi.json").json()
    paths = schema["paths"]
    assert "/api/compact/restore" in paths
    assert {"get", "post"} <= set(paths["/api/actions"])
    assert "NewAction" in str(schema["components"]["schemas"])
    assert "databases" not in str(paths["/api/actions"]), "injected parameters are internal"


def test_the_schema_describes_the_fields_of_every_response(sqlite_api: ApiClient) -> None:
    schema = sqlite_api.client.get("/openapi/openapi.json").json()
    without_schema = set()
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            (success,) = (
                response
                for code, response in operation["responses"].items()
                if code.startswith("2")
            )
            content = success.get("content", {}).get("application/json")
            if content is None or "$ref" not in content["schema"]:
                without_schema.add(f"{method.upper()} {path}")
                continue
            name = content["schema"]["$ref"].rpartition("/")[2]
            assert schema["components"]["schemas"][name]["properties"]
    # The event stream, the row counts with a key for each table, and responses without a body.
    deletes = {name for name in without_schema if name.startswith("DELETE ")}
    assert without_schema == {"GET /api/events", "GET /stats", *deletes}
    assert all("204" in schema["paths"][name.split()[1]]["delete"]["responses"] for name in deletes)


def test_the_schema_describes_how_to_send_a_token(sqlite_api: ApiClient) -> None:
    schema = sqlite_api.client.get("/openapi/openapi.json").json()
    assert schema["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    assert schema["security"] == [{"bearer": []}, {}], "on loopback no token is needed"
    assert schema["paths"]["/health"]["get"]["security"] == [{}]


def test_the_schema_describes_the_problem_documents_that_are_sent(sqlite_api: ApiClient) -> None:
    schema = sqlite_api.client.get("/openapi/openapi.json").json()
    not_found = sqlite_api.client.get("/api/tasks/unknown")
    assert set(schema["components"]["schemas"]["Problem"]["required"]) <= set(not_found.json())
    responses = schema["paths"]["/api/tasks/{ident}"]["get"]["responses"]
    assert responses["404"] == {"$ref": "#/components/responses/404"}
    assert not_found.headers["content-type"] in schema["components"]["responses"]["404"]["content"]
    assert "413" not in responses, "the route takes no body"


def test_the_schema_has_the_limits_of_nullable_fields(sqlite_api: ApiClient) -> None:
    schemas = sqlite_api.client.get("/openapi/openapi.json").json()["components"]["schemas"]
    assert {"type": "integer", "minimum": 0, "maximum": 10_000} in (
        schemas["NewTask"]["properties"]["wave_number"]["anyOf"]
    )
    assert schemas["SnapshotToSave"]["required"] == ["session_id"]


def test_the_schema_says_which_routes_require_a_body(sqlite_api: ApiClient) -> None:
    paths = sqlite_api.client.get("/openapi/openapi.json").json()["paths"]
    required_by_operation = {
        (method, path): operation["requestBody"]["required"]
        for path, operations in paths.items()
        for method, operation in operations.items()
        if "requestBody" in operation
    }
    assert {path for (_, path), required in required_by_operation.items() if not required} == {
        f"/api/waves/{{session_id}}/{step}" for step in ("create", "start", "transition")
    }
    for (method, path), required in required_by_operation.items():
        response = sqlite_api.client.request(method, re.sub(r"\{\w+\}", "s1", path))
        assert (response.status_code in (400, 404)) == required, (method, path)
