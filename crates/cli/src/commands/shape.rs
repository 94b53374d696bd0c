//! `netloom shape`

use super::lab_file::precision_of;
use super::{DONE, Failure, Outcome, down, lab_file, print, set, stats};
use crate::args::{DownArgs, SetArgs, ShapeAddArgs, ShapeCommand, ShapeSetArgs, StatsArgs};
use crate::progress::Progress;
use crate::talk;
use netloom_control::{Client, LabInfo, Look, Pipe, look_at_labs};
use netloom_judge::ExitCode;
use netloom_lab::{SHAPE_LINK, Shape, parse_change, parse_match, write_match};
use netloom_results::render::{Align, Table};
use netloom_run::{RunRequest, ssh_session};
use netloom_units::Seed;
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

pub(super) fn shape(command: &ShapeCommand) -> Outcome {
    match command {
        ShapeCommand::Add(args) => add(args),
        ShapeCommand::List { json } => list(*json),
        ShapeCommand::Set(args) => change(args),
        ShapeCommand::Stats { name, json, once } => {
            let args = StatsArgs { lab: Some(known(name)?), json: *json, once: *once };
            stats::stats(&args)
        }
        ShapeCommand::Remove { name, all } => remove(name.as_deref(), *all),
    }
}

fn usage(error: impl std::fmt::Display) -> Failure {
    Failure::new(ExitCode::Usage, error.to_string())
}

fn add(args: &ShapeAddArgs) -> Outcome {
    let shape = described(args)?;
    if !args.force
        && let Some(session) = ssh_session()
        // The sockets of its server are root's.
        && shape.matching.owners.may_be_root()
        && session.is_matched_by(&shape.matching.filter)
    {
        return Err(usage(
            "this matches the connection over which you work (SSH_CONNECTION), which would be shaped, too: narrow --match, or add --force",
        ));
    }
    let name = match &args.name {
        Some(name) => name.clone(),
        None => free_name()?,
    };
    let mut plan = shape.plan(&name).map_err(usage)?;
    if let Some(precision) = args.precision {
        plan.precision = precision_of(precision);
    }
    plan.seed = Seed::new(args.seed);
    if let Some(diversion) = &mut plan.diversion {
        diversion.queue = args.queue_number;
    }
    let request = RunRequest {
        begun: std::time::Instant::now(),
        plan: plan.into(),
        lab_file: args.file.clone().unwrap_or_else(|| "-".into()),
        lab_text: shape.text(),
        warnings: Vec::new(),
        results: args.results.clone(),
        command_line: std::env::args().collect(),
        plots: false,
        page: true,
        wall_limit: None,
        stop_at: None,
        gate: None,
        part: None,
        stays: false,
        kernel: None,
        parent: None,
        root: None,
    };
    // The steps of a lab mean nothing here.
    let mut progress = Progress::new(true);
    netloom_run::up(&request, &mut |event| progress.show(event))?;
    drop(progress);
    if !args.quiet {
        let filter = write_match(&shape.matching);
        talk::say(&format!("{name} shapes {filter}: netloom shape stats {name}, netloom shape remove {name}"));
    }
    DONE
}

/// What the file and the options say together; of both, the options count.
fn described(args: &ShapeAddArgs) -> Result<Shape, Failure> {
    let mut shape = match &args.file {
        Some(path) => Shape::load(path).map_err(|found| lab_file::refused(&found))?,
        None => Shape { matching: Default::default(), is_one_way: false, pipes: Default::default() },
    };
    if let Some(words) = &args.filter {
        shape.matching = parse_match(words).map_err(|error| usage(format!("--{error}")))?;
    }
    shape.is_one_way |= args.one_way;
    for (config, keys) in shape.pipes.iter_mut().zip(args.keys.directions().map_err(usage)?) {
        for (key, value) in keys {
            *config = parse_change(&key, &value).map_err(|error| usage(format!("--{error}")))?.applied_to(config);
        }
    }
    Ok(shape)
}

/// The first of the names that shapes get which no lab has.
fn free_name() -> Result<String, Failure> {
    let taken = netloom_control::running_labs()?;
    let mut names = (1_u32..).map(|number| format!("shape-{number}"));
    Ok(names.find(|name| !taken.contains(name)).unwrap_or_default())
}

/// The shapes that are there.
fn shapes() -> Result<Vec<LabInfo>, Failure> {
    let looks = look_at_labs()?.into_iter();
    Ok(looks
        .filter_map(|look| match look {
            Look::Answers(info) if info.diverted.is_some() => Some(info),
            _ => None,
        })
        .collect())
}

/// A shape as it is now.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    info: LabInfo,
    /// What is in force, forward and backward.
    pipes: Vec<Pipe>,
}

/// How long a shape may take to say what is in force.
const PATIENCE: Duration = Duration::from_secs(3);

/// The shapes that are there, with what is in force. One that goes away meanwhile is left out.
fn shown() -> Result<Vec<Shown>, Failure> {
    let pipes = |name: &str| {
        let mut client = Client::connect(name)?;
        client.answer_within(PATIENCE)?;
        client.topology().map(|topology| topology.links.into_iter().flat_map(|link| link.pipes).collect())
    };
    Ok(shapes()?.into_iter().filter_map(|info| pipes(&info.name).ok().map(|pipes| Shown { info, pipes })).collect())
}

/// What is in force, in few words; where both directions are the same, it is said once.
fn settings(pipes: &[Pipe]) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let said = |pipe: &Pipe| {
        let cut = (!pipe.up).then(|| "down".to_owned());
        let keys = pipe.settings.iter().map(|(key, value)| format!("{key} {}", text(value)));
        let all: Vec<String> = cut.into_iter().chain(keys).collect();
        if all.is_empty() { "no model".to_owned() } else { all.join(", ") }
    };
    let mut ways: Vec<(String, &str)> = pipes.iter().map(|pipe| (said(pipe), pipe.direction.as_str())).collect();
    if ways.iter().all(|(way, _)| *way == ways[0].0) {
        return ways.drain(..).next().map_or_else(String::new, |(way, _)| way);
    }
    ways.iter().map(|(way, direction)| format!("{direction}: {way}")).collect::<Vec<_>>().join("; ")
}

fn list(json: bool) -> Outcome {
    let shapes = shown()?;
    if json {
        return print(&serde_json::to_string_pretty(&shapes).expect("a shape has string keys only"));
    }
    if shapes.is_empty() {
        talk::say("there is no shape");
        return DONE;
    }
    let mut table = Table::new(&[
        ("SHAPE", Align::Left),
        ("MATCH", Align::Left),
        ("SETTINGS", Align::Left),
        ("UP FOR", Align::Right),
        ("RESULTS", Align::Left),
    ]);
    for Shown { info: LabInfo { name, diverted, age_ns, folder, .. }, pipes } in shapes {
        let age = Duration::from_secs(age_ns / 1_000_000_000);
        let folder = folder.display().to_string();
        table.row(vec![name, diverted.unwrap_or_default(), settings(&pipes), super::ps::age_text(age), folder]);
    }
    print(table.to_string().trim_end())
}

/// The name of a shape that is there.
fn known(name: &str) -> Result<String, Failure> {
    let names: Vec<String> = shapes()?.into_iter().map(|info| info.name).collect();
    if names.iter().any(|own| own == name) {
        return Ok(name.to_owned());
    }
    let those = if names.is_empty() { "there is none".to_owned() } else { format!("there are: {}", names.join(", ")) };
    Err(Failure::new(ExitCode::NoSuchLab, format!("there is no shape `{name}`: {those}")))
}

fn change(args: &ShapeSetArgs) -> Outcome {
    let (name, direction) = args.name.split_once('.').map_or((args.name.as_str(), None), |(a, b)| (a, Some(b)));
    let link = match direction {
        None => SHAPE_LINK.to_owned(),
        Some("forward" | "backward") => format!("{SHAPE_LINK}.{}", direction.unwrap_or_default()),
        Some(other) => {
            return Err(usage(format!("`{other}` is no direction: write {name}.forward or {name}.backward")));
        }
    };
    set::set(&SetArgs { lab: known(name)?, link, changes: args.changes.clone() })
}

/// The exit code is the first that is not 0.
fn remove(name: Option<&str>, all: bool) -> Outcome {
    let names = match name {
        Some(name) => vec![known(name)?],
        None if all => shapes()?.into_iter().map(|info| info.name).collect(),
        None => Vec::new(),
    };
    let mut first = 0;
    for own in &names {
        if names.len() > 1 {
            talk::say(&format!("shape {own}"));
        }
        let code = down::down(&DownArgs { lab: Some(own.clone()), all: false })?;
        first = if first == 0 { code } else { first };
    }
    Ok(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_force_is_said_once_where_both_directions_are_the_same() {
        let pipe = |direction: &str, up: bool, settings: Value| Pipe {
            direction: direction.into(),
            pipe: None,
            up,
            settings: settings.as_object().cloned().unwrap_or_default(),
        };
        let slow = serde_json::json!({"delay": "40 ms", "loss": {"kind": "gilbert"}});
        let both = [pipe("forward", true, slow.clone()), pipe("backward", true, slow.clone())];
        assert_eq!(settings(&both), "delay 40 ms, loss {\"kind\":\"gilbert\"}");
        let one = [pipe("forward", false, slow), pipe("backward", true, Value::Null)];
        assert_eq!(settings(&one), "forward: down, delay 40 ms, loss {\"kind\":\"gilbert\"}; backward: no model");
    }
}
