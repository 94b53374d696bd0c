//! `netloom history`

use super::{DONE, Failure, Outcome, print, print_bit_by_bit, print_json};
use crate::args::{HistoryCheckArgs, HistoryCommand, HistoryConvertArgs, HistoryFiles, HistoryTarget, OrderArg};
use crate::talk;
use netloom_history::{History, Limits, Model, Source, Verdict, check, convert, picture};
use netloom_judge::{ExitCode, quantity};
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

/// The longest file that is read at once.
const LONGEST: u64 = 4 << 30;
/// How many operations of a contradiction are listed.
const LISTED: usize = 20;

pub(super) fn history(command: &HistoryCommand) -> Outcome {
    match command {
        HistoryCommand::Check(args) => judge(args),
        HistoryCommand::Convert(args) => write(args),
    }
}

fn judge(args: &HistoryCheckArgs) -> Outcome {
    let model = model(args)?;
    let is_printed = args.svg.as_deref() == Some(Path::new("-"));
    if args.json && is_printed {
        return Err(Failure::new(ExitCode::Usage, "--svg - and --json both write to standard output: name a file"));
    }
    let history = read(&args.files)?;
    let end = Instant::now() + args.limit;
    let is_over = || Instant::now() > end;
    let memory_bytes = usize::try_from(args.memory.get()).unwrap_or(usize::MAX);
    let limits = Limits { memory_bytes, is_over: &is_over };
    let outcome = check(&history, &model, &limits).map_err(|error| wrong(&error))?;
    for note in history.notes().iter().chain(&outcome.notes) {
        talk::warning(note);
    }
    if let Some(path) = &args.svg {
        draw(&history, &outcome, path)?;
    }
    if args.json {
        print_json(&outcome.to_json(&history))?;
    } else if !is_printed {
        print(text(&history, &outcome).trim_end())?;
    }
    Ok(match outcome.verdict {
        Verdict::Valid => ExitCode::Success,
        Verdict::Contradiction => ExitCode::Unmet,
        Verdict::Unknown => ExitCode::NotJudged,
    }
    .number())
}

/// Returns the model with its options, each of which belongs to some models only.
fn model(args: &HistoryCheckArgs) -> Result<Model, Failure> {
    let mut model = args.model.clone();
    let name = model.name();
    let refused = |option: &str, models: &str| {
        Err(Failure::new(ExitCode::Usage, format!("the model `{name}` has no {option}: that is for {models}")))
    };
    match (&args.initial, &mut model) {
        (None, _) => {}
        (Some(value), Model::Register { initial } | Model::Cas { initial }) => initial.clone_from(value),
        (Some(value), Model::Counter { initial }) => {
            let no_number =
                || Failure::new(ExitCode::Usage, format!("--initial {value}: a counter begins with a whole number"));
            *initial = value.as_i64().ok_or_else(no_number)?;
        }
        (Some(_), _) => return refused("--initial", "register, cas and counter"),
    }
    match &mut model {
        Model::Bank { total } => *total = args.total,
        _ if args.total.is_some() => return refused("--total", "bank"),
        _ => {}
    }
    match &mut model {
        Model::SetFull { strict } | Model::TotalQueue { strict } => *strict = args.strict,
        _ if args.strict => return refused("--strict", "set-full and total-queue"),
        _ => {}
    }
    match (args.isolation, &mut model) {
        (None, _) => {}
        (Some(level), Model::Append { isolation }) => *isolation = level,
        (Some(_), _) => return refused("--isolation", "append"),
    }
    Ok(model)
}

fn read(args: &HistoryFiles) -> Result<History, Failure> {
    let mut files = Vec::new();
    for path in &args.files {
        let name = path.display().to_string();
        let failed = |error| Failure::new(ExitCode::Usage, format!("reading {name}: {error}"));
        let text = netloom_regular::read_text(path, LONGEST).map_err(failed)?;
        files.push((name, text));
    }
    let sources: Vec<Source<'_>> = files.iter().map(|(name, text)| Source { name, text }).collect();
    History::read(&sources, args.order.map(OrderArg::order)).map_err(|error| wrong(&error))
}

fn wrong(error: &netloom_history::WrongHistory) -> Failure {
    Failure::new(ExitCode::Usage, error.to_string())
}

fn draw(history: &History, outcome: &netloom_history::Outcome, path: &Path) -> Result<(), Failure> {
    let Some(first) = outcome.contradictions.first() else {
        talk::say(&format!("no contradiction, so {} is not written", path.display()));
        return Ok(());
    };
    let svg = picture(history, first);
    if path.as_os_str() == "-" {
        print(svg.trim_end())?;
        return Ok(());
    }
    let failed = |error| Failure::new(ExitCode::Results, format!("writing {}: {error}", path.display()));
    std::fs::write(path, svg).map_err(failed)
}

/// Returns the verdict, and each contradiction with its operations.
fn text(history: &History, outcome: &netloom_history::Outcome) -> String {
    let operations = quantity::counted(history.operations().len(), "operation");
    let mut text = match outcome.verdict {
        Verdict::Valid => format!("valid: the model `{}` explains {operations}\n", outcome.model),
        Verdict::Unknown => format!("unknown: whether the model `{}` explains {operations}\n", outcome.model),
        Verdict::Contradiction => {
            let found = quantity::counted(outcome.found, "contradiction");
            format!("contradiction: the model `{}` does not explain {operations}: {found}\n", outcome.model)
        }
    };
    for one in &outcome.contradictions {
        let _ = writeln!(text, "\n{}: {}", one.kind, one.message);
        for index in one.operations.iter().take(LISTED) {
            let operation = &history.operations()[*index];
            let time =
                operation.invoked.map_or_else(String::new, |time| format!("  {}", quantity::span(time.as_nanos())));
            let _ = writeln!(
                text,
                "  {}{time}  process {}  {}",
                history.place(*index),
                operation.process,
                operation.words()
            );
        }
        if one.operations.len() > LISTED {
            let _ = writeln!(text, "  and {} more", one.operations.len() - LISTED);
        }
    }
    if outcome.found > outcome.contradictions.len() {
        let _ = writeln!(text, "\nand {} more", outcome.found - outcome.contradictions.len());
    }
    text
}

fn write(args: &HistoryConvertArgs) -> Outcome {
    let history = read(&args.files)?;
    let text = match args.to {
        HistoryTarget::Elle => convert::to_elle(&history),
        HistoryTarget::Porcupine => convert::to_porcupine(&history),
    };
    let Some(path) = &args.out else { return print_bit_by_bit(&text) };
    let failed = |error| Failure::new(ExitCode::Results, format!("writing {}: {error}", path.display()));
    std::fs::write(path, text).map_err(failed)?;
    DONE
}
