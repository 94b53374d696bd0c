"""Mininet's Python interface on top of Netloom: scripts that were written for Mininet run unchanged, without root.

`netloom mininet SCRIPT` registers this package as `mininet`; see `docs/mininet.md`. Names, arguments and what is printed are those of
Mininet 2.3; nothing of its code is in here.
"""
