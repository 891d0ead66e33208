"""The routes: /health, /create, /process_experience, /process_task, /close."""

from __future__ import annotations

import json
import threading
import traceback
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .errors import Refused
from .multipart import fields_of
from .session import Session


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.sessions: dict[str, Session] = {}
        # operators start processes and hold models: one batch at a time
        self.working = threading.Lock()

    def session(self, given: Any) -> Session:
        session = self.sessions.get(str(given))
        if session is None:
            raise Refused(404, f"there is no session {given}")
        return session


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._reply(self._health if self.path == "/health" else self._nowhere)

    def do_POST(self) -> None:
        routes = {
            "/create": self._create,
            "/process_experience": self._experiences,
            "/process_task": self._tasks,
            "/close": self._close,
        }
        self._reply(routes.get(self.path, self._nowhere))

    def _health(self) -> None:
        self._json(200, {"status": "ok"})

    def _create(self) -> None:
        session = Session(self._asked())
        name = uuid.uuid4().hex
        self.server.sessions[name] = session
        self._json(200, {"session_id": name})

    def _experiences(self) -> None:
        fields = fields_of(self.headers.get("content-type", ""), self._body())
        session = self.server.session(fields.get("session_id", b"").decode())
        with self.server.working:
            table, metrics = session.experiences(fields.get("arrow_data", b""))
        self._send(200, "application/vnd.apache.arrow.stream", table, {"X-Metrics": json.dumps(metrics)})

    def _tasks(self) -> None:
        session = self.server.session(self._asked().get("session_id"))
        with self.server.working:
            metrics = session.tasks()
        self._json(200, {"metrics": metrics})

    def _close(self) -> None:
        name = str(self._asked().get("session_id"))
        self.server.session(name)
        del self.server.sessions[name]
        self._json(200, {"status": "closed"})

    def _nowhere(self) -> None:
        self._body()
        raise Refused(404, f"there is no {self.path} here")

    def _reply(self, route: Any) -> None:
        try:
            route()
        except Refused as refused:
            self._json(refused.status, {"error": str(refused)})
        except Exception as error:
            traceback.print_exc()
            self._json(500, {"error": f"{type(error).__name__}: {error}"})

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length", 0)))

    def _asked(self) -> dict[str, Any]:
        try:
            asked = json.loads(self._body())
        except ValueError as error:
            raise Refused(400, f"the body is no JSON: {error}") from error
        if not isinstance(asked, dict):
            raise Refused(400, "the body must be an object")
        return asked

    def _json(self, status: int, value: Any) -> None:
        self._send(status, "application/json", json.dumps(value).encode(), {})

    def _send(self, status: int, kind: str, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        if self.path != "/health":
            super().log_request(code, size)


def serve(port: int) -> Server:
    return Server(port)
