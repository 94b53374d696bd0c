//! `netloom queue`

mod add;

use super::{DONE, Failure, Outcome, is_read, print, print_json};
use crate::args::{QueueCancelArgs, QueueCommand, QueueListArgs, QueueLogArgs, QueueWaitArgs};
use crate::talk;
use netloom_judge::{ExitCode, quantity};
use netloom_queue::{Cancelled, Job, Line, Other, QueueError, State, Store, is_worked, keep, start_worker, work};
use netloom_results::render::{Align, Table};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

/// How many jobs that have ended are shown unasked.
const SHOWN: usize = 10;
/// How often to look at jobs that are waited for.
const TURN: Duration = Duration::from_millis(200);

impl From<QueueError> for Failure {
    fn from(error: QueueError) -> Self {
        Self::new(error.exit_code(), error.to_string())
    }
}

pub(super) fn queue(command: &QueueCommand) -> Outcome {
    match command {
        QueueCommand::Add(args) => add::add(args),
        QueueCommand::List(args) => list(args),
        QueueCommand::Cancel(args) => cancel(args),
        QueueCommand::Wait(args) => wait(args),
        QueueCommand::Log(args) => log(args),
        QueueCommand::Resume => resume(),
        QueueCommand::Work { store } => {
            work(&Store::at(store)?, &program()?)?;
            DONE
        }
        QueueCommand::Keep { store, job } => {
            keep(&Store::at(store)?, *job)?;
            DONE
        }
    }
}

pub(super) fn program() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| Failure::new(ExitCode::Machine, format!("finding this program: {error}")))
}

/// This user's jobs; whoever asks for them has those that wait go on.
fn store() -> Result<Store, Failure> {
    let store = Store::own()?;
    start_worker(&store, &program()?)?;
    Ok(store)
}

fn resume() -> Outcome {
    let left = store()?.jobs()?.iter().filter(|job| !job.state.is_over()).count();
    talk::say(&format!("{} in the queue", quantity::counted(left, "job")));
    DONE
}

/// A line that others can empty is not taken without a word.
fn warn_of_line() {
    Line::here().distrusted().iter().for_each(|why| talk::warning(why));
}

fn list(args: &QueueListArgs) -> Outcome {
    warn_of_line();
    let store = store()?;
    let (mut jobs, others) = (store.jobs()?, Line::here().others());
    if args.json {
        let worked = is_worked(&store)?;
        return print_json(&serde_json::json!({ "jobs": jobs, "others": others, "worked": worked }));
    }
    let ended = jobs.iter().filter(|job| job.state.is_over()).count();
    let mut hidden = if args.all { 0 } else { ended.saturating_sub(SHOWN) };
    let hint =
        (hidden > 0).then(|| format!("{} before these have ended: --all shows them", quantity::counted(hidden, "job")));
    jobs.retain(|job| {
        let is_hidden = job.state.is_over() && hidden > 0;
        hidden -= usize::from(is_hidden);
        !is_hidden
    });
    if jobs.is_empty() {
        talk::say("no job is in your queue: `netloom queue add LAB` adds one");
    } else {
        print(table(&jobs).to_string().trim_end())?;
    }
    hint.iter().for_each(|hint| talk::say(hint));
    print_notes(&jobs);
    others.iter().for_each(|other| talk::say(&in_words(other)));
    DONE
}

fn print_notes(jobs: &[Job]) {
    for (job, note) in jobs.iter().flat_map(|job| job.notes.iter().map(move |note| (job.job, note))) {
        talk::say(&format!("job {job}: {note}"));
    }
}

fn in_words(other: &Other) -> String {
    let need = other.processors.map_or_else(|| "all processors".into(), |count| quantity::counted(count, "processor"));
    let user: String = other.user.chars().filter(|c| !c.is_control()).collect();
    if other.running { format!("user {user} has {need}") } else { format!("user {user} waits for {need}") }
}

fn table(jobs: &[Job]) -> Table {
    let mut table = Table::new(&[
        ("JOB", Align::Right),
        ("STATE", Align::Left),
        ("EXIT", Align::Right),
        ("LAB", Align::Left),
        ("ADDED (UTC)", Align::Left),
        ("STARTED", Align::Left),
        ("ENDED", Align::Left),
        ("FILE", Align::Left),
    ]);
    let time =
        |utc: &Option<String>| utc.as_deref().map_or_else(|| "-".into(), |utc| utc.replace('T', " ").replace('Z', ""));
    for job in jobs {
        table.row(vec![
            job.job.to_string(),
            job.state.word().into(),
            job.exit_code.map_or_else(|| "-".into(), |code| code.to_string()),
            job.lab.clone(),
            time(&Some(job.added_utc.clone())),
            time(&job.started_utc),
            time(&job.ended_utc),
            job.file.display().to_string(),
        ]);
    }
    table
}

fn cancel(args: &QueueCancelArgs) -> Outcome {
    let store = Store::own()?;
    // All of them are there before the first is ended.
    args.jobs.iter().try_for_each(|job| store.find(*job).map(drop))?;
    for job in &args.jobs {
        let words = match store.cancel(*job, args.now)? {
            Cancelled::Waiting => "taken out of the queue",
            Cancelled::Running => "is being ended",
            Cancelled::TooLate => "had ended already",
        };
        talk::say(&format!("job {job}: {words}"));
    }
    DONE
}

fn wait(args: &QueueWaitArgs) -> Outcome {
    let store = store()?;
    let wanted: Vec<u64> = if args.jobs.is_empty() {
        store.jobs()?.iter().filter(|job| !job.state.is_over()).map(|job| job.job).collect()
    } else {
        args.jobs.clone()
    };
    let mut jobs: Vec<Job> = Vec::new();
    for number in wanted {
        loop {
            let job = store.find(number)?;
            if job.state.is_over() {
                jobs.push(job);
                break;
            }
            sleep(TURN);
            // Its worker may have been killed.
            start_worker(&store, &program()?)?;
        }
    }
    if args.json {
        print_json(&jobs)?;
    } else {
        jobs.iter().for_each(|job| talk::say(&format!("job {} ({}) {}", job.job, job.lab, how(job))));
        print_notes(&jobs);
    }
    Ok(jobs.iter().map(code_of).find(|code| *code != 0).unwrap_or(0))
}

fn how(job: &Job) -> String {
    match (job.state, job.exit_code) {
        (State::Cancelled, _) => "was cancelled".into(),
        (_, Some(code)) => format!("ended with exit code {code}"),
        (_, None) => "died".into(),
    }
}

fn code_of(job: &Job) -> u8 {
    match (job.state, job.exit_code) {
        (State::Cancelled, _) => ExitCode::Interrupted.number(),
        (_, Some(code)) => code,
        (_, None) => ExitCode::Died.number(),
    }
}

fn log(args: &QueueLogArgs) -> Outcome {
    let store = Store::own()?;
    let mut job = store.find(args.job)?;
    let mut output: Option<File> = None;
    loop {
        let is_last = !args.follow || job.state.is_over();
        if output.is_none() {
            output = File::open(store.output(args.job)).ok();
        }
        if let Some(file) = &mut output
            && !copy(file)?
        {
            return DONE;
        }
        if is_last {
            break;
        }
        sleep(TURN);
        job = store.find(args.job)?;
    }
    if output.is_none() {
        talk::say(&format!("job {} has not been started", args.job));
    }
    DONE
}

/// Writes what there is more of the file to standard output; false if nobody reads that any more.
fn copy(file: &mut File) -> Result<bool, Failure> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = match file.read(&mut buffer) {
            Ok(0) => return Ok(true),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                return Err(Failure::new(ExitCode::Results, format!("reading the output of the job: {error}")));
            }
        };
        let mut out = io::stdout().lock();
        if !is_read(out.write_all(&buffer[..count]).and_then(|()| out.flush()))? {
            return Ok(false);
        }
    }
}
