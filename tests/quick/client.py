# SPDX-License-Identifier: Apache-2.0
"""A small client of the REST interface, for tests only."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx

from quick import contract
from quick.sse import Event, decode_stream, refuse_constant

Json = dict[str, Any]

# Longer than any run limit that a test sets; a server that answers later has hung.
PATIENCE_S = 120.0


class ApiError(Exception):
    """An answer that is not 2xx."""

    def __init__(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.headers = response.headers
        self.envelope: Json = strict_json(response.content)
        error = self.envelope["error"]
        self.code: str = error["code"]
        self.message: str = error["message"]
        self.details: Json = error.get("details", {})
        self.retryable: bool = error["retryable"]
        super().__init__(f"{self.status} {self.code}: {self.message}")


def strict_json(content: bytes) -> Any:
    """JSON as strict parsers take it: UTF-8, no NaN, no lone surrogates."""
    value = json.loads(content.decode("utf-8"), parse_constant=refuse_constant)
    json.dumps(value, ensure_ascii=False).encode("utf-8")
    return value


@dataclass(frozen=True)
class Run:
    """The result of a run."""

    raw: Json

    @property
    def status(self) -> str:
        return str(self.raw["status"])

    @property
    def state(self) -> str:
        return str(self.raw["state"])

    @property
    def stdout(self) -> str:
        return str(self.raw["stdout"])

    @property
    def stderr(self) -> str:
        return str(self.raw["stderr"])

    @property
    def exit_code(self) -> int | None:
        return self.raw.get("exitCode")

    @property
    def outputs(self) -> list[Json]:
        return list(self.raw["outputs"])

    @property
    def error(self) -> Json | None:
        return self.raw.get("error")

    @property
    def error_name(self) -> str | None:
        return self.error["name"] if self.error else None

    @property
    def traceback(self) -> str:
        return "\n".join(self.error["traceback"]) if self.error else ""

    @property
    def result(self) -> str | None:
        """The text form of the last expression, None if there is no result."""
        for output in self.outputs:
            if output["isResult"] and output["kind"] == "inline" and output["format"] == "text":
                return str(output["value"])
        return None

    @property
    def context(self) -> Json:
        return dict(self.raw["context"])

    def output(self, format_name: str) -> Json:
        """The only output of that format."""
        found = [output for output in self.outputs if output["format"] == format_name]
        assert len(found) == 1, self.outputs
        return found[0]

    def ok(self) -> "Run":
        """This run, after a check that it went well."""
        assert self.status == "ok" and self.error is None, describe(self)
        assert self.state == "kept", describe(self)
        return self


def describe(run: Run) -> str:
    return json.dumps(run.raw, indent=1)[:4000]


class Client:
    """Calls one server. Threads: may be shared."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.key = key
        limits = httpx.Limits(max_connections=100, max_keepalive_connections=20)
        self.http = httpx.Client(
            base_url=url,
            headers={"authorization": f"Bearer {key}"},
            timeout=PATIENCE_S,
            limits=limits,
            trust_env=False,
            event_hooks={"response": [contract.check]},
        )

    def close(self) -> None:
        self.http.close()

    def call(self, method: str, path: str, body: Any = None, /, **query: str | int) -> Json:
        """A JSON call; ApiError unless the answer is 2xx."""
        response = self.http.request(method, path, json=body, params=query or None)
        if not response.is_success:
            raise ApiError(response)
        assert response.headers["content-type"].startswith("application/json")
        assert response.headers["x-request-id"].startswith("req_")
        answer: Json = strict_json(response.content)
        return answer

    def get(self, path: str, /, **query: str | int) -> Json:
        return self.call("GET", path, None, **query)

    def post(self, path: str, body: Any = None) -> Json:
        return self.call("POST", path, {} if body is None else body)

    def sandbox(self, **fields: Any) -> "Sandbox":
        return Sandbox(self, self.post("/v1/sandboxes", fields)["sandbox"]["id"])


class Sandbox:
    """One sandbox of a server."""

    def __init__(self, client: Client, sandbox_id: str) -> None:
        self.client = client
        self.id = sandbox_id
        self.path = f"/v1/sandboxes/{sandbox_id}"

    def delete(self) -> Json:
        return dict(self.client.call("DELETE", self.path)["sandbox"])

    def get(self) -> Json:
        return dict(self.client.get(self.path)["sandbox"])

    def info(self) -> Json:
        return dict(self.client.get(f"{self.path}/info")["info"])

    def context(self, language: str = "python", **fields: Any) -> "Context":
        body = {"language": language, **fields}
        made = self.client.post(f"{self.path}/code/contexts", body)["context"]
        return Context(self, made["id"], made["language"])

    def contexts(self) -> list[Json]:
        return list(self.client.get(f"{self.path}/code/contexts")["data"])

    def run(self, code: str, **fields: Any) -> Run:
        return Run(self.client.post(f"{self.path}/code/runs", {"code": code, **fields})["run"])

    def stream(self, code: str, **fields: Any) -> list[Event]:
        return list(self.open_stream(code, **fields))

    def open_stream(self, code: str, **fields: Any) -> Iterator[Event]:
        """Events as they arrive."""
        request = ("POST", f"{self.path}/code/runs/stream")
        with self.client.http.stream(*request, json={"code": code, **fields}) as response:
            if not response.is_success:
                response.read()
                raise ApiError(response)
            assert response.headers["content-type"].startswith("text/event-stream")
            for event in decode_stream(response.iter_raw()):
                contract.check_event("RunEvent", event)
                yield event

    def files(self, path: str = "/workspace") -> list[Json]:
        return list(self.client.get(f"{self.path}/files", path=path)["data"])

    def names(self, path: str = "/workspace") -> list[str]:
        return sorted(entry["name"] for entry in self.files(path))

    def write(self, path: str, content: str, **fields: Any) -> Json:
        body = {"path": path, "content": content, **fields}
        return dict(self.client.call("PUT", f"{self.path}/files", body)["file"])

    def read(self, path: str, encoding: str = "utf8") -> str:
        answer = self.client.get(f"{self.path}/files/read", path=path, encoding=encoding)
        return str(answer["content"])

    def stat(self, path: str) -> Json:
        return dict(self.client.get(f"{self.path}/files/stat", path=path)["file"])

    def remove(self, path: str) -> Json:
        return self.client.call("DELETE", f"{self.path}/files", None, path=path)

    def download(self, path: str, headers: dict[str, str] | None = None) -> httpx.Response:
        query = f"?path={quote(path, safe='')}"
        return self.client.http.get(f"{self.path}/files/download{query}", headers=headers)


class Context:
    """One code context of a sandbox."""

    def __init__(self, sandbox: Sandbox, context_id: str, language: str) -> None:
        self.sandbox = sandbox
        self.id = context_id
        self.language = language
        self.path = f"{sandbox.path}/code/contexts/{context_id}"

    def run(self, code: str, **fields: Any) -> Run:
        return self.sandbox.run(code, contextId=self.id, language=self.language, **fields)

    def stream(self, code: str, **fields: Any) -> list[Event]:
        return self.sandbox.stream(code, contextId=self.id, language=self.language, **fields)

    def open_stream(self, code: str, **fields: Any) -> Iterator[Event]:
        return self.sandbox.open_stream(code, contextId=self.id, language=self.language, **fields)

    def value(self, code: str, **fields: Any) -> str | None:
        """The result's text of a run that must go well."""
        return self.run(code, **fields).ok().result

    def get(self) -> Json:
        return dict(self.sandbox.client.get(self.path)["context"])

    def delete(self) -> Json:
        return dict(self.sandbox.client.call("DELETE", self.path)["context"])

    def evict(self) -> Json:
        context = dict(self.sandbox.client.post(f"{self.path}/evict")["context"])
        assert context["resident"] is False
        return context

    def interrupt(self) -> Json:
        return dict(self.sandbox.client.post(f"{self.path}/interrupt")["context"])

    def fork(self, **fields: Any) -> "Context":
        made = self.sandbox.client.post(f"{self.path}/fork", fields)["context"]
        return Context(self.sandbox, made["id"], made["language"])

    def rollback(self, generation: int) -> Json:
        answer = self.sandbox.client.post(f"{self.path}/rollback", {"generation": generation})
        return dict(answer["context"])

    def generations(self) -> list[Json]:
        return list(self.sandbox.client.get(f"{self.path}/snapshots")["data"])
