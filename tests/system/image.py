#!/usr/bin/env python3
"""Makes a container image of programs of this machine, with the libraries that they need, as an OCI layout.

    image.py FOLDER CONFIG PROGRAM...

CONFIG is what the image says about its programs, as JSON. No registry is asked, and nothing but Python and ldd is needed.
"""

import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
PASSWD = "root:x:0:0:root:/root:/bin/sh\napp:x:1234:1234:app:/home/app:/bin/sh\n"
GROUP = "root:x:0:\napp:x:1234:\nothers:x:1300:\n"


def libraries(program: str) -> list[str]:
    """The files that the dynamic loader finds for a program, and the loader itself."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
    return re.findall(r"(?:=> |^\s+)(/\S+) \(", listed, re.MULTILINE)


def layer(programs: list[str]) -> bytes:
    """A layer with programs at the paths that they have here, without links."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:

        def add(path: str, contents: bytes | None, mode: int, owner: int = 0) -> None:
            info = tarfile.TarInfo(path)
            info.mode, info.uid, info.gid = mode, owner, owner
            info.type = tarfile.DIRTYPE if contents is None else tarfile.REGTYPE
            info.size = len(contents or b"")
            archive.addfile(info, io.BytesIO(contents or b""))

        for folder, mode in [("tmp", 0o1777), ("root", 0o700), ("etc", 0o755), ("data", 0o755), ("bin", 0o755)]:
            add(folder, None, mode)
        add("home/app", None, 0o755, 1234)
        for path, text in [("etc/passwd", PASSWD), ("etc/group", GROUP), ("etc/os-release", "ID=image\n")]:
            add(path, text.encode(), 0o644)
        added = set()
        for name in programs:
            # A program of any folder, or one of PATH.
            found = shutil.which(name) or sys.exit(f"{name} is not on this machine")
            real = os.path.realpath(found)
            for path in [real, *libraries(real)]:
                place = f"bin/{os.path.basename(name)}" if path == real else path.lstrip("/")
                if place not in added:
                    added.add(place)
                    add(place, pathlib.Path(path).read_bytes(), 0o755)
    return buffer.getvalue()


def main() -> None:
    """Writes the layout."""
    folder, config, *programs = sys.argv[1:]
    blobs = pathlib.Path(folder, "blobs/sha256")
    blobs.mkdir(parents=True)

    def blob(kind: str, contents: bytes, **more: object) -> dict[str, object]:
        digest = hashlib.sha256(contents).hexdigest()
        (blobs / digest).write_bytes(contents)
        media = f"application/vnd.oci.image.{kind}"
        return {"mediaType": media, "digest": f"sha256:{digest}", "size": len(contents), **more}

    unpacked = layer(programs)
    document = {
        "architecture": MACHINES[os.uname().machine],
        "os": "linux",
        "config": json.loads(config),
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(unpacked).hexdigest()}"]},
    }
    manifest = {
        "schemaVersion": 2,
        "config": blob("config.v1+json", json.dumps(document).encode()),
        "layers": [blob("layer.v1.tar+gzip", gzip.compress(unpacked, 1, mtime=0))],
    }
    name = {"org.opencontainers.image.ref.name": "1.0"}
    described = blob("manifest.v1+json", json.dumps(manifest).encode(), annotations=name)
    pathlib.Path(folder, "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [described]}))
    pathlib.Path(folder, "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')


main()
