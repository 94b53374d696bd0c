"""Makes `import mininet` give this package, in this Python and in those that it starts."""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import os
import shlex
import shutil
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from . import _scratch, _sysctls, _tc
from ._shell import search_path

#: Packages of this one, by the names that scripts import.
_REAL = {"mininet": "netloom.mininet", "mn_wifi": "netloom.mn_wifi"}
_EXAMPLES = "mininet.examples."
#: On which machine the script runs.
_MACHINE = "NETLOOM_MININET_MACHINE"
#: Modules that Mininet and Mininet-WiFi have, for messages about others.
_MODULES = {
    "mininet": (
        "clean", "cli", "examples", "link", "log", "moduledeps", "net", "node", "nodelib", "term", "topo", "topolib", "util",
    ),
    "mn_wifi": ("cli", "link", "net", "node", "propagationModels", "replaying", "topo", "wmediumdConnector"),
}  # fmt: skip


class _Alias(Loader):
    """Gives a module that has another name already."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module itself."""
        return importlib.import_module(self._name)

    def exec_module(self, module: ModuleType) -> None:
        """Nothing: it has been done."""

    def get_code(self, name: str) -> Any:
        """What `python -m` runs."""
        spec = importlib.util.find_spec(self._name)
        loader: Any = spec.loader if spec else None
        return loader.get_code(self._name) if loader else None

    def is_package(self, name: str) -> bool:
        """Whether it has modules."""
        return hasattr(importlib.import_module(self._name), "__path__")


class Finder(MetaPathFinder):
    """Finds `mininet` and `mn_wifi` and their modules in this package."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """See `importlib`."""
        package, _, word = fullname.partition(".")
        if package not in _REAL:
            return None
        if fullname.startswith(_EXAMPLES):
            # Mininet's own files, where they are installed.
            from .examples import __path__ as folders

            from_files = importlib.machinery.PathFinder.find_spec(fullname, list(folders))
            if from_files is None:
                raise ModuleNotFoundError(
                    f"No module named {fullname!r}: Netloom brings none of Mininet's examples; name their folder in $NETLOOM_MININET_EXAMPLES",
                    name=fullname,
                )
            return from_files
        name = _REAL[package] + fullname.removeprefix(package)
        if word and word.split(".")[0] not in _MODULES[package]:
            from ._clear import meant

            raise ModuleNotFoundError(f"No module named {fullname!r}{meant(word, _MODULES[package])}", name=fullname)
        own = importlib.util.find_spec(name)
        if own is None:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        spec = ModuleSpec(
            fullname, _Alias(name), origin=own.origin, is_package=own.submodule_search_locations is not None
        )
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.extend(own.submodule_search_locations or [])
        return spec


def install() -> None:
    """Registers this package as `mininet` and `mn_wifi`, before any that is installed."""
    if not any(isinstance(each, Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, Finder())
        # In a node, a program changes that.
        if os.environ.get(_MACHINE, _sysctls.machine()) == _sysctls.machine():
            sys.addaudithook(_sysctls.guard)
    for name in [name for name in sys.modules if name.partition(".")[0] in _REAL]:
        module = sys.modules[name]
        if getattr(module, "__name__", "").startswith(tuple(_REAL)):
            del sys.modules[name]


def for_children() -> None:
    """Sees to it that Pythons which the script starts know `mininet` and `mn_wifi` as well, and that there is a program `mn`."""
    if os.environ.get("NETLOOM_MININET_PATH"):
        return
    folder = _scratch.folder()
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    os.mkdir(os.path.join(folder, "bin"))
    for name, real in _REAL.items():
        os.mkdir(os.path.join(folder, name))
        with open(os.path.join(folder, name, "__init__.py"), "w") as file:
            file.write(
                '"""Leads to Netloom\'s implementation."""\n'
                "import importlib, sys\n"
                f"sys.path.append({package!r}) if {package!r} not in sys.path else None\n"
                "from netloom.mininet import _hook\n"
                "_hook.install()\n"
                f"sys.modules[{name!r}] = importlib.import_module({real!r})\n"
            )
    _program(folder, "mn", f'exec {shlex.quote(sys.executable)} -m netloom.mininet mn "$@"', package)
    tc = shutil.which("tc", path=search_path())
    if tc is not None:
        ports = shlex.quote(os.path.join(folder, _tc.PORTS))
        _program(folder, "tc", _tc.SCRIPT.format(ports=ports, python=shlex.quote(sys.executable), tc=tc), package)
    _sysctls.program(lambda name, line: _program(folder, name, line, package))
    if shutil.which("python") is None:
        _program(folder, "python", f'exec {shlex.quote(sys.executable)} "$@"', package)
    os.environ["NETLOOM_MININET_PATH"] = folder
    os.environ[_MACHINE] = _sysctls.machine()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")]))
    os.environ["PATH"] = os.path.join(folder, "bin") + os.pathsep + os.environ.get("PATH", os.defpath)


def _program(folder: str, name: str, line: str, package: str) -> None:
    path = os.path.join(folder, "bin", name)
    with open(path, "w") as file:
        file.write(
            f'#!/bin/sh\nPYTHONPATH="${{PYTHONPATH:+$PYTHONPATH:}}"{shlex.quote(package)}\nexport PYTHONPATH\n{line}\n'
        )
    os.chmod(path, 0o755)
