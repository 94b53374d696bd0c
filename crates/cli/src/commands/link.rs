//! `netloom link`

use super::set::split_change;
use super::{Failure, Outcome, link_shell, print};
use crate::args::{LinkArgs, LinkCommand, PlotArgs};
use netloom_judge::ExitCode;
use netloom_lab::{Dialect, Profile, Translation, parse_pipe, translate};
use netloom_run::ModelPlotRequest;
use netloom_units::Seed;
use serde_json::{Map, Value, json};

pub(super) fn link(args: &LinkArgs) -> Outcome {
    match &args.command {
        Some(LinkCommand::Plot(plot_args)) => plot(plot_args),
        Some(LinkCommand::Shell(shell_args)) => link_shell::link_shell(shell_args),
        None => say(args),
    }
}

fn plot(args: &PlotArgs) -> Outcome {
    let wrong = |why: String| Failure::new(ExitCode::Usage, why);
    let keys = args.models.iter().map(|model| split_change(model)).collect::<Result<Vec<_>, _>>()?;
    let config = parse_pipe(&keys).map_err(|error| wrong(error.to_string()))?;
    let span = args.span.parse().map_err(|error| wrong(format!("--for: {error}")))?;
    let request = ModelPlotRequest {
        config,
        title: args.models.clone(),
        seed: Seed::new(args.seed),
        packets: args.packets,
        span,
    };
    let (svg, figures) = netloom_run::model_plot(&request).ok_or_else(|| {
        wrong("nothing here varies: write a delay or loss by chance, a token bucket, a trace or a schedule".into())
    })?;
    if args.out.as_os_str() == "-" {
        return print(svg.trim_end());
    }
    let failed = |error| Failure::new(ExitCode::Results, format!("writing {}: {error}", args.out.display()));
    std::fs::write(&args.out, svg).map_err(failed)?;
    print(&format!("{figures}drawn in {}", args.out.display()))
}

fn say(args: &LinkArgs) -> Outcome {
    if let Some(name) = &args.profile {
        let profile = Profile::named(name).map_err(|wrong| Failure::new(ExitCode::Usage, wrong))?;
        return print(&if args.json { format!("{:#}", profile_json(profile)) } else { profile_block(profile) });
    }
    let strings = [(Dialect::Netem, &args.netem), (Dialect::Dummynet, &args.dummynet), (Dialect::Tbf, &args.tbf)];
    let (dialect, text) = strings
        .into_iter()
        .find_map(|(dialect, text)| text.as_ref().map(|text| (dialect, text)))
        .expect("the command line has one of them");
    let meant = translate(dialect, text).map_err(|error| Failure::new(ExitCode::Usage, error.to_string()))?;
    if args.json { print(&format!("{:#}", json_of(&meant))) } else { print(&block(dialect, text, &meant)) }
}

/// Both directions as they can stand in a link of a lab file.
fn profile_block(profile: &Profile) -> String {
    let way = |keys: &[(&str, &str)]| {
        keys.iter().map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>().join(", ")
    };
    let [up, down] = profile.ways.map(way);
    format!("# profile {}: {}\nforward: {{{up}}}\nbackward: {{{down}}}", profile.name, profile.about)
}

fn profile_json(profile: &Profile) -> Value {
    let way = |keys: &[(&str, &str)]| -> Map<String, Value> {
        keys.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect()
    };
    let [up, down] = profile.ways.map(way);
    json!({ "profile": profile.name, "about": profile.about, "forward": up, "backward": down })
}

/// The keys as they can stand in a lab file, with a comment for every difference.
fn block(dialect: Dialect, text: &str, meant: &Translation) -> String {
    let mut lines = vec![format!("# {} {text}", dialect.name())];
    lines.extend(meant.keys.iter().map(|(key, value)| format!("{key}: {value}")));
    for note in &meant.notes {
        lines.extend(wrapped(note));
    }
    lines.join("\n")
}

/// A comment of lines of at most 100 characters.
fn wrapped(note: &str) -> Vec<String> {
    let mut lines = vec!["#".to_owned()];
    for word in note.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= 100 => *line = format!("{line} {word}"),
            _ => lines.push(format!("#   {word}")),
        }
    }
    lines
}

fn json_of(meant: &Translation) -> Value {
    let keys: Map<String, Value> = meant.keys.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    json!({ "keys": keys, "notes": meant.notes })
}
