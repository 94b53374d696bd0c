use super::*;
use crate::FaultPlan;

const LAB: &str = "name: kv\nclock: virtual\nduration: 20 s\nnodes: [n1, n2, n3, client]\n\
                   links: {lan: {ends: [n1, n2, n3, client], delay: 1 ms}}\n\
                   timeline:\n  - {on: n*, run: ./serve, as: serve, ready: {tcp: 80}}\n  - {on: client, run: ./ask, as: ask}\n\
                   capture: [{link: lan-n1}]\n\
                   hunt: {runs: 7, faults: {kill: on}, always: ['no log n* matches \"panic\"', ask.exit == 0]}\n";

#[test]
fn a_run_is_an_ordinary_lab_with_its_faults() {
    let (hunt, lab) = HuntLab::read(LAB, "kv.yaml").unwrap();
    assert_eq!(lab.plan.hunt.as_ref().unwrap().nodes, [0, 1, 2], "those with services");
    let entries =
        ["{at: 1 s, kill: n1, for: 2 s}".to_owned(), "{at: 2 s, partition: [[n1], [n2, n3]], for: 1 s}".into()];
    let expect = ["ask.exit == 0".to_owned()];
    let run = HuntedRun { name: "kv-00", entries: &entries, expect: &expect, is_bare: true, has_journal: false };
    let (played, text) = hunt.play(&run).unwrap();
    assert_eq!((played.plan.name.as_str(), played.plan.expect.len()), ("kv-00", 1));
    assert!(played.plan.capture.is_empty());
    let (again, same) = HuntLab::read(&text, "kv.yaml").unwrap();
    assert_eq!(again.text(), text);
    let (own, before) = (same.plan.hunt.unwrap(), lab.plan.hunt.unwrap());
    assert!(own.faults.is_empty() && own.runs.is_none(), "a hunt of it draws nothing");
    let tests = |plan: &crate::HuntPlan| plan.properties.iter().map(|one| one.test.clone()).collect::<Vec<_>>();
    assert_eq!(tests(&own), tests(&before));
}

#[test]
fn a_run_without_faults_notes_what_comes_to_disks() {
    let text = LAB.replace("[n1, n2, n3, client]\n", "{n1: {disk: {at: /srv}}, n2: , n3: , client: }\n");
    let (hunt, _) = HuntLab::read(&text, "kv.yaml").unwrap();
    let journal = |has_journal| {
        let played = hunt.play(&HuntedRun { name: "kv-00", has_journal, ..HuntedRun::default() }).unwrap().0.plan;
        played.nodes[0].disk.as_ref().unwrap().journal
    };
    assert!(journal(true) && !journal(false));
}

#[test]
fn what_the_lab_does_not_take_is_said() {
    let (hunt, _) = HuntLab::read(LAB, "kv.yaml").unwrap();
    let wrong = ["{at: 1 s, kill: n9}".to_owned()];
    let error = hunt.play(&HuntedRun { name: "kv-00", entries: &wrong, ..HuntedRun::default() }).unwrap_err();
    assert!(error.to_string().contains("n9"), "{error}");
}

#[test]
fn what_a_node_cannot_have_is_not_drawn() {
    let faults = |nodes: &str, hunt: &str| {
        let text = format!(
            "clock: virtual\nduration: 20 s\nnodes: {nodes}\nlinks: {{lan: {{ends: [n1, n2]}}}}\n\
             timeline: [{{on: [n1, n2], run: ./serve, as: serve, ready: {{tcp: 80}}}}]\nhunt: {hunt}\n"
        );
        let lab = parse(&text, "kv.yaml").unwrap_or_else(|error| panic!("{error}"));
        lab.plan.hunt.unwrap().faults
    };
    let names = |all: &[FaultPlan]| all.iter().map(FaultPlan::name).collect::<Vec<_>>();
    let usual = ["packet", "packets", "cut", "partition", "pause", "freeze", "kill"];
    assert_eq!(names(&faults("[n1, n2]", "{}")), usual);
    let one_disk = faults("{n1: {}, n2: {disk: {at: /srv}}}", "{}");
    assert_eq!(names(&one_disk), [&usual[..], &["crash"]].concat());
    let Some(FaultPlan::Node(crashes)) = one_disk.last() else { panic!("{one_disk:?}") };
    assert_eq!(crashes.nodes, [1], "only what has a disk outlives a crash");
    let named =
        faults("{n1: {}, n2: {disk: {at: /srv}}}", "{tolerate: all, faults: {crash: \"n*\", disk: {full, nodes: n*}}}");
    let nodes: Vec<&[usize]> = named
        .iter()
        .map(|fault| match fault {
            FaultPlan::Node(own) => &own.nodes[..],
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!((names(&named), nodes), (vec!["disk", "crash"], vec![&[1][..], &[0, 1]]));
    // Nothing is kept where there is no disk.
    let kept = faults("{n1: {}, n2: {disk: {at: /srv}}}", "{tolerate: all, faults: {crash: {nodes: n*, keep: torn}}}");
    let [FaultPlan::Node(with_disks)] = &kept[..] else { panic!("{kept:?}") };
    assert_eq!(with_disks.nodes, [1]);
}

/// An entry for such a node would be refused, so that runs with it would show nothing.
#[test]
fn a_node_that_is_called_like_a_command_has_no_fault_that_takes_both() {
    let faults = |hunt: &str| {
        let text = format!(
            "clock: virtual\nduration: 20 s\nnodes: [n1, n2]\nlinks: {{lan: {{ends: [n1, n2]}}}}\n\
             timeline: [{{on: n1, run: ./serve, as: n1, ready: {{tcp: 80}}}}, {{on: n2, run: ./serve, as: two, ready: {{tcp: 80}}}}]\n\
             hunt: {hunt}\n"
        );
        parse(&text, "kv.yaml").map(|lab| lab.plan.hunt.unwrap().faults)
    };
    let drawn = faults("{tolerate: all, faults: {kill: on, limit: on, clock: on, reboot: on}}").unwrap();
    let nodes: Vec<(&str, &[usize])> = drawn
        .iter()
        .filter_map(|fault| if let FaultPlan::Node(own) = fault { Some((fault.name(), &own.nodes[..])) } else { None })
        .collect();
    assert_eq!(nodes, [("clock", &[0, 1][..]), ("limit", &[1]), ("kill", &[1]), ("reboot", &[0, 1])]);
    let usual = faults("{nodes: n1, tolerate: all}").unwrap();
    assert!(usual.iter().all(|fault| !["pause", "freeze", "kill"].contains(&fault.name())), "{usual:?}");
    for named in ["{tolerate: all, faults: {kill: n1}}", "{nodes: n1, tolerate: all, faults: {pause: on}}"] {
        let error = faults(named).unwrap_err().to_string();
        assert!(error.contains("`n1` is a node and a command, too, and"), "{error}");
        assert!(error.contains("give the command another name by `as`"), "{error}");
    }
}

#[test]
fn name_servers_fail_where_the_lab_has_one() {
    let faults = |nodes: &str, hunt: &str| {
        let text = format!(
            "clock: virtual\nduration: 20 s\nnodes: {nodes}\nlinks: {{lan: {{ends: [n1, n2, n3]}}, air: {{ends: [n1, n2], medium: shared, rate: 10 Mbit/s}}}}\n\
             timeline: [{{on: [n1, n2], run: ./serve, as: serve, ready: {{tcp: 80}}}}]\nhunt: {hunt}\n"
        );
        parse(&text, "kv.yaml").map(|lab| (lab.plan.links, lab.plan.hunt.unwrap().faults))
    };
    let with_server = "{n1: {}, n2: {}, n3: {dns: {domain: lab}}}";
    let names = |nodes: &str, hunt: &str| {
        let (links, found) = faults(nodes, hunt).unwrap_or_else(|error| panic!("{error}"));
        let kinds: Vec<&str> = found.iter().map(FaultPlan::name).collect();
        assert!(found.is_sorted_by_key(FaultPlan::place), "{kinds:?}");
        found.into_iter().find_map(|fault| match fault {
            FaultPlan::Dns(names) => Some((
                names.links.iter().map(|link| links[*link].name.clone()).collect::<Vec<_>>().join(" "),
                names.questions.join(" "),
                names.ways.len(),
            )),
            _ => None,
        })
    };
    // A shared medium has no way back, and is left out.
    let usual = Some(("lan-n1 lan-n2".to_owned(), String::new(), 6));
    assert_eq!(names(with_server, "{}"), usual, "a lab with a name server draws them");
    assert_eq!(names("[n1, n2, n3]", "{}"), None, "and one without does not");
    assert_eq!(names("[n1, n2, n3]", "{faults: {dns: on}}"), usual, "unless it says so");
    let chosen = names("[n1, n2, n3]", "{faults: {dns: {links: lan-n3, question: [db.lab, api.lab], do: stale}}}");
    assert_eq!(chosen, Some(("lan-n3".into(), "db.lab api.lab".into(), 1)));
    assert_eq!(names("[n1, n2, n3]", "{faults: {dns: [empty, reverse]}}").map(|found| found.2), Some(2));
    for kind in ["dns: {links: air}", "reset: air"] {
        let error = faults("[n1, n2, n3]", &format!("{{faults: {{{kind}}}}}")).unwrap_err().to_string();
        assert!(error.contains("`air` is a shared medium, on which nothing can be answered"), "{error}");
    }
}

#[test]
fn faults_are_written_as_the_manual_has_them() {
    let text =
        LAB.lines().filter(|line| !line.starts_with("hunt:")).map(|line| format!("{line}\n")).collect::<String>();
    let text =
        text.replace("[n1, n2, n3, client]\n", "{n1: &disk {disk: {at: /srv}}, n2: *disk, n3: *disk, client: }\n");
    let hunt = "hunt:\n  runs: 2000\n  faults:\n    partition: [isolate, halves]\n    crash: {nodes: \"n*\", keep: [flushed, some, torn], at most: 1}\n    \
                pause: \"n*\"\n    clock: {step: 1 s}\n    packets: {loss: [1 %, 30 %], reorder: on, delay: [1 ms, 2 s]}\n  tolerate: minority\n  \
                always:     [no log n* matches \"panic|assert\", n*.exit == 0]\n  sometimes:  [log n* matches \"became leader\" >= 2]\n";
    let plan = parse(&format!("{text}{hunt}"), "kv.yaml").unwrap_or_else(|error| panic!("{error}")).plan.hunt.unwrap();
    let Some(FaultPlan::Node(crash)) = plan.faults.iter().find(|fault| fault.name() == "crash") else {
        panic!("{plan:?}")
    };
    assert_eq!((crash.most, &crash.nodes[..]), (Some(1), &[0, 1, 2][..]));
}

fn wrong(hunt: &str) -> String {
    let text =
        LAB.lines().filter(|line| !line.starts_with("hunt:")).map(|line| format!("{line}\n")).collect::<String>();
    parse(&format!("{text}hunt: {hunt}\n"), "kv.yaml").unwrap_err().to_string()
}

#[test]
fn each_mistake_is_named() {
    for (hunt, message) in [
        ("{run: 7}", "unknown key `run`: did you mean `runs`?"),
        ("{faults: {crash: {nodes: n1, keep: torn}}}", "and `n1` has none: leave `keep` out"),
        (
            "{faults: {crash: {keep: [torn]}}}",
            "hunt.faults.crash.keep: this says what a crash leaves on a disk, and `n1` has none",
        ),
        ("{nodes: [n1, n9]}", "there is no node `n9`"),
        ("{faults: {cut: on}, nodes: x*}", "is called like `x*`"),
        ("{nodes: x*}", "no node that runs programs is called like `x*`"),
        ("{nodes: lan}", "`lan` is a switch and runs no programs"),
        ("{quiet: 20 s}", "a run of 20 s has no time for any"),
        ("{tolerate: most}", "`most` is not known here"),
        ("{faults: {partition: [ring]}}", "`ring` needs 4 nodes or more, and 3 are under test"),
        ("{faults: {partition: [star]}}", "`star` is not known here"),
        ("{faults: {partition: n1}}", "expected `on`, a list of shapes"),
        ("{faults: {cut: [lan-n1, side]}}", "there is no link `side`"),
        ("{faults: {packets: {loss: [30 %, 1 %]}}}", "the first of both is the least"),
        ("{faults: {packets: {delay: [1 s]}}}", "so two values, and not 1"),
        ("{faults: {packets: {delay: 2 s}}}", "expected `on`, or the least and the most"),
        ("{faults: {signal: {to: n1}}}", "this key is missing: write for example `signals: [SIGHUP]`"),
        ("{faults: {melt: on}}", "unknown key `melt`"),
        ("{faults: {crash: {nodes: n9}}}", "there is no node `n9`"),
        ("{faults: {crash: {at most: 0}}}", "\"0\" is not a whole number from 1"),
        ("{faults: {crash: {keep: most}}}", "`most` is not known here"),
        ("{faults: {crash: {for: 2 s}}}", "the least and the most, each a time"),
        ("{faults: {disk: {full}}}", "`n1` has no disk"),
        ("{nodes: n1, faults: {kill: on}}", "no node of 1 may be faulty with `tolerate: minority`"),
        ("{faults: {disk: {nodes: n2, full: true}}}", "`n2` has no disk"),
        ("{faults: {disk: full}}", "a list of ways like [full]"),
        ("{faults: {clock: {drift: -1 ppm}}}", "write it above 0"),
        ("{faults: {packet: {do: lose}}}", "`lose` is not known here"),
        ("{faults: {packets: {match: {to_port: 0}}}}", "to_port"),
        ("{faults: {reset: [side]}}", "there is no link `side`"),
        ("{faults: {dns: servfail}}", "expected `on`, a list of ways like [servfail, nxdomain], or a map"),
        ("{faults: {dns: [timeout]}}", "`timeout` is not known here"),
        ("{faults: {dns: {do: []}}}", "this list is empty"),
        ("{faults: {dns: {question: 'a b'}}}", "hunt.faults.dns.question"),
        ("{faults: {dns: {links: side}}}", "there is no link `side`"),
        ("{always: [register(history.jsonl)]}", "write for example `collect: [/srv/history.jsonl]`"),
        ("{assertions: sdk.jsonl}", "no node collects files, so there is no `sdk.jsonl`"),
        ("{always: ['no log n9 matches \"panic\"']}", "is called like `n9`"),
        ("{always: ['log n1 matches \"(\"']}", "is not a regular expression: unclosed group"),
        ("{always: [k.forward.queue_max > 3 packets]}", "this lab has no command, link, node or figure `k`"),
        ("{never: [mean(ask.duration) < 1 s over runs]}", "without `over runs`"),
        ("{sometimes: [n*.exit about 0]}", "`about 0` is not a comparison"),
        ("{eventually: [{run: ./check}]}", "this key is missing: write for example `command:"),
    ] {
        let error = wrong(hunt);
        assert!(error.contains(message), "{hunt}: {error}");
    }
}

#[test]
fn an_entry_is_added_to_the_timeline() {
    let text = with_entry(LAB, "kv.yaml", "{at: 3 s, on: n2, run: [gdb, -p, \"7\"], as: gdb}").unwrap();
    let lab = parse(&text, "kv.yaml").unwrap();
    assert_eq!(lab.plan.timeline.len(), parse(LAB, "kv.yaml").unwrap().plan.timeline.len() + 1, "{text}");
    assert!(with_entry(LAB, "kv.yaml", "{at: [").is_err());
}

#[test]
fn a_service_of_a_node_that_is_not_there_is_one_mistake() {
    let text = LAB.replace("on: n*, run: ./serve", "on: m9, run: ./serve");
    let error = parse(&text.replace("{kill: on}", "{kill: on, cut: on}"), "kv.yaml").unwrap_err().to_string();
    assert!(error.contains("there is no node `m9`"), "{error}");
}
