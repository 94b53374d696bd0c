//! ns-2 and Emulab scripts: Tcl that builds a network (ns-2 manual, chapters 6, 7 and 29; Emulab and DETER "ns commands").
//!
//! The script is run by a small [`tcl`](crate::tcl), and what it asks of `$ns` and of `tb-` commands is recorded.

mod arguments;
mod classes;
mod defaults;
mod disciplines;
mod drawing;
mod emulab;
mod flows;
mod lab;
mod links;
mod methods;
mod mobile;
mod network;
mod objects;
mod queues;
mod simulator;
mod sources;
mod stations;
mod traffic;
mod units;

use crate::Options;
use crate::files::Input;
use crate::source::{Lines, Place, Read, Wrong};
use crate::tcl::{Host, Interpreter, Leave, list};
use crate::topology::Topology;
use network::Network;

/// Scripts that run at instants of the simulation.
const MOST_EVENTS: usize = 20_000;

/// Reads the script that is the input.
pub(crate) fn read(input: &mut Input<'_>, options: &Options) -> Read<Topology> {
    let (text, stem) = (input.text().to_owned(), input.stem.clone());
    let mut interpreter = Interpreter::new(Lines::of(&text, 0));
    let mut network = Network { input: Some(input), ..Network::default() };
    let (count, arguments) = (options.arguments.len().to_string(), list(options.arguments.iter().map(String::as_str)));
    for (name, value) in [("argc", &count), ("argv", &arguments), ("argv0", &stem)] {
        interpreter.define(name, value);
    }
    interpreter.define("defaultRNG", "defaultRNG");
    interpreter.watch("argv");
    let result = interpreter.run(&text, 1, &mut network);
    let asked = interpreter.watched().filter(|_| options.arguments.is_empty());
    if let Err(Leave::Error(mut wrong)) = result {
        wrong.message.push_str(&asked.map_or(String::new(), without_arguments));
        if let Some((name, place)) = &network.not_read {
            let line = place.span.line;
            wrong.message.push_str(&format!("; `source {name}` in line {line} was not read, which may have it"));
        }
        return Err(wrong);
    }
    network.settle();
    play(&mut interpreter, &mut network);
    if network.is_empty() {
        let mut wrong = without_nodes(&interpreter, &network);
        wrong.message.push_str(&asked.map_or(String::new(), without_arguments));
        return Err(wrong);
    }
    if let Some(place) = asked {
        network
            .note(place, "the script asks for its arguments, `argv`, and has none: give them with --args".to_owned());
    }
    network.into_topology(&stem)
}

/// That a script which went wrong was given no arguments and asked for them.
fn without_arguments(place: Place) -> String {
    let line = place.span.line;
    format!(
        "; the script asks for its arguments, `argv`, in line {line}, and has none: give them with --args, for example --args \"10 RED\""
    )
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
        let result = interpreter.run(&script, line, network);
        network.settle();
        match result {
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

#[cfg(test)]
mod tests;
