//! The soak test: random labs, changed and killed at random for a while. After each, nothing may be left of it, and whatever
//! netloom said must be something that it may say.
//!
//! It checks, and does not measure: hence it is no benchmark. It takes too long for a test that runs with all others: hence
//! it is a program of its own. Everything is drawn from a seed, so that a lab that found something can be run again.

mod fixture;
mod script;
mod table;
mod topology;
mod trial;

use clap::Parser;
use fixture::Fixture;
use netloom_guest::kernel::{Need, find};
use script::Script;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};
use table::Table;
use trial::Outcome;

/// Random labs, random changes, random kills; says what is left behind.
#[derive(Debug, Parser)]
#[command(after_help = "Examples:
  netloom-soak                               ten minutes with a new seed
  netloom-soak --for 2min --seed 7           two minutes with the labs of seed 7
  netloom-soak --seed 7 --index 12           the twelfth of these labs, once
  netloom-soak --replay results/soak/7-12/script.json")]
struct Arguments {
    /// For how long
    #[arg(long = "for", value_name = "TIME", default_value = "600s", value_parser = humantime::parse_duration)]
    span: Duration,
    /// What all labs are drawn from; without it another one each time
    #[arg(long)]
    seed: Option<u64>,
    /// Play this lab of the seed only
    #[arg(long, requires = "seed")]
    index: Option<u64>,
    /// Play what was kept of a lab that found something
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "index"])]
    replay: Option<PathBuf>,
    /// The program under test; without it the one that was built together with this one
    #[arg(long, value_name = "FILE")]
    netloom: Option<PathBuf>,
    /// Where to keep the labs that found something
    #[arg(long, value_name = "DIR", default_value = "results/soak")]
    keep: PathBuf,
}

struct Soak {
    netloom: PathBuf,
    kernel: Option<PathBuf>,
    keep: PathBuf,
    table: Table,
}

fn main() -> ExitCode {
    match soak(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("netloom-soak: {error}");
            ExitCode::from(2)
        }
    }
}

/// True if nothing was found.
fn soak(arguments: &Arguments) -> io::Result<bool> {
    let kernel = find(Need::VirtualTime, None).map(|kernel| kernel.path);
    if let Err(why) = &kernel {
        println!("no labs with kernel nodes: {why}");
    }
    let mut soak = Soak {
        netloom: arguments.netloom.clone().map_or_else(sibling, Ok)?,
        kernel: kernel.ok(),
        keep: arguments.keep.clone(),
        table: Table::default(),
    };
    if let Some(file) = &arguments.replay {
        soak.play(&serde_json::from_str(&fs::read_to_string(file)?)?)?;
    } else {
        soak.many(arguments)?;
    }
    println!("{}", soak.table);
    Ok(soak.table.is_clean())
}

/// The program that was built together with this one.
fn sibling() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name("netloom"))
}

impl Soak {
    fn many(&mut self, arguments: &Arguments) -> io::Result<()> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let seed = arguments.seed.unwrap_or(now.as_secs());
        println!("seed {seed}");
        let stock = tempfile::tempdir()?;
        topology::fill_stock(stock.path())?;
        let begun = Instant::now();
        let first = arguments.index.unwrap_or(0);
        for index in first.. {
            self.play(&Script::draw(seed, index, stock.path(), self.kernel.is_some()))?;
            if arguments.index.is_some() || begun.elapsed() >= arguments.span {
                break;
            }
        }
        Ok(())
    }

    fn play(&mut self, script: &Script) -> io::Result<()> {
        let mut fixture = Fixture::new(script, &self.netloom, self.kernel.as_deref())?;
        let outcome = trial::play(&mut fixture, script)?;
        println!("{}", table::line(script, &outcome));
        if !outcome.problems.is_empty() {
            let folder = self.keep.join(format!("{}-{}", script.seed, script.index));
            keep(&folder, script, &outcome, &fixture)?;
            outcome.problems.iter().for_each(|problem| println!("      {problem}"));
            println!("      kept: {}", folder.display());
        }
        self.table.add(&outcome);
        Ok(())
    }
}

/// Keeps everything that helps to find out why.
fn keep(folder: &Path, script: &Script, outcome: &Outcome, fixture: &Fixture) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("script.json"), serde_json::to_string_pretty(script)?)?;
    fs::write(folder.join("soak.yaml"), &script.lab)?;
    let lines = [&outcome.problems[..], &outcome.log[..]].concat();
    fs::write(folder.join("what-happened.txt"), lines.join("\n") + "\n")?;
    for entry in fs::read_dir(fixture.out())? {
        let entry = entry?;
        fs::copy(entry.path(), folder.join(entry.file_name()))?;
    }
    Ok(())
}
