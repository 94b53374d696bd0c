#!/usr/bin/env python3
"""What a registry of container images can do to those who pull from it, on the loopback.

    registry.py push LAYOUT HOST:PORT NAME:TAG [USER:PASSWORD]
    registry.py serve LAYOUT PORT

The first pushes the image of an OCI layout to a real registry. The second is a registry itself, whose repositories have the layout's
image and behave as their names say: see `Handler`.
"""

import base64
import hashlib
import http.client
import http.server
import json
import os
import pathlib
import sys
import time

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
LAYOUT = pathlib.Path(sys.argv[2])


def blob(digest: str) -> bytes:
    """A file of the layout."""
    return (LAYOUT / "blobs/sha256" / digest.removeprefix("sha256:")).read_bytes()


def described(contents: bytes, **more: object) -> dict[str, object]:
    """What leads to some bytes."""
    return {"mediaType": MANIFEST, "digest": f"sha256:{hashlib.sha256(contents).hexdigest()}", "size": len(contents), **more}


DIGEST = json.loads((LAYOUT / "index.json").read_text())["manifests"][0]["digest"]
IMAGE = json.loads(blob(DIGEST))
LAYER = IMAGE["layers"][0]["digest"]


def push(address: str, name: str, login: str = "") -> None:
    """The four requests of the distribution specification, "Push"."""
    repository, tag = name.split(":")
    headers = {"Authorization": "Basic " + base64.b64encode(login.encode()).decode()} if login else {}

    def request(method: str, path: str, contents: bytes = b"", kind: str = "application/octet-stream") -> str:
        connection = http.client.HTTPConnection(address)
        connection.request(method, path, contents, {**headers, "Content-Type": kind})
        answer = connection.getresponse()
        if answer.status not in (201, 202):
            sys.exit(f"{method} {path}: {answer.status} {answer.read()!r}")
        return answer.getheader("Location", "").removeprefix(f"http://{address}")

    for part in [IMAGE["config"], *IMAGE["layers"]]:
        place = request("POST", f"/v2/{repository}/blobs/uploads/")
        request("PUT", f"{place}{'&' if '?' in place else '?'}digest={part['digest']}", blob(part["digest"]))
    # Docker's list of manifests, as its own registry has them.
    foreign = {"architecture": "riscv9", "os": "linux"}
    own = {"architecture": MACHINES[os.uname().machine], "os": "linux"}
    request("PUT", f"/v2/{repository}/manifests/single", blob(DIGEST), MANIFEST)
    kind = "application/vnd.oci.image.index.v1+json"
    index = {"schemaVersion": 2, "mediaType": kind, "manifests": [described(blob(DIGEST), platform=own), described(blob(DIGEST), platform=foreign)]}
    request("PUT", f"/v2/{repository}/manifests/{tag}", json.dumps(index).encode(), kind)


class Handler(http.server.BaseHTTPRequestHandler):
    """A request."""

    protocol_version = "HTTP/1.1"
    seen: set[str] = set()

    def answer(self, status: int, contents: bytes = b"", length: int | None = None, **headers: str) -> None:
        """All of an answer, though perhaps less of its body than its length says."""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(contents) if length is None else length))
        self.end_headers()
        self.wfile.write(contents)
        self.wfile.flush()
        if length is not None:
            self.close_connection = True

    def do_POST(self) -> None:
        """A token for an identity."""
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        is_known = "refresh_token=identity" in form and "grant_type=refresh_token" in form
        self.answer(200 if is_known else 401, b'{"access_token": "tick"}' if is_known else b"")

    def do_GET(self) -> None:
        """Everything else."""
        authorization = self.headers.get("Authorization")
        if self.path == "/v2/":
            return self.answer(200)
        if self.path.startswith("/token"):
            is_known = authorization == "Basic " + base64.b64encode(b"tester:secret").decode() or "anyone" in self.path
            is_asked = "scope=repository%3A" in self.path and "service=own" in self.path
            return self.answer(200 if is_known and is_asked else 401, b'{"token": "tick"}')
        if self.path.startswith("/elsewhere/"):
            # What belongs to the registry is nobody else's.
            return self.answer(500) if authorization else self.answer(200, blob(self.path.split("/")[2]))
        _, _, way, kind, what = self.path.split("/")
        if way in ("token", "anyone") and authorization != "Bearer tick":
            here = self.headers["Host"]
            challenge = f'Bearer realm="http://{here}/token",service="own",scope="repository:{way}:pull"'
            return self.answer(401, WWW_Authenticate=challenge)
        if way == "odd":
            return self.answer(401, WWW_Authenticate="Negotiate")
        if way in ("404", "429", "500", "418"):
            return self.answer(int(way))
        if kind == "manifests":
            return self.manifest(way, what)
        self.blob(way, what)

    def manifest(self, way: str, what: str) -> None:
        """What describes the image."""
        if way == "endless":
            self.send_response(200)
            self.end_headers()
            try:
                while True:
                    self.wfile.write(b" " * 100000)
            except OSError:
                return None
        config = json.loads(blob(IMAGE["config"]["digest"]))
        if way == "foreign":
            config["architecture"] = "riscv9"
            Handler.foreign = json.dumps(config).encode()
            return self.answer(200, json.dumps({**IMAGE, "config": described(Handler.foreign)}).encode())
        if way == "huge":
            layers = [{**IMAGE["layers"][0], "size": 10**15}]
            return self.answer(200, json.dumps({**IMAGE, "layers": layers}).encode())
        texts = {"page": b"<html>", "list": json.dumps({"schemaVersion": 2, "manifests": [described(b"x", platform={"os": "linux", "architecture": "riscv9"})]}).encode()}
        self.answer(200, b"{}" if way == "other" else texts.get(way, blob(DIGEST)))

    def blob(self, way: str, what: str) -> None:
        """A part of the image; only its layer is treated badly."""
        if way == "foreign":
            return self.answer(200, Handler.foreign)
        contents = blob(what)
        is_first = self.path not in self.seen
        self.seen.add(self.path)
        half = len(contents) // 2
        if what != LAYER:
            return self.answer(200, contents)
        if way == "silent" or (way in ("cut", "whole") and is_first):
            self.answer(200, contents[:half], len(contents))
            return time.sleep(1000) if way == "silent" else None
        if way == "cut":
            # The rest alone, or nothing.
            start = int(self.headers.get("Range", "bytes=0-")[6:-1])
            last = len(contents) - 1
            return self.answer(206 if start == half else 400, contents[start:], Content_Range=f"bytes {start}-{last}/{last + 1}")
        if way == "flipped":
            contents = contents[:half] + bytes([contents[half] ^ 1]) + contents[half + 1 :]
        if way == "long":
            contents += bytes(1000000)
        if way in ("away", "token"):
            port = self.server.server_address[1]
            return self.answer(307, Location=f"http://localhost:{port}/elsewhere/{what}")
        if way == "open":
            return self.answer(302, Location="http://192.0.2.1/")
        if way == "loop":
            return self.answer(302, Location=self.path)
        self.answer(200, contents)

    def log_message(self, *_: object) -> None:
        """Says nothing."""


if sys.argv[1] == "push":
    push(*sys.argv[3:])
else:
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3])), Handler).serve_forever()
