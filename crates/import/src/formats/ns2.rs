//! ns-2 and Emulab scripts: Tcl that builds a network (ns-2 manual, chapters 6, 7 and 29; Emulab and DETER "ns commands").
//!
//! The script is run by a small [`tcl`](crate::tcl), and what it asks of `$ns` and of `tb-` commands is recorded.

mod drawing;
mod emulab;
mod methods;
mod network;
mod objects;
mod traffic;

use crate::files::Input;
use crate::source::{Lines, Place, Read, Wrong};
use crate::tcl::{Host, Interpreter, Leave};
use crate::topology::Topology;
use network::Network;

/// Scripts that run at instants of the simulation.
const MOST_EVENTS: usize = 20_000;

/// Reads the script that is the input.
pub(crate) fn read(input: &mut Input<'_>) -> Read<Topology> {
    let (text, stem) = (input.text().to_owned(), input.stem.clone());
    let mut interpreter = Interpreter::new(Lines::of(&text, 0));
    let mut network = Network { input: Some(input), ..Network::default() };
    // A script that is run without arguments.
    for (name, value) in [("argc", "0"), ("argv", ""), ("argv0", &stem), ("defaultRNG", "defaultRNG")] {
        interpreter.define(name, value);
    }
    if let Err(Leave::Error(mut wrong)) = interpreter.run(&text, 1, &mut network) {
        if let Some((name, place)) = &network.not_read {
            let line = place.span.line;
            wrong.message.push_str(&format!("; `source {name}` in line {line} was not read, which may have it"));
        }
        return Err(wrong);
    }
    play(&mut interpreter, &mut network);
    if network.is_empty() {
        return Err(without_nodes(&interpreter, &network));
    }
    network.into_topology(&stem)
}

/// Plays what is scheduled, in its order; it may schedule more, up to the end.
fn play(interpreter: &mut Interpreter, network: &mut Network<'_, '_>) {
    let mut count = 0;
    while let Some((at, script, place)) = network.next_event() {
        count += 1;
        if count > MOST_EVENTS {
            network.note(place, format!("only the first {MOST_EVENTS} events are read"));
            break;
        }
        network.now = Some(at);
        let line = interpreter.line(place);
        match interpreter.run(&script, line, network) {
            Err(Leave::Exit) => {
                network.end = Some(at);
                break;
            }
            Err(Leave::Error(wrong)) => network.note(wrong.place, format!("an event is not read: {}", wrong.message)),
            _ => {}
        }
    }
}

/// Why a script that makes no node is no network.
fn without_nodes(interpreter: &Interpreter, network: &Network<'_, '_>) -> Wrong {
    if let Some((name, place)) = &network.not_read {
        return place
            .wrong(format!("this script makes no node, and `source {name}` is not read: only scripts beside it are"));
    }
    if let Some(place) = network.class {
        return place.wrong("this script makes no node: it defines classes of OTcl, which are not known here");
    }
    if interpreter.has_procedures() {
        let wanted = "this script makes no node: it defines procedures for another one; convert that one";
        return Place::default().wrong(wanted);
    }
    Place::default().wrong("there is no node in this script: write for example `set n0 [$ns node]`")
}
