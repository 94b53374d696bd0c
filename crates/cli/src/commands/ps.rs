//! `netloom ps`

use super::{DONE, Outcome, print};
use crate::args::PsArgs;
use crate::talk;
use netloom_control::{LabInfo, Look, NodeState, ServiceInfo, ServiceState, Silence};
use netloom_results::render::{Align, Table};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) fn ps(args: &PsArgs) -> Outcome {
    for lab in netloom_control::sweep()? {
        talk::say(&format!("lab `{lab}` was killed; what it had left behind is removed now"));
    }
    let labs = netloom_control::look_at_labs()?;
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
        ("SERVICES", Align::Right),
        ("UP FOR", Align::Right),
        ("PID", Align::Right),
        ("FILE", Align::Left),
    ]);
    for lab in &labs {
        table.row(cells(lab));
    }
    let answers = labs.iter().filter_map(|lab| match lab {
        Look::Answers(info) => Some(info),
        Look::Silent { .. } => None,
    });
    let notes = answers.flat_map(|info| {
        let ways = info.exposed.iter().map(|way| format!("{}: {way}", info.name));
        let stalled = info.stalled.iter().map(|text| format!("{}: {text}", info.name));
        let paused = info
            .paused
            .then(|| format!("{0}: its time is paused; netloom advance {0} 1s, netloom resume {0}", info.name));
        ways.chain(stalled).chain(paused).chain(dead(info).map(|service| obituary(&info.name, service)))
    });
    let silent = labs.iter().filter_map(|lab| match lab {
        Look::Answers(_) => None,
        Look::Silent { name, why, .. } => Some(advice(name, *why)),
    });
    let lines: Vec<String> =
        std::iter::once(table.to_string().trim_end().to_owned()).chain(notes).chain(silent).collect();
    print(&lines.join("\n"))
}

/// The state of a lab that does not answer: for programs, and for people.
fn state(why: Silence) -> (&'static str, &'static str) {
    match why {
        Silence::Starting => ("starting", "is starting"),
        Silence::Ending => ("ending", "is ending"),
        Silence::Stuck => ("stuck", "does not answer"),
    }
}

/// What to do about a lab that does not answer.
fn advice(lab: &str, why: Silence) -> String {
    match why {
        Silence::Starting => format!("{lab}: is being made and answers when it is; netloom down {lab} ends it"),
        Silence::Ending => format!("{lab}: is ending; netloom down {lab} waits for that"),
        Silence::Stuck => format!(
            "{lab}: its process is stopped, or this machine has no time for it; netloom down {lab} ends it, by force if need be"
        ),
    }
}

fn dead(lab: &LabInfo) -> impl Iterator<Item = &ServiceInfo> {
    lab.services.iter().filter(|service| service.state == ServiceState::Dead)
}

/// How a service has ended before it should, and where to read more.
fn obituary(lab: &str, service: &ServiceInfo) -> String {
    let ServiceInfo { name, node, exit_code, signal, ended_since_ns, .. } = service;
    let how = match (exit_code, signal) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "ended".into(),
    };
    let age = age_text(Duration::from_nanos(ended_since_ns.unwrap_or(0)));
    format!("{lab}: service {name} on {node} is dead: {how}, {age} ago; netloom logs {lab} {name}")
}

fn services(lab: &LabInfo) -> String {
    match (lab.services.len(), dead(lab).count()) {
        (all, 0) => all.to_string(),
        (all, dead) => format!("{all}, {dead} dead"),
    }
}

/// How many nodes there are, and how many of them do not run.
fn nodes(lab: &LabInfo) -> String {
    let away = lab.nodes.iter().filter(|node| node.state != NodeState::Running).count();
    if away == 0 { lab.nodes.len().to_string() } else { format!("{}, {away} stopped", lab.nodes.len()) }
}

fn json(lab: &Look) -> Value {
    match lab {
        Look::Answers(info) => {
            let mut value = json!(info);
            value["answers"] = true.into();
            value
        }
        Look::Silent { name, why, pid, file } => {
            json!({ "name": name, "answers": false, "state": state(*why).0, "pid": pid, "file": file })
        }
    }
}

fn cells(lab: &Look) -> Vec<String> {
    let lab = match lab {
        Look::Answers(info) => info,
        Look::Silent { name, why, pid, file } => {
            let dash = || "-".to_owned();
            let pid = pid.map_or_else(dash, |pid| pid.to_string());
            let file = file.as_ref().map_or_else(dash, |file| file.display().to_string());
            return vec![name.clone(), state(*why).1.into(), dash(), dash(), dash(), dash(), pid, file];
        }
    };
    let age = Duration::from_secs(lab.age_ns / 1_000_000_000);
    vec![
        lab.name.clone(),
        if lab.diverted.is_some() { "shape".to_owned() } else { lab.mode.clone() },
        nodes(lab),
        lab.links.to_string(),
        services(lab),
        age_text(age),
        lab.pid.to_string(),
        lab.file.display().to_string(),
    ]
}

/// In the two largest units that are not zero.
pub(super) fn age_text(age: Duration) -> String {
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
    fn dead_services_are_told_of() {
        let service = |state, signal| ServiceInfo {
            name: "web".into(),
            node: "b".into(),
            state,
            exit_code: None,
            signal,
            ended_since_ns: signal.map(|_| 61_000_000_000),
        };
        assert_eq!(
            obituary("day", &service(ServiceState::Dead, Some(9))),
            "day: service web on b is dead: killed by signal 9, 1 min 1 s ago; netloom logs day web"
        );
    }

    #[test]
    fn ages_read_well() {
        let text = |seconds| age_text(Duration::from_secs(seconds));
        assert_eq!(text(59), "59 s");
        assert_eq!(text(61), "1 min 1 s");
        assert_eq!(text(7_260), "2 h 1 min");
        assert_eq!(text(90_000), "1 d 1 h");
    }
}
