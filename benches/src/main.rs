//! Benchmarks: speed and accuracy on this machine, end to end, with the programs that users run.
//!
//! Goals are for ratios to a yardstick that is measured in the same run, since machines differ and are noisy: a
//! bare loop in the engine's place, a plain veth pair, a thread that only waits, or what the described rate and the protocol
//! headers imply. The table says the goal, what was measured, and whether the goal was met; nothing here fails a build.

mod accuracy;
mod args;
mod bare;
mod batches;
mod capacity;
mod case;
mod chains;
mod clocks;
mod diverted;
mod docs;
mod emulators;
mod exactness;
mod external;
mod goals;
mod growth;
mod halves;
mod hunts;
mod images;
mod journal;
mod lab;
mod machine;
mod many;
mod measured;
mod page;
mod parts;
mod peers;
mod picture;
mod plain;
mod probe;
mod processes;
mod quantile;
mod random;
mod report;
mod results;
mod routing;
mod row;
mod scale;
mod server;
mod settings;
mod shells;
mod streams;
mod switches;
mod taken;
mod transfer;
mod tunnel;
mod vms;
mod wait;
mod wake;
mod watched;

use args::Asked;
use case::Case;
use report::{Outcome, Report};
use settings::Settings;
use std::process::ExitCode;
use std::time::Instant;

/// How many times shorter a quick measurement is.
const QUICKER: u32 = 7;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(ended) = probe::main(&arguments)
        .or_else(|| bare::main(&arguments))
        .or_else(|| batches::main(&arguments))
        .or_else(|| measured::main(&arguments))
    {
        return ended;
    }
    let (cases, quick, write_docs, peers) = match args::parse(&arguments) {
        Ok(Asked::Measure { cases, quick, write_docs, peers }) => (cases, quick, write_docs, peers),
        Ok(Asked::Help(text)) => {
            print!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(wrong) => {
            eprintln!("netloom-bench: {wrong}");
            return ExitCode::from(2);
        }
    };
    let settings = Settings { peers, ..Settings::new(quick) };
    let guard = match lab::Guard::start(&settings.netloom) {
        Ok(guard) => guard,
        Err(error) => {
            eprintln!("netloom-bench: {error}");
            return ExitCode::FAILURE;
        }
    };
    let report = measure(&settings, &cases);
    drop(guard);
    println!("\n{}", report.table());
    let written =
        results::write(&report).and_then(|said| if write_docs { docs::write(&report).map(|_| said) } else { Ok(said) });
    match written {
        Ok(said) => eprintln!("{said}"),
        Err(error) => {
            eprintln!("netloom-bench: {error}");
            return ExitCode::FAILURE;
        }
    }
    if report.all_measured() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs the cases one after another and tells how it goes on.
fn measure(settings: &Settings, cases: &[Case]) -> Report {
    let begin = Instant::now();
    let machine = machine::Machine::look(&settings.netloom);
    let takes = |case: &Case| if settings.quick { case.seconds.div_ceil(QUICKER) } else { case.seconds };
    eprintln!("{}", machine.words());
    let mut outcomes = Vec::new();
    for (place, case) in cases.iter().enumerate() {
        let left: u32 = cases[place..].iter().map(takes).sum();
        let gone = u32::try_from(begin.elapsed().as_secs()).unwrap_or(u32::MAX);
        let (number, count, name) = (place + 1, cases.len(), case.name);
        let (gone, own, left) = (args::span(gone), args::span(takes(case)), args::span(left));
        eprintln!("\n[{number}/{count}] {name}: {}; about {own}; {gone} gone, about {left} left", case.title);
        outcomes.push(run(settings, case));
    }
    Report { machine, outcomes, quick: settings.quick, seconds: begin.elapsed().as_secs_f64() }
}

fn run(settings: &Settings, case: &Case) -> Outcome {
    let load = machine::Load::look();
    if load.is_high() {
        eprintln!("{:.1} processors were busy with something else just now: the figures may be its doing", load.busy);
    }
    let begin = Instant::now();
    let rows = (case.run)(settings);
    match &rows {
        Ok(rows) => eprint!("{}", row::table(rows)),
        // The others may work, and some of them take long: what they measure is kept.
        Err(reason) => eprintln!("{} could not be measured: {reason}", case.name),
    }
    let figures = settings.figures.take();
    Outcome { case: *case, load, rows, figures, seconds: begin.elapsed().as_secs_f64() }
}
