//! Entries of the timeline that stand for several events.

use netloom_lab::{Action, Event, Plan, RunCommand, parse};

fn plan(timeline: &str) -> Plan {
    let text = format!("nodes: [c1, c2, s]\nlinks: {{one: {{ends: [c1, s]}}, two: {{ends: [c2, s]}}}}\n{timeline}");
    parse(&text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
}

/// What happens when, in milliseconds.
fn told(plan: &Plan) -> Vec<String> {
    let word = |action: &Action| match action {
        Action::Run(run) => format!("{} on {}", run.name, plan.nodes[run.node].name),
        Action::Down { part, .. } => format!("down {}", plan.links[part.link].name),
        Action::Set { link, .. } => format!("set {}", plan.links[*link].name),
        other => format!("{other:?}"),
    };
    let at = |at: Option<netloom_units::Duration>| at.map_or("-".into(), |at| (at.as_nanos() / 1_000_000).to_string());
    plan.timeline.iter().map(|event| format!("{} {}", at(event.at), word(&event.action))).collect()
}

fn runs(plan: &Plan) -> Vec<&RunCommand> {
    let of = |event| match event {
        &Event { action: Action::Run(ref run), .. } => Some(&**run),
        _ => None,
    };
    plan.timeline.iter().filter_map(of).collect()
}

#[test]
fn an_entry_happens_again_and_again() {
    let plan = plan(
        "timeline:
  - {link: one, down: 1 s, at: 2 s, every: 5 s, until: 12 s}
  - {link: two, set: {delay: 1 ms}, every: 4 s, times: 2}
  - {on: s, run: ping -c 1 c1, as: probe, save: probe.txt, at: 1 s, every: 500 ms, times: 3, until: 1500 ms}
",
    );
    let expected = ["2000 down one", "7000 down one", "12000 down one", "0 set two", "4000 set two"];
    assert_eq!(told(&plan)[..5], expected);
    assert_eq!(told(&plan)[5..], ["1000 probe-1 on s", "1500 probe-2 on s"]);
    assert_eq!(
        runs(&plan).iter().map(|run| run.save.as_deref().unwrap()).collect::<Vec<_>>(),
        ["probe-1.txt", "probe-2.txt"]
    );
}

#[test]
fn a_command_runs_on_several_nodes_and_others_wait_for_all() {
    let plan = plan(
        "timeline:
  - {on: 'c*', run: ping -c 1 s, as: load}
  - {on: [s, c1], run: uptime, every: 1 s, times: 2}
  - {on: s, run: uptime, as: last, after: load}
",
    );
    let all = told(&plan);
    assert_eq!(all[..2], ["- load-c1 on c1", "- load-c2 on c2"]);
    assert_eq!(all[2..6], ["0 uptime on s", "1000 uptime-2 on s", "0 uptime-3 on c1", "1000 uptime-4 on c1"]);
    assert_eq!(runs(&plan).last().unwrap().after, [0, 1]);
}

#[test]
fn drawn_instants_follow_from_the_seed() {
    let timeline = |seed: u32, before: &str| {
        plan(&format!(
            "seed: {seed}
timeline:
  {before}
  - {{link: one, down: 10 ms, at: {{uniform: [1 s, 2 s]}}, every: {{mean: 1 s}}, times: 1000}}
"
        ))
    };
    let instants = |plan: &Plan| plan.timeline.iter().map(|event| event.at.unwrap().as_nanos()).collect::<Vec<_>>();
    let one = instants(&timeline(1, ""));
    assert_eq!(one, instants(&timeline(1, "")));
    assert_ne!(one, instants(&timeline(2, "")));
    // Others that are drawn change nothing of it.
    let more = instants(&timeline(1, "- {link: two, down: 10 ms, at: {uniform: [0, 9 s]}}"));
    assert_eq!(one, more[1..]);
    assert!((1_000_000_000..=2_000_000_000).contains(&one[0]), "{}", one[0]);
    // The mean of 999 such spans has a standard deviation of 3.2 %.
    let mean = (one[999] - one[0]) as f64 / 999.0 / 1e9;
    assert!((0.85..1.15).contains(&mean), "{mean}");
}

#[test]
fn a_ramp_goes_in_steps_from_the_first_value_to_the_last() {
    let plan = plan(
        "timeline:
  - {link: one, at: 2 s, ramp: {delay: [10 ms, 80 ms], rate: [8 Mbit/s, 1 Mbit/s], loss: [1 %, 0], over: 2 s, step: 300 ms}}
  - {link: two, ramp: {delay: [1 ms, 2 ms], over: 1 s}, every: 10 s, times: 2}
",
    );
    let changes: Vec<_> = plan
        .timeline
        .iter()
        .map(|event| match &event.action {
            Action::Set { link, change, .. } => (event.at.unwrap_or_default().as_nanos() / 1_000_000, *link, change),
            other => panic!("{other:?}"),
        })
        .collect();
    let delays = |link: usize| {
        let own = changes.iter().filter(move |(_, of, _)| *of == link);
        own.map(|(at, _, change)| (*at, change.delay.as_ref().unwrap().least().as_nanos() / 1_000)).collect::<Vec<_>>()
    };
    let expected =
        [(2_000, 10_000), (2_300, 20_500), (2_600, 31_000), (2_900, 41_500), (3_200, 52_000), (3_500, 62_500)];
    assert_eq!(delays(0)[..6], expected);
    assert_eq!(delays(0)[6..], [(3_800, 73_000), (4_000, 80_000)]);
    let last = changes.iter().rfind(|(_, link, _)| *link == 0).unwrap().2;
    assert_eq!(last.loss, Some(netloom_link::LossConfig::None));
    assert_eq!(last.rate, Some(netloom_link::RateConfig::Constant("1 Mbit/s".parse().unwrap())));
    let two = delays(1);
    assert_eq!((two.len(), two[0], two[100], two[101]), (202, (0, 1_000), (1_000, 2_000), (10_000, 1_000)));
}

#[test]
fn marks_stand_at_their_instants() {
    let plan = plan("timeline: [{at: 1 s, log: rush hour, every: 2 s, times: 2}]\n");
    let marks: Vec<_> =
        plan.timeline.iter().map(|event| (event.at.unwrap().as_nanos(), event.action.clone())).collect();
    let mark = || Action::Log("rush hour".to_owned());
    assert_eq!(marks, [(1_000_000_000, mark()), (3_000_000_000, mark())]);
}
