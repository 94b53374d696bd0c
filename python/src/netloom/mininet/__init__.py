"""Mininet's Python interface on top of Netloom: scripts that were written for Mininet run unchanged, without root.

`netloom mininet SCRIPT` registers this package as `mininet`; see `docs/mininet.md`. Names, arguments and what is printed are those of
Mininet 2.3; nothing of its code is in here.

`_hook` registers the modules. A `Fabric` keeps nodes and links; it makes a lab of them when one is needed (`ensure`) and makes it again when
they have changed, for which `_carry` takes along the state of nodes. A `Node` has a bash on a terminal (`_shell`) over the control protocol,
or on this machine; `_early` decides which commands can wait for the lab. `_shaping` turns the arguments of `tc` into keys of a direction.
Switches are the engine's until somebody wants flows: then all of them are bridges of one Open vSwitch in one node (`_openvswitch`), and links
between two of them go over a hub, since a link joins different nodes. Controllers stay on this machine; a socket in that node leads to
them. The command line only has to find Python and the package.
"""
