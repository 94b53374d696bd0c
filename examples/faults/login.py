"""Tokens in the form of JWT (RFC 7519), signed by HMAC-SHA256, over HTTP.

login.py issue                   issues a token that is valid from now on, for a minute
login.py verify LEEWAY           answers 200 to a valid token, and 401 to others; clocks may differ by LEEWAY seconds
login.py login ISSUER SERVER     gets a token and shows it once; ends with 1 if it is refused
login.py wait ISSUER SERVER      gets a token and shows it until it is accepted
"""

import base64
import hashlib
import hmac
import http.client
import http.server
import json
import sys
import time

KEY, PORT, LIFE = b"a secret of the issuer and the servers", 8000, 60


def encode(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def decode(data: bytes) -> bytes:
    return base64.urlsafe_b64decode(data + b"=" * (-len(data) % 4))


def sign(text: bytes) -> bytes:
    return encode(hmac.digest(KEY, text, hashlib.sha256))


def issued() -> bytes:
    now = time.time()
    claims = {"sub": "somebody", "iat": now, "nbf": now, "exp": now + LIFE}
    text = b".".join(encode(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    return text + b"." + sign(text)


def judged(token: bytes, leeway: float) -> tuple[int, str]:
    """The status and the reason: RFC 7519, sections 4.1.4 and 4.1.5."""
    text, _, signature = token.rpartition(b".")
    if not hmac.compare_digest(sign(text), signature):
        return 401, "not signed"
    claims, now = json.loads(decode(text.split(b".")[1])), time.time()
    if now < claims["nbf"] - leeway:
        return 401, "not yet valid"
    if now >= claims["exp"] + leeway:
        return 401, "expired"
    return 200, "welcome"


def serve(answer) -> None:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, text = answer(self.headers.get("Authorization", "").removeprefix("Bearer ").encode())
            self.send_response(status, text)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

    http.server.ThreadingHTTPServer(("", PORT), Handler).serve_forever()


def get(server: str, token: str = "") -> tuple[int, str]:
    connection = http.client.HTTPConnection(server, PORT, timeout=5)
    connection.request("GET", "/", headers={"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def login(issuer: str, server: str) -> None:
    status, text = get(server, get(issuer)[1])
    print(status, text)
    sys.exit(status != 200)


def wait(issuer: str, server: str) -> None:
    token, begin = get(issuer)[1], time.monotonic()
    while get(server, token)[0] != 200:
        time.sleep(0.05)
    print(json.dumps({"waited_s": round(time.monotonic() - begin, 3)}))


role, *rest = sys.argv[1:]
if role == "issue":
    serve(lambda _: (200, issued().decode()))
elif role == "verify":
    serve(lambda token: judged(token, float(rest[0])))
else:
    {"login": login, "wait": wait}[role](*rest)
