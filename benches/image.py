#!/usr/bin/env python3
"""An image of many files of this machine, for the benchmarks.

    image.py make FOLDER      makes FOLDER/image, an OCI layout with one layer
    image.py small FOLDER     the same with fewer files
    image.py tar FOLDER       unpacks that layer to FOLDER/tar, until it is on the disk, and removes what was there before
    image.py about FOLDER     says how large it is
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}

# Small files and large ones, as far as a machine has them that builds Netloom.
TREES = ["usr/include", "usr/lib/python3", "usr/lib/gcc"]
SMALL = ["usr/include/linux"]


def make(folder: pathlib.Path, wanted: list[str]) -> None:
    """Makes the layout of what there is of these trees."""
    blobs = folder / "image/blobs/sha256"
    blobs.mkdir(parents=True)
    trees = [tree for tree in wanted if os.path.isdir("/" + tree)]
    tar = folder / "layer.tar"
    command = ["tar", "cf", tar, "-C", "/", "--numeric-owner", *trees]
    # A file that changes meanwhile matters to nobody.
    subprocess.run(command, stderr=subprocess.DEVNULL)
    # What its nodes run, at places without links.
    subprocess.run(["tar", "rhf", tar, "-C", "/", *libraries("/usr/bin/sleep")], check=True)
    digest = hashlib.sha256(tar.read_bytes()).hexdigest()
    with open(folder / "layer.tar.gz", "wb") as out:
        subprocess.run(["gzip", "-6", "-n", "-c", tar], stdout=out, check=True)
    tar.unlink()

    def blob(kind: str, contents: bytes) -> dict[str, object]:
        name = hashlib.sha256(contents).hexdigest()
        (blobs / name).write_bytes(contents)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{name}", "size": len(contents)}

    config = {
        "architecture": MACHINES[os.uname().machine],
        "os": "linux",
        "config": {"Env": ["PATH=/usr/bin"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }
    layer = blob("layer.v1.tar+gzip", (folder / "layer.tar.gz").read_bytes())
    manifest = {"schemaVersion": 2, "config": blob("config.v1+json", json.dumps(config).encode()), "layers": [layer]}
    described = blob("manifest.v1+json", json.dumps(manifest).encode())
    (folder / "image/index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [described]}))
    (folder / "image/oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')


def libraries(program: str) -> list[str]:
    """A program with what its loader finds for it, as names below the root."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True).stdout.split()
    return [path.lstrip("/") for path in [program, *listed] if path.startswith("/")]


def unpack(folder: pathlib.Path) -> None:
    """By tar."""
    place = folder / "tar"
    place.mkdir()
    subprocess.run(["tar", "xzf", folder / "layer.tar.gz", "-C", place, "--no-same-owner"], check=True)
    subprocess.run(["sync", "-f", place], check=True)


def main() -> None:
    """See above."""
    verb, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    shutil.rmtree(folder / "tar", ignore_errors=True)
    if verb in ("make", "small"):
        make(folder, TREES if verb == "make" else SMALL)
    elif verb == "tar":
        unpack(folder)
    else:
        entries = subprocess.run(["tar", "tzf", folder / "layer.tar.gz"], capture_output=True, text=True).stdout
        print(f"{len(entries.splitlines())} entries, {(folder / 'layer.tar.gz').stat().st_size / 1e6:.0f} MB packed")


main()
