"""A scripted server of chat completions for tests: what it answers is a function of the prompt."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Script = Callable[[BaseHTTPRequestHandler, list[dict[str, str]]], str | None]
"""Given a request and its messages, the text of the answer; ``None`` where the script answered itself."""


class Served:
    """A running server: its address and the requests that it was sent."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []


@contextmanager
def serving(script: Script, models: tuple[str, ...] = ("scripted",), usage: bool = True) -> Iterator[Served]:
    """Serve completions on a free port until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *words: Any) -> None:
            pass

        def do_GET(self) -> None:
            served.headers.append(dict(self.headers))
            send_json(self, {"data": [{"id": name} for name in models]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            served.bodies.append(body)
            served.headers.append(dict(self.headers))
            text = script(self, body["messages"])
            if text is not None:
                counted = {"usage": {"prompt_tokens": 100, "completion_tokens": 5}} if usage else {}
                choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
                send_json(self, {"model": "scripted-1", "choices": [choice], **counted})

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            """Say nothing where a client hangs up on purpose."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served = Served(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def send_json(handler: BaseHTTPRequestHandler, body: object, status: int = 200, **headers: str) -> None:
    """Send an answer of JSON and close the connection."""
    text = json.dumps(body).encode()
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(text)))
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.wfile.write(text)
    handler.close_connection = True
