"""An HTTP server that takes orders, each once: one that comes again with the same key is answered and not counted."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ORDERS: set[str] = set()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Takes an order."""
        key = self.headers["Idempotency-Key"]
        print("again" if key in ORDERS else "order", key, flush=True)
        ORDERS.add(key)
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing more."""


ThreadingHTTPServer(("", 80), Handler).serve_forever()
