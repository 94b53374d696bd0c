//! `netloom results`

use super::{DONE, Outcome, print, print_json};
use crate::args::{PruneArgs, ResultsArgs, ResultsCommand, ResultsPlotArgs};
use crate::talk;
use netloom_judge::quantity;
use netloom_results::plots::PlotRequest;
use netloom_results::render::{Align, Table};
use netloom_results::{PruneRequest, Results, ResultsState};

pub(super) fn results(args: &ResultsArgs) -> Outcome {
    match &args.command {
        Some(ResultsCommand::Plot(plot_args)) => plot(plot_args),
        Some(ResultsCommand::Prune(prune_args)) => prune(prune_args),
        None => list(args),
    }
}

fn list(args: &ResultsArgs) -> Outcome {
    let which = &args.which;
    let mut all = netloom_results::list_results(&which.results)?;
    all.retain(|results| which.lab.is_empty() || which.lab.contains(&results.lab));
    if args.json {
        return print_json(&all);
    }
    if all.is_empty() {
        talk::say(&format!("no results in {}", which.results.display()));
        return DONE;
    }
    print(table(&all).to_string().trim_end())
}

fn table(all: &[Results]) -> Table {
    let mut table = Table::new(&[
        ("LAB", Align::Left),
        ("BEGAN (UTC)", Align::Left),
        ("CLOCK", Align::Left),
        ("VERDICT", Align::Left),
        ("EXIT", Align::Right),
        ("SIZE", Align::Right),
        ("FOLDER", Align::Left),
    ]);
    for results in all {
        let latest = if results.latest { " (latest)" } else { "" };
        table.row(vec![
            results.lab.clone(),
            results.began_utc.replace('T', " ").replace('Z', ""),
            results.clock.clone().unwrap_or_else(|| "-".into()),
            verdict(results).into(),
            results.exit_code.map_or_else(|| "-".into(), |code| code.to_string()),
            quantity::bytes(results.size_bytes),
            format!("{}{latest}", results.folder.display()),
        ]);
    }
    table
}

fn verdict(results: &Results) -> &'static str {
    match (results.state, results.as_described) {
        (ResultsState::GoingOn, _) => "running",
        (ResultsState::CutOff, _) => "none: cut off",
        (ResultsState::Over, Some(true)) => "as described",
        (ResultsState::Over, Some(false)) => "NOT as described",
        (ResultsState::Over, None) => "-",
    }
}

fn plot(args: &ResultsPlotArgs) -> Outcome {
    let request =
        PlotRequest { folder: args.folder.clone(), links: args.links.clone(), most: args.most.map(usize::from) };
    let plots = netloom_results::plots::plot_results(&request)?;
    if args.json {
        return print_json(&plots);
    }
    match plots {
        Some(plots) => print(&format!("drawn: {}, in {}", plots.extent(), args.folder.join(&plots.folder).display())),
        None => print("nothing happened on these links: there is nothing to draw"),
    }
}

fn prune(args: &PruneArgs) -> Outcome {
    let request = PruneRequest {
        root: args.which.results.clone(),
        labs: args.which.lab.clone(),
        keep: args.keep,
        older_than: args.older_than,
        dry_run: args.dry_run,
    };
    let removed = netloom_results::prune_results(&request)?;
    if args.json {
        return print_json(&removed);
    }
    let freed = quantity::bytes(removed.iter().map(|results| results.size_bytes).sum());
    let done = if args.dry_run { "would be removed" } else { "removed" };
    let mut lines: Vec<String> = removed.iter().map(|results| results.folder.display().to_string()).collect();
    lines.push(format!("{} {done}, {freed}", quantity::counted(removed.len(), "results folder")));
    print(&lines.join("\n"))
}
