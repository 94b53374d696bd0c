//! One file per command.

mod bundle;
mod capture;
mod check;
mod ci;
mod cluster;
mod collect;
mod complete;
mod convert;
mod dilate;
mod doctor;
mod down;
mod exec;
mod gdb;
mod generate;
mod graph;
mod history;
mod hunt;
mod image;
mod journal;
mod kernel;
mod lab_file;
mod link;
mod link_shell;
mod logs;
mod mininet;
mod mm;
mod mm_link;
mod nodes;
mod op;
pub(crate) mod own;
mod packets;
mod ps;
mod python;
mod queue;
mod report;
mod rerun;
mod results;
mod run;
mod set;
mod shape;
mod shell;
mod sim;
mod split;
mod stats;
mod sweep;
mod tasks;
mod time;
mod ui;
mod up;
mod verdict;
mod workload;

use crate::args::{Cli, Command};
use crate::exit_codes;
use clap::CommandFactory;
use netloom_control::ControlError;
use netloom_judge::{ExitCode, Report, RunError};
use netloom_results::{IndexError, ReadError, WriteError};
use netloom_server::ServeError;
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What the process exits with.
    pub(crate) code: ExitCode,
    /// The message for standard error.
    pub(crate) message: String,
    /// Whether the message has its own headings and colours.
    pub(crate) styled: bool,
    /// What was found out before.
    pub(crate) report: Option<Box<Report>>,
}

impl Failure {
    pub(crate) fn new(code: ExitCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), styled: false, report: None }
    }

    /// What a run has found out, if it has not failed.
    pub(crate) fn unless_good(report: Report) -> Result<Report, Self> {
        match report.failure() {
            Some((code, message)) => Err(Self { report: Some(Box::new(report)), ..Self::new(code, message) }),
            None => Ok(report),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        Self::new(error.exit_code(), error.to_string())
    }
}

/// Errors of single operations have the exit codes that a run has for them.
macro_rules! from_run_error {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                RunError::from(error).into()
            }
        }
    )*};
}
from_run_error!(ReadError, WriteError, IndexError, ControlError, ServeError);

/// The exit code of the process, or why there is no better one.
pub(crate) type Outcome = Result<u8, Failure>;

const DONE: Outcome = Ok(0);

pub(crate) fn dispatch(command: Command) -> Outcome {
    match command {
        Command::Run(args) => run::run(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Hunt(args) => hunt::hunt(&args),
        Command::Sim(args) => sim::sim(&args),
        Command::Check(args) => check::check(&args),
        Command::Split(args) => split::split(&args),
        Command::SplitPartition(args) => split::partition(&args),
        Command::Convert(args) => convert::convert(&args),
        Command::Schema { protocol } => schema(protocol),
        Command::Generate(args) => generate::generate(&args),
        Command::Graph(args) => graph::graph(&args),
        Command::Link(args) => link::link(&args),
        Command::Mm(args) => mm::mm(args.command),
        Command::Mininet { words } => mininet::mininet(None, &words),
        Command::Mn { words } => mininet::mininet(Some("mn"), &words),
        Command::Up(args) => up::up(&args),
        Command::Ui(args) => ui::ui(&args),
        Command::Ps(args) => ps::ps(&args),
        Command::Exec(args) => exec::exec(args),
        Command::Shell(args) => shell::shell(&args),
        Command::Set(args) => set::set(&args),
        Command::Partition(args) => set::partition(&args),
        Command::Fault(args) => set::fault(&args),
        Command::Heal { lab } => set::heal(&lab),
        Command::Advance(args) => time::advance(&args),
        Command::Pause(args) => time::pause(&args),
        Command::Resume(args) => time::resume(&args),
        Command::Shape { command } => shape::shape(&command),
        Command::Stats(args) => stats::stats(&args),
        Command::Verdict { lab, json } => verdict::verdict(lab, json),
        Command::Restart { lab, name } => verdict::restart(&lab, &name),
        Command::Stop(args) => nodes::change(&args, false),
        Command::Start(args) => nodes::change(&args, true),
        Command::Tasks(args) => tasks::tasks(&args),
        Command::Logs(args) => logs::logs(&args),
        Command::Capture(args) => capture::capture(&args),
        Command::Packets(args) => packets::packets(&args),
        Command::Journal(args) => journal::journal(&args),
        Command::History { command } => history::history(&command),
        Command::Op(args) => op::op(&args),
        Command::Workload(args) => workload::workload(&args),
        Command::Report(args) => report::report(&args),
        Command::Results(args) => results::results(&args),
        Command::Bundle(args) => bundle::bundle(&args),
        Command::Rerun(args) => rerun::rerun(&args),
        Command::Queue { command } => queue::queue(&command),
        Command::Down(args) => down::down(&args),
        Command::Collect(args) => collect::collect(&args),
        Command::Image { command } => image::image(&command),
        Command::Kernel { command } => kernel::kernel(&command),
        Command::Doctor(args) => doctor::doctor(&args),
        Command::Completion { shell } => complete::script(shell),
        Command::Complete { words } => complete::complete(&words),
        Command::Man { folder } => man(&folder),
        Command::ExitCodes => print(&exit_codes::table()),
    }
}

fn schema(of_protocol: bool) -> Outcome {
    print(&format!("{:#}", if of_protocol { netloom_control::schema() } else { netloom_lab::schema() }))
}

fn man(folder: &Path) -> Outcome {
    let failed =
        |error| Failure::new(ExitCode::Results, format!("writing manual pages to {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(Cli::command(), folder)).map_err(failed)?;
    DONE
}

/// Writes a document to standard output piece by piece: that of a large lab has tens of megabytes.
pub(crate) fn print_json(value: &impl Serialize) -> Outcome {
    let mut out = BufWriter::new(io::stdout().lock());
    let written = serde_json::to_writer_pretty(&mut out, value).map_err(io::Error::from);
    is_read(written.and_then(|()| writeln!(out)).and_then(|()| out.flush()))?;
    DONE
}

/// Writes a text, which brings its line ends, to standard output.
pub(crate) fn print_bit_by_bit(text: &impl Display) -> Outcome {
    let mut out = BufWriter::new(anstream::stdout().lock());
    is_read(write!(out, "{text}").and_then(|()| out.flush()))?;
    DONE
}

/// Writes data to standard output. It is not a failure if the reader has closed it, as in `netloom ... | head`.
pub(crate) fn print(text: &str) -> Outcome {
    print_on(text)?;
    DONE
}

/// Writes a part of a stream to standard output; false if the reader has closed it.
pub(crate) fn print_on(text: &str) -> Result<bool, Failure> {
    is_read(writeln!(anstream::stdout(), "{text}"))
}

/// Whether the reader is still there.
fn is_read(written: io::Result<()>) -> Result<bool, Failure> {
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::new(ExitCode::Results, format!("writing to standard output: {error}"))),
    }
}
