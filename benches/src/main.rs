//! Benchmarks: speed and accuracy on this machine, end to end, with the programs that users run.
//!
//! Every figure is a ratio or a difference against something measured in the same run, since machines are noisy: a
//! plain veth pair, or what the described rate and the protocol headers imply. The table says the goal, what was
//! measured, and whether the goal was met; nothing here fails a build.

mod accuracy;
mod capacity;
mod chains;
mod clocks;
mod exactness;
mod lab;
mod many;
mod picture;
mod plain;
mod probe;
mod processes;
mod row;
mod scale;
mod streams;
mod transfer;
mod wake;

use row::Row;
use std::path::PathBuf;
use std::process::ExitCode;

/// Everything that a case needs to know.
struct Settings {
    /// The program under test.
    netloom: PathBuf,
    /// The scripts of what is compared with.
    plain_veth: PathBuf,
    plain_chain: PathBuf,
    /// The lab files of the paper on time dilation.
    examples: PathBuf,
    /// Where figures, lab files and results of runs go.
    output: PathBuf,
    /// Few and short measurements: shows that the benchmarks run, not what the machine can do.
    quick: bool,
}

impl Settings {
    /// Where the figure of this name is written.
    fn figure(&self, name: &str) -> PathBuf {
        self.output.join(format!("{name}.svg"))
    }
}

const QUICK: &str = "--quick";
const OUTPUT: &str = "results/bench";

type Case = (&'static str, &'static str, fn(&Settings) -> Result<Vec<Row>, String>);

/// Stands for all cases of the module `clocks`.
const CLOCKS: &str = "clocks";

const CASES: [Case; 11] = [
    ("delay", "GINE table 2: round-trip times over a constant one-way delay", accuracy::run),
    ("capacity", "GINE table 3: goodput over a line of given capacity", capacity::run),
    ("streams", "TCP through one link, with and without limits, against a plain veth pair", streams::run),
    ("packets-per-second", "The most small packets per second that one link carries", exactness::packets),
    ("exactness", "How far the delay of each packet is off", exactness::delays),
    ("chain", "vimage figure 6: a chain of routers, against plain veth pairs", chains::kernels),
    ("transit", "GINE figures 11 and 12: a chain of transit routers", chains::transit),
    ("pipes", "A thousand pipes at once", many::pipes),
    ("idle", "What a lab takes while nobody uses it", many::idle),
    ("nodes", "A thousand routers and two thousand links", many::nodes),
    ("star", "Setting up and removing 100 nodes around one router", scale::run),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(ended) = probe::main(&arguments) {
        return ended;
    }
    if let Some(unknown) = arguments.iter().find(|argument| !is_known(argument)) {
        let names = names().join(", ");
        eprintln!("unknown argument {unknown}: give --quick and the names of cases: {names}; {CLOCKS} is from pace on");
        return ExitCode::from(2);
    }
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let settings = Settings {
        netloom: std::env::var_os("NETLOOM").map_or_else(sibling, PathBuf::from),
        plain_veth: root.join("plain-veth.sh"),
        plain_chain: root.join("plain-chain.sh"),
        examples: root.join("../examples/time-warp"),
        output: PathBuf::from(OUTPUT),
        quick: arguments.iter().any(|argument| argument == QUICK),
    };
    let (mut results, mut all_measured) = (Vec::new(), true);
    for (name, title, run) in cases().filter(|(name, ..)| is_wanted(name, &arguments)) {
        eprintln!("measuring {name} ...");
        match run(&settings) {
            Ok(rows) => {
                println!("{}", row::table(title, &rows));
                results.push((name, rows));
            }
            Err(reason) => {
                // The others may work, and some of them take long: what they measure is kept.
                eprintln!("{name} could not be measured: {reason}");
                all_measured = false;
            }
        }
    }
    report(&results, all_measured)
}

/// The program that was built together with this one.
fn sibling() -> PathBuf {
    std::env::current_exe().map_or_else(|_| PathBuf::from("netloom"), |path| path.with_file_name("netloom"))
}

fn cases() -> impl Iterator<Item = Case> {
    CASES.into_iter().chain(clocks::CASES)
}

fn names() -> Vec<&'static str> {
    cases().map(|(name, ..)| name).collect()
}

fn is_known(argument: &str) -> bool {
    [QUICK, CLOCKS].contains(&argument) || names().contains(&argument)
}

/// All are wanted if none is named.
fn is_wanted(name: &str, arguments: &[String]) -> bool {
    let is_clock = clocks::CASES.iter().any(|(clock, ..)| *clock == name);
    let mut named = arguments.iter().filter(|argument| *argument != QUICK).peekable();
    named.peek().is_none() || named.any(|argument| argument == name || (is_clock && argument == CLOCKS))
}

fn report(results: &[(&str, Vec<Row>)], all_measured: bool) -> ExitCode {
    let goals: Vec<bool> = results.iter().flat_map(|(_, rows)| rows).filter_map(|row| row.met).collect();
    let (met, total) = (goals.iter().filter(|met| **met).count(), goals.len());
    println!("{met} of {total} goals met");
    let path = PathBuf::from("results/bench.json");
    let written = std::fs::create_dir_all("results").and_then(|()| std::fs::write(&path, row::json(results)));
    match written {
        Ok(()) => {
            println!("figures: {}", path.display());
            if all_measured { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("writing {}: {error}", path.display());
            ExitCode::FAILURE
        }
    }
}
