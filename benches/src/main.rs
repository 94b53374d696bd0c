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
mod chains;
mod clocks;
mod docs;
mod exactness;
mod growth;
mod lab;
mod machine;
mod many;
mod page;
mod peers;
mod picture;
mod plain;
mod probe;
mod processes;
mod random;
mod report;
mod row;
mod scale;
mod server;
mod streams;
mod transfer;
mod wait;
mod wake;

use args::Asked;
use picture::Panel;
use report::{Outcome, Report};
use row::Row;
use std::cell::RefCell;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

/// Everything that a case needs to know.
struct Settings {
    /// The program under test.
    netloom: PathBuf,
    /// The scripts of what is compared with.
    plain_veth: PathBuf,
    plain_chain: PathBuf,
    peer: PathBuf,
    /// The lab files of the paper on time dilation.
    examples: PathBuf,
    /// Where figures, lab files and results of runs go.
    output: PathBuf,
    /// Few and short measurements: shows that the benchmarks run, not what the machine can do.
    quick: bool,
    /// What the case that runs has drawn.
    figures: RefCell<Vec<String>>,
}

impl Settings {
    /// Draws a figure: for the page, and as a file of this name.
    fn draw(&self, name: &str, panels: &[Panel]) -> Result<(), String> {
        let svg = picture::svg(panels)?;
        let path = self.output.join(format!("{name}.svg"));
        let written = std::fs::create_dir_all(&self.output).and_then(|()| std::fs::write(&path, &svg));
        self.figures.borrow_mut().push(svg);
        written.map_err(|error| format!("writing {}: {error}", path.display()))
    }

    /// How often something is measured.
    fn rounds(&self, rounds: u32) -> u32 {
        if self.quick { 1 } else { rounds }
    }
}

const OUTPUT: &str = "results/bench";

/// Something to measure.
#[derive(Clone, Copy)]
struct Case {
    name: &'static str,
    title: &'static str,
    /// How long it takes, about, on a machine with two processors.
    seconds: u32,
    run: fn(&Settings) -> Result<Vec<Row>, String>,
}

const fn case(
    name: &'static str,
    title: &'static str,
    seconds: u32,
    run: fn(&Settings) -> Result<Vec<Row>, String>,
) -> Case {
    Case { name, title, seconds, run }
}

/// How many times shorter a quick measurement is.
const QUICKER: u32 = 7;

const CASES: [Case; 13] = [
    case("streams", "TCP through one link, with and without limits", 140, streams::run),
    case("packets-per-second", "The most small packets per second that one link carries", 70, exactness::packets),
    case("exactness", "How far the delay of each packet is off", 80, exactness::delays),
    case("delay", "GINE table 2: round-trip times over a constant one-way delay", 110, accuracy::run),
    case("capacity", "GINE table 3: goodput over a line of given capacity", 80, capacity::run),
    case("chain", "vimage figure 6: a chain of routers, against plain veth pairs", 55, chains::kernels),
    case("transit", "GINE figures 11 and 12: a chain of transit routers", 75, chains::transit),
    case("pipes", "A thousand pipes at once", 35, many::pipes),
    case("idle", "What a lab takes while nobody uses it", 25, many::idle),
    case("nodes", "A thousand routers and two thousand links", 25, many::nodes),
    case("random", "A random graph of a thousand routers, beside the kernel alone", 60, random::run),
    case("star", "Setting up and removing 100 nodes around one router", 8, scale::run),
    case("peers", "The same on other emulators, where they are installed", 60, peers::run),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(ended) =
        probe::main(&arguments).or_else(|| bare::main(&arguments)).or_else(|| batches::main(&arguments))
    {
        return ended;
    }
    let (cases, quick, write_docs) = match args::parse(&arguments) {
        Ok(Asked::Measure { cases, quick, write_docs }) => (cases, quick, write_docs),
        Ok(Asked::Help(text)) => {
            print!("{text}");
            return ExitCode::SUCCESS;
        }
        Err(wrong) => {
            eprintln!("netloom-bench: {wrong}");
            return ExitCode::from(2);
        }
    };
    let settings = settings(quick);
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
        report.write().and_then(|said| if write_docs { docs::write(&report).map(|_| said) } else { Ok(said) });
    match written {
        Ok(said) => eprintln!("{said}"),
        Err(error) => {
            eprintln!("netloom-bench: {error}");
            return ExitCode::FAILURE;
        }
    }
    if report.all_measured() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn settings(quick: bool) -> Settings {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    Settings {
        netloom: std::env::var_os("NETLOOM").map_or_else(sibling, PathBuf::from),
        plain_veth: root.join("plain-veth.sh"),
        plain_chain: root.join("plain-chain.sh"),
        peer: root.join("peer.sh"),
        examples: root.join("../examples/time-warp"),
        output: PathBuf::from(OUTPUT),
        quick,
        figures: RefCell::default(),
    }
}

/// The program that was built together with this one.
fn sibling() -> PathBuf {
    std::env::current_exe().map_or_else(|_| PathBuf::from("netloom"), |path| path.with_file_name("netloom"))
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
