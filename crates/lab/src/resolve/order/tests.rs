use crate::plan::{Action, Plan};

const NET: &str = "links: {l: {ends: [a, b]}}\n";

fn plan(text: &str) -> Plan {
    crate::parse(&format!("{NET}{text}"), "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan
}

/// Each command with those that it waits for.
fn order(plan: &Plan) -> Vec<(String, String)> {
    let name = |event: usize| plan.command_name(event).unwrap_or_default().to_owned();
    let runs = plan.timeline.iter().enumerate().filter_map(|(place, event)| match &event.action {
        Action::Run(run) => {
            Some((name(place), run.after.iter().map(|other| name(*other)).collect::<Vec<_>>().join(" ")))
        }
        _ => None,
    });
    runs.collect()
}

fn wrong(timeline: &str) -> String {
    let text = format!("{NET}nodes: [a, b]\ntimeline: [{timeline}]\n");
    crate::parse(&text, "test.yaml").err().map(|wrong| wrong.to_string()).unwrap_or_default()
}

#[test]
fn setups_come_first_in_each_node_and_then_in_the_lab() {
    let plan = plan(
        "nodes: {a: {setup: [one, [two, 2]]}, b: {setup: [three]}}
setup: [{on: a, run: four, as: fourth}, {on: b, run: five}]
timeline: [{on: a, run: serve, service: true}, {on: b, run: ask, after: serve}]
",
    );
    let expected = [
        ("serve", ""),
        ("ask", "serve"),
        ("one", ""),
        ("two", "one"),
        ("three", ""),
        ("fourth", "two three"),
        ("five", "fourth"),
    ];
    assert_eq!(order(&plan), expected.map(|(name, after)| (name.to_owned(), after.to_owned())));
    let before: Vec<bool> = (0..plan.timeline.len()).map(|event| plan.starts_before_zero(event)).collect();
    assert_eq!(before, [true, false, true, true, true, true, true]);
}

#[test]
fn a_service_that_waits_for_what_comes_later_comes_later() {
    let plan = plan(
        "nodes: [a, b]
timeline:
  - {on: a, run: load}
  - {on: a, run: first, service: true}
  - {on: a, run: second, service: once, after: [first]}
  - {on: a, run: third, service: true, after: [second, load]}
",
    );
    let before: Vec<bool> = (0..4).map(|event| plan.starts_before_zero(event)).collect();
    assert_eq!(before, [false, true, true, false]);
}

#[test]
fn no_command_waits_for_itself_or_for_one_that_does_not_exist() {
    let circle = "{on: a, run: x, as: one, after: two}, {on: a, run: x, as: two, after: [three]}, \
                  {on: a, run: x, as: three, after: one}";
    assert!(wrong(circle).contains("`one` waits for this command itself"), "{}", wrong(circle));
    assert!(wrong("{on: a, run: x, as: me, after: me}").contains("`me` waits for this command itself"));
    let unknown = wrong("{on: a, run: x, as: schema}, {on: a, run: x, after: shema}");
    assert!(unknown.contains("no command is called `shema`: did you mean `schema`?"), "{unknown}");
    assert_eq!(wrong("{on: a, run: x, after: y}, {on: a, run: 7: 8, as: y}").matches("no command").count(), 0);
}

#[test]
fn what_starts_with_its_node_alone_is_waited_for_by_its_like() {
    let service = |name: &str, more: &str| format!("{{on: a, run: x, service: true, as: {name}, {more}}}");
    let of = |own: &str, other: &str| wrong(&format!("{}, {}", service("one", own), service("two", other)));
    assert_eq!(of("on_restart: only", "on_restart: only, after: one"), "");
    assert_eq!(of("on_restart: also", "on_restart: only, after: one"), "");
    assert_eq!(of("on_restart: never", "on_restart: never, after: one"), "");
    assert!(of("on_restart: only", "after: one").contains("`one` starts only when its node starts again"));
    assert!(of("on_restart: never", "after: one").contains("`one` does not start when its node starts again"));
    let at = wrong(&service("one", "on_restart: only, at: 1 s"));
    assert!(at.contains("leave out `at`"), "{at}");
    let command = wrong("{on: a, run: x, on_restart: never}");
    assert!(command.contains("only services start again with their node"), "{command}");
    let first = plan(&format!(
        "nodes: [a, b]\ntimeline: [{}, {}]\n",
        service("one", "on_restart: only"),
        service("two", "stop: 1 s")
    ));
    assert_eq!([0, 1].map(|event| first.starts_before_zero(event)), [false, true]);
}

#[test]
fn the_time_to_end_is_the_commands_or_the_labs_or_a_second() {
    let timeline = "nodes: [a, b]\ntimeline: [{on: a, run: x}, {on: a, run: y, stop: 10 s}]\n";
    let spans = |text: &str| {
        let runs = plan(text).timeline.into_iter().filter_map(|event| match event.action {
            Action::Run(run) => Some(run.stop.to_string()),
            _ => None,
        });
        runs.collect::<Vec<_>>()
    };
    assert_eq!(spans(timeline), ["1 s", "10 s"]);
    assert_eq!(spans(&format!("stop: 3 s\n{timeline}")), ["3 s", "10 s"]);
}
