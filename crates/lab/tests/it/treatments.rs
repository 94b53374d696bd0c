//! Further pipes and partitions: from lab files to plans.

use crate::labs::lab;
use netloom_lab::{Action, Direction, Plan};
use netloom_units::Duration;

fn plan(text: &str) -> Plan {
    let lab = lab(text);
    assert!(lab.warnings.is_empty(), "{}", lab.warnings);
    lab.plan
}

/// The names of all pipes in the order of their numbers, with their rates and delays in milliseconds.
fn pipes(plan: &Plan) -> Vec<String> {
    let pipes = plan.pipes().map(|pipe| {
        let rate = pipe.config.rate.nominal().map_or_else(|| "unlimited".into(), |rate| rate.to_string());
        format!("{pipe} {rate} {}", pipe.config.delay.mean())
    });
    pipes.collect()
}

const LINKS: &str = "nodes: {a: {}, b: {kind: router}, c: {}}
links:
  first:
    ends: [a, b]
    rate: 10 Mbit/s
    delay: 5 ms
    pipes:
      voip: {match: {protocol: udp, port: 5000-6000}, rate: 1 Mbit/s}
      far: {match: {to: c}, delay: 100 ms}
    backward: {rate: 2 Mbit/s}
  second:
    ends: [b, c]
    forward: {delay: 7 ms, pipes: {far: {match: {dscp: 8}, rate: 3 Mbit/s}}}
";

/// The own pipes keep their numbers; the further ones follow, link by link, forward first, as they are written.
#[test]
fn further_pipes_follow_and_inherit() {
    let expected = [
        "first.forward 10 Mbit/s 5 ms",
        "first.backward 2 Mbit/s 5 ms",
        "second.forward unlimited 7 ms",
        "second.backward unlimited 0 ns",
        "first.forward.voip 1 Mbit/s 5 ms",
        "first.forward.far 10 Mbit/s 100 ms",
        "first.backward.voip 1 Mbit/s 5 ms",
        "first.backward.far 2 Mbit/s 100 ms",
        "second.forward.far 3 Mbit/s 7 ms",
    ];
    assert_eq!(pipes(&plan(LINKS)), expected);
}

/// What a direction says of further pipes replaces what the link says of them.
#[test]
fn a_direction_has_its_own_further_pipes() {
    let plan = plan(
        "nodes: [a, b]\nlinks: {l: {ends: [a, b], pipes: {x: {match: {to: b}}}, backward: {pipes: {y: {match: {to: a}}}}}}",
    );
    assert_eq!(pipes(&plan)[2..], ["l.forward.x unlimited 0 ns", "l.backward.y unlimited 0 ns"]);
}

/// A node stands for all its addresses, wherever in the file it is named; an alias of YAML is no harm.
#[test]
fn a_node_stands_for_its_addresses() {
    let plan = plan(LINKS);
    let far = &plan.links[0].treatments[0][1];
    let written: Vec<String> = far.filter.to.iter().flatten().map(ToString::to_string).collect();
    assert_eq!(written, ["10.0.0.6/32", "fd00:6e6c:0:1::2/128"]);
    let text = plan.text().to_string();
    let line = text.lines().find(|line| line.contains(".far")).expect("it is shown");
    assert_eq!(
        line.split_whitespace().collect::<Vec<_>>().join(" "),
        ".far match {to: [10.0.0.6/32, \"fd00:6e6c:0:1::2/128\"]} 10 Mbit/s 100 ms queue 1000 packets"
    );
    let json = plan.describe();
    let shown = &json["links"][0]["forward"]["pipes"][1];
    assert_eq!((&shown["name"], &shown["match"]["to"][0]), (&"far".into(), &"10.0.0.6/32".into()));
    assert_eq!((&shown["delay_ns"], &shown["described"]["rate"]), (&100_000_000.into(), &"10 Mbit/s".into()));
    assert_eq!(json["links"][1]["backward"]["pipes"], serde_json::json!([]));
}

#[test]
fn a_further_pipe_can_be_changed_and_expected_of() {
    let more = "timeline: [{at: 1 s, link: first, direction: forward, pipe: far, set: {delay: 1 ms}}]
expect: [first.forward.far.delay < 5 ms, first.voip.drops == 0]
";
    let plan = plan(&format!("{LINKS}{more}"));
    let Action::Set { link: 0, direction: Some(Direction::Forward), pipe: Some(pipe), .. } = &plan.timeline[0].action
    else {
        panic!("{:?}", plan.timeline);
    };
    assert_eq!(pipe, "far");
    assert!(plan.text().to_string().contains("first.forward.far  delay 1 ms"), "{}", plan.text().to_string());
}

#[test]
fn a_cut_may_be_of_a_direction_or_of_a_further_pipe() {
    let more = "timeline:
  - {at: 1 s, link: first, down: 2 s, pipe: far, direction: forward}
  - {at: 2 s, link: first, down: 2 s, pipe: far, direction: forward}
  - {at: 1 s, link: first, down: true, direction: backward}
  - {at: 3 s, link: first, up: true, direction: backward}
";
    let text = plan(&format!("{LINKS}{more}")).text().to_string();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts = ["1 s first.forward.far down for 3 s", "1 s first.backward down", "3 s first.backward up"];
    parts.iter().for_each(|part| assert!(words.contains(part), "{part}: {text}"));
    let wrong = format!("{LINKS}timeline: [{{link: first, down: 1 s, pipe: fra}}]\n");
    let error = netloom_lab::parse(&wrong, "test.yaml").map(|_| ()).expect_err("there is no such pipe").to_string();
    assert!(error.contains("link `first` has no further pipe `fra`: did you mean `far`?"), "{error}");
}

/// When each link is cut and restored: seconds, link, and for how long.
fn cuts(text: &str) -> Vec<(u64, &'static str, Option<Duration>)> {
    let names = ["ab", "bc", "cd", "da"];
    let network = "nodes: {a: {kind: router}, b: {kind: router}, c: {kind: router}, d: {kind: router}}
links: {ab: {ends: [a, b]}, bc: {ends: [b, c]}, cd: {ends: [c, d]}, da: {ends: [d, a]}}
";
    let plan = plan(&format!("{network}timeline: [{text}]\n"));
    let events = plan.timeline.iter().map(|event| {
        let at = event.at.unwrap_or_default().as_nanos() / 1_000_000_000;
        match &event.action {
            Action::Down { part, duration, .. } => (at, names[part.link], *duration),
            Action::Up { part } => (at, names[part.link], Some(Duration::ZERO)),
            _ => panic!("neither cut nor joined"),
        }
    });
    events.collect()
}

/// What `netloom check` says of partitions: when, and which are in force.
fn in_force(network: &str, timeline: &str) -> Vec<(u64, String)> {
    let plan = plan(&format!("{network}timeline: [{timeline}]\n"));
    let events = plan.timeline.iter().filter_map(|event| match &event.action {
        Action::Partition { in_force, .. } => {
            Some((event.at.unwrap_or_default().as_nanos() / 1_000_000_000, in_force.to_string()))
        }
        _ => None,
    });
    events.collect()
}

const RING: &str = "nodes: {a: {kind: router}, b: {kind: router}, c: {kind: router}, d: {kind: router}}
links: {ab: {ends: [a, b]}, bc: {ends: [b, c]}, cd: {ends: [c, d]}, da: {ends: [d, a]}}
";

#[test]
fn a_partition_is_about_nodes_and_cuts_no_link_between_them() {
    let halves = "{at: 5 s, partition: [[a, b], [c, d]], for: 2 s}";
    assert_eq!(cuts("{at: 5 s, link: ab, down: 2 s}").len(), 1);
    assert_eq!(in_force(RING, halves), [(5, "a b | c d".to_owned()), (7, "none".to_owned())]);
    // A group alone is parted from everybody.
    assert_eq!(in_force(RING, "{partition: [[a]]}"), [(0, "a | all others".to_owned())]);
}

#[test]
fn healing_ends_the_partitions_that_are_in_force() {
    let healed = "{at: 9 s, heal: true}, {at: 5 s, partition: [[a]]}, {at: 1 s, partition: [[c]], for: 1 s}";
    let seen: Vec<(u64, String)> = in_force(RING, healed);
    let wanted = [(1, "c | all others"), (2, "none"), (5, "a | all others"), (9, "none")];
    assert_eq!(seen, wanted.map(|(at, what)| (at, what.to_owned())));
}

#[test]
fn partitions_that_overlap_add_up() {
    let both = "{at: 1 s, partition: [[a]], for: 2 s}, {at: 2 s, partition: [[b]], for: 3 s}";
    let wanted = [(1, "a | all others"), (2, "a | all others, and b | all others"), (3, "b | all others"), (5, "none")];
    assert_eq!(in_force(RING, both), wanted.map(|(at, what)| (at, what.to_owned())));
}

#[test]
fn shapes_ways_and_kinds_are_named() {
    let five = "nodes: [n1, n2, n3, n4, n5, c]\nlinks: {lan: {ends: [n1, n2, n3, n4, n5, c]}}\n";
    let named = |entry: &str| in_force(five, &format!("{{partition: {entry}}}"))[0].1.clone();
    assert_eq!(named("{halves: n*}"), "n1 n2 | n3 n4 n5");
    assert_eq!(named("{bridge: n*}"), "n1 n2 n3 | n3 n4 n5");
    assert_eq!(named("{ring: n*}"), "ring n1 n2 n3 n4 n5");
    assert_eq!(named("{isolate: n2, of: n*}"), "n2 | n1 n3 n4 n5");
    assert_eq!(named("{isolate: n2}"), "n2 | all others");
    assert_eq!(named("[[n1, n2], [n2, n3]], slow: 200 ms"), "n1 n2 | n2 n3, slower by 200 ms");
    assert_eq!(named("[[n1], [n2]], others: isolated"), "n1 | n2 | each other node");
    assert_eq!(named("[[n1]], direction: from, jam: true"), "n1 | all others, only from n1, held");
    // Drawn anew each time, and from the seed alone.
    let drawn = "{partition: {isolate: one, of: n*}, every: 1 s, times: 9, for: 1 ms}";
    let all = in_force(five, drawn);
    assert_eq!(all, in_force(five, drawn));
    assert!(all.iter().map(|(_, what)| what).collect::<std::collections::BTreeSet<_>>().len() > 3, "{all:?}");
}

#[test]
fn a_command_names_a_leader_when_it_is_time() {
    let four = "nodes: [n1, n2, n3, c]\nlinks: {lan: {ends: [n1, n2, n3, c]}}\n";
    let timeline = "{at: 1 s, partition: {leader: who, on: c, of: n*}, direction: to, for: 2 s}, {at: 2 s, heal: true}";
    let own = plan(&format!("{four}timeline: [{timeline}]\n"));
    let Action::Run(run) = &own.timeline[0].action else { panic!("a command comes first") };
    let leads = run.leads.as_ref().expect("it names a leader");
    let told = |output: &str| {
        let parted = own.part_leader(leads, output).map(|one| (one.nodes.to_string(), one.duration));
        parted.map_err(|error| error.to_string())
    };
    let of_n2 = ("n2 | n1 n3, only to n2".to_owned(), Some(Duration::from_secs(2)));
    let address = own.nodes[1].interfaces[0].addresses[0].addr();
    for output in ["n2".to_owned(), " n2 \nn1\n".to_owned(), format!("{address}\n")] {
        assert_eq!(told(&output), Ok(of_n2.clone()), "{output}");
    }
    // It need not be one of those that it is parted from.
    assert_eq!(told("c").map(|(name, _)| name), Ok("c | n1 n2 n3, only to c".to_owned()));
    let why = |output: &str| told(output).expect_err("it names nobody");
    assert_eq!(why("\nn1\n"), "its output names nobody");
    assert_eq!(why("n9"), "`n9` is neither a node nor an address of one");
    assert!(why("lan").contains("lan"), "{}", why("lan"));
    // What it may part is healed, though nobody knows whom.
    assert_eq!(in_force(four, timeline), [(2, "none".to_owned())]);
    assert!(leads.links.len() == own.links.len() && own.text().to_string().contains("parts the node that it names"));
}

/// Switches and hubs have nothing to say: what names one cuts its links to other groups.
#[test]
fn a_switch_that_is_named_is_cut_off() {
    let lan = "nodes: {a: {}, b: {}, c: {}, s: {kind: switch}}\nlinks: {x: {ends: [a, s]}, y: {ends: [b, s]}, z: {ends: [c, s]}}\n";
    let own = plan(&format!("{lan}timeline: [{{at: 1 s, partition: [[a], [s, b, c]], for: 2 s}}]\n"));
    let cut = own.timeline.iter().filter_map(|event| match &event.action {
        Action::Down { part, duration, .. } => Some((part.link, *duration)),
        _ => None,
    });
    assert_eq!(cut.collect::<Vec<_>>(), [(0, Some(Duration::from_secs(2)))]);
    let lost = "`b` and `c` are not parted, but reach each other only over links of switches and hubs that the partition cuts: leave \
                switches and hubs out of the groups";
    assert_eq!(refused(lan, "[[a, s], [b, c]]"), lost);
    assert!(refused(lan, "[[a, s], [b]], direction: to").contains("`s` is a switch or hub, whose links"));
}

#[test]
fn a_partition_that_cuts_nothing_is_warned_of() {
    let warnings =
        lab("nodes: [a, b, c]\nlinks: {l: {ends: [a, b]}}\ntimeline: [{partition: [[a, b], [c]]}]\n").warnings;
    let lines: Vec<String> = warnings.lines().filter(|line| line.contains("partition")).collect();
    assert_eq!(
        lines,
        ["test.yaml:3: timeline[0].partition: this partition cuts nothing: nothing joins two of its groups"]
    );
}

/// The words of the error of a partition of this network.
fn refused(network: &str, groups: &str) -> String {
    let text = format!("{network}timeline: [{{partition: {groups}, for: 1 s}}]\n");
    let error = netloom_lab::parse(&text, "test.yaml").map(|_| ()).expect_err("it is refused").to_string();
    error.lines().next().unwrap_or_default().replace("error: timeline[0].partition: ", "")
}

/// A router between parted nodes passes nothing on between them, whatever group it is in.
#[test]
fn nodes_behind_routers_are_parted() {
    let star = "nodes: {a: {}, b: {}, c: {}, r: {kind: router}}\nlinks: {x: {ends: [a, r]}, y: {ends: [b, r]}, z: {ends: [c, r]}}\n";
    for (groups, name) in [("[[a], [b]]", "a | b"), ("[[a, r], [b, c]]", "a r | b c"), ("[[a, r], [b]]", "a r | b")] {
        assert_eq!(in_force(star, &format!("{{partition: {groups}}}")), [(0, name.to_owned())]);
    }
}

/// `netloom check` names the links at which a LAN is parted, and keeps its switch in the engine.
#[test]
fn a_lan_is_parted_where_its_nodes_are() {
    let checked = lab(
        "nodes: [a, b, c]\nlinks: {lan: {ends: [a, b, c], bypass: auto}}\ntimeline: [{at: 1 s, partition: [[a], [b]], for: 2 s}]\n",
    );
    let text = checked.plan.text().to_string();
    let rows = text.lines().skip_while(|line| *line != "Timeline").skip(1);
    let rows: Vec<String> = rows.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(rows, ["1 s parted: a | b (at lan-a lan-b)", "3 s healed"]);
    assert!(checked.plan.links.iter().all(|link| !link.bypass.is_joined()));
}

/// Kernels send packets of themselves, which losses by number count, unless the pipe matches a program's alone.
#[test]
fn losses_by_number_warn_of_what_kernels_send() {
    let loss = "loss: {kind: packets, lost: [1, 3]}";
    let link = |text: &str| format!("nodes: [a, b]\nlinks: {{l: {{ends: [a, b], forward: {{{text}}}}}}}\n");
    let matched = link(&format!("pipes: {{dns: {{match: {{protocol: udp, to_port: 53}}, {loss}}}}}"));
    let cases = [
        (link(loss), true),
        (format!("addresses: {{ipv6: none}}\n{}", link(loss)), false),
        (matched, false),
        (link("loss: {kind: every, n: 100}"), false),
    ];
    for (text, warns) in cases {
        let warnings = lab(&text).warnings;
        assert_eq!(warnings.is_empty(), !warns, "{text}{warnings}");
        assert!(!warns || warnings.to_string().starts_with("warning: links.l: packets with certain numbers are lost"));
    }
}
