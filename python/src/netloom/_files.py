"""Files into and out of nodes: by `cat` and `tar` in the node, so that they work on all clocks and with all images."""

from __future__ import annotations

import io
import os
import posixpath
import tarfile
from typing import TYPE_CHECKING

from ._errors import NetloomError

if TYPE_CHECKING:
    from .live import LiveNode
    from .process import CompletedProcess


def read(node: LiveNode, path: str) -> bytes:
    """The contents of a file."""
    return _done(node.run(["cat", "--", path], text=False), "reading", path).stdout


def write(node: LiveNode, path: str, data: bytes) -> None:
    """Writes a file."""
    _done(node.run(["/bin/sh", "-c", 'cat > "$1"', "sh", path], input=data, text=False), "writing", path)


def put(node: LiveNode, source: str, target: str) -> None:
    """Copies a file or folder into the node."""
    if not os.path.lexists(source):
        raise FileNotFoundError(f"there is no file or folder {source}")
    buffer = io.BytesIO()
    folder, name = posixpath.split(target.rstrip("/"))
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.add(source, arcname=name)
    command = ["/bin/sh", "-c", 'mkdir -p "$1" && tar -x -C "$1" -f - --no-same-owner', "sh", folder or "."]
    _done(node.run(command, input=buffer.getvalue(), text=False), "writing", target)


def get(node: LiveNode, source: str, target: str) -> None:
    """Copies a file or folder out of the node."""
    folder, name = posixpath.split(source.rstrip("/"))
    done = _done(node.run(["tar", "-c", "-f", "-", "-C", folder or ".", "--", name], text=False), "reading", source)
    parent, base = os.path.split(os.path.abspath(target))
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        for member in archive.getmembers():
            # The name that it is to have here; nothing of the node leads out of it.
            rest = member.name.split("/", 1)[1:]
            member.name = "/".join([base, *rest])
            _extract(archive, member, parent)


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, folder: str) -> None:
    if not hasattr(tarfile, "data_filter"):
        if ".." in member.name.split("/") or member.issym() or member.islnk():
            raise NetloomError(f"{member.name} is a link, which this version of Python cannot copy safely")
        archive.extract(member, folder)
        return
    archive.extract(member, folder, filter="data")


def _done(done: CompletedProcess, what: str, path: str) -> CompletedProcess:
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip()
        raise NetloomError(f"{what} {path} in node `{done.node}`: {said or f'exit code {done.returncode}'}")
    return done
