"""A file over QUIC (aioquic): `transfer.py serve BYTES` and `transfer.py fetch HOST`, which prints what it measured as JSON."""

import asyncio
import datetime
import json
import ssl
import sys
import time
from pathlib import Path

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PORT = 4433


def configuration(is_client: bool) -> QuicConfiguration:
    """What both ends agree on: windows that no path here fills, and patience for slow ones."""
    return QuicConfiguration(
        is_client=is_client,
        alpn_protocols=["file"],
        idle_timeout=120,
        max_data=1 << 26,
        max_stream_data=1 << 26,
        verify_mode=ssl.CERT_NONE,
    )


def certified() -> QuicConfiguration:
    """The server's, with a certificate that it has signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
    now = datetime.datetime.now(datetime.timezone.utc)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now - datetime.timedelta(1)).not_valid_after(now + datetime.timedelta(1))
    found = configuration(is_client=False)
    found.certificate, found.private_key = builder.sign(key, hashes.SHA256()), key
    return found


async def answer(size: int, writer: asyncio.StreamWriter) -> None:
    """Sends the file on a stream."""
    writer.write(bytes(size))
    writer.write_eof()


async def serve_file(size: int) -> None:
    """Serves until it is stopped."""
    tasks = set()

    def opened(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(answer(size, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    await serve("::", PORT, configuration=certified(), stream_handler=opened)
    Path("/run/quic-is-ready").touch()
    await asyncio.Future()


async def fetch(host: str) -> None:
    """Fetches the file once."""
    begun = time.monotonic()
    async with connect(host, PORT, configuration=configuration(is_client=True)) as client:
        assert isinstance(client, QuicConnectionProtocol)
        connected = time.monotonic()
        reader, writer = await client.create_stream()
        writer.write(b"send")
        writer.write_eof()
        data = await reader.read(1)
        first = time.monotonic()
        length = len(data + await reader.read())
        seconds = time.monotonic() - first
    print(
        json.dumps(
            {
                "handshake_s": connected - begun,
                "first_byte_s": first - connected,
                "bytes": length,
                "rate": 8 * length / seconds,
            }
        )
    )


asyncio.run(serve_file(int(sys.argv[2])) if sys.argv[1] == "serve" else fetch(sys.argv[2]))
