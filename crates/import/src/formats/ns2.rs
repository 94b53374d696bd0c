//! ns-2 and Emulab scripts: Tcl that builds a network (ns-2 manual, chapters 6, 7 and 29; Emulab and DETER "ns commands").
//!
//! The script is run by a small [`tcl`](crate::tcl), and what it asks of `$ns` and of `tb-` commands is recorded.

mod emulab;
mod methods;
mod network;
mod objects;
mod traffic;

use crate::source::{Lines, Place, Read};
use crate::tcl::{Host, Interpreter, Leave};
use crate::topology::Topology;
use network::Network;

/// Scripts that run at instants of the simulation.
const MOST_EVENTS: usize = 20_000;

/// Reads the script in `text`.
pub(crate) fn read(text: &str, stem: &str) -> Read<Topology> {
    let mut interpreter = Interpreter::new(Lines::of(text, 0));
    let mut network = Network::default();
    // A script that is run without arguments.
    for (name, value) in [("argc", "0"), ("argv", ""), ("argv0", stem), ("defaultRNG", "defaultRNG")] {
        interpreter.define(name, value);
    }
    finish(interpreter.run(text, 1, &mut network))?;
    // What is scheduled, in its order; it may schedule more, up to the end.
    let mut count = 0;
    while let Some((at, script, line)) = network.next_event() {
        count += 1;
        if count > MOST_EVENTS {
            let place = interpreter.place(line);
            network.note(place, format!("only the first {MOST_EVENTS} events are read"));
            break;
        }
        network.now = Some(at);
        match interpreter.run(&script, line, &mut network) {
            Err(Leave::Exit) => {
                network.end = Some(at);
                break;
            }
            Err(Leave::Error(wrong)) => network.note(wrong.place, format!("an event is not read: {}", wrong.message)),
            _ => {}
        }
    }
    if network.is_empty() {
        let wanted = "there is no node in this script: write for example `set n0 [$ns node]`";
        return Err(Place::default().wrong(wanted));
    }
    network.into_topology(stem)
}

fn finish(result: crate::tcl::Result_) -> Read<()> {
    match result {
        Err(Leave::Error(wrong)) => Err(wrong),
        _ => Ok(()),
    }
}
