"""Everything that has settings of its own in a lab: queues, delays, losses, sources of traffic.

Written by `scripts/python-models` from `netloom schema`: change that, and run it again.
"""

# ruff: noqa: E501, D200, D212

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from ._settings import Model

if TYPE_CHECKING:
    from ._keys import DirectionKeys, NodeKeys
    from ._settings import Limit, Name, Rate, Share, Size, Time

__all__ = [
    "Addresses",
    "Antenna",
    "BarabasiAlbert",
    "BitErrorLoss",
    "Bounds",
    "CellDrx",
    "CellHandover",
    "CellHandovers",
    "CellSignals",
    "CellSite",
    "CellTerminal",
    "CellTrace",
    "Chain",
    "Chance",
    "Change",
    "Circle",
    "ClockChange",
    "ClockEntry",
    "Cloud",
    "CoDel",
    "Configuration",
    "ConstantDelay",
    "Constellation",
    "ConstellationAccess",
    "Container",
    "Continue",
    "Convergence",
    "CorrelatedLoss",
    "Cpu",
    "Crash",
    "CrossConstant",
    "CrossOnOff",
    "CrossPcap",
    "CrossPoisson",
    "Cut",
    "DeliveryTrace",
    "Dhcp",
    "Dilated",
    "Disk",
    "DiskEntry",
    "Dns",
    "Down",
    "Drawn",
    "Drr",
    "DualPi2",
    "Dumbbell",
    "EveryLoss",
    "Exercise",
    "ExponentialDelay",
    "Fail",
    "FailEntry",
    "FarEnd",
    "FarInterface",
    "FatTree",
    "Fault",
    "Fifo",
    "File",
    "Flap",
    "FlapEntry",
    "FlapTime",
    "Forward",
    "FqCodel",
    "Freeze",
    "GammaDelay",
    "GilbertElliottLoss",
    "GilbertLoss",
    "Grid",
    "Heal",
    "HistogramDelay",
    "Hunt",
    "HuntChecker",
    "HuntClock",
    "HuntCrash",
    "HuntDisk",
    "HuntDns",
    "HuntFaults",
    "HuntLimit",
    "HuntNodes",
    "HuntPacket",
    "HuntPackets",
    "HuntPartition",
    "HuntSignal",
    "IndoorLoss",
    "Internet",
    "Iptables",
    "Journal",
    "Kill",
    "LeafSpine",
    "LimitEntry",
    "Log",
    "LogDistanceLoss",
    "Machine",
    "MarkovLoss",
    "Match",
    "Measure",
    "MediumCell",
    "MediumWifi",
    "Mesh",
    "Move",
    "MultiWallLoss",
    "Multicast",
    "Nat",
    "NodeClock",
    "NodeMeasure",
    "NormalDelay",
    "OomEntry",
    "Overhead",
    "Packet",
    "PacketEntry",
    "PacketTreatment",
    "PacketsLoss",
    "Parameter",
    "ParetoDelay",
    "ParetoNormalDelay",
    "ParkingLot",
    "Partition",
    "PartitionShape",
    "PathCircle",
    "PathFile",
    "PathGaussMarkov",
    "PathGroup",
    "PathManhattan",
    "PathRandomWaypoint",
    "PathWaypoint",
    "PathWaypoints",
    "PatternLoss",
    "Pause",
    "Pie",
    "Pipe",
    "Position",
    "Priority",
    "PriorityClass",
    "Querier",
    "QueueClass",
    "Ramp",
    "RampEntry",
    "RateSlots",
    "Ready",
    "Reboot",
    "Red",
    "Reorder",
    "ReplayLoss",
    "ResetEntry",
    "Resources",
    "Restart",
    "Ring",
    "Route",
    "Rule",
    "SamplesDelay",
    "Schedule",
    "ScheduleEntry",
    "SetEntry",
    "Settings",
    "Signal",
    "Snooping",
    "SpanningTree",
    "Star",
    "StartEntry",
    "Starve",
    "StarveEntry",
    "State",
    "Step",
    "StopEntry",
    "Sweep",
    "TableDelay",
    "Task",
    "ThreeSlopesLoss",
    "TokenBucket",
    "Torus",
    "TrafficConstant",
    "TrafficOnOff",
    "TrafficPcap",
    "TrafficPoisson",
    "TrafficWindow",
    "Tree",
    "TunnelKey",
    "Turns",
    "UniformDelay",
    "Up",
    "VirtualMachine",
    "Vlans",
    "Wall",
    "Waxman",
    "Wf2q",
    "WifiFading",
    "WifiInterferer",
    "WifiRate",
    "WifiRoaming",
    "WifiShadowing",
    "WifiStation",
]


class Addresses(Model):
    """Where automatic addresses come from."""

    def __init__(
        self,
        *,
        ipv4: Literal["none"] | str | None = None,
        ipv6: Literal["none"] | str | None = None,
        point_to_point: bool | None = None,
    ) -> None:
        """
        Args:
            ipv4: The prefix of IPv4 subnets, or none: no IPv4. Default: 10.0.0.0/8.
            ipv6: The prefix of IPv6 subnets, or none: no IPv6. Default: fd00:6e6c::/32.
            point_to_point: Whether links between two nodes have a /31 and a /127 instead of a /30 and a /64. Default:
                false.
        """
        super().__init__()
        self._put("ipv4", ipv4)
        self._put("ipv6", ipv6)
        self._put("point_to_point", point_to_point)


class Antenna(Model):
    """The gain of an antenna by direction, after 3GPP TR 38.901: off its axis it loses 12 (angle / width)² dB."""

    def __init__(
        self,
        *,
        azimuth: float | None = None,
        front_to_back: str | None = None,
        gain: str | None = None,
        tilt: float | None = None,
        vertical_width: float | None = None,
        width: float | None = None,
    ) -> None:
        """
        Args:
            azimuth: The direction of its axis in degrees, clockwise from the north: 90 is east. Default: it sends
                equally well in all directions.
            front_to_back: How much less it sends behind itself, and at most loses in any direction. Default: 30 dB.
            gain: The gain along its axis, over an antenna that sends equally well in all directions. Default: 0 dB.
            tilt: The degrees by which its axis points below the horizon. Default: 0.
            vertical_width: The degrees between the two elevations with half the power. Default: all elevations are
                alike.
            width: The degrees between the two directions with half the power, 0.1 to 360; it and the keys below need
                an azimuth. Default: 65.
        """
        super().__init__()
        self._put("azimuth", azimuth)
        self._put("front_to_back", front_to_back)
        self._put("gain", gain)
        self._put("tilt", tilt)
        self._put("vertical_width", vertical_width)
        self._put("width", width)


class Bounds(Model):
    """How far a run may stray and still be as described."""

    def __init__(
        self,
        *,
        changes: bool | None = None,
        delay: Share | None = None,
        events: Time | None = None,
        lateness: Time | None = None,
        lateness_max: Time | None = None,
        rate: Share | None = None,
        standstill: Time | None = None,
        starts: Time | None = None,
        starvation: Share | None = None,
    ) -> None:
        """
        Args:
            changes: Whether programs may give interfaces of described links another queue, MTU or state. Default:
                false.
            delay: The mean delay of a pipe differs from the described one by at most this, or by `lateness` if that
                is more. Default: 1 %.
            events: Links are changed, cut and restored, windows of expectations begin and end, and the run ends at
                most this much later than described. Default: 10 ms.
            lateness: 99 % of a pipe's packets are delivered at most this much later than due. Default: 1 ms.
            lateness_max: No packet of a pipe is delivered later than due by more than this. Default: ten times
                `lateness`.
            rate: The rate of a busy pipe differs from the described one by at most this. Default: 2 %.
            standstill: Each kernel node and virtual machine stands still for at most this long at a time, whatever
                the cause. Default: 100 ms; no limit with `starvation: 100 %`.
            starts: Programs with an `at` are started, and programs with a `for` are stopped, at most this much later
                than described. Default: 100 ms.
            starvation: Each kernel node, and an engine that serves kernel nodes, waits for a processor for at most
                this share of wall time. Default: 10 %.
        """
        super().__init__()
        self._put("changes", changes)
        self._put("delay", delay)
        self._put("events", events)
        self._put("lateness", lateness)
        self._put("lateness_max", lateness_max)
        self._put("rate", rate)
        self._put("standstill", standstill)
        self._put("starts", starts)
        self._put("starvation", starvation)


class CellDrx(Model):
    """The times at which a terminal listens."""

    def __init__(
        self,
        *,
        cycle: Time | None = None,
        inactivity: Time | Literal[0] | None = None,
        on: Time | None = None,
    ) -> None:
        """
        Args:
            cycle: The time from the beginning of one time of listening to the next, behind that. Default: 160 ms.
            inactivity: For how long it listens behind its last slot with data. Default: 100 ms.
            on: How long each of these times is. Default: 10 ms.
        """
        super().__init__()
        self._put("cycle", cycle)
        self._put("inactivity", inactivity)
        self._put("on", on)


class CellHandover(Model):
    """When a terminal goes to another cell (event A3), and what that costs."""

    def __init__(
        self,
        *,
        filter: int | None = None,
        forwarding: bool | None = None,
        gap: Time | Literal[0] | None = None,
        hysteresis: str | None = None,
        measure: Time | None = None,
        offset: str | None = None,
        time_to_trigger: Time | Literal[0] | None = None,
    ) -> None:
        """
        Args:
            filter: The coefficient k of the filter of measurements; 0 is none. Default: 4.
            forwarding: Whether the old cell hands on what waits for the terminal; otherwise that is lost. Default:
                true.
            gap: For how long nothing is sent. Default: 50 ms.
            hysteresis: What comes on top of that. Default: 1 dB.
            measure: The time from one measurement to the next, a multiple of the slot. Default: 40 ms.
            offset: By how much the other cell has to be stronger. Default: 3 dB.
            time_to_trigger: For how long all measurements must show it. Default: 160 ms.
        """
        super().__init__()
        self._put("filter", filter)
        self._put("forwarding", forwarding)
        self._put("gap", gap)
        self._put("hysteresis", hysteresis)
        self._put("measure", measure)
        self._put("offset", offset)
        self._put("time_to_trigger", time_to_trigger)


class CellHandovers(Model):
    """Handovers of a terminal."""

    def __init__(
        self,
        *,
        every: Time,
        gap: Time | None = None,
    ) -> None:
        """
        Args:
            every: The time from one to the next, and to the first.
            gap: For how long nothing is sent. Default: 50 ms.
        """
        super().__init__()
        self._put("every", every)
        self._put("gap", gap)


class CellSignals(Model):
    """The signals of a cell."""

    def __init__(
        self,
        *,
        frequency: str,
        fading: WifiFading | None = None,
        loss: Literal["friis", "log-distance", "three-slopes", "two-ray", "street", "street-obstructed", "town", "town-obstructed", "office", "office-obstructed", "country"] | LogDistanceLoss | ThreeSlopesLoss | MultiWallLoss | IndoorLoss | None = None,
        noise_figure: str | None = None,
        power: str | None = None,
        shadowing: WifiShadowing | None = None,
        walls: Sequence[Wall] | None = None,
    ) -> None:
        """
        Args:
            frequency: The centre frequency.
            fading: How powers vary over time. Default: not at all.
            loss: The path loss between positions, as with a medium of kind wifi. Default: log-distance.
            noise_figure: How much noise receivers add to that of the blocks. Default: 7 dB.
            power: The power of the base station, without the gain of its antenna. Default: 43 dBm.
            shadowing: How losses vary over places. Default: not at all.
            walls: Walls, each of which takes its loss from signals that go through it. Default: none.
        """
        super().__init__()
        self._put("frequency", frequency)
        self._put("fading", fading)
        self._put("loss", loss)
        self._put("noise_figure", noise_figure)
        self._put("power", power)
        self._put("shadowing", shadowing)
        self._put("walls", walls)


class CellSite(Model):
    """A cell of the base station: from where it sends, and how."""

    def __init__(
        self,
        *,
        position: Sequence[str] | Position,
        antenna: Antenna | None = None,
        carrier: int | None = None,
        power: str | None = None,
    ) -> None:
        """
        Args:
            position: Where its antenna is.
            antenna: Its antenna. Default: equal in all directions, 0 dB.
            carrier: The number of its carrier: cells with the same one interfere. Default: 1.
            power: The power on all blocks together, without the gain of its antenna. Default: that of the signals.
        """
        super().__init__()
        self._put("position", position)
        self._put("antenna", antenna)
        self._put("carrier", carrier)
        self._put("power", power)


class CellTerminal(Model):
    """A terminal of a cell. The base station may stand here, too, with position, power and antenna."""

    def __init__(
        self,
        *,
        antenna: Antenna | None = None,
        cell: Name | None = None,
        cqi: int | None = None,
        handovers: CellHandovers | None = None,
        position: Sequence[str] | Position | None = None,
        power: str | None = None,
        sinr: str | None = None,
        trace: str | None = None,
        uplink_cqi: int | None = None,
    ) -> None:
        """
        Args:
            antenna: Its antenna, with signals. Default: equal in all directions, 0 dB.
            cell: The cell at which it stays. Default: the strongest one, with handovers; without signals the first
                one.
            cqi: Its channel quality indicator in both directions. Default: by signals, or 15.
            handovers: Changes to other cells at regular times, with a gap in which nothing is sent. Default: none.
            position: Where it is, with signals. Default: that of the node.
            power: The power with which it sends, with signals. Default: 23 dBm.
            sinr: The ratio of signal to noise instead, from which an indicator follows.
            trace: A file with such ratios over time, which repeats: per line a time in milliseconds and decibels.
            uplink_cqi: That of its uplink, where it differs.
        """
        super().__init__()
        self._put("antenna", antenna)
        self._put("cell", cell)
        self._put("cqi", cqi)
        self._put("handovers", handovers)
        self._put("position", position)
        self._put("power", power)
        self._put("sinr", sinr)
        self._put("trace", trace)
        self._put("uplink_cqi", uplink_cqi)


class Chance(Model):
    """A probability, with correlation between neighbours."""

    def __init__(
        self,
        *,
        probability: Share | Literal[0],
        correlation: Share | Literal[0] | None = None,
    ) -> None:
        """
        Args:
            probability: The probability with which it happens to a packet.
            correlation: How alike neighbours are, from 0 % to below 100 %: the probability with which a packet uses
                the random number of the one before. Default: 0.
        """
        super().__init__()
        self._put("probability", probability)
        self._put("correlation", correlation)


class Change(Model):
    """What can be changed while a lab runs."""

    def __init__(
        self,
        *,
        corrupt: Share | Literal[0] | Chance | None = None,
        cross: Literal["none"] | Sequence[CrossConstant | CrossPoisson | CrossOnOff | CrossPcap] | None = None,
        delay: Time | Literal[0] | ConstantDelay | UniformDelay | NormalDelay | ExponentialDelay | ParetoDelay | ParetoNormalDelay | GammaDelay | TableDelay | HistogramDelay | SamplesDelay | None = None,
        dummynet: str | float | bool | None = None,
        duplicate: Share | Literal[0] | Chance | None = None,
        loss: Share | Literal[0] | CorrelatedLoss | BitErrorLoss | GilbertLoss | GilbertElliottLoss | MarkovLoss | EveryLoss | PacketsLoss | PatternLoss | ReplayLoss | None = None,
        netem: str | float | bool | None = None,
        overhead: Literal["none", "ethernet", "atm"] | Overhead | None = None,
        queue: Limit | Fifo | Red | Pie | DualPi2 | CoDel | FqCodel | Drr | Wf2q | Priority | None = None,
        rate: Rate | Literal["unlimited"] | TokenBucket | DeliveryTrace | CellTrace | RateSlots | None = None,
        reorder: Share | Literal[0] | Reorder | None = None,
        schedule: Literal["none"] | Schedule | None = None,
        state: Literal["none"] | State | None = None,
        tbf: str | float | bool | None = None,
    ) -> None:
        """
        Args:
            corrupt: The probability with which one bit of a packet is flipped, alone or with a correlation. Default:
                0.
            cross: Traffic that exists in this direction only and uses its queue and rate: a list of sources. Default:
                none.
            delay: Propagation delay of one direction, after the last bit is sent: a time, or a distribution. Default:
                0.
            dummynet: A string for `ipfw pipe … config`, instead of other keys; `netloom link --dummynet` shows what
                it means.
            duplicate: The probability with which a packet is duplicated, alone or with a correlation. Default: 0.
            loss: The probability with which each packet is lost, independently of all others, or another model.
                Default: 0.
            netem: A string for `tc … netem`, instead of other keys; `netloom link --netem` shows what it means.
            overhead: What a packet is charged on the link beyond its bytes from the IP header on: none, ethernet,
                atm, or bytes and cells. Default: none.
            queue: How much may wait for the transmitter: packets, bytes or a time; or a map with the discipline as
                its `kind`. Default: 1000 packets.
            rate: How fast it sends, counting bytes from the IP header on: a rate, a token bucket, a trace or two,
                slots, or unlimited. Default: unlimited.
            reorder: The probability with which a packet travels for a shorter time and overtakes others, alone or
                with more. Default: 0.
            schedule: Changes at known times: steps, here or in a CSV file. Default: none.
            state: Flapping, and what a cut does to packets on the wire. Default: none.
            tbf: A string for `tc … tbf`, instead of other keys; `netloom link --tbf` shows what it means.
        """
        super().__init__()
        self._put("corrupt", corrupt)
        self._put("cross", cross)
        self._put("delay", delay)
        self._put("dummynet", dummynet)
        self._put("duplicate", duplicate)
        self._put("loss", loss)
        self._put("netem", netem)
        self._put("overhead", overhead)
        self._put("queue", queue)
        self._put("rate", rate)
        self._put("reorder", reorder)
        self._put("schedule", schedule)
        self._put("state", state)
        self._put("tbf", tbf)


class Circle(Model):
    """A circle at one height."""

    def __init__(
        self,
        *,
        centre: Sequence[str],
        radius: str,
        clockwise: bool | None = None,
        period: Time | None = None,
        speed: str | None = None,
        start: float | None = None,
    ) -> None:
        """
        Args:
            centre: The centre.
            radius: The radius.
            clockwise: Whether it goes clockwise, seen from above. Default: false.
            period: How long once around takes. Default: by `speed`.
            speed: The speed, instead of `period`.
            start: Where it begins, seen from the centre: degrees, 0 in the east and 90 in the north. Default: 0.
        """
        super().__init__()
        self._put("centre", centre)
        self._put("radius", radius)
        self._put("clockwise", clockwise)
        self._put("period", period)
        self._put("speed", speed)
        self._put("start", start)


class Dilated(Model):
    """Lab time that is slower than wall time."""

    def __init__(
        self,
        *,
        dilation: float,
    ) -> None:
        """
        Args:
            dilation: How many seconds of wall time a second of lab time lasts: 1 to 10000, with up to six decimals.
        """
        super().__init__()
        self._put("dilation", dilation)


class ClockChange(Model):
    """What changes of a clock."""

    def __init__(
        self,
        *,
        drift: str | Literal[0] | None = None,
        leap: Literal["insert", "delete"] | None = None,
        step: Time | None = None,
    ) -> None:
        """
        Args:
            drift: How much faster than lab time it runs from then on; slower with a minus sign. At most 10 %.
            leap: A leap second at the end of the clock's day in UTC: insert shows its last second twice, delete
                leaves it out.
            step: By how much it is set forward at once; back with a minus sign.
        """
        super().__init__()
        self._put("drift", drift)
        self._put("leap", leap)
        self._put("step", step)


class ClockEntry(Model):
    """Changes clocks of nodes (CLOCK_REALTIME) that have a kernel of their own."""

    def __init__(
        self,
        *,
        clock: ClockChange,
        on: str | Sequence[str],
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            clock: What changes.
            on: The node, or several: a list, or a name with `*`, which stands for any letters.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("clock", clock)
        self._put("on", on)
        self._put("at", at)
        self._put("every", every)
        self._put("times", times)
        self._put("until", until)


class Configuration(Model):
    """The configuration of a router's daemons."""

    def __init__(
        self,
        *,
        text: str | float | bool,
    ) -> None:
        """
        Args:
            text: The configuration itself.
        """
        super().__init__()
        self._put("text", text)


class Container(Model):
    """A container that runs already, of docker or podman."""

    def __init__(
        self,
        *,
        name: str,
        engine: Literal["docker", "podman"] | None = None,
    ) -> None:
        """
        Args:
            name: Its name, or the beginning of its identifier.
            engine: Whose container it is. Default: whichever of docker and podman has it.
        """
        super().__init__()
        self._put("name", name)
        self._put("engine", engine)


class Continue(Model):
    """Lets programs go on that are paused, by SIGCONT."""

    def __init__(
        self,
        *,
        continue_: Name | str | Sequence[Name | str],
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        process: str | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            continue_: The command, or the node with all that runs in it, or a pattern of nodes; or a list of them.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            process: Only processes with this command line, its words with one space between them; `*` stands for any
                letters. Default: all.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("continue", continue_)
        self._put("at", at)
        self._put("every", every)
        self._put("process", process)
        self._put("times", times)
        self._put("until", until)


class Convergence(Model):
    """What time zero waits for, and how long."""

    def __init__(
        self,
        *,
        converged: Time,
    ) -> None:
        """
        Args:
            converged: Time zero waits until every router has the routes that its daemons bring; after this time the
                run fails.
        """
        super().__init__()
        self._put("converged", converged)


class Cpu(Model):
    """
    How long a node's only processor is busy with a packet that it receives or sends, and with what programs ask of
    its kernel; computing takes time only with `branch`.
    """

    def __init__(
        self,
        *,
        branch: str | None = None,
        byte: str | Literal[0] | None = None,
        count: Literal["processor", "steps"] | None = None,
        level: Literal["host", "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"] | None = None,
        packet: Time | Literal[0] | None = None,
        switch: Time | Literal[0] | None = None,
        syscall: Time | Literal[0] | None = None,
    ) -> None:
        """
        Args:
            branch: The cost of each conditional branch that a program executes, in whole picoseconds, at most 1 us;
                it needs a processor that counts them, or `count: steps`. Default: computing takes no time.
            byte: The cost of each byte of a packet from the IP header on, in whole picoseconds. Default: 0.
            count: Who counts the branches of `branch`: the processor, or Netloom, which then stops programs after
                each instruction; that takes about 10 us per instruction. Default: processor.
            level: The processor that programs see: this machine's, or a level that processors of many machines have,
                so that programs choose the same code on all of them. Default: host.
            packet: The cost of a packet of any size; a super-packet counts as one. Default: 0.
            switch: The cost of a switch from one program or thread to another, at most 1 ms. Default: 128 ns.
            syscall: For each system call of a program, at most 1 ms; with 0, a program that waits in a loop of them
                waits for ever. Default: 128 ns, and up to 5 us for a node that is busy for long without a pause.
        """
        super().__init__()
        self._put("branch", branch)
        self._put("byte", byte)
        self._put("count", count)
        self._put("level", level)
        self._put("packet", packet)
        self._put("switch", switch)
        self._put("syscall", syscall)


class Crash(Model):
    """
    The kernel of a node is gone at once, as in a power cut: what its programs had not written to its disk is lost,
    and of that which no flush has made durable, what the rule says.
    """

    def __init__(
        self,
        *,
        crash: Name | str | Sequence[Name | str],
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        for_: Time | Drawn | None = None,
        keep: Literal["flushed", "all", "some", "torn"] | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            crash: The node, or a name with `*`, which stands for any letters; or a list of them.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            for_: It boots again so long after. Default: by `start`, or not at all.
            keep: What is on its disk beside what a flush has made durable: flushed, nothing; all writes; some of
                them, by chance; or torn, all but the end of the last. Default: flushed.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("crash", crash)
        self._put("at", at)
        self._put("every", every)
        self._put("for", for_)
        self._put("keep", keep)
        self._put("times", times)
        self._put("until", until)


class CrossConstant(Model):
    """Cross traffic at a constant rate."""

    def __init__(
        self,
        *,
        rate: Rate,
        size: Literal["imix"] | Size,
        start: Time | Literal[0] | None = None,
        stop: Time | None = None,
    ) -> None:
        """
        Args:
            rate: How much it sends on average, from the IP header on.
            size: Length of its packets from the IP header on, 28 B to 65535 B; imix: 7 of 40, 4 of 576 and 1 of 1500
                bytes in random order.
            start: When it begins, after time zero or the change. Default: 0.
            stop: When it ends, after time zero or the change. Default: never.
        """
        super().__init__()
        self._put("kind", "constant")
        self._put("rate", rate)
        self._put("size", size)
        self._put("start", start)
        self._put("stop", stop)


class CrossOnOff(Model):
    """Cross traffic in bursts of Pareto length; many such sources together are self-similar."""

    def __init__(
        self,
        *,
        off: Time,
        on: Time,
        rate: Rate,
        size: Literal["imix"] | Size,
        shape: float | None = None,
        sources: int | None = None,
        start: Time | Literal[0] | None = None,
        stop: Time | None = None,
    ) -> None:
        """
        Args:
            off: The mean length of silence.
            on: The mean length of bursts; rate is the rate during a burst.
            rate: How much it sends on average, from the IP header on.
            size: Length of its packets from the IP header on, 28 B to 65535 B; imix: 7 of 40, 4 of 576 and 1 of 1500
                bytes in random order.
            shape: The shape of both Pareto distributions, above 1. Default: 1.5.
            sources: How many such sources, 1 to 1000; each is a flow of its own and has this rate. Default: 1.
            start: When it begins, after time zero or the change. Default: 0.
            stop: When it ends, after time zero or the change. Default: never.
        """
        super().__init__()
        self._put("kind", "on-off")
        self._put("off", off)
        self._put("on", on)
        self._put("rate", rate)
        self._put("size", size)
        self._put("shape", shape)
        self._put("sources", sources)
        self._put("start", start)
        self._put("stop", stop)


class CrossPcap(Model):
    """Cross traffic with the times and sizes of recorded packets."""

    def __init__(
        self,
        *,
        file: str,
        repeat: bool | None = None,
        start: Time | Literal[0] | None = None,
        stop: Time | None = None,
    ) -> None:
        """
        Args:
            file: A capture file in the format of tcpdump (pcap) or Wireshark (pcapng); relative to the lab file.
            repeat: Whether it begins again one mean gap after its last packet. Default: false.
            start: When it begins, after time zero or the change. Default: 0.
            stop: When it ends, after time zero or the change. Default: never.
        """
        super().__init__()
        self._put("kind", "pcap")
        self._put("file", file)
        self._put("repeat", repeat)
        self._put("start", start)
        self._put("stop", stop)


class CrossPoisson(Model):
    """Cross traffic whose packets come independently of one another."""

    def __init__(
        self,
        *,
        rate: Rate,
        size: Literal["imix"] | Size,
        start: Time | Literal[0] | None = None,
        stop: Time | None = None,
    ) -> None:
        """
        Args:
            rate: How much it sends on average, from the IP header on.
            size: Length of its packets from the IP header on, 28 B to 65535 B; imix: 7 of 40, 4 of 576 and 1 of 1500
                bytes in random order.
            start: When it begins, after time zero or the change. Default: 0.
            stop: When it ends, after time zero or the change. Default: never.
        """
        super().__init__()
        self._put("kind", "poisson")
        self._put("rate", rate)
        self._put("size", size)
        self._put("start", start)
        self._put("stop", stop)


class Cut(Model):
    """How a link is cut."""

    def __init__(
        self,
        *,
        carrier: bool | None = None,
        for_: Time | Drawn | None = None,
    ) -> None:
        """
        Args:
            carrier: Whether the interfaces at both ends lose their carrier, so that programs see the cut. Default:
                false.
            for_: For how long. Default: until `up`.
        """
        super().__init__()
        self._put("carrier", carrier)
        self._put("for", for_)


class ConstantDelay(Model):
    """A delay that is always the same."""

    def __init__(
        self,
        *,
        delay: Time | Literal[0],
        order: Literal["kept", "free"] | None = None,
    ) -> None:
        """
        Args:
            delay: The delay.
            order: kept: packets arrive in the order in which they are sent; free: one with a shorter delay overtakes.
                Default: kept.
        """
        super().__init__()
        self._put("kind", "constant")
        self._put("delay", delay)
        self._put("order", order)


class ExponentialDelay(Model):
    """A constant delay and an exponentially distributed one."""

    def __init__(
        self,
        *,
        mean: Time | Literal[0],
        correlation: Share | Literal[0] | None = None,
        order: Literal["kept", "free"] | None = None,
        shift: Time | Literal[0] | None = None,
    ) -> None:
        """
        Args:
            mean: The mean of the random part, above zero.
            correlation: The correlation of each delay with the one before it, -100 % to 100 %. Default: 0.
            order: kept: packets arrive in the order in which they are sent; free: one with a shorter delay overtakes.
                Default: kept.
            shift: The constant part. Default: 0.
        """
        super().__init__()
        self._put("kind", "exponential")
        self._put("mean", mean)
        self._put("correlation", correlation)
        self._put("order", order)
        self._put("shift", shift)


class GammaDelay(Model):
    """A constant delay and one with a gamma distribution."""

    def __init__(
        self,
        *,
        scale: Time | Literal[0],
        shape: float,
        correlation: Share | Literal[0] | None = None,
        order: Literal["kept", "free"] | None = None,
        shift: Time | Literal[0] | None = None,
    ) -> None:
        """
        Args:
            scale: The scale, above zero: the mean of the random part is shape * scale.
            shape: The shape, above 0.
            correlation: The correlation of each delay with the one before it, -100 % to 100 %. Default: 0.
            order: kept: packets arrive in the order in which they are sent; free: one with a shorter delay overtakes.
                Default: kept.
            shift: The constant part. Default: 0.
        """
        super().__init__()
        self._put("kind", "gamma")
        self._put("scale", scale)
        self._put("shape", shape)
        self._put("correlation", correlation)
        self._put("order", order)
        self._put("shift", shift)


class HistogramDelay(Model):
    """A delay that a histogram describes."""

    def __init__(
        self,
        *,
        file: str | float | bool,
        correlation: Share | Literal[0] | None = None,
        order: Literal["kept", "free"] | None = None,
    ) -> None:
        """
        Args:
            file: The file, relative to the lab file.
            correlation: The correlation of each delay with the one before it, -100 % to 100 %. Default: 0.
            order: kept: packets arrive in the order in which they are sent; free: one with a shorter delay overtakes.
                Default: kept.
        """
        super().__init__()
        self._put("kind", "histogram")
        self._put("file", file)
        self._put("correlation", correlation)
        self._put("order", order)


class NormalDelay(Model):
    """A normally distributed delay; below zero counts as zero."""

    def __init__(
        self,
        *,
        deviation: Time | Literal[0],
        mean: Time | Literal[0],
        correlation: Share | Literal[0] | None = None,
        order: Literal["kept", "free"] | None = None,
    ) -> None:
        """
        Args:
            deviation: The standard deviation.
            mean: The mean.
            correlation: The correlation of each delay with the one before it, -100 % to 100 %. Default: 0.
            order: kept: packets arrive in the order in which they are sent; free: one with a shorter delay overtakes.
                Default: kept.
        """
        super().__init__()
        self._put("kind", "normal")
        self._put("deviation", deviation)
        self._put("mean", mean)
        self._put("correlation", correlation)
        self._put("order", order)


class ParetoDelay(Model):
    """A constant delay and one with a Pareto distribution."""

    def __init__(
        self,
        *,
        scale: Time | Literal[0],
        shape: float,
        correlation: Share | Literal[0] | None = None,
        order: Literal["kept", "free"] | None = None,
        shift: Time | Literal[0] | None = None,
    ) -> None:
        """
        Args:
            scale: The shortest of the random part, above zero.
            shape: How fast long delays become rare, above 1.
            correlation: The correlation of each delay with the one before it, -100 % to 100 %. Default: 0.
            order: kept: packets arrive in the order in which they are sent; free: one with a shorter delay overtakes.
                Default: kept.
            shift: The constant part. Default: 0.
        """
        super().__init__()
        self._put("kind", "pareto")
        self._put("scale", scale)
        self._put("shape", shape)
        self._put("correlation", correlation)
        self._put("order", order)
        self._put("shift", shift)


class ParetoNormalDelay(Model):
    """A quarter of a normal and three quarters of a Pareto distribution, as in netem."""

    def __init__(
        self,
        *,
        deviation: Time | Literal[0],
        mean: Time | Literal[0],
        correlation: Share | Literal[0] | None = None,
        order: Literal["kept", "free"] | None = None,
    ) -> None:
        """
        Args:
            deviation: What netem calls jitter.
            mean: The mean.
            correlation: The correlation of each delay with the one before it, -100 % to 100 %. Default: 0.
            order: kept: packets arrive in the order in which they are sent; free: one with a shorter delay overtakes.
                Default: kept.
        """
        super().__init__()
        self._put("kind", "pareto-normal")
        self._put("deviation", deviation)
        self._put("mean", mean)
        self._put("correlation", correlation)
        self._put("order", order)


class SamplesDelay(Model):
    """Measured delays."""

    def __init__(
        self,
        *,
        file: str | float | bool,
        correlation: Share | Literal[0] | None = None,
        order: Literal["kept", "free"] | None = None,
        replay: bool | None = None,
    ) -> None:
        """
        Args:
            file: The file, relative to the lab file.
            correlation: The correlation of each delay with the one before it, -100 % to 100 %. Default: 0.
            order: kept: packets arrive in the order in which they are sent; free: one with a shorter delay overtakes.
                Default: kept.
            replay: Whether the delays are played in the file's order, again and again. Default: false.
        """
        super().__init__()
        self._put("kind", "samples")
        self._put("file", file)
        self._put("correlation", correlation)
        self._put("order", order)
        self._put("replay", replay)


class TableDelay(Model):
    """A delay that a table of netem describes."""

    def __init__(
        self,
        *,
        deviation: Time | Literal[0],
        file: str | float | bool,
        mean: Time | Literal[0],
        correlation: Share | Literal[0] | None = None,
        order: Literal["kept", "free"] | None = None,
    ) -> None:
        """
        Args:
            deviation: What 8192 stands for in the table.
            file: The file, relative to the lab file.
            mean: The mean.
            correlation: The correlation of each delay with the one before it, -100 % to 100 %. Default: 0.
            order: kept: packets arrive in the order in which they are sent; free: one with a shorter delay overtakes.
                Default: kept.
        """
        super().__init__()
        self._put("kind", "table")
        self._put("deviation", deviation)
        self._put("file", file)
        self._put("mean", mean)
        self._put("correlation", correlation)
        self._put("order", order)


class UniformDelay(Model):
    """A delay that is uniformly distributed between two bounds."""

    def __init__(
        self,
        *,
        from_: Time | Literal[0],
        to: Time | Literal[0],
        below: Time | Literal[0] | None = None,
        correlation: Share | Literal[0] | None = None,
        order: Literal["kept", "free"] | None = None,
    ) -> None:
        """
        Args:
            from_: The shortest.
            to: The longest.
            below: How far the lower bound is below zero, with from: 0; a draw below zero is no delay. Default: 0.
            correlation: The correlation of each delay with the one before it, -100 % to 100 %. Default: 0.
            order: kept: packets arrive in the order in which they are sent; free: one with a shorter delay overtakes.
                Default: kept.
        """
        super().__init__()
        self._put("kind", "uniform")
        self._put("from", from_)
        self._put("to", to)
        self._put("below", below)
        self._put("correlation", correlation)
        self._put("order", order)


class Dhcp(Model):
    """A node's DHCP server, which answers questions for names, too."""

    def __init__(
        self,
        *,
        advertise: bool | None = None,
        dns: str | None = None,
        domain: str | None = None,
        lease: Time | None = None,
        links: Name | Sequence[Name] | None = None,
        range: Sequence[str] | None = None,
        reserve: bool | None = None,
        router: str | None = None,
    ) -> None:
        """
        Args:
            advertise: Whether a router advertises itself and its prefix of IPv6, too, so that its clients get their
                addresses and their default route of IPv6 from that (SLAAC, RFC 4862). Default: false.
            dns: The name server that clients get: a node, an address, or none. Default: this node.
            domain: The domain of the lab's names, in which those who ask look for names without a dot. Default: none.
            lease: For how long an address is lent: 2 min or more. Default: 1 h.
            links: The link, or those, that it serves. Default: those of its links where somebody asks.
            range: The first and the last address for those who have none reserved. Default: none; without `reserve`
                all addresses of the subnet that no other node has.
            reserve: Whether each node of the lab that asks gets the address that the plan has for it. Default: true;
                else it gets any of the range, and has no name in /etc/hosts.
            router: The router that clients get: a node, an address, or none. Default: the routes that the plan has
                for each.
        """
        super().__init__()
        self._put("advertise", advertise)
        self._put("dns", dns)
        self._put("domain", domain)
        self._put("lease", lease)
        self._put("links", links)
        self._put("range", range)
        self._put("reserve", reserve)
        self._put("router", router)


class Disk(Model):
    """A disk of a kernel node or a virtual machine, which outlives its kernel when the node crashes."""

    def __init__(
        self,
        *,
        at: str,
        filesystem: Literal["ext4", "xfs", "f2fs"] | None = None,
        flush: Time | Literal[0] | None = None,
        journal: bool | None = None,
        keep: bool | None = None,
        latency: Time | Literal[0] | None = None,
        rate: Rate | None = None,
        size: Size | None = None,
    ) -> None:
        """
        Args:
            at: The folder of the node at which its file system is, which is empty in the beginning.
            filesystem: Its file system. Default: ext4.
            flush: The time that a flush of its cache takes (fsync). Default: 1 ms.
            journal: Whether all requests to it become a table in the results, disks.csv, in virtual time. Default:
                false.
            keep: Whether what is on it is kept for the next run. Default: false.
            latency: The time from the transfer of a request to its end. Default: 80 us.
            rate: The rate at which requests are transferred, one after the other. Default: no limit.
            size: Its size, 16 MB to 1000 GB (xfs: 320 MB and more; f2fs: 64 MB and more); it takes as much memory of
                this machine as is written to it. Default: 256 MB; with xfs, 512 MB.
        """
        super().__init__()
        self._put("at", at)
        self._put("filesystem", filesystem)
        self._put("flush", flush)
        self._put("journal", journal)
        self._put("keep", keep)
        self._put("latency", latency)
        self._put("rate", rate)
        self._put("size", size)


class DiskEntry(Model):
    """
    Disturbs disks of nodes: exactly one of error, slow, flip, misdirect, tear, lose, hang, read_only, full and works.
    """

    def __init__(
        self,
        *,
        disk: Name | str | Sequence[Name | str],
        at: Time | Literal[0] | Drawn | None = None,
        calls: Literal["read", "write", "flush"] | Sequence[Literal["read", "write", "flush"]] | None = None,
        count: int | None = None,
        error: Literal["read", "write", "flush"] | Sequence[Literal["read", "write", "flush"]] | None = None,
        every: Time | Drawn | None = None,
        flip: Literal["read", "write", "stored"] | None = None,
        for_: Time | Drawn | None = None,
        full: bool | None = None,
        hang: bool | None = None,
        lose: Literal["write", "flush"] | Sequence[Literal["write", "flush"]] | None = None,
        misdirect: Literal["read", "write"] | Sequence[Literal["read", "write"]] | None = None,
        nth: int | None = None,
        path: str | None = None,
        read_only: bool | None = None,
        sectors: str | None = None,
        slow: Time | None = None,
        tear: bool | None = None,
        times: int | None = None,
        until: Time | None = None,
        works: bool | None = None,
    ) -> None:
        """
        Args:
            disk: The node whose disk it is, or a name with `*`, which stands for any letters; or a list of them.
            at: When, after time zero; a map to draw it. Default: at time zero.
            calls: Which requests are slow. Default: all.
            count: It meets so many of these requests, or bits. Default: all that come; of what is stored, 1.
            error: These requests fail (EIO): read, write or flush, or a list of them.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            flip: A bit comes out wrong: of each such read or write; or, stored, of what is on the disk by then, once.
            for_: How long. Default: for ever, or until `works`.
            full: The file system has no room any more (ENOSPC).
            hang: The disk does nothing for a while: all requests end so much later.
            lose: These requests do nothing and say that they are done: write or flush, or a list of them.
            misdirect: These requests read from, or write to, a place up to 4 MB away.
            nth: It begins with the n-th of these requests. Default: 1.
            path: Only requests about the sectors that this file has then, below the folder of the disk. Default: all.
            read_only: The file system becomes read-only (EROFS).
            sectors: Only requests about these sectors of 512 bytes: the first and the last. Default: all.
            slow: Requests take so much longer.
            tear: Writes put only their first sectors on the disk, drawn, and say that they are done.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
            works: All faults of the disk end.
        """
        super().__init__()
        self._put("disk", disk)
        self._put("at", at)
        self._put("calls", calls)
        self._put("count", count)
        self._put("error", error)
        self._put("every", every)
        self._put("flip", flip)
        self._put("for", for_)
        self._put("full", full)
        self._put("hang", hang)
        self._put("lose", lose)
        self._put("misdirect", misdirect)
        self._put("nth", nth)
        self._put("path", path)
        self._put("read_only", read_only)
        self._put("sectors", sectors)
        self._put("slow", slow)
        self._put("tear", tear)
        self._put("times", times)
        self._put("until", until)
        self._put("works", works)


class Dns(Model):
    """A node's name server, which knows the names of the lab."""

    def __init__(
        self,
        *,
        domain: str | None = None,
    ) -> None:
        """
        Args:
            domain: The domain of the lab's names, in which those who ask look for names without a dot. Default: none.
        """
        super().__init__()
        self._put("domain", domain)


class Down(Model):
    """Cuts a link: what arrives is dropped."""

    def __init__(
        self,
        *,
        down: Literal[True] | Time | Cut,
        link: Name,
        at: Time | Literal[0] | Drawn | None = None,
        direction: Literal["forward", "backward"] | None = None,
        every: Time | Drawn | None = None,
        pipe: Name | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            down: For how long, or true: until `up`; a map to take the carrier away as well.
            link: The link.
            at: When, after time zero; a map to draw it. Default: at time zero.
            direction: Only this direction. Default: both.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            pipe: Only the further pipe of this name. Default: all pipes of the link.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("down", down)
        self._put("link", link)
        self._put("at", at)
        self._put("direction", direction)
        self._put("every", every)
        self._put("pipe", pipe)
        self._put("times", times)
        self._put("until", until)


class Drawn(Model):
    """A time that is drawn from the seed: one of uniform and mean."""

    def __init__(
        self,
        *,
        mean: Time | None = None,
        uniform: Sequence[Time | Literal[0]] | None = None,
    ) -> None:
        """
        Args:
            mean: The mean of an exponential distribution.
            uniform: The least and the longest; all between are equally likely.
        """
        super().__init__()
        self._put("mean", mean)
        self._put("uniform", uniform)


class Exercise(Model):
    """An exercise for those who learn with this lab."""

    def __init__(
        self,
        *,
        tasks: Sequence[Task],
        text: str | None = None,
        title: str | None = None,
    ) -> None:
        """
        Args:
            tasks: The tasks, which are met one after the other.
            text: What it is about; empty lines part paragraphs.
            title: What it is called. Default: the lab's name.
        """
        super().__init__()
        self._put("tasks", tasks)
        self._put("text", text)
        self._put("title", title)


class Fail(Model):
    """Which system calls fail, and how."""

    def __init__(
        self,
        *,
        call: Literal["read", "write", "send", "recv", "fsync", "open", "connect", "accept", "bind", "listen", "socket", "mmap", "brk", "rename", "unlink", "mkdir", "truncate", "fallocate", "stat", "getdents", "flock", "poll", "sleep", "fork", "exec", "getrandom"] | Sequence[Literal["read", "write", "send", "recv", "fsync", "open", "connect", "accept", "bind", "listen", "socket", "mmap", "brk", "rename", "unlink", "mkdir", "truncate", "fallocate", "stat", "getdents", "flock", "poll", "sleep", "fork", "exec", "getrandom"]],
        delay: Time | None = None,
        error: Literal["EPERM", "ENOENT", "EINTR", "EIO", "EAGAIN", "ENOMEM", "EACCES", "EBUSY", "EEXIST", "EINVAL", "ENFILE", "EMFILE", "EFBIG", "ENOSPC", "EROFS", "EPIPE", "ENOSYS", "EDQUOT", "EADDRINUSE", "EADDRNOTAVAIL", "ENETDOWN", "ENETUNREACH", "ECONNABORTED", "ECONNRESET", "ENOBUFS", "ETIMEDOUT", "ECONNREFUSED", "EHOSTUNREACH"] | None = None,
        most: Size | None = None,
        nth: int | None = None,
        path: str | None = None,
        probability: Share | Literal[0] | None = None,
        process: str | None = None,
        thread: str | None = None,
        times: int | None = None,
    ) -> None:
        """
        Args:
            call: The call, or a list of them. Variants count as the same: pread and readv as read, fdatasync as
                fsync, openat as open.
            delay: How late the call is made or answered. Default: at once.
            error: The error that the program gets; the call is not made. Default: the call is made.
            most: How many bytes a call moves at most, however many it was asked to: short reads and writes. Default:
                any number.
            nth: The first call that is met, of those that match. Default: 1.
            path: Only calls for files with this path, as the node's programs see it; `*` stands for any letters, also
                several folders. Default: all.
            probability: The share of matching calls that are met, drawn from the seed. Default: all.
            process: Only processes with this command line, its words with one space between them; `*` stands for any
                letters. Default: all.
            thread: Only threads with this name (`comm`); `*` stands for any letters. Default: all.
            times: The number of calls that are met. Default: with `nth`, 1; otherwise all.
        """
        super().__init__()
        self._put("call", call)
        self._put("delay", delay)
        self._put("error", error)
        self._put("most", most)
        self._put("nth", nth)
        self._put("path", path)
        self._put("probability", probability)
        self._put("process", process)
        self._put("thread", thread)
        self._put("times", times)


class FailEntry(Model):
    """Lets system calls of a node's programs fail, be late, or move fewer bytes than they were asked to."""

    def __init__(
        self,
        *,
        fail: Literal["none"] | Fail,
        on: str | Sequence[str],
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        for_: Time | Drawn | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            fail: Which calls, and what becomes of them; none ends all faults of system calls in the node.
            on: The node, or several: a list, or a name with `*`, which stands for any letters.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            for_: How long. Default: to the end of the run, or until `fail: none`.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("fail", fail)
        self._put("on", on)
        self._put("at", at)
        self._put("every", every)
        self._put("for", for_)
        self._put("times", times)
        self._put("until", until)


class FarEnd(Model):
    """An interface behind a tunnel."""

    def __init__(
        self,
        *,
        interface: str,
        node: Name,
    ) -> None:
        """
        Args:
            interface: Its interface.
            node: The node, one of `elsewhere`.
        """
        super().__init__()
        self._put("interface", interface)
        self._put("node", node)


class FarInterface(Model):
    """An interface of a node that another machine plays."""

    def __init__(
        self,
        *,
        address: str | Sequence[str] | None = None,
        mac: str | None = None,
    ) -> None:
        """
        Args:
            address: Its address with the prefix length, or several. Default: none.
            mac: Its hardware address, which nodes have to know that reach it without a router. Default: it is not
                known.
        """
        super().__init__()
        self._put("address", address)
        self._put("mac", mac)


class File(Model):
    """A file or a folder of a node; an empty folder if neither `from` nor `text` is given."""

    def __init__(
        self,
        *,
        from_: str | None = None,
        keep: bool | None = None,
        mode: str | int | None = None,
        owner: str | int | None = None,
        text: str | float | bool | None = None,
    ) -> None:
        """
        Args:
            from_: The file or folder of this machine of which it is a copy on write; a relative path starts at the
                lab file's folder.
            keep: Whether the contents of the folder are kept for the next run. Default: false.
            mode: The permissions of the file, or of the folder itself, in octal. Default: those of the source, else
                0644 and 0755.
            owner: The owner of the file, or of the folder and all that is in it. Default: that of the source, else
                root.
            text: The contents of the file.
        """
        super().__init__()
        self._put("from", from_)
        self._put("keep", keep)
        self._put("mode", mode)
        self._put("owner", owner)
        self._put("text", text)


class Flap(Model):
    """How long a link is up and down in turn."""

    def __init__(
        self,
        *,
        down: Time | FlapTime,
        up: Time | FlapTime,
        start: Time | Literal[0] | None = None,
    ) -> None:
        """
        Args:
            down: How long it is down, in the same notation.
            up: How long it is up, at least 1 ms; {mean: 10 s} for random times.
            start: When it goes down first, after time zero or the change. Default: after the first time up.
        """
        super().__init__()
        self._put("down", down)
        self._put("up", up)
        self._put("start", start)


class FlapEntry(Model):
    """Cuts links for a while."""

    def __init__(
        self,
        *,
        flap: Name | str | Sequence[Name | str],
        for_: Time | Drawn,
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            flap: The link, or a node with all of its links, or a pattern of nodes; or a list of them.
            for_: How long.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("flap", flap)
        self._put("for", for_)
        self._put("at", at)
        self._put("every", every)
        self._put("times", times)
        self._put("until", until)


class FlapTime(Model):
    """Exponentially distributed times."""

    def __init__(
        self,
        *,
        mean: Time,
    ) -> None:
        """
        Args:
            mean: Their mean, at least 1 ms.
        """
        super().__init__()
        self._put("mean", mean)


class Forward(Model):
    """A port of a router that leads to a node behind it."""

    def __init__(
        self,
        *,
        port: int,
        to: str,
        protocol: Literal["tcp", "udp"] | None = None,
    ) -> None:
        """
        Args:
            port: The port of the router.
            to: The node, and its port if that is another.
            protocol: The protocol. Default: tcp.
        """
        super().__init__()
        self._put("port", port)
        self._put("to", to)
        self._put("protocol", protocol)


class Freeze(Model):
    """
    Freezes a node for a while, as a virtual machine that is paused: its kernel and programs do nothing, and its
    CLOCK_MONOTONIC stands still. When it goes on, its CLOCK_REALTIME jumps. In virtual time, with a kernel of its
    own.
    """

    def __init__(
        self,
        *,
        for_: Time | Drawn,
        freeze: Name | str | Sequence[Name | str],
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            for_: How long.
            freeze: The node, or a name with `*`, which stands for any letters; or a list of them.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("kind", "pause")
        self._put("for", for_)
        self._put("freeze", freeze)
        self._put("at", at)
        self._put("every", every)
        self._put("times", times)
        self._put("until", until)


class BarabasiAlbert(Model):
    """Routers of which each new one prefers those with many neighbours (Barabási and Albert 1999)."""

    def __init__(
        self,
        *,
        m: int,
        n: int,
        host: NodeKeys | None = None,
        hosts: int | None = None,
        hosts_each: int | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        seed: int | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            m: How many of those before it a new router is joined to, less than n.
            n: How many routers, 2 at least.
            host: The settings of the hosts.
            hosts: Instead of hosts_each: how many hosts there are, dealt evenly among the edge devices.
            hosts_each: How many hosts each edge device has. Default: 1; of a tree its fanout, of a fat tree k/2.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            seed: The seed of random networks. Default: the lab's.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "barabasi-albert")
        self._put("m", m)
        self._put("n", n)
        self._put("host", host)
        self._put("hosts", hosts)
        self._put("hosts_each", hosts_each)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("seed", seed)
        self._put("tiers", tiers)


class Chain(Model):
    """Routers in a row: r1 to rn."""

    def __init__(
        self,
        *,
        n: int,
        host: NodeKeys | None = None,
        hosts: int | None = None,
        hosts_at: Literal["edge", "all"] | None = None,
        hosts_each: int | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        seed: int | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            n: How many routers.
            host: The settings of the hosts.
            hosts: Instead of hosts_each: how many hosts there are, dealt evenly among the edge devices.
            hosts_at: Where hosts are: at both ends (edge), or at all routers. Default: edge.
            hosts_each: How many hosts each edge device has. Default: 1; of a tree its fanout, of a fat tree k/2.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            seed: The seed of random networks. Default: the lab's.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "chain")
        self._put("n", n)
        self._put("host", host)
        self._put("hosts", hosts)
        self._put("hosts_at", hosts_at)
        self._put("hosts_each", hosts_each)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("seed", seed)
        self._put("tiers", tiers)


class Cloud(Model):
    """Regions of a public cloud, each a router with hosts, with the round trips that its provider publishes."""

    def __init__(
        self,
        *,
        regions: Sequence[str],
        host: NodeKeys | None = None,
        hosts: int | None = None,
        hosts_each: int | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        provider: Literal["azure", "ibm"] | None = None,
        seed: int | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            regions: The regions, by the names of the provider's table; each is the name of its router, too.
            host: The settings of the hosts.
            hosts: Instead of hosts_each: how many hosts there are, dealt evenly among the edge devices.
            hosts_each: How many hosts each edge device has. Default: 1; of a tree its fanout, of a fat tree k/2.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            provider: Whose cloud it is. Default: azure.
            seed: The seed of random networks. Default: the lab's.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "cloud")
        self._put("regions", regions)
        self._put("host", host)
        self._put("hosts", hosts)
        self._put("hosts_each", hosts_each)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("provider", provider)
        self._put("seed", seed)
        self._put("tiers", tiers)


class Constellation(Model):
    """Ground stations that reach one another over satellites with laser links."""

    def __init__(
        self,
        *,
        for_: Time,
        stations: Mapping[str, Sequence[float]],
        access: Literal["starlink"] | ConstellationAccess | None = None,
        altitude: str | None = None,
        convergence: Time | None = None,
        elevation: float | None = None,
        host: NodeKeys | None = None,
        inclination: float | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        lasers: Literal["grid", "none"] | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        phasing: Literal["alternate"] | int | None = None,
        planes: int | None = None,
        range: str | None = None,
        routes: Literal["instantly"] | Time | None = None,
        satellites: int | None = None,
        seed: int | None = None,
        start: str | None = None,
        step: Time | None = None,
        tiers: Mapping[str, Settings] | None = None,
        tle: str | None = None,
    ) -> None:
        """
        Args:
            for_: How long delays are described; afterwards they stay as they are.
            stations: The ground stations, each with its latitude and longitude in degrees.
            access: How stations reach satellites: at any time, or as Starlink's terminals, which change satellites
                together. Default: at any time.
            altitude: How high they are above the equator's radius, 100 km to 100000 km.
            convergence: How long after its choice a path is used, as if a routing daemon had to find out. Default: 0
                s.
            elevation: How many degrees a satellite has to be above the horizon of a station. Default: 25.
            host: The settings of the hosts.
            inclination: The angle between planes and the equator in degrees, above 0 and at most 180. Default: 53.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            lasers: Which satellites are joined by lasers: each with four neighbours (grid), or none, so that both
                stations of a path see one satellite. Default: grid.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            phasing: How planes are shifted against one another: Walker's F, less than the planes, or alternate: each
                second by half of the distance of two satellites. Default: 0.
            planes: How many orbital planes; with satellites and altitude, or instead of them tle.
            range: Instead of elevation: how far a satellite may be from a station.
            routes: How often the paths are chosen, or instantly: as soon as another one is shorter, or the one in use
                is interrupted. Default: 15 s; with an access when terminals change satellites.
            satellites: How many satellites each plane has.
            seed: The seed of random networks. Default: the lab's.
            start: When the lab begins above the satellites of a file, in UTC. Default: the latest epoch of the file.
            step: The time between two points of a delay, between which it changes linearly. Default: 1 s.
            tiers: What differs for the links of a tier; access are those of hosts.
            tle: Instead of planes, satellites and altitude: a file with two lines of elements for each satellite,
                whose orbits follow by SGP4.
        """
        super().__init__()
        self._put("kind", "constellation")
        self._put("for", for_)
        self._put("stations", stations)
        self._put("access", access)
        self._put("altitude", altitude)
        self._put("convergence", convergence)
        self._put("elevation", elevation)
        self._put("host", host)
        self._put("inclination", inclination)
        self._put("inner", inner)
        self._put("lasers", lasers)
        self._put("link", link)
        self._put("links", links)
        self._put("phasing", phasing)
        self._put("planes", planes)
        self._put("range", range)
        self._put("routes", routes)
        self._put("satellites", satellites)
        self._put("seed", seed)
        self._put("start", start)
        self._put("step", step)
        self._put("tiers", tiers)
        self._put("tle", tle)


class ConstellationAccess(Model):
    """How terminals of Starlink reach satellites: all change them at the same instants."""

    def __init__(
        self,
        *,
        down: Sequence[Rate] | None = None,
        every: Time | None = None,
        level: Sequence[Time | Literal[0]] | None = None,
        offset: Time | Literal[0] | None = None,
        outage: Sequence[Time | Literal[0]] | None = None,
        rain: Mapping[str, Sequence[Time | Literal[0]]] | None = None,
        spikes: Sequence[Time | Literal[0]] | None = None,
        up: Sequence[Rate] | None = None,
    ) -> None:
        """
        Args:
            down: The rate of an interval to a terminal, from the least to the greatest. Default: that of the link.
            every: How often terminals change satellites, at most 1 h. Default: 15 s.
            level: By how much one way is longer in an interval, from the least to the greatest. Default: [0 ms, 5
                ms].
            offset: How long after each full minute of UTC one of the changes is. Default: 12 s.
            outage: How long nothing arrives after a change, from the least to the greatest. Default: [50 ms, 150 ms].
            rain: Stations at which it rains, each with from when to when: 38 % of down and 52 % of up are missing
                then. Default: none.
            spikes: For how long packets are held up after an outage, and before the next change. Default: [70 ms,
                37.5 ms].
            up: The rate of an interval from a terminal, from the least to the greatest. Default: that of the link.
        """
        super().__init__()
        self._put("down", down)
        self._put("every", every)
        self._put("level", level)
        self._put("offset", offset)
        self._put("outage", outage)
        self._put("rain", rain)
        self._put("spikes", spikes)
        self._put("up", up)


class Dumbbell(Model):
    """Hosts left1 to leftn and right1 to rightn at both sides of a bottleneck from r1 to r2."""

    def __init__(
        self,
        *,
        n: int,
        host: NodeKeys | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        seed: int | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            n: How many hosts there are at each side.
            host: The settings of the hosts.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            seed: The seed of random networks. Default: the lab's.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "dumbbell")
        self._put("n", n)
        self._put("host", host)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("seed", seed)
        self._put("tiers", tiers)


class FatTree(Model):
    """A fat tree of k-port switches: core1, agg1-1, edge1-1 (pod and number) and so on."""

    def __init__(
        self,
        *,
        k: int,
        host: NodeKeys | None = None,
        hosts: int | None = None,
        hosts_each: int | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        seed: int | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            k: Ports of each switch, an even number.
            host: The settings of the hosts.
            hosts: Instead of hosts_each: how many hosts there are, dealt evenly among the edge devices.
            hosts_each: How many hosts each edge device has. Default: 1; of a tree its fanout, of a fat tree k/2.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            seed: The seed of random networks. Default: the lab's.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "fat-tree")
        self._put("k", k)
        self._put("host", host)
        self._put("hosts", hosts)
        self._put("hosts_each", hosts_each)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("seed", seed)
        self._put("tiers", tiers)


class Grid(Model):
    """Routers in rows and columns: r1-1, r1-2 and so on."""

    def __init__(
        self,
        *,
        columns: int,
        rows: int,
        host: NodeKeys | None = None,
        hosts: int | None = None,
        hosts_each: int | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        seed: int | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            columns: How many columns.
            rows: How many rows.
            host: The settings of the hosts.
            hosts: Instead of hosts_each: how many hosts there are, dealt evenly among the edge devices.
            hosts_each: How many hosts each edge device has. Default: 1; of a tree its fanout, of a fat tree k/2.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            seed: The seed of random networks. Default: the lab's.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "grid")
        self._put("columns", columns)
        self._put("rows", rows)
        self._put("host", host)
        self._put("hosts", hosts)
        self._put("hosts_each", hosts_each)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("seed", seed)
        self._put("tiers", tiers)


class Internet(Model):
    """Autonomous systems of one router each, in tiers: core1, transit1, stub1 and so on."""

    def __init__(
        self,
        *,
        stubs: int,
        tier1: int,
        transit: int,
        homes: int | None = None,
        host: NodeKeys | None = None,
        hosts: int | None = None,
        hosts_each: int | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        seed: int | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            stubs: How many that buy from them and carry nothing for others.
            tier1: How many are at the top, all joined to one another.
            transit: How many transit providers.
            homes: From how many others a provider buys, and a stub at most. Default: 2.
            host: The settings of the hosts.
            hosts: Instead of hosts_each: how many hosts there are, dealt evenly among the edge devices.
            hosts_each: How many hosts each edge device has. Default: 1; of a tree its fanout, of a fat tree k/2.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            seed: The seed of random networks. Default: the lab's.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "internet")
        self._put("stubs", stubs)
        self._put("tier1", tier1)
        self._put("transit", transit)
        self._put("homes", homes)
        self._put("host", host)
        self._put("hosts", hosts)
        self._put("hosts_each", hosts_each)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("seed", seed)
        self._put("tiers", tiers)


class LeafSpine(Model):
    """Leaves, each joined to each spine: leaf1, spine1 and so on."""

    def __init__(
        self,
        *,
        leaves: int,
        spines: int,
        host: NodeKeys | None = None,
        hosts: int | None = None,
        hosts_each: int | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        seed: int | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            leaves: How many leaves.
            spines: How many spines.
            host: The settings of the hosts.
            hosts: Instead of hosts_each: how many hosts there are, dealt evenly among the edge devices.
            hosts_each: How many hosts each edge device has. Default: 1; of a tree its fanout, of a fat tree k/2.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            seed: The seed of random networks. Default: the lab's.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "leaf-spine")
        self._put("leaves", leaves)
        self._put("spines", spines)
        self._put("host", host)
        self._put("hosts", hosts)
        self._put("hosts_each", hosts_each)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("seed", seed)
        self._put("tiers", tiers)


class Mesh(Model):
    """Routers r1 to rn, each joined to all others."""

    def __init__(
        self,
        *,
        n: int,
        host: NodeKeys | None = None,
        hosts: int | None = None,
        hosts_each: int | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        seed: int | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            n: How many routers, 2 at least.
            host: The settings of the hosts.
            hosts: Instead of hosts_each: how many hosts there are, dealt evenly among the edge devices.
            hosts_each: How many hosts each edge device has. Default: 1; of a tree its fanout, of a fat tree k/2.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            seed: The seed of random networks. Default: the lab's.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "mesh")
        self._put("n", n)
        self._put("host", host)
        self._put("hosts", hosts)
        self._put("hosts_each", hosts_each)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("seed", seed)
        self._put("tiers", tiers)


class ParkingLot(Model):
    """Bottlenecks in a row: from src0 to dst0 over all of them, from src1 to dst1 over the first, and so on."""

    def __init__(
        self,
        *,
        n: int,
        host: NodeKeys | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        seed: int | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            n: How many bottlenecks.
            host: The settings of the hosts.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            seed: The seed of random networks. Default: the lab's.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "parking-lot")
        self._put("n", n)
        self._put("host", host)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("seed", seed)
        self._put("tiers", tiers)


class Ring(Model):
    """Routers in a circle: r1 to rn."""

    def __init__(
        self,
        *,
        n: int,
        host: NodeKeys | None = None,
        hosts: int | None = None,
        hosts_each: int | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        seed: int | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            n: How many routers, 3 at least.
            host: The settings of the hosts.
            hosts: Instead of hosts_each: how many hosts there are, dealt evenly among the edge devices.
            hosts_each: How many hosts each edge device has. Default: 1; of a tree its fanout, of a fat tree k/2.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            seed: The seed of random networks. Default: the lab's.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "ring")
        self._put("n", n)
        self._put("host", host)
        self._put("hosts", hosts)
        self._put("hosts_each", hosts_each)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("seed", seed)
        self._put("tiers", tiers)


class Star(Model):
    """Hosts h1 to hn around a switch."""

    def __init__(
        self,
        *,
        n: int,
        host: NodeKeys | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        seed: int | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            n: How many hosts.
            host: The settings of the hosts.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            seed: The seed of random networks. Default: the lab's.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "star")
        self._put("n", n)
        self._put("host", host)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("seed", seed)
        self._put("tiers", tiers)


class Torus(Model):
    """A grid whose rows and columns are rings."""

    def __init__(
        self,
        *,
        columns: int,
        rows: int,
        host: NodeKeys | None = None,
        hosts: int | None = None,
        hosts_each: int | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        seed: int | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            columns: How many columns, 3 at least.
            rows: How many rows, 3 at least.
            host: The settings of the hosts.
            hosts: Instead of hosts_each: how many hosts there are, dealt evenly among the edge devices.
            hosts_each: How many hosts each edge device has. Default: 1; of a tree its fanout, of a fat tree k/2.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            seed: The seed of random networks. Default: the lab's.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "torus")
        self._put("columns", columns)
        self._put("rows", rows)
        self._put("host", host)
        self._put("hosts", hosts)
        self._put("hosts_each", hosts_each)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("seed", seed)
        self._put("tiers", tiers)


class Tree(Model):
    """Levels of switches, with hosts below the last."""

    def __init__(
        self,
        *,
        depth: int,
        fanout: int,
        host: NodeKeys | None = None,
        hosts: int | None = None,
        hosts_each: int | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        seed: int | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            depth: How many levels of switches, 1 to 16.
            fanout: How many switches are below each, and by default hosts below each of the last.
            host: The settings of the hosts.
            hosts: Instead of hosts_each: how many hosts there are, dealt evenly among the edge devices.
            hosts_each: How many hosts each edge device has. Default: 1; of a tree its fanout, of a fat tree k/2.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            seed: The seed of random networks. Default: the lab's.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "tree")
        self._put("depth", depth)
        self._put("fanout", fanout)
        self._put("host", host)
        self._put("hosts", hosts)
        self._put("hosts_each", hosts_each)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("seed", seed)
        self._put("tiers", tiers)


class Waxman(Model):
    """Routers at random places of a square, near ones joined more likely, with delays by distance (Waxman 1988)."""

    def __init__(
        self,
        *,
        n: int,
        alpha: float | None = None,
        beta: float | None = None,
        degree: float | None = None,
        host: NodeKeys | None = None,
        hosts: int | None = None,
        hosts_each: int | None = None,
        inner: Literal["host", "router", "transit", "switch", "hub"] | NodeKeys | None = None,
        link: Settings | None = None,
        links: Mapping[str, Settings] | None = None,
        seed: int | None = None,
        span: Time | None = None,
        tiers: Mapping[str, Settings] | None = None,
    ) -> None:
        """
        Args:
            n: How many routers, 1 to 10000.
            alpha: How far links reach, above 0 and at most 1. Default: 0.15.
            beta: How many links there are, above 0 and at most 1. Default: as `degree` says.
            degree: Instead of beta: how many neighbours a router has on the average. Default: 3.
            host: The settings of the hosts.
            hosts: Instead of hosts_each: how many hosts there are, dealt evenly among the edge devices.
            hosts_each: How many hosts each edge device has. Default: 1; of a tree its fanout, of a fat tree k/2.
            inner: The kind of all nodes but hosts, or their settings. Default: transit; of a star and a tree switch.
            link: The settings of all links.
            links: What differs for single links, by their names without that of the generated network.
            seed: The seed of random networks. Default: the lab's.
            span: The delay from corner to corner of the square. Default: 20 ms.
            tiers: What differs for the links of a tier; access are those of hosts.
        """
        super().__init__()
        self._put("kind", "waxman")
        self._put("n", n)
        self._put("alpha", alpha)
        self._put("beta", beta)
        self._put("degree", degree)
        self._put("host", host)
        self._put("hosts", hosts)
        self._put("hosts_each", hosts_each)
        self._put("inner", inner)
        self._put("link", link)
        self._put("links", links)
        self._put("seed", seed)
        self._put("span", span)
        self._put("tiers", tiers)


class Heal(Model):
    """Ends all partitions."""

    def __init__(
        self,
        *,
        heal: Literal[True],
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            heal: Always true.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("heal", heal)
        self._put("at", at)
        self._put("every", every)
        self._put("times", times)
        self._put("until", until)


class Hunt(Model):
    """A search for faults with which something that must hold does not hold."""

    def __init__(
        self,
        *,
        always: Sequence[str | HuntChecker] | None = None,
        assertions: str | None = None,
        eventually: Sequence[str | HuntChecker] | None = None,
        faults: Literal["none"] | HuntFaults | None = None,
        for_: Time | None = None,
        never: Sequence[str | HuntChecker] | None = None,
        nodes: str | Sequence[str] | None = None,
        quiet: Time | Literal[0] | None = None,
        runs: int | None = None,
        sometimes: Sequence[str | HuntChecker] | None = None,
        tolerate: Literal["minority", "all"] | int | None = None,
    ) -> None:
        """
        Args:
            always: What must hold in every run: expectations, lines of logs, exit codes, and commands that look at
                the results.
            assertions: The name of the file in which programs note their assertions by an SDK of Antithesis, and
                which their nodes collect.
            eventually: What must hold in every run after the time without faults.
            faults: The kinds of faults that are drawn; none: no faults. Default: those that every system has to
                survive.
            for_: For how long runs are played, in wall time. Default: until all runs have been played.
            never: What must hold in no run.
            nodes: The nodes of the system under test, which faults are about. Default: those with services, or all
                that run programs.
            quiet: The time at the end of a run in which there are no faults, and after which `eventually` is asked.
                Default: 5 s.
            runs: How many runs are played. Default: 200, or as many as there is time for with `for`.
            sometimes: What must hold in at least one of all runs.
            tolerate: How many nodes are faulty at once, at most: minority, fewer than half of them; all; or a number.
                Default: minority.
        """
        super().__init__()
        self._put("always", always)
        self._put("assertions", assertions)
        self._put("eventually", eventually)
        self._put("faults", faults)
        self._put("for", for_)
        self._put("never", never)
        self._put("nodes", nodes)
        self._put("quiet", quiet)
        self._put("runs", runs)
        self._put("sometimes", sometimes)
        self._put("tolerate", tolerate)


class HuntChecker(Model):
    """A command that judges the results of a run."""

    def __init__(
        self,
        *,
        command: str | Sequence[str | float | bool],
    ) -> None:
        """
        Args:
            command: The command. It runs on this machine, in the folder in which netloom was started, finds the
                results at $NETLOOM_RESULTS, and exits with 0 if the property holds.
        """
        super().__init__()
        self._put("command", command)


class HuntClock(Model):
    """How clocks of nodes are wrong: of each kind the largest error, in both directions."""

    def __init__(
        self,
        *,
        at_most: int | None = None,
        drift: str | None = None,
        for_: Sequence[Time] | None = None,
        nodes: str | Sequence[str] | None = None,
        skew: Time | None = None,
        step: Time | None = None,
    ) -> None:
        """
        Args:
            at_most: How many nodes have it at once, at most. Default: as many as may be faulty.
            drift: How much faster or slower than lab time they run. At most 10 %.
            for_: How long it lasts: the least and the longest. Default: 1 ms to 50 s.
            nodes: The nodes. Default: those under test.
            skew: By how much they are wrong from time zero on.
            step: By how much they are set at the instant, and back in the end.
        """
        super().__init__()
        self._put("at most", at_most)
        self._put("drift", drift)
        self._put("for", for_)
        self._put("nodes", nodes)
        self._put("skew", skew)
        self._put("step", step)


class HuntCrash(Model):
    """The crashes that a hunt draws."""

    def __init__(
        self,
        *,
        at_most: int | None = None,
        for_: Sequence[Time] | None = None,
        keep: Literal["flushed", "all", "some", "torn"] | Sequence[Literal["flushed", "all", "some", "torn"]] | None = None,
        nodes: str | Sequence[str] | None = None,
    ) -> None:
        """
        Args:
            at_most: How many nodes have it at once, at most. Default: as many as may be faulty.
            for_: How long it lasts: the least and the longest. Default: 1 ms to 50 s.
            keep: What is on the disk beside what a flush has made durable, one of these; then only nodes with a disk
                crash. Default: all four.
            nodes: The nodes. Default: those under test.
        """
        super().__init__()
        self._put("at most", at_most)
        self._put("for", for_)
        self._put("keep", keep)
        self._put("nodes", nodes)


class HuntDisk(Model):
    """How disks serve their nodes."""

    def __init__(
        self,
        *,
        at_most: int | None = None,
        for_: Sequence[Time] | None = None,
        full: bool | None = None,
        nodes: str | Sequence[str] | None = None,
    ) -> None:
        """
        Args:
            at_most: How many nodes have it at once, at most. Default: as many as may be faulty.
            for_: How long it lasts: the least and the longest. Default: 1 ms to 50 s.
            full: There is no space left on them.
            nodes: The nodes. Default: those under test.
        """
        super().__init__()
        self._put("at most", at_most)
        self._put("for", for_)
        self._put("full", full)
        self._put("nodes", nodes)


class HuntDns(Model):
    """How name servers fail in a hunt."""

    def __init__(
        self,
        *,
        do: Literal["servfail", "nxdomain", "refused", "empty", "reverse", "stale"] | Sequence[Literal["servfail", "nxdomain", "refused", "empty", "reverse", "stale"]] | None = None,
        links: str | Sequence[str] | None = None,
        question: str | Sequence[str] | None = None,
    ) -> None:
        """
        Args:
            do: What those who ask get. Default: all six.
            links: The links that the messages cross. Default: those at the nodes under test.
            question: The names, each with those below it, of which one is drawn. Default: all names at once.
        """
        super().__init__()
        self._put("do", do)
        self._put("links", links)
        self._put("question", question)


class HuntFaults(Model):
    """The kinds of faults that a hunt draws."""

    def __init__(
        self,
        *,
        clock: str | Sequence[str] | HuntClock | None = None,
        crash: str | Sequence[str] | HuntCrash | None = None,
        cut: str | Sequence[str] | None = None,
        disk: Literal["on"] | Sequence[Literal["full"]] | HuntDisk | None = None,
        dns: Literal["on"] | Sequence[Literal["servfail", "nxdomain", "refused", "empty", "reverse", "stale"]] | HuntDns | None = None,
        freeze: str | Sequence[str] | HuntNodes | None = None,
        kill: str | Sequence[str] | HuntNodes | None = None,
        limit: str | Sequence[str] | HuntLimit | None = None,
        packet: Literal["on"] | HuntPacket | None = None,
        packets: Literal["on"] | HuntPackets | None = None,
        partition: Literal["on"] | Sequence[Literal["isolate", "minority", "halves", "bridge", "ring"]] | HuntPartition | None = None,
        pause: str | Sequence[str] | HuntNodes | None = None,
        reboot: str | Sequence[str] | HuntNodes | None = None,
        reset: str | Sequence[str] | None = None,
        signal: HuntSignal | None = None,
    ) -> None:
        """
        Args:
            clock: Clocks of nodes are wrong for a while: on, nodes, or a map.
            crash: Nodes crash, and boot again after a while: on, nodes, or a map.
            cut: Links are cut for a while: on, all links at the nodes under test; or names of links.
            disk: Disks serve their nodes badly for a while: on, a list of ways, or a map.
            dns: Name servers fail for a while, as those who ask over a link see it: on, a list of ways, or a map.
            freeze: Nodes stand still for a while, as virtual machines that are paused: on, nodes, or a map.
            kill: Programs are killed, and services start again after a while: on, nodes, or a map.
            limit: Programs may use little for a while: on, nodes, or a map.
            packet: Single packets are held, dropped, duplicated or corrupted: on, or a map.
            packets: Packets are lost, delayed, reordered, duplicated or corrupted for a while: on, or a map.
            partition: Nodes do not reach each other for a while: on, a list of shapes, or a map.
            pause: Programs are held for a while: on, nodes, or a map.
            reboot: Nodes are rebooted: on, nodes, or a map.
            reset: All TCP connections over a link are reset: on, all links at the nodes under test; or names of
                links.
            signal: Programs get a signal.
        """
        super().__init__()
        self._put("clock", clock)
        self._put("crash", crash)
        self._put("cut", cut)
        self._put("disk", disk)
        self._put("dns", dns)
        self._put("freeze", freeze)
        self._put("kill", kill)
        self._put("limit", limit)
        self._put("packet", packet)
        self._put("packets", packets)
        self._put("partition", partition)
        self._put("pause", pause)
        self._put("reboot", reboot)
        self._put("reset", reset)
        self._put("signal", signal)


class HuntLimit(Model):
    """How little programs may use: of each kind the least and the most, or on."""

    def __init__(
        self,
        *,
        at_most: int | None = None,
        fds: Literal["on"] | Sequence[int] | None = None,
        for_: Sequence[Time] | None = None,
        memory: Sequence[Size] | None = None,
        nodes: str | Sequence[str] | None = None,
        pids: Literal["on"] | Sequence[int] | None = None,
    ) -> None:
        """
        Args:
            at_most: How many nodes have it at once, at most. Default: as many as may be faulty.
            fds: The number of descriptors that each process may open; on: 3 to 100.
            for_: How long it lasts: the least and the longest. Default: 1 ms to 50 s.
            memory: The memory of all processes of a node together.
            nodes: The nodes. Default: those under test.
            pids: The number of processes and threads; on: 1 to 100.
        """
        super().__init__()
        self._put("at most", at_most)
        self._put("fds", fds)
        self._put("for", for_)
        self._put("memory", memory)
        self._put("nodes", nodes)
        self._put("pids", pids)


class HuntNodes(Model):
    """A fault of nodes."""

    def __init__(
        self,
        *,
        at_most: int | None = None,
        for_: Sequence[Time] | None = None,
        nodes: str | Sequence[str] | None = None,
    ) -> None:
        """
        Args:
            at_most: How many nodes have it at once, at most. Default: as many as may be faulty.
            for_: How long it lasts: the least and the longest. Default: 1 ms to 50 s.
            nodes: The nodes. Default: those under test.
        """
        super().__init__()
        self._put("at most", at_most)
        self._put("for", for_)
        self._put("nodes", nodes)


class HuntPacket(Model):
    """What a hunt does to single packets."""

    def __init__(
        self,
        *,
        do: Literal["hold", "drop", "duplicate", "corrupt"] | Sequence[Literal["hold", "drop", "duplicate", "corrupt"]] | None = None,
        hold: Literal["on"] | Sequence[Time] | None = None,
        links: str | Sequence[str] | None = None,
        match: Match | None = None,
    ) -> None:
        """
        Args:
            do: What becomes of them. Default: all four.
            hold: How long they are held: the least and the longest. Default: 1 ms to 2 s.
            links: The links. Default: those at the nodes under test.
            match: The filter of the packets. Default: all packets.
        """
        super().__init__()
        self._put("do", do)
        self._put("hold", hold)
        self._put("links", links)
        self._put("match", match)


class HuntPackets(Model):
    """What a hunt does to the packets of a link: of each kind the least and the most, or on."""

    def __init__(
        self,
        *,
        corrupt: Literal["on"] | Sequence[Share] | None = None,
        delay: Literal["on"] | Sequence[Time] | None = None,
        duplicate: Literal["on"] | Sequence[Share] | None = None,
        links: str | Sequence[str] | None = None,
        loss: Literal["on"] | Sequence[Share] | None = None,
        match: Match | None = None,
        reorder: Literal["on"] | Sequence[Share] | None = None,
    ) -> None:
        """
        Args:
            corrupt: The share of packets of which a bit is flipped; on: 1 % to 50 %.
            delay: The delay in place of the link's own, or with `match` beside it; on: 1 ms to 2 s.
            duplicate: The share of packets that come twice; on: 1 % to 50 %.
            links: The links. Default: those at the nodes under test.
            loss: The share of packets that are lost; on: 1 % to 50 %.
            match: The filter of the packets. Default: all packets.
            reorder: The share of packets that overtake others; on: 1 % to 50 %.
        """
        super().__init__()
        self._put("corrupt", corrupt)
        self._put("delay", delay)
        self._put("duplicate", duplicate)
        self._put("links", links)
        self._put("loss", loss)
        self._put("match", match)
        self._put("reorder", reorder)


class HuntPartition(Model):
    """The partitions that a hunt draws."""

    def __init__(
        self,
        *,
        nodes: str | Sequence[str] | None = None,
        packets: Sequence[Literal["drop", "slow", "jam"]] | None = None,
        shapes: Sequence[Literal["isolate", "minority", "halves", "bridge", "ring"]] | None = None,
    ) -> None:
        """
        Args:
            nodes: The nodes. Default: those under test.
            packets: What becomes of the packets. Default: all three.
            shapes: The shapes. Default: all for which there are enough nodes.
        """
        super().__init__()
        self._put("nodes", nodes)
        self._put("packets", packets)
        self._put("shapes", shapes)


class HuntSignal(Model):
    """The signals that a hunt sends."""

    def __init__(
        self,
        *,
        signals: Sequence[Literal["SIGHUP", "SIGINT", "SIGQUIT", "SIGABRT", "SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGTSTP", "SIGWINCH"]],
        to: str | Sequence[str] | None = None,
    ) -> None:
        """
        Args:
            signals: The signals.
            to: The nodes. Default: those under test.
        """
        super().__init__()
        self._put("signals", signals)
        self._put("to", to)


class Iptables(Model):
    """The rules of a node's firewall in the format of iptables-restore."""

    def __init__(
        self,
        *,
        ip6tables: str | None = None,
        iptables: str | None = None,
    ) -> None:
        """
        Args:
            ip6tables: Those of IPv6: a path, or several lines.
            iptables: Those of IPv4: a path, or several lines.
        """
        super().__init__()
        self._put("ip6tables", ip6tables)
        self._put("iptables", iptables)


class Journal(Model):
    """The journal: what happened to each packet of some links."""

    def __init__(
        self,
        *,
        attempts: bool | None = None,
        limit: Size | None = None,
        links: Literal["all"] | Sequence[Name] | None = None,
        match: Match | None = None,
    ) -> None:
        """
        Args:
            attempts: Whether each attempt to send a packet over the air of a radio medium of kind wifi is written
                down, too. Default: false.
            limit: How large the file becomes at most, 1 MB and above; what has no room any more is counted. Default:
                no limit.
            links: The links, or directions of them. Default: all.
            match: Only these packets. Default: all.
        """
        super().__init__()
        self._put("attempts", attempts)
        self._put("limit", limit)
        self._put("links", links)
        self._put("match", match)


class Kill(Model):
    """Ends programs at once, by SIGKILL."""

    def __init__(
        self,
        *,
        kill: Name | str | Sequence[Name | str],
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        for_: Time | Drawn | None = None,
        process: str | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            kill: The command, or the node with all that runs in it, or a pattern of nodes; or a list of them.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            for_: They start again so long after; of a node, its services. Default: they do not.
            process: Only processes with this command line, its words with one space between them; `*` stands for any
                letters. Default: all.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("kill", kill)
        self._put("at", at)
        self._put("every", every)
        self._put("for", for_)
        self._put("process", process)
        self._put("times", times)
        self._put("until", until)


class LimitEntry(Model):
    """Limits what programs may use from then on."""

    def __init__(
        self,
        *,
        limit: Name | str | Sequence[Name | str],
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        fds: int | Literal["unlimited"] | None = None,
        memory: Size | Literal["unlimited"] | None = None,
        pids: int | Literal["unlimited"] | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            limit: The command, or the node with all that runs in it, or a pattern of nodes; or a list of them.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            fds: How many descriptors each of its processes may open: the soft limit, up to the hard one.
            memory: The memory of all its processes together, in a kernel node: the kernel takes back what it can, and
                kills a process when that is not enough.
            pids: How many processes and threads there may be, in a kernel node: none can be started beyond.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("limit", limit)
        self._put("at", at)
        self._put("every", every)
        self._put("fds", fds)
        self._put("memory", memory)
        self._put("pids", pids)
        self._put("times", times)
        self._put("until", until)


class Log(Model):
    """Marks an instant in the events and in all pictures."""

    def __init__(
        self,
        *,
        log: str,
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            log: What the mark says, on one line.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("log", log)
        self._put("at", at)
        self._put("every", every)
        self._put("times", times)
        self._put("until", until)


class BitErrorLoss(Model):
    """Loss of packets in which a bit is wrong."""

    def __init__(
        self,
        *,
        rate: float | str,
    ) -> None:
        """
        Args:
            rate: The share of bits that arrive wrong, above 0 and at most 1: 1e-9, 0.00001 or 1 in 300000.
        """
        super().__init__()
        self._put("kind", "bit-error")
        self._put("rate", rate)


class CorrelatedLoss(Model):
    """Loss with one probability and a correlation between neighbours."""

    def __init__(
        self,
        *,
        probability: Share | Literal[0],
        correlation: Share | Literal[0] | None = None,
    ) -> None:
        """
        Args:
            probability: The probability with which it happens to a packet.
            correlation: How alike neighbours are, from 0 % to below 100 %: the probability with which a packet uses
                the random number of the one before. Default: 0.
        """
        super().__init__()
        self._put("kind", "correlated")
        self._put("probability", probability)
        self._put("correlation", correlation)


class EveryLoss(Model):
    """Loss of packets at regular distances."""

    def __init__(
        self,
        *,
        n: int,
        first: int | None = None,
    ) -> None:
        """
        Args:
            n: The distance between lost packets, in packets.
            first: Which packet is the first to be lost, counted from 1. Default: n.
        """
        super().__init__()
        self._put("kind", "every")
        self._put("n", n)
        self._put("first", first)


class GilbertLoss(Model):
    """Loss in bursts."""

    def __init__(
        self,
        *,
        burst: str,
        share: Share | Literal[0],
    ) -> None:
        """
        Args:
            burst: How many packets in a row are lost, in the mean: 1 to 1000000 packets.
            share: Which share of all packets is lost in the long run, above 0 % and below 100 %.
        """
        super().__init__()
        self._put("kind", "gilbert")
        self._put("burst", burst)
        self._put("share", share)


class GilbertElliottLoss(Model):
    """Loss that depends on whether the link is good or bad."""

    def __init__(
        self,
        *,
        p: Share | Literal[0],
        r: Share | Literal[0],
        bad: Share | Literal[0] | None = None,
        good: Share | Literal[0] | None = None,
    ) -> None:
        """
        Args:
            p: The probability with which the bad state follows the good one, above 0 %.
            r: The probability with which the good state follows the bad one, above 0 %.
            bad: Loss in the bad state, which netem calls 1-h. Default: 100 %.
            good: Loss in the good state, which netem calls 1-k. Default: 0.
        """
        super().__init__()
        self._put("kind", "gilbert-elliott")
        self._put("p", p)
        self._put("r", r)
        self._put("bad", bad)
        self._put("good", good)


class IndoorLoss(Model):
    """Path loss in buildings after ITU-R P.1238."""

    def __init__(
        self,
        *,
        coefficient: float | None = None,
        floors: str | None = None,
    ) -> None:
        """
        Args:
            coefficient: The power of the distance, ten times: 28 in flats, 30 in offices, 22 in shops. Default: 30.
            floors: The loss of all floors in between. Default: 0 dB.
        """
        super().__init__()
        self._put("kind", "indoor")
        self._put("coefficient", coefficient)
        self._put("floors", floors)


class LogDistanceLoss(Model):
    """Path loss that grows with a power of the distance."""

    def __init__(
        self,
        *,
        exponent: float | None = None,
        reference: str | None = None,
    ) -> None:
        """
        Args:
            exponent: The exponent: 2 in free space, 1.6 to 1.8 in corridors, 2.7 to 3.5 in towns, 4 to 6 behind
                obstacles. Default: 3.
            reference: The loss at one metre. Default: 46.6777 dB.
        """
        super().__init__()
        self._put("kind", "log-distance")
        self._put("exponent", exponent)
        self._put("reference", reference)


class MarkovLoss(Model):
    """Loss in bursts, within which packets may pass, and of single packets between them."""

    def __init__(
        self,
        *,
        p13: Share | Literal[0],
        p31: Share | Literal[0],
        p14: Share | Literal[0] | None = None,
        p23: Share | Literal[0] | None = None,
        p32: Share | Literal[0] | None = None,
    ) -> None:
        """
        Args:
            p13: A burst begins.
            p31: A burst ends.
            p14: Between bursts, a packet is lost alone. Default: 0.
            p23: Within a burst, packets are lost again. Default: 100 %.
            p32: Within a burst, packets pass. Default: 0.
        """
        super().__init__()
        self._put("kind", "markov")
        self._put("p13", p13)
        self._put("p31", p31)
        self._put("p14", p14)
        self._put("p23", p23)
        self._put("p32", p32)


class MultiWallLoss(Model):
    """Free space, and walls and floors between all stations."""

    def __init__(
        self,
        *,
        floors: int | None = None,
        heavy: int | None = None,
        light: int | None = None,
    ) -> None:
        """
        Args:
            floors: Floors, 18.3 dB for the first and less for each other. Default: 0.
            heavy: Heavy walls, 6.9 dB each. Default: 0.
            light: Light walls, 3.4 dB each. Default: 0.
        """
        super().__init__()
        self._put("kind", "multi-wall")
        self._put("floors", floors)
        self._put("heavy", heavy)
        self._put("light", light)


class PacketsLoss(Model):
    """Loss of the packets with certain numbers."""

    def __init__(
        self,
        *,
        lost: Sequence[int | str],
        period: int | None = None,
    ) -> None:
        """
        Args:
            lost: The numbers of the lost packets, counted from 1, in rising order; 20..25 means all from 20 to 25.
            period: The packet after which counting begins again. Default: never.
        """
        super().__init__()
        self._put("kind", "packets")
        self._put("lost", lost)
        self._put("period", period)


class PatternLoss(Model):
    """Loss of the packets that a sequence marks."""

    def __init__(
        self,
        *,
        sequence: str | float | bool,
        then: Literal["repeat", "pass"] | None = None,
    ) -> None:
        """
        Args:
            sequence: 0 for a packet that passes, 1 for one that is lost.
            then: What happens after the end. repeat: it begins again; pass: nothing is lost any more. Default:
                repeat.
        """
        super().__init__()
        self._put("kind", "pattern")
        self._put("sequence", sequence)
        self._put("then", then)


class ReplayLoss(Model):
    """Loss as it was recorded in a file."""

    def __init__(
        self,
        *,
        file: str,
        then: Literal["repeat", "pass"] | None = None,
    ) -> None:
        """
        Args:
            file: A text of 0 for a packet that passes and 1 for one that is lost; the rest of a line from # on is a
                comment.
            then: What happens after the end. repeat: it begins again; pass: nothing is lost any more. Default:
                repeat.
        """
        super().__init__()
        self._put("kind", "replay")
        self._put("file", file)
        self._put("then", then)


class ThreeSlopesLoss(Model):
    """Path loss with an exponent of 1.9 up to 200 m, and of 3.8 beyond."""

    def __init__(
        self,
        *,
        reference: str | None = None,
    ) -> None:
        """
        Args:
            reference: The loss at one metre. Default: 46.6777 dB.
        """
        super().__init__()
        self._put("kind", "three-slopes")
        self._put("reference", reference)


class Machine(Model):
    """A machine that plays a part of the lab."""

    def __init__(
        self,
        *,
        images: Sequence[str] | None = None,
        resources: Resources | None = None,
    ) -> None:
        """
        Args:
            images: The container images that are there: nodes with another one are put elsewhere. Default: any.
            resources: The resources that the lab may use, as Ray counts them. Default: it is not known, and taken to
                be as much as the other machines have.
        """
        super().__init__()
        self._put("images", images)
        self._put("resources", resources)


class Match(Model):
    """A filter of packets: every key that is given must match, and of a list one entry."""

    def __init__(
        self,
        *,
        dscp: int | Sequence[int] | None = None,
        from_: str | Sequence[str] | None = None,
        from_port: int | str | Sequence[int | str] | None = None,
        port: int | str | Sequence[int | str] | None = None,
        protocol: Literal["icmp", "igmp", "tcp", "udp", "dccp", "gre", "esp", "icmpv6", "ospf", "sctp", "udplite"] | int | Sequence[Literal["icmp", "igmp", "tcp", "udp", "dccp", "gre", "esp", "icmpv6", "ospf", "sctp", "udplite"] | int] | None = None,
        share: Share | None = None,
        to: str | Sequence[str] | None = None,
        to_port: int | str | Sequence[int | str] | None = None,
    ) -> None:
        """
        Args:
            dscp: Its differentiated services code point, 0 to 63, or several.
            from_: Where it comes from: a node, which stands for all its addresses, an address or a prefix, or
                several.
            from_port: Its source port, in the same notation.
            port: One of its ports: a port from 1 to 65535 or a range, or several.
            protocol: The protocol above IP by name or by number, 0 to 255, or several.
            share: The share of connections that match, picked from the seed by addresses, protocol and ports: the
                same ones in both directions and on all links. In `pipes`, `packet` and `reset` only.
            to: Where it goes, in the same notation.
            to_port: Its destination port, in the same notation.
        """
        super().__init__()
        self._put("dscp", dscp)
        self._put("from", from_)
        self._put("from_port", from_port)
        self._put("port", port)
        self._put("protocol", protocol)
        self._put("share", share)
        self._put("to", to)
        self._put("to_port", to_port)


class Measure(Model):
    """What is measured inside nodes, and of links, while a run goes on."""

    def __init__(
        self,
        *,
        node: Time | None = None,
        pipes: Time | None = None,
        qlog: bool | None = None,
        tcp: Time | None = None,
        tls_keys: bool | None = None,
    ) -> None:
        """
        Args:
            node: How often processor time, memory and packets that the node itself dropped are sampled, 1 ms and
                above; it goes to nodes.csv. Default: never.
            pipes: How often all directions of links are sampled, 100 us to 10 s; it goes to samples.csv, which then
                has quantiles of delays, too. Default: ten times a second, without delays.
            qlog: Whether programs get QLOGDIR, so that they write qlog files of their QUIC connections, which are
                collected. Default: false.
            tcp: How often the state of all TCP connections is sampled, 1 ms and above; it goes to tcp.csv. Default:
                never.
            tls_keys: Whether programs get SSLKEYLOGFILE, so that they write down the keys of their TLS connections,
                which are collected. Default: false.
        """
        super().__init__()
        self._put("node", node)
        self._put("pipes", pipes)
        self._put("qlog", qlog)
        self._put("tcp", tcp)
        self._put("tls_keys", tls_keys)


class MediumCell(Model):
    """
    A cell of a mobile network: LTE, or 5G with shorter slots. Its ends are a base station, which schedules, and
    terminals.
    """

    def __init__(
        self,
        *,
        base: Name,
        attempts: int | None = None,
        blocks: int | None = None,
        cells: Mapping[str, CellSite] | None = None,
        drx: CellDrx | None = None,
        elements: int | None = None,
        errors: Share | Literal[0] | None = None,
        grant: Time | Literal[0] | None = None,
        handover: CellHandover | None = None,
        harq: Time | None = None,
        layers: int | None = None,
        limit: int | None = None,
        modulation: Literal["64qam", "256qam"] | None = None,
        pattern: str | None = None,
        processing: Time | Literal[0] | None = None,
        reordering: Time | None = None,
        repeat_errors: Share | Literal[0] | None = None,
        report: Time | None = None,
        request: Time | Literal[0] | None = None,
        rlc: Literal["acknowledged", "unacknowledged"] | None = None,
        rounds: int | None = None,
        scheduler: Literal["proportional-fair", "round-robin"] | None = None,
        signals: CellSignals | None = None,
        slot: Literal["1 ms", "500 us", "250 us", "125 us"] | None = None,
        terminals: Mapping[str, CellTerminal] | None = None,
        window: int | None = None,
    ) -> None:
        """
        Args:
            base: The node that is the base station.
            attempts: How often HARQ sends a block. Default: 4.
            blocks: The resource blocks of each direction: 6 to 100 with LTE (5 per MHz), up to 275 with 5G. Default:
                100.
            cells: The cells of the base station, with signals: from where it sends. Default: from where it is.
            drx: When terminals without data do not listen. Default: they always do.
            elements: The resource elements for data of a block in a slot, of 168. Default: 132.
            errors: The share of blocks that is not decoded at the first attempt. Default: 10 %.
            grant: The time from the slot with the request to that of the grant. Default: 7 slots.
            handover: When terminals go from one of the cells to another. Default: event A3 with 3 dB, 1 dB and 160
                ms.
            harq: The time from one attempt of HARQ to the next. Default: 8 slots.
            layers: The spatial layers. Default: 1.
            limit: How many packets wait for a terminal, or at it, at most. Default: 1000.
            modulation: The table of channel quality indicators: 64qam or 256qam. Default: 64qam.
            pattern: The uses of slots where both directions share a frequency: D for downlink, U for uplink, S for
                neither. Default: both have frequencies of their own.
            processing: How long decoding takes behind a slot. Default: 3 slots.
            reordering: How long what comes behind a missing block waits before that is sent again, or given up.
                Default: 35 ms.
            repeat_errors: The share of repeats that is not decoded either. Default: 1 %.
            report: How often channel quality indicators are reported. Default: 5 ms.
            request: The time between two opportunities of a terminal to ask for a grant; 0: it has one at all times.
                Default: 10 ms.
            rlc: Radio link control: acknowledged, or unacknowledged, where blocks that HARQ gave up are lost.
                Default: acknowledged.
            rounds: How often radio link control sends a block. Default: 8.
            scheduler: Who gets blocks first: proportional-fair or round-robin. Default: proportional-fair.
            signals: Powers between positions, from which indicators follow. Default: none, and terminals have those
                that are written, or 15.
            slot: The time of a slot: 1 ms with LTE; with 5G 1 ms, 500 us, 250 us or 125 us. Default: 1 ms.
            terminals: Single terminals: how well they are heard, and when they change cells.
            window: Over how many slots a proportional fair scheduler averages. Default: 100.
        """
        super().__init__()
        self._put("kind", "cell")
        self._put("base", base)
        self._put("attempts", attempts)
        self._put("blocks", blocks)
        self._put("cells", cells)
        self._put("drx", drx)
        self._put("elements", elements)
        self._put("errors", errors)
        self._put("grant", grant)
        self._put("handover", handover)
        self._put("harq", harq)
        self._put("layers", layers)
        self._put("limit", limit)
        self._put("modulation", modulation)
        self._put("pattern", pattern)
        self._put("processing", processing)
        self._put("reordering", reordering)
        self._put("repeat_errors", repeat_errors)
        self._put("report", report)
        self._put("request", request)
        self._put("rlc", rlc)
        self._put("rounds", rounds)
        self._put("scheduler", scheduler)
        self._put("signals", signals)
        self._put("slot", slot)
        self._put("terminals", terminals)
        self._put("window", window)


class MediumWifi(Model):
    """
    A radio medium of IEEE 802.11. Its ends are stations, which contend for it; it has neither rate nor queue but
    these.
    """

    def __init__(
        self,
        *,
        standard: Literal["a", "b", "g", "n", "ac", "ax"],
        access: Literal["dcf", "ideal", "radio"] | None = None,
        access_point: Name | None = None,
        access_points: Sequence[Name] | None = None,
        ampdu: Size | None = None,
        amsdu: Size | None = None,
        beacons: Time | Literal["none"] | None = None,
        capture: str | Literal["none"] | None = None,
        channel: int | None = None,
        coding: Literal["bcc", "ldpc", "nist"] | None = None,
        energy: str | None = None,
        fading: WifiFading | None = None,
        guard_interval: Literal["400 ns", "800 ns", "1600 ns", "3200 ns"] | None = None,
        interferers: Mapping[str, WifiInterferer] | None = None,
        limit: int | None = None,
        long_retries: int | None = None,
        longest: Time | None = None,
        loss: Literal["friis", "log-distance", "three-slopes", "two-ray", "street", "street-obstructed", "town", "town-obstructed", "office", "office-obstructed", "country"] | LogDistanceLoss | ThreeSlopesLoss | MultiWallLoss | IndoorLoss | None = None,
        noise_figure: str | None = None,
        power: str | None = None,
        preamble: Literal["long", "short"] | None = None,
        queue: Literal["fifo", "airtime-fq"] | None = None,
        rate: Rate | WifiRate | Literal["ideal", "arf", "aarf", "minstrel"] | None = None,
        recovery: Literal["eifs", "difs"] | None = None,
        retries: int | None = None,
        roaming: WifiRoaming | None = None,
        rts_above: Size | None = None,
        sensitivity: str | None = None,
        shadowing: WifiShadowing | None = None,
        slot: Literal["long", "short"] | None = None,
        stations: Mapping[str, WifiStation] | None = None,
        walls: Sequence[Wall] | None = None,
        width: Literal["20 MHz", "40 MHz", "80 MHz", "160 MHz"] | None = None,
        window: int | None = None,
    ) -> None:
        """
        Args:
            standard: The standard that all stations speak: a, b, g, n, ac or ax.
            access: How stations get access: dcf (they contend, by categories with n, ac and ax, and all hear one
                another), ideal (one after the other without any gap), or radio (they contend, and each hears what
                reaches its position). Default: dcf.
            access_point: The node that is the access point: stations send to it alone, and it sends on what is for
                others. Default: none, and stations send to one another.
            access_points: The nodes that are access points of one network, with access radio: each station is with
                the one that it hears best, and goes from one to another. Default: none.
            ampdu: The largest A-MPDU: packets that are acknowledged one by one; 0 B turns it off. Default: that of
                the standard, 65535 B with n.
            amsdu: The largest A-MSDU: packets under one header. Default: none.
            beacons: The time from one beacon of an access point to the next; with it, beacons and the frames with
                which stations come to an access point are on the air. none: they take no time. Default: none.
            capture: How much stronger a frame must be to take the receiver of one that began up to 16 us before;
                none: it never does. Default: 5 dB.
            channel: The channel, which decides the band: 1 to 14 at 2.4 GHz, others at 5 GHz. Default: 1 with b and
                g, else 36.
            coding: The code, which decides how many frames get lost: bcc, ldpc, or nist, which is bcc in closed form.
                Default: bcc, and ldpc with ax.
            energy: The power of everything together from which on a station is busy. Default: -62 dBm.
            fading: How powers vary over time. Default: not at all.
            guard_interval: The guard interval between symbols of OFDM: 400 ns with n and ac, 800 ns, 1600 ns and 3200
                ns with ax. Default: 800 ns.
            interferers: Neighbours' networks and other devices that send on the channel from the beginning of the run
                on, by names; with access dcf, too. Default: none.
            limit: How many packets wait in a category of a station at most. Default: 1000.
            long_retries: How often data is tried behind a CTS until it is dropped. Default: 4.
            longest: The longest transmission of an aggregate, at most 5.484 ms. Default: 5.484 ms.
            loss: The path loss between positions: friis, log-distance, three-slopes, two-ray, a place of 3GPP
                (street, town, office, each with -obstructed behind it, or country), or a map. With access radio only,
                as all keys down to coding. Default: log-distance.
            noise_figure: How much noise receivers add to that of the channel. Default: 7 dB.
            power: The power with which stations send, without the gains of their antennas. Default: 16 dBm.
            preamble: The preamble of the rates of 802.11b, long or short. Default: long.
            queue: In which order a station serves the packets of a category: fifo, or airtime-fq (each destination
                gets the same time). Default: fifo.
            rate: The rate of data: of a, b and g a rate, of n, ac and ax an MCS and the number of streams; with
                access radio also ideal (the fastest that loses at most a tenth), arf, aarf or minstrel. Default: the
                fastest with one stream; with access radio ideal.
            recovery: For how long stations are silent behind what they could not decode: eifs, or difs as behind
                anything else. Default: eifs.
            retries: How often data is tried without an answer until it is dropped. Default: 7.
            roaming: When stations go from one access point to another. Default: below -70 dBm, to one that is 8 dB
                stronger.
            rts_above: Data of more bytes, headers included, are sent behind RTS and CTS. Default: none are.
            sensitivity: The least power at which a station finds a preamble, and is then busy to its end. Default:
                -82 dBm.
            shadowing: How losses vary over places, the same in both directions of a pair. Default: not at all.
            slot: The slot time at 2.4 GHz, short (9 us) or long (20 us); b always has the long one. Default: short.
            stations: Rates, positions and powers of single stations, and how much gets lost between them and the
                others.
            walls: Walls, each of which takes its loss from signals that go through it, beside that of the path.
                Default: none.
            width: The width of the channel: 20 MHz, 40 MHz, 80 MHz or 160 MHz, as far as the standard has it.
                Default: 20 MHz.
            window: The window of a BlockAck, in packets or A-MSDUs, up to 64, and 256 with ax. Default: the largest.
        """
        super().__init__()
        self._put("kind", "wifi")
        self._put("standard", standard)
        self._put("access", access)
        self._put("access_point", access_point)
        self._put("access_points", access_points)
        self._put("ampdu", ampdu)
        self._put("amsdu", amsdu)
        self._put("beacons", beacons)
        self._put("capture", capture)
        self._put("channel", channel)
        self._put("coding", coding)
        self._put("energy", energy)
        self._put("fading", fading)
        self._put("guard_interval", guard_interval)
        self._put("interferers", interferers)
        self._put("limit", limit)
        self._put("long_retries", long_retries)
        self._put("longest", longest)
        self._put("loss", loss)
        self._put("noise_figure", noise_figure)
        self._put("power", power)
        self._put("preamble", preamble)
        self._put("queue", queue)
        self._put("rate", rate)
        self._put("recovery", recovery)
        self._put("retries", retries)
        self._put("roaming", roaming)
        self._put("rts_above", rts_above)
        self._put("sensitivity", sensitivity)
        self._put("shadowing", shadowing)
        self._put("slot", slot)
        self._put("stations", stations)
        self._put("walls", walls)
        self._put("width", width)
        self._put("window", window)


class Move(Model):
    """Moves a node from one of its links to another."""

    def __init__(
        self,
        *,
        from_: Name,
        move: Name,
        to: Name,
        at: Time | Literal[0] | Drawn | None = None,
        carrier: bool | None = None,
    ) -> None:
        """
        Args:
            from_: The link that it leaves, which is cut at its end.
            move: The node. It has an end at each link that it visits, and is at one of them at a time.
            to: The link that it gets to.
            at: When, after time zero; a map to draw it. Default: at time zero.
            carrier: Whether its interfaces lose and get their carrier, so that programs see the move. Default: false.
        """
        super().__init__()
        self._put("from", from_)
        self._put("move", move)
        self._put("to", to)
        self._put("at", at)
        self._put("carrier", carrier)


class Multicast(Model):
    """A group, who sends to it, and who receives."""

    def __init__(
        self,
        *,
        from_: Name,
        group: str,
        to: Sequence[Name],
    ) -> None:
        """
        Args:
            from_: The host or router that sends to the group.
            group: The address of the group: of IPv4 from 224.0.1.0 to 239.255.255.255, of IPv6 with a scope beyond
                the link, as ff3e::1.
            to: The hosts and routers that receive: a shortest path leads to each, along which transit routers pass
                packets on.
        """
        super().__init__()
        self._put("from", from_)
        self._put("group", group)
        self._put("to", to)


class Nat(Model):
    """How a router translates addresses of IPv4."""

    def __init__(
        self,
        *,
        outside: Name | Sequence[Name],
        filtering: Literal["endpoint-independent", "address-dependent", "address-and-port-dependent"] | None = None,
        forward: Sequence[Forward] | None = None,
        mapping: Literal["endpoint-independent", "address-dependent", "address-and-port-dependent"] | None = None,
    ) -> None:
        """
        Args:
            outside: The link, or those, that lead outside: there the router's address takes the place of those behind
                it.
            filtering: Who may send to that port: anybody, an address that it has sent to, or an address and port.
                Default: address-and-port-dependent.
            forward: Ports of the router's addresses outside that lead to nodes behind it.
            mapping: When a sender keeps its port outside (RFC 4787): to all destinations, or to one address and port
                only. Default: endpoint-independent.
        """
        super().__init__()
        self._put("kind", "full-cone")
        self._put("outside", outside)
        self._put("filtering", filtering)
        self._put("forward", forward)
        self._put("mapping", mapping)


class NodeClock(Model):
    """The error of a node's clock (CLOCK_REALTIME), which programs of the node may correct."""

    def __init__(
        self,
        *,
        drift: str | Literal[0] | None = None,
        skew: Time | None = None,
    ) -> None:
        """
        Args:
            drift: How much faster than lab time it runs from time zero on; slower with a minus sign. At most 10 %.
                Default: 0.
            skew: By how much it is fast from the start; slow with a minus sign. Default: 0 s.
        """
        super().__init__()
        self._put("drift", drift)
        self._put("skew", skew)


class NodeMeasure(Model):
    """What is measured inside a node while a run goes on."""

    def __init__(
        self,
        *,
        node: Time | None = None,
        qlog: bool | None = None,
        tcp: Time | None = None,
        tls_keys: bool | None = None,
    ) -> None:
        """
        Args:
            node: How often processor time, memory and packets that the node itself dropped are sampled, 1 ms and
                above; it goes to nodes.csv. Default: never.
            qlog: Whether programs get QLOGDIR, so that they write qlog files of their QUIC connections, which are
                collected. Default: false.
            tcp: How often the state of all TCP connections is sampled, 1 ms and above; it goes to tcp.csv. Default:
                never.
            tls_keys: Whether programs get SSLKEYLOGFILE, so that they write down the keys of their TLS connections,
                which are collected. Default: false.
        """
        super().__init__()
        self._put("node", node)
        self._put("qlog", qlog)
        self._put("tcp", tcp)
        self._put("tls_keys", tls_keys)


class OomEntry(Model):
    """Lets the kernel of a node kill a process as if there were no memory left (OOM)."""

    def __init__(
        self,
        *,
        on: str | Sequence[str],
        oom: str,
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            on: The node, or several: a list, or a name with `*`, which stands for any letters.
            oom: The command line of the process, its words with one space between them; `*` stands for any letters.
                Of several, the one with the most memory is killed.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("on", on)
        self._put("oom", oom)
        self._put("at", at)
        self._put("every", every)
        self._put("times", times)
        self._put("until", until)


class Overhead(Model):
    """What is charged beyond a packet's bytes from the IP header on: for a frame, or for all cells it is cut into."""

    def __init__(
        self,
        *,
        bytes: Size | None = None,
        cell: Size | None = None,
        minimum: Size | None = None,
        payload: Size | None = None,
    ) -> None:
        """
        Args:
            bytes: What is added to each packet. Default: 0 B.
            cell: The size of a cell. Default: there are no cells.
            minimum: The least that a packet is charged. Default: 0 B.
            payload: How much of a packet a cell carries.
        """
        super().__init__()
        self._put("bytes", bytes)
        self._put("cell", cell)
        self._put("minimum", minimum)
        self._put("payload", payload)


class Packet(Model):
    """Which packets that enter a link are treated. All conditions count from when the entry happens."""

    def __init__(
        self,
        *,
        after: Literal["handshake"] | Size | None = None,
        count: int | Literal["all"] | None = None,
        longer: Size | None = None,
        match: Match | None = None,
        nth: int | None = None,
        of: Literal["flow", "all"] | None = None,
        probability: Share | None = None,
        question: str | None = None,
        tcp: Literal["syn", "data", "ack", "fin", "rst"] | Sequence[Literal["syn", "data", "ack", "fin", "rst"]] | None = None,
    ) -> None:
        """
        Args:
            after: Only TCP segments behind the handshake of their connection, or behind so much payload in this
                direction.
            count: How many are treated from then on, of each flow with `of: flow`; or all. Default: 1.
            longer: Only packets that are longer than this, from the IP header on.
            match: The filter of the packets. Default: all packets.
            nth: The ordinal of the first packet that is treated, among those that are like that. Default: 1.
            of: Whether the packets of each flow are counted for themselves (flow), or all together. Default: all.
            probability: The probability with which each of these is treated. Default: 100 %.
            question: Only datagrams with a message of DNS about this name, or about one below it.
            tcp: Only TCP segments of this kind, or of one of several: they open a connection (syn), have payload
                (data), only acknowledge (ack), close (fin) or reset (rst).
        """
        super().__init__()
        self._put("after", after)
        self._put("count", count)
        self._put("longer", longer)
        self._put("match", match)
        self._put("nth", nth)
        self._put("of", of)
        self._put("probability", probability)
        self._put("question", question)
        self._put("tcp", tcp)


class PacketEntry(Model):
    """Treats single packets that enter a link, picked by filter and ordinal."""

    def __init__(
        self,
        *,
        do: Literal["drop", "duplicate", "corrupt", "mark", "unmark", "reset"] | PacketTreatment,
        link: Name,
        packet: Packet,
        at: Time | Literal[0] | Drawn | None = None,
        direction: Literal["forward", "backward"] | None = None,
        every: Time | Drawn | None = None,
        for_: Time | None = None,
        pipe: Name | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            do: What becomes of them: they are dropped, followed by a copy, corrupted in one bit, marked as having
                experienced congestion if their sender is capable of it, or lose that mark; or they are TCP segments,
                in the place of which both ends get a reset.
            link: The link.
            packet: Which packets.
            at: When, after time zero; a map to draw it. Default: at time zero.
            direction: Only this direction. Default: both.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            for_: For how long packets are picked. Default: to the end of the run.
            pipe: The further pipe of this name. Default: the link's own pipe.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("do", do)
        self._put("link", link)
        self._put("packet", packet)
        self._put("at", at)
        self._put("direction", direction)
        self._put("every", every)
        self._put("for", for_)
        self._put("pipe", pipe)
        self._put("times", times)
        self._put("until", until)


class PacketTreatment(Model):
    """The treatment of a packet with a setting of its own: exactly one of these."""

    def __init__(
        self,
        *,
        corrupt: int | None = None,
        dns: Literal["servfail", "nxdomain", "refused", "empty", "reverse", "stale"] | None = None,
        hold: Time | None = None,
        reset: Literal["both", "sender", "receiver"] | None = None,
    ) -> None:
        """
        Args:
            corrupt: All bits of the byte of this number are flipped, counted from 0 at the IP header: 20 or more.
            dns: The query of DNS is answered with an error (servfail, nxdomain, refused) or without a record (empty);
                or the response has its addresses in the opposite order (reverse), or says what the first one to the
                same question said (stale).
            hold: The packet is held for this time before it enters the link.
            reset: The TCP segment is dropped, and resets go to these ends of its connection.
        """
        super().__init__()
        self._put("corrupt", corrupt)
        self._put("dns", dns)
        self._put("hold", hold)
        self._put("reset", reset)


class Parameter(Model):
    """A parameter: its values, and what they replace."""

    def __init__(
        self,
        *,
        count: int | None = None,
        csv: str | None = None,
        from_: str | float | bool | None = None,
        path: str | Sequence[str] | None = None,
        paths: Mapping[str, str] | None = None,
        scale: Literal["linear", "log"] | None = None,
        step: str | float | bool | None = None,
        to: str | float | bool | None = None,
        values: Sequence[object] | None = None,
        with_: str | None = None,
    ) -> None:
        """
        Args:
            count: How many values a range has.
            csv: A table whose columns are parameters, and whose rows are their values.
            from_: The first value of a range, which has a `step` or a `count`.
            path: What its values replace in this file, one place or several. Default: ${name} in any text.
            paths: What columns of a table replace in this file. Default: ${column} in any text.
            scale: How the values of a range with a `count` grow. Default: linear.
            step: From one value of a range to the next.
            to: The last value of a range.
            values: Its values.
            with_: The parameter beside whose values its own stand, one by one.
        """
        super().__init__()
        self._put("count", count)
        self._put("csv", csv)
        self._put("from", from_)
        self._put("path", path)
        self._put("paths", paths)
        self._put("scale", scale)
        self._put("step", step)
        self._put("to", to)
        self._put("values", values)
        self._put("with", with_)


class Partition(Model):
    """Parts nodes: packets between them are dropped, slowed or held, whatever joins the nodes."""

    def __init__(
        self,
        *,
        partition: Sequence[Sequence[Name | str]] | PartitionShape,
        at: Time | Literal[0] | Drawn | None = None,
        direction: Literal["to", "from"] | None = None,
        every: Time | Drawn | None = None,
        for_: Time | Drawn | None = None,
        jam: bool | None = None,
        neighbors: Sequence[Sequence[Name]] | None = None,
        others: Literal["isolated", "joined"] | None = None,
        slow: Time | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            partition: Groups of nodes, or a shape. Nodes of different groups are parted, but for those that share a
                group. Nodes in none reach all others; a group alone is parted from all other nodes.
            at: When, after time zero; a map to draw it. Default: at time zero.
            direction: Only one direction: to, what others send to the first group; from, what the first group sends
                to others. Default: both.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            for_: For how long. Default: until `heal`.
            jam: Whether packets are not dropped, but held until the nodes are joined again, and go on in their order
                then. Default: false.
            neighbors: Pairs of parted nodes whose address resolution gets through, since others need them as
                neighbours. Default: as follows from the links; between nodes that are `elsewhere`, none.
            others: What holds for nodes that are not named: joined, they reach all others; isolated, each of them is
                parted from all others. Default: joined.
            slow: Packets are not dropped, but held for this time, and go on in their order.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("partition", partition)
        self._put("at", at)
        self._put("direction", direction)
        self._put("every", every)
        self._put("for", for_)
        self._put("jam", jam)
        self._put("neighbors", neighbors)
        self._put("others", others)
        self._put("slow", slow)
        self._put("times", times)
        self._put("until", until)


class PartitionShape(Model):
    """The shape of a partition: exactly one of halves, minority, isolate, bridge, ring, random and leader."""

    def __init__(
        self,
        *,
        bridge: Name | str | Sequence[Name | str] | None = None,
        halves: Name | str | Sequence[Name | str] | None = None,
        isolate: Name | None = None,
        leader: str | Sequence[str | float | bool] | None = None,
        minority: Name | str | Sequence[Name | str] | None = None,
        of: Name | str | Sequence[Name | str] | None = None,
        on: Name | None = None,
        random: Name | str | Sequence[Name | str] | None = None,
        ring: Name | str | Sequence[Name | str] | None = None,
    ) -> None:
        """
        Args:
            bridge: The nodes: two halves are parted, and both reach the node between them.
            halves: The nodes: the first half of them is parted from the rest.
            isolate: The node that is parted from the others; one draws it from the seed.
            leader: A command that runs when it is time, and the first line of whose output names the node that is
                parted from the others: by its name, or by an address of it.
            minority: The nodes: fewer than half of them, drawn from the seed, are parted from the rest.
            of: The nodes among which one is isolated, or is the leader. Default: all nodes.
            on: The node on which that command runs.
            random: The nodes: they are in two groups, drawn from the seed.
            ring: The nodes: each reaches its neighbours in the ring of all, as many as make a majority with itself,
                and no two reach the same.
        """
        super().__init__()
        self._put("bridge", bridge)
        self._put("halves", halves)
        self._put("isolate", isolate)
        self._put("leader", leader)
        self._put("minority", minority)
        self._put("of", of)
        self._put("on", on)
        self._put("random", random)
        self._put("ring", ring)


class PathCircle(Model):
    """A path around a circle."""

    def __init__(
        self,
        *,
        circle: Circle,
    ) -> None:
        """
        Args:
            circle: The circle.
        """
        super().__init__()
        self._put("circle", circle)


class PathFile(Model):
    """A path of a file."""

    def __init__(
        self,
        *,
        file: str,
        format: Literal["setdest", "bonnmotion", "csv", "gpx", "kml", "fcd"] | None = None,
        height: str | None = None,
        node: str | float | bool | None = None,
        origin: Sequence[float] | None = None,
    ) -> None:
        """
        Args:
            file: The file; a relative path starts at the lab file's folder.
            format: Its format: setdest (commands of ns-2), bonnmotion, csv (columns time, x, y, and if they are there
                node and z), gpx, kml, or fcd (of SUMO). Default: by the end of its name, .movements, .csv, .gpx, .kml
                and .xml (fcd); setdest of all others.
            height: The height above the ground, where the file says none. Default: 1.5 m.
            node: Whose path it is, as the file calls it. Default: the node's own name, or the only one in the file.
            origin: The latitude and the longitude of the place with x = y = 0, in degrees. Default: the lab's
                `origin`, else the first place of the file.
        """
        super().__init__()
        self._put("file", file)
        self._put("format", format)
        self._put("height", height)
        self._put("node", node)
        self._put("origin", origin)


class PathGaussMarkov(Model):
    """A velocity that changes little by little."""

    def __init__(
        self,
        *,
        area: Sequence[Sequence[str]],
        generate: Literal["gauss-markov"],
        speed: str,
        height: str | None = None,
        memory: Share | None = None,
        span: Time | None = None,
        step: Time | None = None,
    ) -> None:
        """
        Args:
            area: The rectangle that it does not leave, by two corners that lie opposite each other.
            generate: Velocities that are drawn, each from the one before (Gauss and Markov).
            speed: The mean speed, above zero.
            height: Its height above the ground. Default: 1.5 m.
            memory: The share of the velocity that remains from step to step, below 100 %. Default: 75 %.
            span: For how long it moves; then it stands still. Default: 1 h, or as long as the lab if that takes
                longer.
            step: The time from one change to the next. Default: 1 s.
        """
        super().__init__()
        self._put("area", area)
        self._put("generate", generate)
        self._put("speed", speed)
        self._put("height", height)
        self._put("memory", memory)
        self._put("span", span)
        self._put("step", step)


class PathGroup(Model):
    """Around a place beside another node, wherever that goes."""

    def __init__(
        self,
        *,
        generate: Literal["group"],
        leader: Name,
        radius: str,
        height: str | None = None,
        offset: Sequence[str] | None = None,
        span: Time | None = None,
        step: Time | None = None,
    ) -> None:
        """
        Args:
            generate: Places that are drawn around one that goes with the leader of a group (reference point group
                mobility).
            leader: The node that leads, which has a path or a position of its own.
            radius: How far from that place it is at most at the end of each step.
            height: Its height above the ground. Default: that of the leader.
            offset: Where the place is, seen from the leader: to the east and to the north. Default: where the leader
                is.
            span: For how long it moves; then it stands still. Default: 1 h, or as long as the lab if that takes
                longer.
            step: The time between two places that are drawn. Default: 10 s.
        """
        super().__init__()
        self._put("generate", generate)
        self._put("leader", leader)
        self._put("radius", radius)
        self._put("height", height)
        self._put("offset", offset)
        self._put("span", span)
        self._put("step", step)


class PathManhattan(Model):
    """Along the streets of a grid."""

    def __init__(
        self,
        *,
        area: Sequence[Sequence[str]],
        block: str,
        generate: Literal["manhattan"],
        speed: str | Sequence[str],
        height: str | None = None,
        pause: Time | Literal[0] | Sequence[Time | Literal[0]] | None = None,
        span: Time | None = None,
    ) -> None:
        """
        Args:
            area: The rectangle that it does not leave, by two corners that lie opposite each other.
            block: The distance between streets.
            generate: Ways at crossings that are drawn: straight on every second time, else to the left or to the
                right.
            speed: The speed above zero, or the least and the greatest, between which it is drawn for each block.
            height: Its height above the ground. Default: 1.5 m.
            pause: The pause at each crossing, or the least and the greatest. Default: none.
            span: For how long it moves; then it stands still. Default: 1 h, or as long as the lab if that takes
                longer.
        """
        super().__init__()
        self._put("area", area)
        self._put("block", block)
        self._put("generate", generate)
        self._put("speed", speed)
        self._put("height", height)
        self._put("pause", pause)
        self._put("span", span)


class PathRandomWaypoint(Model):
    """
    Straight to a place that is drawn, a pause, and on to the next one; from the beginning as it is in the long run.
    """

    def __init__(
        self,
        *,
        area: Sequence[Sequence[str]],
        generate: Literal["random-waypoint"],
        speed: str | Sequence[str],
        height: str | None = None,
        pause: Time | Literal[0] | Sequence[Time | Literal[0]] | None = None,
        span: Time | None = None,
    ) -> None:
        """
        Args:
            area: The rectangle that it does not leave, by two corners that lie opposite each other.
            generate: Places, speeds and pauses that are drawn.
            speed: The speed above zero, or the least and the greatest, between which each way's is drawn.
            height: Its height above the ground. Default: 1.5 m.
            pause: The pause at each place, or the least and the greatest. Default: none.
            span: For how long it moves; then it stands still. Default: 1 h, or as long as the lab if that takes
                longer.
        """
        super().__init__()
        self._put("area", area)
        self._put("generate", generate)
        self._put("speed", speed)
        self._put("height", height)
        self._put("pause", pause)
        self._put("span", span)


class PathWaypoint(Model):
    """Where a node is at a time."""

    def __init__(
        self,
        *,
        at: Time | Literal[0],
        position: Sequence[str] | Position,
    ) -> None:
        """
        Args:
            at: When, since the beginning of the run.
            position: Where: in metres, or in degrees as a node's.
        """
        super().__init__()
        self._put("at", at)
        self._put("position", position)


class PathWaypoints(Model):
    """A path through waypoints that begins again."""

    def __init__(
        self,
        *,
        waypoints: Sequence[PathWaypoint],
        repeat: Time | None = None,
    ) -> None:
        """
        Args:
            waypoints: The waypoints, in order of time.
            repeat: The time until it is at the first waypoint again; behind the last one it goes back there,
                straight. Default: it stands still there.
        """
        super().__init__()
        self._put("waypoints", waypoints)
        self._put("repeat", repeat)


class Pause(Model):
    """Holds programs, by SIGSTOP."""

    def __init__(
        self,
        *,
        pause: Name | str | Sequence[Name | str],
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        for_: Time | Drawn | None = None,
        process: str | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            pause: The command, or the node with all that runs in it, or a pattern of nodes; or a list of them.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            for_: How long. Default: until they are stopped.
            process: Only processes with this command line, its words with one space between them; `*` stands for any
                letters. Default: all.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("pause", pause)
        self._put("at", at)
        self._put("every", every)
        self._put("for", for_)
        self._put("process", process)
        self._put("times", times)
        self._put("until", until)


class Pipe(Model):
    """A pipe for some of the traffic of a direction. Keys that it does not have are as in that direction."""

    def __init__(
        self,
        *,
        match: Match,
        corrupt: Share | Literal[0] | Chance | None = None,
        cross: Literal["none"] | Sequence[CrossConstant | CrossPoisson | CrossOnOff | CrossPcap] | None = None,
        delay: Time | Literal[0] | ConstantDelay | UniformDelay | NormalDelay | ExponentialDelay | ParetoDelay | ParetoNormalDelay | GammaDelay | TableDelay | HistogramDelay | SamplesDelay | None = None,
        dummynet: str | float | bool | None = None,
        duplicate: Share | Literal[0] | Chance | None = None,
        loss: Share | Literal[0] | CorrelatedLoss | BitErrorLoss | GilbertLoss | GilbertElliottLoss | MarkovLoss | EveryLoss | PacketsLoss | PatternLoss | ReplayLoss | None = None,
        netem: str | float | bool | None = None,
        overhead: Literal["none", "ethernet", "atm"] | Overhead | None = None,
        queue: Limit | Fifo | Red | Pie | DualPi2 | CoDel | FqCodel | Drr | Wf2q | Priority | None = None,
        rate: Rate | Literal["unlimited"] | TokenBucket | DeliveryTrace | CellTrace | RateSlots | None = None,
        reorder: Share | Literal[0] | Reorder | None = None,
        schedule: Literal["none"] | Schedule | None = None,
        state: Literal["none"] | State | None = None,
        tbf: str | float | bool | None = None,
    ) -> None:
        """
        Args:
            match: Which packets enter it.
            corrupt: The probability with which one bit of a packet is flipped, alone or with a correlation. Default:
                0.
            cross: Traffic that exists in this direction only and uses its queue and rate: a list of sources. Default:
                none.
            delay: Propagation delay of one direction, after the last bit is sent: a time, or a distribution. Default:
                0.
            dummynet: A string for `ipfw pipe … config`, instead of other keys; `netloom link --dummynet` shows what
                it means.
            duplicate: The probability with which a packet is duplicated, alone or with a correlation. Default: 0.
            loss: The probability with which each packet is lost, independently of all others, or another model.
                Default: 0.
            netem: A string for `tc … netem`, instead of other keys; `netloom link --netem` shows what it means.
            overhead: What a packet is charged on the link beyond its bytes from the IP header on: none, ethernet,
                atm, or bytes and cells. Default: none.
            queue: How much may wait for the transmitter: packets, bytes or a time; or a map with the discipline as
                its `kind`. Default: 1000 packets.
            rate: How fast it sends, counting bytes from the IP header on: a rate, a token bucket, a trace or two,
                slots, or unlimited. Default: unlimited.
            reorder: The probability with which a packet travels for a shorter time and overtakes others, alone or
                with more. Default: 0.
            schedule: Changes at known times: steps, here or in a CSV file. Default: none.
            state: Flapping, and what a cut does to packets on the wire. Default: none.
            tbf: A string for `tc … tbf`, instead of other keys; `netloom link --tbf` shows what it means.
        """
        super().__init__()
        self._put("match", match)
        self._put("corrupt", corrupt)
        self._put("cross", cross)
        self._put("delay", delay)
        self._put("dummynet", dummynet)
        self._put("duplicate", duplicate)
        self._put("loss", loss)
        self._put("netem", netem)
        self._put("overhead", overhead)
        self._put("queue", queue)
        self._put("rate", rate)
        self._put("reorder", reorder)
        self._put("schedule", schedule)
        self._put("state", state)
        self._put("tbf", tbf)


class Position(Model):
    """A place on Earth."""

    def __init__(
        self,
        *,
        latitude: float,
        longitude: float,
        height: str | None = None,
    ) -> None:
        """
        Args:
            latitude: The degrees to the north of the equator, -89 to 89.
            longitude: The degrees to the east of Greenwich, -180 to 180.
            height: The height above the ground. Default: 1.5 m.
        """
        super().__init__()
        self._put("latitude", latitude)
        self._put("longitude", longitude)
        self._put("height", height)


class Querier(Model):
    """How a switch asks hosts which groups they want."""

    def __init__(
        self,
        *,
        address: str | None = None,
        igmp: int | None = None,
        mld: int | None = None,
    ) -> None:
        """
        Args:
            address: The address of IPv4 that its queries come from. The lowest one on a LAN is elected, and 0.0.0.0
                by nobody. Default: one of 169.254.0.0/16 that is made of its hardware address, as that of IPv6 is of
                fe80::/10.
            igmp: The version of IGMP in which it asks, 2 or 3. Default: 3.
            mld: The version of MLD in which it asks, 1 or 2. Default: 2.
        """
        super().__init__()
        self._put("address", address)
        self._put("igmp", igmp)
        self._put("mld", mld)


class QueueClass(Model):
    """The packets that wait in one queue, and their share."""

    def __init__(
        self,
        *,
        limit: Limit | None = None,
        match: Match | None = None,
        weight: int | None = None,
    ) -> None:
        """
        Args:
            limit: How much may wait in this class: packets or bytes. Default: 1000 packets.
            match: Which packets; the first class that matches takes them, and the one without `match` takes the rest.
            weight: Its share, in proportion to the weights of the others, 1 to 10000. Default: 1.
        """
        super().__init__()
        self._put("limit", limit)
        self._put("match", match)
        self._put("weight", weight)


class CoDel(Model):
    """Controlled delay (RFC 8289): drops at the head while packets have waited too long for too long."""

    def __init__(
        self,
        *,
        ecn: bool | None = None,
        interval: Time | None = None,
        limit: Limit | None = None,
        mtu: Size | None = None,
        target: Time | None = None,
    ) -> None:
        """
        Args:
            ecn: Whether packets are marked, rather than dropped, if their sender understands it. Default: false.
            interval: How long the delay must exceed the target before a drop: about the longest RTT, at least the
                target. Default: 100 ms.
            limit: How much may wait: packets, bytes or a time. Default: 1000 packets.
            mtu: A queue of at most this size never drops: the largest packet, from the IP header on. Default: 1500 B.
            target: The standing delay that is acceptable, above zero. Default: 5 ms.
        """
        super().__init__()
        self._put("kind", "codel")
        self._put("ecn", ecn)
        self._put("interval", interval)
        self._put("limit", limit)
        self._put("mtu", mtu)
        self._put("target", target)


class Drr(Model):
    """Deficit round robin: the queues take turns, each worth a quantum of bytes."""

    def __init__(
        self,
        *,
        classes: Mapping[str, QueueClass | object] | None = None,
        flows: int | None = None,
        limit: Limit | None = None,
        quantum: Size | None = None,
    ) -> None:
        """
        Args:
            classes: Queues chosen by filters instead of a hash; exactly one has no `match` and takes the rest.
            flows: Among how many queues a hash of addresses, protocol and ports divides, 1 to 65536. Default: 1024.
            limit: How much may wait in the queue of each flow: packets or bytes. Default: 1000 packets.
            quantum: How much, from the IP header on, a queue of weight 1 may send per turn; above zero. Default: 1500
                B.
        """
        super().__init__()
        self._put("kind", "drr")
        self._put("classes", classes)
        self._put("flows", flows)
        self._put("limit", limit)
        self._put("quantum", quantum)


class DualPi2(Model):
    """Two coupled queues for L4S and all other traffic (RFC 9332)."""

    def __init__(
        self,
        *,
        classic_share: Share | Literal[0] | None = None,
        coupling: int | None = None,
        limit: Limit | None = None,
        min: Time | Literal[0] | None = None,
        overload: Literal["rfc", "linux", "overflow"] | None = None,
        range: Time | Literal[0] | None = None,
        rtt_max: Time | None = None,
        target: Time | None = None,
        update: Time | None = None,
    ) -> None:
        """
        Args:
            classic_share: The share of the rate that the classic queue keeps while both have packets, below 100 %.
                Default: 10 %.
            coupling: How much more often the low-latency queue is marked than the square root of the classic
                probability. Default: 2.
            limit: How much may wait in both queues together: packets, bytes or a time. Default: 250 ms.
            min: From this delay on packets of the low-latency queue are marked. Default: 800 us.
            overload: What happens when all of the low-latency queue is marked already: as in RFC 9332, as in Linux,
                or as in Linux with its option `overflow`. Default: rfc.
            range: Above `min`, the span of delay over which marks rise from none to all; 0 is a step. Default: 400
                us.
            rtt_max: The longest round trip that is expected, above 0; the gains follow from it. Default: 100 ms.
            target: The target of the queuing delay, above 0. Default: 15 ms.
            update: The period at which the probability is updated, above 0. Default: 16 ms.
        """
        super().__init__()
        self._put("kind", "dualpi2")
        self._put("classic_share", classic_share)
        self._put("coupling", coupling)
        self._put("limit", limit)
        self._put("min", min)
        self._put("overload", overload)
        self._put("range", range)
        self._put("rtt_max", rtt_max)
        self._put("target", target)
        self._put("update", update)


class Fifo(Model):
    """First in, first out."""

    def __init__(
        self,
        *,
        drop: Literal["tail", "head"] | None = None,
        limit: Limit | None = None,
    ) -> None:
        """
        Args:
            drop: Which packet is dropped when it is full: tail, the one that arrives; head, the one that waits
                longest. Default: tail.
            limit: How much may wait: packets, bytes or a time. Default: 1000 packets.
        """
        super().__init__()
        self._put("kind", "fifo")
        self._put("drop", drop)
        self._put("limit", limit)


class FqCodel(Model):
    """Flows that take turns, each under the control of CoDel (RFC 8290)."""

    def __init__(
        self,
        *,
        ecn: bool | None = None,
        flows: int | None = None,
        interval: Time | None = None,
        limit: Limit | None = None,
        memory: Size | None = None,
        mtu: Size | None = None,
        quantum: Size | None = None,
        target: Time | None = None,
    ) -> None:
        """
        Args:
            ecn: Whether packets are marked, rather than dropped, if their sender understands it. Default: true.
            flows: Among how many queues a hash of addresses, protocol and ports divides, 1 to 65536. Default: 1024.
            interval: How long the delay must exceed the target before a drop: about the longest RTT, at least the
                target. Default: 100 ms.
            limit: How many packets may wait in all; above zero. Default: 10240 packets.
            memory: How many bytes, from the IP header on, may wait in all; above zero. Default: 32 MB.
            mtu: A queue of at most this size never drops: the largest packet, from the IP header on. Default: 1500 B.
            quantum: How much, from the IP header on, a flow may send per turn; above zero. Default: 1500 B.
            target: The standing delay that is acceptable, above zero. Default: 5 ms.
        """
        super().__init__()
        self._put("kind", "fq_codel")
        self._put("ecn", ecn)
        self._put("flows", flows)
        self._put("interval", interval)
        self._put("limit", limit)
        self._put("memory", memory)
        self._put("mtu", mtu)
        self._put("quantum", quantum)
        self._put("target", target)


class Pie(Model):
    """Proportional integral controller, enhanced (RFC 8033)."""

    def __init__(
        self,
        *,
        burst: Time | Literal[0] | None = None,
        byte_mode: bool | None = None,
        derandomize: bool | None = None,
        ecn: bool | None = None,
        limit: Limit | None = None,
        mean_packet: Size | None = None,
        target: Time | None = None,
        update: Time | None = None,
    ) -> None:
        """
        Args:
            burst: For how long a burst passes without early drops after the queue was short. Default: 150 ms.
            byte_mode: Whether a packet's probability is in proportion to its size. Default: false.
            derandomize: Whether drops are kept apart, as Linux does: none before the probabilities since the last one
                add up to 0.85. Default: false.
            ecn: Whether packets are marked rather than dropped while the probability is below 10 %. Default: false.
            limit: How much may wait: packets, bytes or a time. Default: 1000 packets.
            mean_packet: Length of a typical packet, above 0. Default: 1000 B.
            target: The target of the queuing delay, above 0. Default: 15 ms.
            update: The period at which the probability is updated, above 0. Default: 15 ms.
        """
        super().__init__()
        self._put("kind", "pie")
        self._put("burst", burst)
        self._put("byte_mode", byte_mode)
        self._put("derandomize", derandomize)
        self._put("ecn", ecn)
        self._put("limit", limit)
        self._put("mean_packet", mean_packet)
        self._put("target", target)
        self._put("update", update)


class Priority(Model):
    """Strict priority: the first class with something to send, always."""

    def __init__(
        self,
        *,
        classes: Mapping[str, PriorityClass | object],
    ) -> None:
        """
        Args:
            classes: The classes, the most important first; the last has no `match` and takes the rest.
        """
        super().__init__()
        self._put("kind", "priority")
        self._put("classes", classes)


class PriorityClass(Model):
    """The packets that wait in one queue."""

    def __init__(
        self,
        *,
        limit: Limit | None = None,
        match: Match | None = None,
    ) -> None:
        """
        Args:
            limit: How much may wait in this class: packets or bytes. Default: 1000 packets.
            match: Which packets; the first class that matches takes them, and the one without `match` takes the rest.
        """
        super().__init__()
        self._put("limit", limit)
        self._put("match", match)


class Red(Model):
    """Random early detection (Floyd and Jacobson 1993)."""

    def __init__(
        self,
        *,
        byte_mode: bool | None = None,
        ecn: bool | None = None,
        gentle: bool | None = None,
        hard_drop: bool | None = None,
        limit: Limit | None = None,
        max: Limit | None = None,
        mean_packet: Size | None = None,
        min: Limit | None = None,
        probability: Share | None = None,
        wait: bool | None = None,
        weight: Share | None = None,
    ) -> None:
        """
        Args:
            byte_mode: Whether a packet's probability is in proportion to its size. Default: false.
            ecn: Whether packets below max are marked rather than dropped, if their sender understands. Default:
                false.
            gentle: Whether the probability rises on from max to twice max, up to 100 %. Default: false.
            hard_drop: Whether packets at or above max are dropped even with ecn (RFC 3168); false marks them, as
                Linux does. Default: true.
            limit: How much may wait: packets, bytes or a time. Default: 1000 packets.
            max: From this average length on all packets are dropped: above min, in its unit. Default: 15 packets.
            mean_packet: Length of a typical packet, above 0. Default: 1000 B.
            min: From this average length on some packets are dropped: packets or bytes. Default: 5 packets.
            probability: With which probability packets are dropped just below max, above 0. Default: 2 %.
            wait: Whether at least 1/p packets pass between two early drops, p being the probability, as in ns-2.
                Default: false.
            weight: The weight of each new sample in the average, above 0. Default: 0.2 %.
        """
        super().__init__()
        self._put("kind", "red")
        self._put("byte_mode", byte_mode)
        self._put("ecn", ecn)
        self._put("gentle", gentle)
        self._put("hard_drop", hard_drop)
        self._put("limit", limit)
        self._put("max", max)
        self._put("mean_packet", mean_packet)
        self._put("min", min)
        self._put("probability", probability)
        self._put("wait", wait)
        self._put("weight", weight)


class Wf2q(Model):
    """WF2Q+: each queue gets its share of the rate as if it had its own link, to within one packet."""

    def __init__(
        self,
        *,
        classes: Mapping[str, QueueClass | object] | None = None,
        flows: int | None = None,
        limit: Limit | None = None,
    ) -> None:
        """
        Args:
            classes: Queues chosen by filters instead of a hash; exactly one has no `match` and takes the rest.
            flows: Among how many queues a hash of addresses, protocol and ports divides, 1 to 65536. Default: 1024.
            limit: How much may wait in the queue of each flow: packets or bytes. Default: 1000 packets.
        """
        super().__init__()
        self._put("kind", "wf2q")
        self._put("classes", classes)
        self._put("flows", flows)
        self._put("limit", limit)


class Ramp(Model):
    """Settings that go from a first value to a last one, in equal steps."""

    def __init__(
        self,
        *,
        over: Time,
        delay: Sequence[Time | Literal[0]] | None = None,
        loss: Sequence[Share | Literal[0]] | None = None,
        rate: Sequence[Rate] | None = None,
        step: Time | None = None,
    ) -> None:
        """
        Args:
            over: How long it takes from the first to the last.
            delay: The first and the last delay, constant at each step.
            loss: The first and the last share of packets that are lost.
            rate: The first and the last rate.
            step: The time of a step. Default: a hundredth, and 1 ms at least.
        """
        super().__init__()
        self._put("over", over)
        self._put("delay", delay)
        self._put("loss", loss)
        self._put("rate", rate)
        self._put("step", step)


class RampEntry(Model):
    """Changes a link in steps from one value to another."""

    def __init__(
        self,
        *,
        link: Name,
        ramp: Ramp,
        at: Time | Literal[0] | Drawn | None = None,
        direction: Literal["forward", "backward"] | None = None,
        every: Time | Drawn | None = None,
        pipe: Name | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            link: The link.
            ramp: From which values to which, and in what time.
            at: When, after time zero; a map to draw it. Default: at time zero.
            direction: Only this direction. Default: both.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            pipe: The further pipe of this name. Default: the link's own pipe.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("link", link)
        self._put("ramp", ramp)
        self._put("at", at)
        self._put("direction", direction)
        self._put("every", every)
        self._put("pipe", pipe)
        self._put("times", times)
        self._put("until", until)


class CellTrace(Model):
    """A cellular network by two traces in the formats of CellReplay, which tell its delay, too."""

    def __init__(
        self,
        *,
        heavy: str,
        light: str,
        bytes: Size | None = None,
        header: Size | None = None,
        timer: Time | Literal[0] | None = None,
    ) -> None:
        """
        Args:
            heavy: The trace that was recorded under heavy load: one time in milliseconds per line.
            light: The trace that was recorded under light load: per line the time of a train of packets, the delay of
                the first, and how long after it each of them arrived, in milliseconds.
            bytes: How many bytes are sent at each opportunity. Default: 1400 B.
            header: What each packet is charged beside its bytes from the IP header on. Default: 4 B.
            timer: For how long a burst goes on behind its last packet. Default: 0 ms.
        """
        super().__init__()
        self._put("kind", "cell-trace")
        self._put("heavy", heavy)
        self._put("light", light)
        self._put("bytes", bytes)
        self._put("header", header)
        self._put("timer", timer)


class DeliveryTrace(Model):
    """A number of bytes at each instant of a trace in the format of mahimahi."""

    def __init__(
        self,
        *,
        file: str,
        bytes: Size | None = None,
        header: Size | None = None,
    ) -> None:
        """
        Args:
            file: The trace: one time in milliseconds per line.
            bytes: How many bytes are sent at each opportunity. Default: 1504 B.
            header: What each packet is charged beside its bytes from the IP header on. Default: 4 B.
        """
        super().__init__()
        self._put("kind", "delivery-trace")
        self._put("file", file)
        self._put("bytes", bytes)
        self._put("header", header)


class RateSlots(Model):
    """Several packets at once, when the sender gets a turn."""

    def __init__(
        self,
        *,
        every: Time | Literal[0] | ConstantDelay | UniformDelay | NormalDelay | ExponentialDelay | ParetoDelay | ParetoNormalDelay | GammaDelay | TableDelay | HistogramDelay | SamplesDelay,
        bytes: Size | None = None,
        packets: int | None = None,
        rate: Rate | None = None,
    ) -> None:
        """
        Args:
            every: The time from one slot to the next, or how it is drawn.
            bytes: A slot is used up by the packet with which this many bytes are reached. Default: no limit.
            packets: How many packets leave in a slot. Default: no limit.
            rate: The rate at which packets are sent in a slot. Default: unlimited.
        """
        super().__init__()
        self._put("kind", "slots")
        self._put("every", every)
        self._put("bytes", bytes)
        self._put("packets", packets)
        self._put("rate", rate)


class TokenBucket(Model):
    """Bursts at once, and a rate over longer times."""

    def __init__(
        self,
        *,
        burst: Size,
        rate: Rate,
        peak: Rate | None = None,
        peak_burst: Size | None = None,
    ) -> None:
        """
        Args:
            burst: The size of the bucket, at least the largest packet.
            rate: How fast tokens flow into the bucket.
            peak: The rate of a burst, above the rate of tokens. Default: unlimited.
            peak_burst: The size of the peak rate's bucket, at least the largest packet. Default: 1500 B.
        """
        super().__init__()
        self._put("kind", "token-bucket")
        self._put("burst", burst)
        self._put("rate", rate)
        self._put("peak", peak)
        self._put("peak_burst", peak_burst)


class Ready(Model):
    """When a service can be used: exactly one of tcp, udp, file, command and pause."""

    def __init__(
        self,
        *,
        command: str | Sequence[str | float | bool] | None = None,
        file: str | None = None,
        pause: Time | None = None,
        tcp: int | None = None,
        timeout: Time | None = None,
        udp: int | None = None,
    ) -> None:
        """
        Args:
            command: A command that exits with 0 in the node.
            file: A file that exists.
            pause: A time that has passed.
            tcp: A TCP port that listens in the node.
            timeout: How long to wait; then the run fails. Default: 10 s.
            udp: A UDP port in the node that a socket is bound to, which takes datagrams from anybody. Whether its
                program reads them by then, nobody can know.
        """
        super().__init__()
        self._put("command", command)
        self._put("file", file)
        self._put("pause", pause)
        self._put("tcp", tcp)
        self._put("timeout", timeout)
        self._put("udp", udp)


class Reboot(Model):
    """Kills all programs of a node, cuts its links, and starts its services again."""

    def __init__(
        self,
        *,
        reboot: Name | str | Sequence[Name | str],
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        for_: Time | Drawn | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            reboot: The node, or a name with `*`, which stands for any letters; or a list of them.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            for_: How long it is away. Default: 1 s.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("reboot", reboot)
        self._put("at", at)
        self._put("every", every)
        self._put("for", for_)
        self._put("times", times)
        self._put("until", until)


class Reorder(Model):
    """Which packets overtake others."""

    def __init__(
        self,
        *,
        probability: Share | Literal[0],
        by: Time | None = None,
        correlation: Share | Literal[0] | None = None,
        gap: int | None = None,
    ) -> None:
        """
        Args:
            probability: The probability with which it happens to a packet.
            by: How much shorter the delay of such a packet is. Default: it has no delay.
            correlation: How alike neighbours are, from 0 % to below 100 %: the probability with which a packet uses
                the random number of the one before. Default: 0.
            gap: The least distance between packets that overtake, in packets. Default: 1.
        """
        super().__init__()
        self._put("probability", probability)
        self._put("by", by)
        self._put("correlation", correlation)
        self._put("gap", gap)


class ResetEntry(Model):
    """Ends TCP connections that go over a link: their ends get resets."""

    def __init__(
        self,
        *,
        link: Name,
        reset: Literal[True] | Match,
        at: Time | Literal[0] | Drawn | None = None,
        direction: Literal["forward", "backward"] | None = None,
        every: Time | Drawn | None = None,
        pipe: Name | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            link: The link.
            reset: The filter that connections match in either direction; true for all.
            at: When, after time zero; a map to draw it. Default: at time zero.
            direction: Only the end that this direction leads to gets a reset. Default: both ends.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            pipe: The further pipe of this name. Default: the link's own pipe.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("link", link)
        self._put("reset", reset)
        self._put("at", at)
        self._put("direction", direction)
        self._put("every", every)
        self._put("pipe", pipe)
        self._put("times", times)
        self._put("until", until)


class Resources(Model):
    """The resources of a machine that a lab may use."""

    def __init__(
        self,
        *,
        CPU: float | None = None,
        memory: Size | None = None,
    ) -> None:
        """
        Args:
            CPU: How many processors, to a thousandth.
            memory: How much memory.
        """
        super().__init__()
        self._put("CPU", CPU)
        self._put("memory", memory)


class Restart(Model):
    """Asks programs to end, and starts them again."""

    def __init__(
        self,
        *,
        restart: Name | str | Sequence[Name | str],
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        for_: Time | Drawn | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            restart: The command, or the node with its services, or a pattern of nodes; or a list of them.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            for_: They start again so long after they were asked to end. Default: when they have ended.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("restart", restart)
        self._put("at", at)
        self._put("every", every)
        self._put("for", for_)
        self._put("times", times)
        self._put("until", until)


class Route(Model):
    """A route of a node."""

    def __init__(
        self,
        *,
        to: str,
        via: str,
    ) -> None:
        """
        Args:
            to: The destination: a prefix, or an address.
            via: The address of the neighbour to which packets go. Routes to one destination by several neighbours
                share the flows.
        """
        super().__init__()
        self._put("to", to)
        self._put("via", via)


class Rule(Model):
    """Which packets take which way, before the node's other routes are looked at."""

    def __init__(
        self,
        *,
        from_: str | None = None,
        fwmark: int | None = None,
        iif: Name | None = None,
        link: Name | None = None,
        table: int | None = None,
        to: str | None = None,
        via: str | None = None,
    ) -> None:
        """
        Args:
            from_: The source of the packets: an address, or a prefix. Default: any.
            fwmark: The mark that a firewall or a program (SO_MARK) has put on them, 1 to 4294967295. Default: any.
            iif: The link by which they come to the node. Default: any, or its own programs.
            link: Instead: the link by which they go, to the router there.
            table: Instead: the number of a table that you fill, with `ip route add ... table 200` in `setup` for
                example.
            to: Their destination: an address, or a prefix. Default: any.
            via: The address of the neighbour to which they go.
        """
        super().__init__()
        self._put("from", from_)
        self._put("fwmark", fwmark)
        self._put("iif", iif)
        self._put("link", link)
        self._put("table", table)
        self._put("to", to)
        self._put("via", via)


class Schedule(Model):
    """Changes at known times, counted from the beginning of the run or from the change that brings the schedule."""

    def __init__(
        self,
        *,
        file: str | None = None,
        interpolation: Literal["step", "linear"] | None = None,
        repeat: bool | None = None,
        steps: Sequence[Step] | None = None,
    ) -> None:
        """
        Args:
            file: A CSV file with the steps, instead of `steps`.
            interpolation: step: each step holds until the next; linear: rate, delay and loss go straight to their
                next value. Default: step.
            repeat: Whether the schedule begins again at the time of its last step. Default: false.
            steps: The steps, in order of time.
        """
        super().__init__()
        self._put("file", file)
        self._put("interpolation", interpolation)
        self._put("repeat", repeat)
        self._put("steps", steps)


class ScheduleEntry(Model):
    """Lets programs of a node take turns by priorities that are drawn from the seed."""

    def __init__(
        self,
        *,
        on: str | Sequence[str],
        schedule: Turns,
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        for_: Time | Drawn | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            on: The node, or several: a list, or a name with `*`, which stands for any letters.
            schedule: How.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            for_: How long. Default: to the end of the run.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("on", on)
        self._put("schedule", schedule)
        self._put("at", at)
        self._put("every", every)
        self._put("for", for_)
        self._put("times", times)
        self._put("until", until)


class SetEntry(Model):
    """Changes a link."""

    def __init__(
        self,
        *,
        link: Name,
        set: Change,
        at: Time | Literal[0] | Drawn | None = None,
        direction: Literal["forward", "backward"] | None = None,
        every: Time | Drawn | None = None,
        pipe: Name | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            link: The link.
            set: What changes; all other settings stay.
            at: When, after time zero; a map to draw it. Default: at time zero.
            direction: Only this direction. Default: both.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            pipe: The further pipe of this name. Default: the link's own pipe.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("link", link)
        self._put("set", set)
        self._put("at", at)
        self._put("direction", direction)
        self._put("every", every)
        self._put("pipe", pipe)
        self._put("times", times)
        self._put("until", until)


class Settings(Model):
    """Settings of links."""

    def __init__(
        self,
        *,
        addresses: Literal["automatic", "none"] | None = None,
        area: int | str | None = None,
        backward: DirectionKeys | None = None,
        bypass: bool | Literal["auto"] | None = None,
        coalesce: Time | Literal[0] | None = None,
        corrupt: Share | Literal[0] | Chance | None = None,
        cost: int | None = None,
        cross: Literal["none"] | Sequence[CrossConstant | CrossPoisson | CrossOnOff | CrossPcap] | None = None,
        delay: Time | Literal[0] | ConstantDelay | UniformDelay | NormalDelay | ExponentialDelay | ParetoDelay | ParetoNormalDelay | GammaDelay | TableDelay | HistogramDelay | SamplesDelay | None = None,
        dummynet: str | float | bool | None = None,
        duplicate: Share | Literal[0] | Chance | None = None,
        forward: DirectionKeys | None = None,
        loss: Share | Literal[0] | CorrelatedLoss | BitErrorLoss | GilbertLoss | GilbertElliottLoss | MarkovLoss | EveryLoss | PacketsLoss | PatternLoss | ReplayLoss | None = None,
        medium: Literal["shared"] | MediumWifi | MediumCell | None = None,
        mtu: int | None = None,
        netem: str | float | bool | None = None,
        overhead: Literal["none", "ethernet", "atm"] | Overhead | None = None,
        pipes: Mapping[str, Pipe] | None = None,
        profile: Literal["dial-up", "2g", "edge", "3g-slow", "3g", "3g-fast", "lte", "lte-walking", "lte-driving", "5g", "dsl", "cable", "fibre", "wifi-home", "starlink", "geo"] | None = None,
        queue: Limit | Fifo | Red | Pie | DualPi2 | CoDel | FqCodel | Drr | Wf2q | Priority | None = None,
        rate: Rate | Literal["unlimited"] | TokenBucket | DeliveryTrace | CellTrace | RateSlots | None = None,
        reorder: Share | Literal[0] | Reorder | None = None,
        schedule: Literal["none"] | Schedule | None = None,
        state: Literal["none"] | State | None = None,
        tbf: str | float | bool | None = None,
        vlans: int | Vlans | None = None,
    ) -> None:
        """
        Args:
            addresses: Whether its ends get addresses that the file does not give: automatic or none. Default: as the
                lab's `addresses`.
            area: The OSPF area of the link at routers with `ospf` or `ospf6`: a number, or written like 0.0.0.1.
                Default: 0.
            backward: What differs in the direction from the second end to the first.
            bypass: Whether it is joined in the kernel, past the engine, which then measures nothing of it: true,
                false, or auto, if nothing about it needs the engine. Default: as the lab's `bypass`.
            coalesce: Packets due within this time of one another may be delivered together, as a network card's
                interrupt moderation does it; 0 turns it off. Default: 20 us.
            corrupt: The probability with which one bit of a packet is flipped, alone or with a correlation. Default:
                0.
            cost: The cost of the link for shortest-path routes, 1 to 65535. Default: 1.
            cross: Traffic that exists in this direction only and uses its queue and rate: a list of sources. Default:
                none.
            delay: Propagation delay of one direction, after the last bit is sent: a time, or a distribution. Default:
                0.
            dummynet: A string for `ipfw pipe … config`, instead of other keys; `netloom link --dummynet` shows what
                it means.
            duplicate: The probability with which a packet is duplicated, alone or with a correlation. Default: 0.
            forward: What differs in the direction from the first end to the second.
            loss: The probability with which each packet is lost, independently of all others, or another model.
                Default: 0.
            medium: One medium for all ends, two or more: what one sends waits for it, takes time on it, and is heard
                by all others. Its settings are those of the medium; there are no directions. Or a radio medium, for
                which its ends contend. Default: a pipe for each direction.
            mtu: The largest IP packet in bytes, 68 to 65535; IPv6 needs 1280. Default: 1500.
            netem: A string for `tc … netem`, instead of other keys; `netloom link --netem` shows what it means.
            overhead: What a packet is charged on the link beyond its bytes from the IP header on: none, ethernet,
                atm, or bytes and cells. Default: none.
            pipes: Further pipes for some of the traffic, by name: the first whose `match` holds takes a packet.
            profile: A typical link by name, whose keys hold where no other key says something else. The first end is
                the user's: forward is the uplink. Default: none.
            queue: How much may wait for the transmitter: packets, bytes or a time; or a map with the discipline as
                its `kind`. Default: 1000 packets.
            rate: How fast it sends, counting bytes from the IP header on: a rate, a token bucket, a trace or two,
                slots, or unlimited. Default: unlimited.
            reorder: The probability with which a packet travels for a shorter time and overtakes others, alone or
                with more. Default: 0.
            schedule: Changes at known times: steps, here or in a CSV file. Default: none.
            state: Flapping, and what a cut does to packets on the wire. Default: none.
            tbf: A string for `tc … tbf`, instead of other keys; `netloom link --tbf` shows what it means.
            vlans: The VLANs that it carries between switches, or between a switch and a node: a number, whose frames
                have no tag here, or a trunk. Default: what is not tagged belongs to VLAN 1 at switches that have
                VLANs.
        """
        super().__init__()
        self._put("addresses", addresses)
        self._put("area", area)
        self._put("backward", backward)
        self._put("bypass", bypass)
        self._put("coalesce", coalesce)
        self._put("corrupt", corrupt)
        self._put("cost", cost)
        self._put("cross", cross)
        self._put("delay", delay)
        self._put("dummynet", dummynet)
        self._put("duplicate", duplicate)
        self._put("forward", forward)
        self._put("loss", loss)
        self._put("medium", medium)
        self._put("mtu", mtu)
        self._put("netem", netem)
        self._put("overhead", overhead)
        self._put("pipes", pipes)
        self._put("profile", profile)
        self._put("queue", queue)
        self._put("rate", rate)
        self._put("reorder", reorder)
        self._put("schedule", schedule)
        self._put("state", state)
        self._put("tbf", tbf)
        self._put("vlans", vlans)


class Signal(Model):
    """Sends programs a signal."""

    def __init__(
        self,
        *,
        signal: Literal["SIGHUP", "SIGINT", "SIGQUIT", "SIGABRT", "SIGUSR1", "SIGSEGV", "SIGUSR2", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGTSTP", "SIGWINCH"],
        to: Name | str | Sequence[Name | str],
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        process: str | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            signal: The signal. Those that end or hold programs for certain are `kill`, `pause` and `continue`.
            to: The command, or the node with all that runs in it, or a pattern of nodes; or a list of them.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            process: Only processes with this command line, its words with one space between them; `*` stands for any
                letters. Default: all.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("signal", signal)
        self._put("to", to)
        self._put("at", at)
        self._put("every", every)
        self._put("process", process)
        self._put("times", times)
        self._put("until", until)


class Snooping(Model):
    """How a switch looks at groups of multicast (RFC 4541)."""

    def __init__(
        self,
        *,
        fast_leave: bool | Sequence[Name] | None = None,
        groups: int | None = None,
        interval: Time | None = None,
        last_member: Time | None = None,
        querier: bool | Querier | None = None,
        response: Time | None = None,
        robustness: int | None = None,
        routers: Sequence[Name] | None = None,
    ) -> None:
        """
        Args:
            fast_leave: Whether a host that leaves a group is taken to be the last behind its port, at all ports or at
                those of these links. Default: false.
            groups: How many groups the switch knows at most, 1 to 65536; what is for others goes everywhere. Default:
                4096.
            interval: How often hosts are asked: whole seconds, 1 s to 3600 s. Default: 125 s.
            last_member: How long hosts may take to say that they stay when another has left: whole tenths of a
                second, 100 ms to 12.7 s. It is asked `robustness` times. Default: 1 s.
            querier: Whether the switch asks hosts which groups they want, where nobody with a lower address does; or
                how. Where nobody asks, multicast goes everywhere. Default: true.
            response: How long hosts may take to answer: whole tenths of a second, 100 ms to 12.7 s, and less than
                `interval`. Default: 10 s.
            robustness: How often messages that may be lost are repeated, 1 to 7. A membership counts for `robustness`
                times `interval`, and `response`. Default: 2.
            routers: The links that are taken to lead to a multicast router, and so carry all multicast. Routers that
                are heard and transit routers need no entry.
        """
        super().__init__()
        self._put("fast_leave", fast_leave)
        self._put("groups", groups)
        self._put("interval", interval)
        self._put("last_member", last_member)
        self._put("querier", querier)
        self._put("response", response)
        self._put("robustness", robustness)
        self._put("routers", routers)


class StartEntry(Model):
    """Starts a node that `stop` has stopped: addresses, routes, parameters, setup and services come back."""

    def __init__(
        self,
        *,
        start: Name | str | Sequence[Name | str],
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            start: The node, or a name with `*`, which stands for any letters; or a list of them.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("start", start)
        self._put("at", at)
        self._put("every", every)
        self._put("times", times)
        self._put("until", until)


class Starve(Model):
    """Which programs are starved, and when."""

    def __init__(
        self,
        *,
        process: str | None = None,
        share: Share | Literal[0] | None = None,
        spans: Sequence[Time] | None = None,
        thread: str | None = None,
    ) -> None:
        """
        Args:
            process: Only processes with this command line, its words with one space between them; `*` stands for any
                letters. Default: all.
            share: The share of them that is starved, drawn anew from the seed for each span. Default: all of them,
                all the time.
            spans: The shortest and the longest span for which a share is starved; those between are the shortest
                times 2, 4, 8 and so on. Default: 1 ms and 2 s.
            thread: Only threads with this name (`comm`); `*` stands for any letters. Default: all.
        """
        super().__init__()
        self._put("process", process)
        self._put("share", share)
        self._put("spans", spans)
        self._put("thread", thread)


class StarveEntry(Model):
    """Gives programs no processor for a while, though they could run, while others do."""

    def __init__(
        self,
        *,
        for_: Time | Drawn,
        on: str | Sequence[str],
        starve: Literal[True] | Starve,
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            for_: How long.
            on: The node, or several: a list, or a name with `*`, which stands for any letters.
            starve: Which programs; true: all.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("for", for_)
        self._put("on", on)
        self._put("starve", starve)
        self._put("at", at)
        self._put("every", every)
        self._put("times", times)
        self._put("until", until)


class State(Model):
    """The flapping of a direction, and what a cut does."""

    def __init__(
        self,
        *,
        flap: Flap | None = None,
        on_cut: Literal["delivered", "lost"] | None = None,
    ) -> None:
        """
        Args:
            flap: It goes down and up again and again. Default: never.
            on_cut: What happens to packets that have left the transmitter when the link is cut. Default: delivered.
        """
        super().__init__()
        self._put("flap", flap)
        self._put("on_cut", on_cut)


class Step(Model):
    """What changes at an instant; what is not named stays as it is."""

    def __init__(
        self,
        *,
        at: Time | Literal[0],
        delay: Time | Literal[0] | None = None,
        loss: Share | Literal[0] | None = None,
        queue: Limit | None = None,
        rate: Rate | None = None,
    ) -> None:
        """
        Args:
            at: When, since the schedule began.
            delay: The propagation delay.
            loss: The probability with which each packet is lost.
            queue: The limit of the queue.
            rate: The rate.
        """
        super().__init__()
        self._put("at", at)
        self._put("delay", delay)
        self._put("loss", loss)
        self._put("queue", queue)
        self._put("rate", rate)


class StopEntry(Model):
    """Stops a node: its links are cut, and its programs end."""

    def __init__(
        self,
        *,
        stop: Name | str | Sequence[Name | str],
        at: Time | Literal[0] | Drawn | None = None,
        every: Time | Drawn | None = None,
        for_: Time | Drawn | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            stop: The node, or a name with `*`, which stands for any letters; or a list of them.
            at: When, after time zero; a map to draw it. Default: at time zero.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            for_: It starts again so long after. Default: by `start`, or not at all.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("stop", stop)
        self._put("at", at)
        self._put("every", every)
        self._put("for", for_)
        self._put("times", times)
        self._put("until", until)


class SpanningTree(Model):
    """A switch's part in a rapid spanning tree, as IEEE 802.1D-2004 has it."""

    def __init__(
        self,
        *,
        forward_delay: Time | None = None,
        hello: Time | None = None,
        max_age: Time | None = None,
        priority: int | None = None,
    ) -> None:
        """
        Args:
            forward_delay: How long a port listens, and then learns, before it forwards where no neighbour answers.
                Whole seconds, 4 s to 30 s. Default: 15 s.
            hello: How often it says what it knows; a neighbour of which three are missing is gone. Whole seconds, 1 s
                to 10 s. Default: 2 s.
            max_age: For how long the root's word counts, of which each switch on the way takes a second: a tree is no
                deeper. Whole seconds, 6 s to 40 s. Default: 20 s.
            priority: The switch with the lowest one is the root of the tree; of equal ones, that whose first port has
                the lowest hardware address. A multiple of 4096, 0 to 61440. Default: 32768.
        """
        super().__init__()
        self._put("forward_delay", forward_delay)
        self._put("hello", hello)
        self._put("max_age", max_age)
        self._put("priority", priority)


class Sweep(Model):
    """How the runs of a sweep are counted and packed."""

    def __init__(
        self,
        *,
        count: Literal["as-described", "all"] | None = None,
        processors: Literal["all"] | int | None = None,
    ) -> None:
        """
        Args:
            count: Which runs the statistics have: those whose network was as described, or all that came to an end.
                Default: as-described.
            processors: The processors that a run takes. Default: 1 in virtual time, else all.
        """
        super().__init__()
        self._put("count", count)
        self._put("processors", processors)


class Task(Model):
    """A task, which is met when its checks hold."""

    def __init__(
        self,
        *,
        check: str | Sequence[str],
        title: str,
        hints: Sequence[str] | None = None,
        last: Time | None = None,
        text: str | None = None,
    ) -> None:
        """
        Args:
            check: What must hold, in the language of `expect`, or a list of which everything must.
            title: What is to be done, in a line.
            hints: What helps, one after the other. Default: none.
            last: The checks look at so much lab time up to now, 1 s to 60 s. Default: at everything since time zero.
            text: More about it.
        """
        super().__init__()
        self._put("check", check)
        self._put("title", title)
        self._put("hints", hints)
        self._put("last", last)
        self._put("text", text)


class TrafficConstant(Model):
    """Packets at a constant rate."""

    def __init__(
        self,
        *,
        from_: Name,
        rate: Rate,
        size: Literal["imix"] | Size,
        to: Name,
        as_: Name | None = None,
        start: Time | Literal[0] | None = None,
        stop: Time | None = None,
    ) -> None:
        """
        Args:
            from_: The node that sends.
            rate: How much it sends on average, from the IP header on.
            size: Length of its packets from the IP header on, 28 B to 65535 B; imix: 7 of 40, 4 of 576 and 1 of 1500
                bytes in random order.
            to: The node that receives.
            as_: The source's name. Default: those of its nodes.
            start: When it begins, after time zero or the change. Default: 0.
            stop: When it ends, after time zero or the change. Default: never.
        """
        super().__init__()
        self._put("kind", "constant")
        self._put("from", from_)
        self._put("rate", rate)
        self._put("size", size)
        self._put("to", to)
        self._put("as", as_)
        self._put("start", start)
        self._put("stop", stop)


class TrafficOnOff(Model):
    """Packets in bursts of Pareto length."""

    def __init__(
        self,
        *,
        from_: Name,
        off: Time,
        on: Time,
        rate: Rate,
        size: Literal["imix"] | Size,
        to: Name,
        as_: Name | None = None,
        shape: float | None = None,
        sources: int | None = None,
        start: Time | Literal[0] | None = None,
        stop: Time | None = None,
    ) -> None:
        """
        Args:
            from_: The node that sends.
            off: The mean length of silence.
            on: The mean length of bursts; rate is the rate during a burst.
            rate: How much it sends on average, from the IP header on.
            size: Length of its packets from the IP header on, 28 B to 65535 B; imix: 7 of 40, 4 of 576 and 1 of 1500
                bytes in random order.
            to: The node that receives.
            as_: The source's name. Default: those of its nodes.
            shape: The shape of both Pareto distributions, above 1. Default: 1.5.
            sources: How many such sources, 1 to 1000; each is a flow of its own and has this rate. Default: 1.
            start: When it begins, after time zero or the change. Default: 0.
            stop: When it ends, after time zero or the change. Default: never.
        """
        super().__init__()
        self._put("kind", "on-off")
        self._put("from", from_)
        self._put("off", off)
        self._put("on", on)
        self._put("rate", rate)
        self._put("size", size)
        self._put("to", to)
        self._put("as", as_)
        self._put("shape", shape)
        self._put("sources", sources)
        self._put("start", start)
        self._put("stop", stop)


class TrafficPcap(Model):
    """Recorded packets."""

    def __init__(
        self,
        *,
        file: str,
        from_: Name,
        to: Name,
        as_: Name | None = None,
        repeat: bool | None = None,
        start: Time | Literal[0] | None = None,
        stop: Time | None = None,
    ) -> None:
        """
        Args:
            file: A capture file in the format of tcpdump (pcap) or Wireshark (pcapng); relative to the lab file.
            from_: The node that sends.
            to: The node that receives.
            as_: The source's name. Default: those of its nodes.
            repeat: Whether it begins again one mean gap after its last packet. Default: false.
            start: When it begins, after time zero or the change. Default: 0.
            stop: When it ends, after time zero or the change. Default: never.
        """
        super().__init__()
        self._put("kind", "pcap")
        self._put("file", file)
        self._put("from", from_)
        self._put("to", to)
        self._put("as", as_)
        self._put("repeat", repeat)
        self._put("start", start)
        self._put("stop", stop)


class TrafficPoisson(Model):
    """Packets that come independently of one another."""

    def __init__(
        self,
        *,
        from_: Name,
        rate: Rate,
        size: Literal["imix"] | Size,
        to: Name,
        as_: Name | None = None,
        start: Time | Literal[0] | None = None,
        stop: Time | None = None,
    ) -> None:
        """
        Args:
            from_: The node that sends.
            rate: How much it sends on average, from the IP header on.
            size: Length of its packets from the IP header on, 28 B to 65535 B; imix: 7 of 40, 4 of 576 and 1 of 1500
                bytes in random order.
            to: The node that receives.
            as_: The source's name. Default: those of its nodes.
            start: When it begins, after time zero or the change. Default: 0.
            stop: When it ends, after time zero or the change. Default: never.
        """
        super().__init__()
        self._put("kind", "poisson")
        self._put("from", from_)
        self._put("rate", rate)
        self._put("size", size)
        self._put("to", to)
        self._put("as", as_)
        self._put("start", start)
        self._put("stop", stop)


class TrafficWindow(Model):
    """A sender with a fixed window. It is not TCP: no slow start, no congestion control, no handshake."""

    def __init__(
        self,
        *,
        from_: Name,
        to: Name,
        window: Size,
        acknowledge: int | None = None,
        amount: Size | None = None,
        as_: Name | None = None,
        headers: Size | None = None,
        segment: Size | None = None,
        start: Time | Literal[0] | None = None,
        stop: Time | None = None,
        timeout: Time | None = None,
    ) -> None:
        """
        Args:
            from_: The node that sends.
            to: The node that receives.
            window: How much payload may be under way and not acknowledged.
            acknowledge: Every how many packets in order are acknowledged, 1 to 100. Default: 1.
            amount: How much payload is sent. Default: without end.
            as_: The source's name. Default: those of its nodes.
            headers: The headers of a packet, at least 28 B. Default: 40 B.
            segment: The payload of a packet. Default: 1460 B.
            start: When it begins, after time zero. Default: 0.
            stop: When it ends, after time zero. Default: never.
            timeout: How long after sending an unacknowledged packet is sent again. Default: 1 s.
        """
        super().__init__()
        self._put("kind", "window")
        self._put("from", from_)
        self._put("to", to)
        self._put("window", window)
        self._put("acknowledge", acknowledge)
        self._put("amount", amount)
        self._put("as", as_)
        self._put("headers", headers)
        self._put("segment", segment)
        self._put("start", start)
        self._put("stop", stop)
        self._put("timeout", timeout)


class TunnelKey(Model):
    """The file that the key of a tunnel is in."""

    def __init__(
        self,
        *,
        file: str,
    ) -> None:
        """
        Args:
            file: A file with the key as 64 hexadecimal digits, which only its owner may read. It is not kept with the
                results.
        """
        super().__init__()
        self._put("file", file)


class Turns(Model):
    """How programs take turns."""

    def __init__(
        self,
        *,
        changes: int | None = None,
        priorities: Literal["random"] | None = None,
        process: str | None = None,
        within: int | None = None,
    ) -> None:
        """
        Args:
            changes: How often the one that runs drops to the lowest priority. Default: 3.
            priorities: Each thread gets a priority by chance, and of those that can run the highest does.
            process: Only processes with this command line, its words with one space between them; `*` stands for any
                letters. Default: all.
            within: Within how many of their system calls it does, from the entry on. Default: 1,000.
        """
        super().__init__()
        self._put("changes", changes)
        self._put("priorities", priorities)
        self._put("process", process)
        self._put("within", within)


class Up(Model):
    """Restores a link that was cut."""

    def __init__(
        self,
        *,
        link: Name,
        up: Literal[True],
        at: Time | Literal[0] | Drawn | None = None,
        direction: Literal["forward", "backward"] | None = None,
        every: Time | Drawn | None = None,
        pipe: Name | None = None,
        times: int | None = None,
        until: Time | None = None,
    ) -> None:
        """
        Args:
            link: The link.
            up: Always true.
            at: When, after time zero; a map to draw it. Default: at time zero.
            direction: Only this direction. Default: both.
            every: It happens again and again, so long after the time before; a map to draw each. Needs `times` or
                `until`.
            pipe: Only the further pipe of this name. Default: all pipes of the link.
            times: How often it happens, with `every`. Default: until `until`.
            until: It does not happen after this time, with `every`. Default: `times` counts.
        """
        super().__init__()
        self._put("link", link)
        self._put("up", up)
        self._put("at", at)
        self._put("direction", direction)
        self._put("every", every)
        self._put("pipe", pipe)
        self._put("times", times)
        self._put("until", until)


class Vlans(Model):
    """A trunk: a link that carries several VLANs, whose frames bear tags."""

    def __init__(
        self,
        *,
        trunk: Literal["all"] | Sequence[int],
        native: int | Literal["none"] | None = None,
    ) -> None:
        """
        Args:
            trunk: The VLANs whose frames bear a tag here, or all that the lab file names.
            native: The VLAN of frames without a tag, or none: they are dropped. Default: 1.
        """
        super().__init__()
        self._put("trunk", trunk)
        self._put("native", native)


class VirtualMachine(Model):
    """
    A virtual machine, run by QEMU: a Linux kernel with its initial file system and, if it has one, a disk; or a disk
    that boots by itself.
    """

    def __init__(
        self,
        *,
        access: Literal["agent", "none"] | None = None,
        append: str | float | bool | None = None,
        boot_within: Time | None = None,
        cpus: int | None = None,
        disk: str | None = None,
        firmware: Literal["bios", "uefi"] | None = None,
        format: Literal["qcow2", "raw"] | None = None,
        initrd: str | None = None,
        kernel: str | None = None,
        memory: Size | None = None,
        passthrough: Sequence[str] | None = None,
        ssh_key: str | None = None,
    ) -> None:
        """
        Args:
            access: How commands get into a system that boots from its disk: agent, which cloud-init or QEMU's guest
                agent starts there; or none: any system with a virtio network device, which runs no commands. Default:
                agent.
            append: Further words of the kernel's command line. Default: none.
            boot_within: How long it may take from its start until it serves the lab, in lab time. Default: 2 min.
            cpus: Its processors, 1 to 64. Default: 1.
            disk: The disk, which the machine sees as /dev/vda. It is never written: what the machine writes is in
                this machine's memory, and gone when the lab ends. Default: none.
            firmware: What looks for a system on a disk that boots by itself: bios as in a PC, or uefi. Default: bios.
            format: How the disk's bytes lie in its file: qcow2, or raw, byte by byte. Default: qcow2.
            initrd: The initial file system that the kernel boots with. Netloom adds its agent to a copy of it.
            kernel: The Linux kernel that it boots, for this machine's processor; a relative path starts at the lab
                file's folder. Default: what the disk boots by itself.
            memory: Its memory, 64 MB to 1000 GB. Default: 512 MiB.
            passthrough: Network cards of this machine that it gets whole, by their PCI addresses (VFIO); in real time
                only. Default: none.
            ssh_key: A file of public keys that may log in by SSH to a system with cloud-init. Default: none.
        """
        super().__init__()
        self._put("access", access)
        self._put("append", append)
        self._put("boot_within", boot_within)
        self._put("cpus", cpus)
        self._put("disk", disk)
        self._put("firmware", firmware)
        self._put("format", format)
        self._put("initrd", initrd)
        self._put("kernel", kernel)
        self._put("memory", memory)
        self._put("passthrough", passthrough)
        self._put("ssh_key", ssh_key)


class Wall(Model):
    """A wall that signals go through, straight from one place to another."""

    def __init__(
        self,
        *,
        from_: Sequence[str],
        loss: str,
        to: Sequence[str],
        height: str | None = None,
    ) -> None:
        """
        Args:
            from_: One end: to the east and to the north.
            loss: What a signal loses that goes through it: 3.4 dB light, 6.9 dB heavy, 10 to 20 dB concrete.
            to: The other end.
            height: Its height above the ground; signals go over it where they are higher. Default: as high as
                anything.
        """
        super().__init__()
        self._put("from", from_)
        self._put("loss", loss)
        self._put("to", to)
        self._put("height", height)


class WifiFading(Model):
    """How the power of a signal varies over time, as echoes add up or cancel out."""

    def __init__(
        self,
        *,
        line_of_sight: str | None = None,
        nakagami: float | None = None,
        speed: str | None = None,
    ) -> None:
        """
        Args:
            line_of_sight: The power of the line of sight over that of the echoes (Rice). Default: no line of sight
                (Rayleigh).
            nakagami: The m of Nakagami's distribution, 0.5 to 100, instead: 1 is Rayleigh, less has deeper fades.
                Default: Rayleigh.
            speed: How fast everything around stations moves; how fast stations move against each other by their paths
                comes on top. Default: 1 m/s.
        """
        super().__init__()
        self._put("line_of_sight", line_of_sight)
        self._put("nakagami", nakagami)
        self._put("speed", speed)


class WifiInterferer(Model):
    """A neighbour's network or another device that sends on the channel and does not listen to it."""

    def __init__(
        self,
        *,
        duty_cycle: Share,
        burst: Time | None = None,
        position: Sequence[str] | None = None,
        power: str | None = None,
        received: str | None = None,
        sends: Literal["wifi", "noise"] | None = None,
    ) -> None:
        """
        Args:
            duty_cycle: The share of time in which it sends, above 0 %.
            burst: How long it sends at once, 100 us to 1 h; the breaks in between are drawn from the seed. Default: 2
                ms.
            position: Where it is. With access radio either this, or `received`; with access dcf neither, since all
                stations sense it.
            power: The power with which it sends from its position. Default: 16 dBm.
            received: The power with which it arrives at all stations, instead of a position.
            sends: What it sends: wifi, in which stations find preambles, or noise. Default: wifi.
        """
        super().__init__()
        self._put("duty_cycle", duty_cycle)
        self._put("burst", burst)
        self._put("position", position)
        self._put("power", power)
        self._put("received", received)
        self._put("sends", sends)


class WifiRate(Model):
    """A modulation and coding scheme of 802.11 n, ac or ax."""

    def __init__(
        self,
        *,
        mcs: int,
        streams: int | None = None,
    ) -> None:
        """
        Args:
            mcs: The scheme: 0 to 7 with n, 0 to 9 with ac, 0 to 11 with ax.
            streams: The number of spatial streams: 1 to 4 with n, 1 to 8 with ac and ax. Default: 1.
        """
        super().__init__()
        self._put("mcs", mcs)
        self._put("streams", streams)


class WifiRoaming(Model):
    """When a station goes from one access point to another, and what that costs."""

    def __init__(
        self,
        *,
        beacons: Time | None = None,
        below: str | None = None,
        gap: Time | Literal[0] | None = None,
        hysteresis: str | None = None,
        lost_after: int | None = None,
        time: Time | Literal[0] | None = None,
    ) -> None:
        """
        Args:
            beacons: The time from one beacon to the next, at which stations look. Default: that of the medium's
                beacons, 102.4 ms if it has none.
            below: The power of its own access point below which a station looks for another one. Default: -70 dBm.
            gap: For how long a station is off the air when it goes. Default: 50 ms.
            hysteresis: How much stronger the other one has to be. Default: 8 dB.
            lost_after: So many beacons in a row that a station does not hear end its association. Default: 7.
            time: For how long all beacons must show it. Default: 300 ms.
        """
        super().__init__()
        self._put("beacons", beacons)
        self._put("below", below)
        self._put("gap", gap)
        self._put("hysteresis", hysteresis)
        self._put("lost_after", lost_after)
        self._put("time", time)


class WifiShadowing(Model):
    """How losses vary over places."""

    def __init__(
        self,
        *,
        correlation: str | None = None,
        deviation: str | None = None,
    ) -> None:
        """
        Args:
            correlation: The distance over which losses are alike. Default: 10 m.
            deviation: The standard deviation of the loss. Default: 4 dB.
        """
        super().__init__()
        self._put("correlation", correlation)
        self._put("deviation", deviation)


class WifiStation(Model):
    """What differs at a station of a radio medium."""

    def __init__(
        self,
        *,
        access_point: Name | None = None,
        antenna: Antenna | None = None,
        channel: int | None = None,
        errors: Share | None = None,
        position: Sequence[str] | Position | None = None,
        power: str | None = None,
        rate: Rate | WifiRate | Literal["ideal", "arf", "aarf", "minstrel"] | None = None,
    ) -> None:
        """
        Args:
            access_point: The access point of several with which it stays. Default: the one that it hears best.
            antenna: Its antenna, with access radio. Default: equal in all directions, 0 dB.
            channel: The channel of an access point of several, in the band of the medium. Default: that of the
                medium.
            errors: The share of its packets, and of those of the access point to it, that cannot be decoded; they are
                sent again. Default: 0 %.
            position: Where it is, with access radio: to the east, to the north and above the ground (1.5 m if it is
                left out). Default: that of the node.
            power: The power with which it sends, with access radio. Default: as the medium.
            rate: The rate at which it sends, and the access point to it. Default: as the medium.
        """
        super().__init__()
        self._put("access_point", access_point)
        self._put("antenna", antenna)
        self._put("channel", channel)
        self._put("errors", errors)
        self._put("position", position)
        self._put("power", power)
        self._put("rate", rate)


#: What can happen now in a lab that is up, as an entry of the timeline without the keys that say when.
Fault: TypeAlias = (
    ClockEntry
    | Continue
    | Crash
    | DiskEntry
    | Down
    | FailEntry
    | FlapEntry
    | Freeze
    | Heal
    | Kill
    | LimitEntry
    | OomEntry
    | PacketEntry
    | Partition
    | Pause
    | Reboot
    | ResetEntry
    | Restart
    | ScheduleEntry
    | SetEntry
    | Signal
    | StartEntry
    | StarveEntry
    | StopEntry
    | Up
)
