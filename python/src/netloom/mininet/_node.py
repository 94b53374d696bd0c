"""Nodes: shells in namespaces of a lab, or on this machine."""

from __future__ import annotations

import os
import re
import select
import subprocess
from typing import TYPE_CHECKING, Any

from .. import _program
from . import _carry, _early, _frr, _pids, _sysctls
from ._addressed import Addressed
from ._clear import refuse
from ._fabric import Fabric, stack_keys
from ._shell import PROMPT, Shell, search_path
from .log import debug, error, info, warn
from .util import decode

if TYPE_CHECKING:
    from ..live import Live
    from ..process import Popen
    from .link import Intf

#: What sets an address.
_ADDRESS = re.compile(r"addr replace (\S+) brd \+ dev (\S+)")
#: What removes those that are there.
_FLUSH = re.compile(r"addr flush dev (\S+) scope global to 0\.0\.0\.0/0")
#: What bash says of a program that it starts in the background.
_JOB = re.compile(r"^\[\d+\] \d+\r?\n", re.MULTILINE)
#: The end of a command's output.
_END = PROMPT


class Node(Addressed):
    """A node with a shell, in a network namespace of its own unless `inNamespace=False` says otherwise."""

    portBase = 0
    #: Nodes by the descriptors that their shells write to, and are written to by.
    inToNode: dict[int, Node] = {}
    outToNode: dict[int, Node] = {}
    isSetup = False

    def __init__(self, name: str, inNamespace: bool = True, **params: Any) -> None:
        self.name: str = params.get("name", name)
        self.inNamespace: bool = params.get("inNamespace", inNamespace)
        self.privateDirs: list[Any] = list(params.get("privateDirs", []) or [])
        self.params: dict[str, Any] = params
        self.intfs: dict[int, Intf] = {}
        self.ports: dict[Intf, int] = {}
        self.nameToIntf: dict[str, Intf] = {}
        self.waiting = False
        self.lastCmd: str | None = None
        self.lastPid: int | None = None
        self.readbuf = ""
        #: What is to be done when there is a lab: arguments of `ip`, and commands of the shell.
        self.pending: list[tuple[str, str]] = []
        self._expected = ""
        self.fabric: Fabric | None = None
        self._shell: Shell | None = None
        self._folder: str | None = None
        self.is_attached = False
        #: Whether programs have run in it since its lab was made, and the addresses that the lab has given it.
        self.is_used = False
        self.lab_addresses: dict[str, str] = {}
        self._stopped = False
        #: The lab in which it has what programs want beside this machine's files.
        self._prepared: Live | None = None
        self.checkSetup()
        if self.privateDirs:
            self.mountPrivateDirs()

    # In the lab

    def lab_kind(self) -> str:
        """What it is in the lab: `host`, `switch`, `flows` (Open vSwitch), `internet`, `machine`, or `aside` if it is no part of it."""
        return "host" if self.inNamespace else "machine"

    def lab_keys(self) -> dict[str, Any]:
        """The keys that it has there."""
        return {}

    @property
    def lab_node(self) -> str:
        """What it is called there."""
        return self._home().lab_name(self)

    def _home(self) -> Fabric:
        if self.fabric is None:
            Fabric().adopt(self)
        assert self.fabric is not None
        return self.fabric

    @property
    def runs_in_lab(self) -> bool:
        """Whether its programs run in the lab, not on this machine."""
        return self.lab_kind() in ("host", "flows", "internet")

    def attached(self, state: _carry.State | None) -> None:
        """It is in a lab now; what it was like in the one before."""
        self.is_attached = True
        if state is not None:
            assert self.fabric is not None and self.fabric.live is not None
            _carry.give(self, self.fabric.live, state)
            self._folder = state.folder
            self.is_used = True

    def detached(self) -> None:
        """Its lab ends."""
        self.is_attached = False
        if self.runs_in_lab:
            self._close_shell()

    def folder(self) -> str | None:
        """The folder that its shell is in."""
        if self._shell is None or self.waiting:
            return self._folder
        return self._shell.run("pwd").strip() or None

    def take_addresses(self) -> dict[str, str]:
        """First addresses of interfaces among what is to be done, which the lab can set itself, and those that it has set."""
        names = {intf.name for intf in self.intfList()}
        found = {} if self.is_used else {name: each for name, each in self.lab_addresses.items() if name in names}
        left: list[tuple[str, str]] = []
        for number, (kind, text) in enumerate(self.pending):
            match = _ADDRESS.fullmatch(text) if kind == "ip" else None
            flushed = _FLUSH.fullmatch(text) if kind == "ip" else None
            if flushed and flushed[1] in found:
                # The address before it need not be set at all.
                del found[flushed[1]]
                continue
            if kind != "ip":
                left += self.pending[number:]
                break
            if match and match[2] not in found:
                found[match[2]] = match[1]
            else:
                left.append((kind, text))
        self.pending = left
        self.lab_addresses, self.is_used = dict(found), bool(left)
        return found

    def give_back_addresses(self, found: dict[str, str]) -> None:
        """The lab does not set them."""
        self.lab_addresses, self.is_used = {}, True
        self.pending = [
            ("ip", f"addr replace {address} brd + dev {name}") for name, address in found.items()
        ] + self.pending

    def configure_quickly(self) -> Popen | None:
        """Starts what is to be done, if that needs no shell that stays: nothing changes the shell itself, or a folder of the node's own."""
        commands = [text for kind, text in self.pending if kind == "cmd"]
        if not self.pending or (commands and (self.privateDirs or any(map(_early.changes_shell, commands)))):
            return None
        from ..process import PIPE, STDOUT

        live = self._home().ensure()
        argv = ["bash", "-s"] if commands else ["ip", "-force", "-batch", "-"]
        prefix = "ip " if commands else ""
        script = "".join(f"{prefix if kind == 'ip' else ''}{text}\n" for kind, text in self.pending)
        self._expected = "".join(_early.predicted(text) or "" for text in commands)
        self.pending = []
        process = live.node(self.lab_node).popen(
            argv, stdin=PIPE, stdout=PIPE, stderr=STDOUT, env={**os.environ, "PATH": search_path()}
        )
        assert process.stdin is not None
        process.stdin.write(script)
        process.stdin.close()
        process.stdin = None
        return process

    def configured(self, said: str) -> None:
        """What was started by `configure_quickly` has ended."""
        if said.split() != self._expected.split():
            self.complain(said)

    def configure_in_shell(self) -> None:
        """Does what is to be done, one after the other."""
        pending, self.pending = self.pending, []
        for kind, text in pending:
            said = self.shell.run(f"ip {text}" if kind == "ip" else text)
            if (kind == "ip" and said.strip()) or (kind == "cmd" and _early.is_complaint(text, said)):
                self.complain(said)

    def complain(self, said: str) -> None:
        """What it was told before did not succeed."""
        warn(f"*** {self.name}: {said.strip()}\n")

    def ip_command(self, arguments: str) -> str:
        """Calls `ip` in the node, or notes that it is to be called."""
        if not self.runs_in_lab:
            return "" if self.lab_kind() != "machine" else self.cmd(f"ip {arguments}")
        home = self._home()
        debug(f"*** {self.name} : ip {arguments}\n")
        if not home.is_current:
            self.pending.append(("ip", arguments))
            return ""
        self.is_used = True
        if self.waiting or self._shell is None:
            done = home.ensure().node(self.lab_node).run(["ip", *arguments.split()], cwd="/")
            return str(done.stdout) + str(done.stderr)
        return self._shell.run(f"ip {arguments}")

    # Its shell

    def startShell(self, mnopts: Any = None) -> None:
        """Starts the shell, which would otherwise start when it is needed."""
        self._shell_now()

    def _shell_now(self) -> Shell:
        if self._stopped:
            raise Exception(f"{self.name} has been stopped")
        if self.runs_in_lab:
            home = self._home()
            if not (home.is_current and self._shell):
                home.ensure()
                if self.pending and self._shell is None:
                    self._open_shell()
                    self.configure_in_shell()
        if self._shell is None:
            self._open_shell()
        assert self._shell is not None
        return self._shell

    def _open_shell(self) -> None:
        self.is_used = True
        if self.runs_in_lab:
            live = self._home().live
            self._shell = Shell(self.name, live, self.lab_node, self._folder, has_kernel=bool(stack_keys()))
        else:
            self._shell = Shell(self.name, None, None, self._folder)
        number = self._shell.fileno()
        Node.outToNode[number] = Node.inToNode[number] = self
        self._shell.greet()
        if self.runs_in_lab:
            self._shell.run(f"{{ {_pids.first_of_host()}; }} 2>/dev/null")
        for mount in self._mounts():
            self.complain_if(self._shell.run(mount))

    def complain_if(self, said: str) -> None:
        """Says what should have been silent."""
        if said.strip():
            self.complain(said)

    def _close_shell(self) -> None:
        shell, self._shell = self._shell, None
        self.waiting = False
        if shell is not None:
            Node.outToNode.pop(shell.fileno(), None)
            Node.inToNode.pop(shell.fileno(), None)
            shell.close()

    @property
    def shell(self) -> Shell:
        """Its shell."""
        if self._shell is not None and not self.runs_in_lab:
            return self._shell
        if self._shell is not None and self.fabric is not None and (self.fabric.is_current or self.waiting):
            return self._shell
        return self._shell_now()

    @property
    def stdout(self) -> Shell:
        """What can be waited for until the shell has written something."""
        return self.shell

    stdin = stdout

    @property
    def master(self) -> int:
        """The descriptor of its shell's terminal."""
        return self.shell.master

    @property
    def slave(self) -> int:
        """The descriptor that the terminal's other side had."""
        return self.shell.slave

    @property
    def pid(self) -> int | None:
        """The process of its shell on this machine."""
        shell = self.shell
        if shell.pid is not None:
            return shell.pid
        return _early.process_of(shell)

    def mountPrivateDirs(self) -> None:
        """Gives it folders of its own; done when its shell starts."""
        for each in self.privateDirs:
            if isinstance(each, tuple) and len(each) != 2:
                refuse(f"privateDirs={each!r}", "a pair is the folder in the node and the one of this machine")

    def unmountPrivateDirs(self) -> None:
        """Nothing: they go with the node."""

    def _mounts(self) -> list[str]:
        found: list[str] = []
        for each in self.privateDirs:
            if isinstance(each, tuple):
                source = str(each[1]) % self.__dict__
                found.append(
                    f"for d in {source} {each[0]}; do [ -e $d ] || mkdir -p $d; done && mount --bind {source} {each[0]}"
                )
            else:
                found.append(f"mkdir -p {each} && mount -n -t tmpfs tmpfs {each}")
        return found

    def read(self, size: int = 1024) -> str:
        """Reads what the shell has written."""
        if not self.shell.buffer:
            self.shell.read(None)
        text, self.shell.buffer = self.shell.buffer[:size], self.shell.buffer[size:]
        return text

    def readline(self) -> str | None:
        """Reads a line, if there is a whole one."""
        line, end, rest = self.shell.buffer.partition("\n")
        if not end:
            self.shell.read(0)
            line, end, rest = self.shell.buffer.partition("\n")
        if not end:
            return None
        self.shell.buffer = rest
        return line

    def write(self, data: str) -> None:
        """Types into the shell."""
        self.shell.write(data)

    def waitReadable(self, timeoutms: float | None = None) -> Any:
        """Waits until the shell has written something."""
        if self.shell.buffer:
            return None
        poll = select.poll()
        poll.register(self.shell.fileno(), select.POLLIN)
        return poll.poll(timeoutms)

    def sendCmd(self, *args: Any, **kwargs: Any) -> None:
        """Starts a command in the shell; `waitOutput` or `monitor` read what it writes."""
        assert not self.waiting, f"{self.name} still runs `{self.lastCmd}`: wait for it with waitOutput()"
        command = _text_of(args)
        if not self.runs_in_lab:
            command = _sysctls.of_machine(command)
        shell = self.shell
        self._prepare(command)
        # Nothing that is empty gives a prompt.
        command = command if re.search(r"\S", command) else ":"
        self.lastCmd = command
        self.lastPid = None
        shell.buffer = ""
        shell.send(command)
        self.waiting = True

    def _prepare(self, command: str) -> None:
        """Gives it what a program wants that Mininet's hosts would have of this machine."""
        live = self._home().live if self.runs_in_lab else None
        if live is not None and live is not self._prepared and _frr.wants_group(command):
            self._prepared = live
            self.complain_if(_frr.give_group(live, self.lab_node))

    def sendInt(self, intr: str = "\x03") -> None:
        """Types Ctrl-C."""
        debug(f"*** sendInt: {self.name}\n")
        self.shell.interrupt(intr)

    def monitor(self, timeoutms: float | None = None, findPid: bool = True) -> str:
        """What the command has written meanwhile; `waiting` is false when it has ended."""
        shell = self.shell
        if not shell.buffer and not shell.readable(None if timeoutms is None else timeoutms / 1000):
            return ""
        if shell.readable(0):
            shell.read(0)
        end = _END.search(shell.buffer)
        if end:
            self.waiting = False
            self.lastPid = int(end[1]) if end[1] else None
            text, shell.buffer = shell.buffer[: end.start()], ""
            return _JOB.sub("", text)
        # A prompt may have come in part.
        text, mark, rest = shell.buffer.partition("\x7f")
        shell.buffer = mark + rest
        text = _JOB.sub("", text)
        if not text and mark:
            shell.read(None if timeoutms is None else timeoutms / 1000)
        return text

    def waitOutput(self, verbose: bool = False, findPid: bool = True) -> str:
        """Waits for the end of the command; what it has written."""
        found: list[str] = []
        while self.waiting:
            text = self.monitor()
            found.append(text)
            if verbose:
                info(text)
        return "".join(found)

    def cmd(self, *args: Any, **kwargs: Any) -> str:
        """Runs a command in the shell; what it writes. `verbose=True` prints it, too."""
        command = _text_of(args)
        debug(f"*** {self.name} : {args}\n")
        if self._stopped:
            warn(f"({self.name} exited - ignoring cmd{args})\n")
            return ""
        if self._is_early:
            predicted = _early.predicted(command)
            if predicted is not None:
                self.pending.append(("cmd", command))
                return predicted
        self.sendCmd(command)
        return self.waitOutput(kwargs.get("verbose", False))

    @property
    def _is_early(self) -> bool:
        return self.runs_in_lab and not self.waiting and not (self.fabric is not None and self.fabric.is_current)

    def cmdPrint(self, *args: Any) -> str:
        """Runs a command, and prints it and what it writes."""
        info(f"*** {self.name} : {args}\n")
        return self.cmd(*args, verbose=True)

    def popen(self, *args: Any, **kwargs: Any) -> subprocess.Popen[Any]:
        """Starts a program in the node: a `subprocess.Popen`, with its arguments."""
        options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "mncmd": None}
        options.update(kwargs)
        options.pop("mncmd")
        shell = options.pop("shell", False)
        command: Any = args[0] if len(args) == 1 else list(args)
        if isinstance(command, str):
            argv = ["/bin/sh", "-c", command] if shell else _split(command)
        else:
            argv = [str(word) for word in command]
            argv = ["/bin/sh", "-c", " ".join(argv)] if shell else argv
        if self.runs_in_lab:
            live = self._home().ensure()
            self.is_used = True
            if self._mounts():
                self._shell_now()
            self._prepare(" ".join(argv))
            variables = options.pop("env", None) or os.environ
            given = [f"--env={key}={value}" for key, value in variables.items() if "\n" not in value]
            argv = [_program.program(), "exec", *given, live.name, self.lab_node, "--", *argv]
        debug(f"*** {self.name} : popen {argv[-3:]}\n")
        # As Mininet's do: Ctrl-C is the script's, and who ends the group of a program does not end the script.
        if not options.get("preexec_fn"):
            options.setdefault("start_new_session", True)
        return subprocess.Popen(argv, **options)

    def pexec(self, *args: Any, **kwargs: Any) -> tuple[str, str, int]:
        """Runs a program; what it writes, what it complains of, and its exit code."""
        process = self.popen(*args, stdin=subprocess.PIPE, **kwargs)
        out, err = process.communicate()
        return decode(out), decode(err), process.returncode

    # Its end

    def cleanup(self) -> None:
        """Ends its shell."""
        self._close_shell()

    def terminate(self) -> None:
        """Ends it."""
        self._close_shell()
        self._stopped = True

    def stop(self, deleteIntfs: bool = False) -> None:
        """Ends it, and removes its interfaces if asked for."""
        if deleteIntfs:
            self.deleteIntfs()
        self.terminate()
        if self.fabric is not None and not any(not node._stopped for node in self.fabric.nodes.values()):
            self.fabric.down()

    @classmethod
    def checkSetup(cls) -> None:
        """Checks once whether this kind of node can be had."""
        if not cls.isSetup:
            cls.setup()
            cls.isSetup = True

    @classmethod
    def setup(cls) -> None:
        """For subclasses: checks what they need."""

    def make_wire(self, intf: Intf) -> None:
        """Makes an interface of this machine whose other end is in the lab."""
        if os.geteuid() != 0:
            refuse(
                f"a link to `{self.name}`, which is this machine itself (inNamespace=False)",
                "it changes this machine's network, which needs root; with net.addNAT() the lab has a way out without root",
            )
        _early.make_wire(intf)

    def __repr__(self) -> str:
        intfs = ",".join(f"{intf.name}:{intf.IP()}" for intf in self.intfList())
        return f"<{type(self).__name__} {self.name}: {intfs} pid={self._shell.pid if self._shell else None}> "

    def __str__(self) -> str:
        return self.name


def _text_of(args: tuple[Any, ...]) -> str:
    words = args[0] if len(args) == 1 and isinstance(args[0], list) else args
    return " ".join(str(word) for word in words)


def _split(command: str) -> list[str]:
    import shlex

    return shlex.split(command)


__all__ = ["Node", "error"]
