"""Puts the program into the wheel, with a tag that says what machine and C library it needs.

`NETLOOM_BINARY` names a program that is built already; without it, `cargo build --release` makes one.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: `e_machine` of the ELF header.
MACHINES = {0x3E: "x86_64", 0xB7: "aarch64"}


class ProgramHook(BuildHookInterface):  # type: ignore[type-arg]
    """See the module."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it makes a wheel."""
        if version == "editable":
            return
        binary = Path(os.environ.get("NETLOOM_BINARY") or self._build())
        if not binary.is_file():
            raise FileNotFoundError(f"there is no program {binary}: NETLOOM_BINARY names it")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_of(binary.read_bytes())}"
        build_data["shared_scripts"][str(binary)] = "netloom"

    def _build(self) -> Path:
        root = Path(self.root).parent
        if not (root / "Cargo.toml").is_file():
            raise FileNotFoundError(
                "the source of the program is not here: install a wheel, or build in a copy of the whole project"
            )
        subprocess.run(["cargo", "build", "--release", "--locked", "--bin", "netloom"], cwd=root, check=True)
        return root / os.environ.get("CARGO_TARGET_DIR", "target") / "release/netloom"


def platform_of(elf: bytes) -> str:
    """The platform's tag: that of the newest version of glibc of which the program wants something."""
    if elf[:4] != b"\x7fELF":
        raise ValueError("the program is no ELF file")
    machine = MACHINES.get(int.from_bytes(elf[18:20], "little"))
    if machine is None:
        raise ValueError("the program is for a machine that no wheel is for")
    versions = [(int(major), int(minor)) for major, minor in re.findall(rb"GLIBC_(\d+)\.(\d+)", elf)]
    # The tags begin with 2.17 on aarch64, and nothing that is alive is older.
    major, minor = max([*versions, (2, 17)])
    return f"manylinux_{major}_{minor}_{machine}"
