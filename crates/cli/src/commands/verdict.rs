//! `netloom verdict` and `netloom restart`

use super::{DONE, Outcome, print, print_json};
use netloom_control::{Client, PipeLateness, SoFar, only_lab};
use netloom_judge::quantity::span;
use netloom_results::render::{self, Align, Table};

/// Of so many pipes it is shown how late they are: the latest come first.
const SHOWN: usize = 10;

pub(super) fn verdict(lab: Option<String>, json: bool) -> Outcome {
    let lab = lab.map_or_else(only_lab, Ok)?;
    let found = Client::connect(&lab)?.verdict()?;
    if json {
        return print_json(&found);
    }
    print(words(&found).trim_end())
}

pub(super) fn restart(lab: &str, name: &str) -> Outcome {
    Client::connect(lab)?.restart(name)?;
    DONE
}

fn words(found: &SoFar) -> String {
    let mut text = format!("so far, after {}\n{}", span(found.since_zero_ns), render::verdict(&found.verdict));
    text.push_str(&render::expectations(&found.expectations));
    let mut late: Vec<&PipeLateness> = found.pipes.iter().filter(|pipe| pipe.packets > 0).collect();
    late.sort_by_key(|pipe| std::cmp::Reverse(pipe.p99_ns));
    let mut table = Table::new(&[
        ("pipe", Align::Left),
        ("packets", Align::Right),
        ("99 % late by", Align::Right),
        ("at most", Align::Right),
    ]);
    for pipe in late.iter().take(SHOWN) {
        let ns = |value: Option<u64>| value.map_or_else(|| "-".into(), span);
        let further = pipe.pipe.as_ref().map_or_else(String::new, |name| format!(".{name}"));
        let name = format!("{}.{}{further}", pipe.link, pipe.direction);
        table.row(vec![name, pipe.packets.to_string(), ns(pipe.p99_ns), ns(pipe.max_ns)]);
    }
    if !late.is_empty() {
        text.push_str(&format!("\n{table}"));
    }
    text
}
