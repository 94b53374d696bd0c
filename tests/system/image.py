#!/usr/bin/env python3
"""Makes a container image of programs of this machine, with the libraries that they need, as an OCI layout.

    image.py FOLDER CONFIG PROGRAM...

CONFIG is what the image says about its programs, as JSON. A PROGRAM `package:NAME` stands for the files of a Debian package that is
installed here, at the places that they have here, and for its users. No registry is asked, and nothing but Python, ldd and, for
packages, dpkg is needed.
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


def files_of(package: str) -> list[str]:
    """The files of a package that its programs need."""
    listed = subprocess.run(["dpkg", "-L", package], check=True, capture_output=True, text=True).stdout.splitlines()
    return [path for path in listed if os.path.isfile(path) and not path.startswith("/usr/share/")]


def accounts(file: str, packages: list[str]) -> str:
    """The users or groups of this machine that packages have made, which are called after them."""
    lines = pathlib.Path(file).read_text().splitlines(keepends=True)
    return "".join(line for line in lines if line.startswith(tuple(packages)))


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
        packages = [name.removeprefix("package:") for name in programs if name.startswith("package:")]
        users, groups = (text + accounts(file, packages) for file, text in [("/etc/passwd", PASSWD), ("/etc/group", GROUP)])
        for path, text in [("etc/passwd", users), ("etc/group", groups), ("etc/os-release", "ID=image\n")]:
            add(path, text.encode(), 0o644)
        added = set()

        def add_file(path: str, place: str) -> None:
            if place not in added:
                added.add(place)
                add(place, pathlib.Path(path).read_bytes(), os.stat(path).st_mode & 0o755)

        for path in (path for package in packages for path in files_of(package)):
            add_file(path, path.lstrip("/"))
            for library in libraries(path):
                add_file(library, library.lstrip("/"))
        for name in programs:
            if name.startswith("package:"):
                continue
            # A program of any folder, or one of PATH.
            found = shutil.which(name) or sys.exit(f"{name} is not on this machine")
            real = os.path.realpath(found)
            add_file(real, f"bin/{os.path.basename(name)}")
            for path in libraries(real):
                add_file(path, path.lstrip("/"))
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
