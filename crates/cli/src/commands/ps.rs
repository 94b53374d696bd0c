//! `netloom ps`

use super::{DONE, Outcome, print};
use crate::args::PsArgs;
use crate::talk;
use netloom_run::Look;
use netloom_run::render::{Align, Table};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) fn ps(args: &PsArgs) -> Outcome {
    let labs = netloom_run::look_at_labs()?;
    if args.json {
        let labs: Vec<Value> = labs.iter().map(json).collect();
        return print(&serde_json::to_string_pretty(&labs).expect("a lab has string keys only"));
    }
    if labs.is_empty() {
        talk::say("no lab is up");
        return DONE;
    }
    let mut table = Table::new(&[
        ("LAB", Align::Left),
        ("MODE", Align::Left),
        ("NODES", Align::Right),
        ("LINKS", Align::Right),
        ("UP FOR", Align::Right),
        ("PID", Align::Right),
        ("FILE", Align::Left),
    ]);
    for lab in &labs {
        table.row(cells(lab));
    }
    let stalled = labs.iter().filter_map(|lab| match lab {
        Look::Answers(info) => Some(format!("{}: {}", info.name, info.stalled.as_ref()?)),
        Look::Silent { .. } => None,
    });
    let ways = labs.iter().flat_map(|lab| match lab {
        Look::Answers(info) => info.exposed.iter().map(|way| format!("{}: {way}", info.name)).collect(),
        Look::Silent { .. } => Vec::new(),
    });
    let lines: Vec<String> =
        std::iter::once(table.to_string().trim_end().to_owned()).chain(ways).chain(stalled).collect();
    print(&lines.join("\n"))
}

fn json(lab: &Look) -> Value {
    match lab {
        Look::Answers(info) => {
            let mut value = json!(info);
            value["answers"] = true.into();
            value
        }
        Look::Silent { name, pid, file } => json!({ "name": name, "answers": false, "pid": pid, "file": file }),
    }
}

fn cells(lab: &Look) -> Vec<String> {
    let lab = match lab {
        Look::Answers(info) => info,
        Look::Silent { name, pid, file } => {
            let dash = || "-".to_owned();
            let pid = pid.map_or_else(dash, |pid| pid.to_string());
            let file = file.as_ref().map_or_else(dash, |file| file.display().to_string());
            return vec![name.clone(), "does not answer".into(), dash(), dash(), dash(), pid, file];
        }
    };
    let age = Duration::from_secs(lab.age_ns / 1_000_000_000);
    vec![
        lab.name.clone(),
        lab.mode.clone(),
        lab.nodes.len().to_string(),
        lab.links.to_string(),
        age_text(age),
        lab.pid.to_string(),
        lab.file.display().to_string(),
    ]
}

/// The two largest units that say something.
fn age_text(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{} h {} min", seconds / 3_600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3_600 % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_read_well() {
        let text = |seconds| age_text(Duration::from_secs(seconds));
        assert_eq!(text(59), "59 s");
        assert_eq!(text(61), "1 min 1 s");
        assert_eq!(text(7_260), "2 h 1 min");
        assert_eq!(text(90_000), "1 d 1 h");
    }
}
