//! Lab files that describe many runs: their points, and the lab of each.

use netloom_lab::{PreparedRun, Processors, Run, Sweep};
use netloom_units::Seed;
use std::fs;

const LAB: &str = "
name: pair
nodes: {a: {}, b: {}}
links: {l: {ends: [a, b], rate: 1 Mbit/s, delay: 1 ms}}
timeline:
  - {on: a, run: 'ping -c ${n} ${HOME} b', as: ping}
";

fn sweep(text: &str) -> Sweep {
    Sweep::read(text, "test.yaml").unwrap_or_else(|found| panic!("{found}"))
}

fn with(vary: &str) -> Sweep {
    sweep(&format!("{LAB}{vary}"))
}

fn played(sweep: &Sweep, point: u64, repetition: u64) -> PreparedRun {
    sweep.run(Run { point, repetition }, "run-1").unwrap_or_else(|found| panic!("{found}"))
}

fn points(sweep: &Sweep) -> Vec<String> {
    (0..sweep.points()).map(|point| sweep.values(point).join(" ")).collect()
}

fn wrong(vary: &str) -> String {
    Sweep::read(&format!("{LAB}{vary}"), "test.yaml").expect_err("it is wrong").to_string()
}

#[test]
fn all_parameters_are_combined_and_the_last_changes_first() {
    let sweep = with("vary: {n: [1, 2], rate: {path: links.l.rate, values: [1 Mbit/s, 2 Mbit/s, ~]}}\nrepeat: 3\n");
    assert_eq!((sweep.points(), sweep.repetitions(), sweep.parameters()), (6, 3, vec!["n", "rate"]));
    assert_eq!(points(&sweep), ["1 1 Mbit/s", "1 2 Mbit/s", "1 ~", "2 1 Mbit/s", "2 2 Mbit/s", "2 ~"]);
    let text = |point| played(&sweep, point, 0).lab.plan.text().to_string();
    assert!(text(0).contains("1 Mbit/s"), "{}", text(0));
    assert!(text(4).contains("2 Mbit/s") && text(4).contains("ping -c 2 ${HOME} b"), "{}", text(4));
    assert!(!text(5).contains("Mbit/s"), "a value that is nothing takes the key out: {}", text(5));
}

#[test]
fn parameters_can_go_together() {
    let sweep = with("vary: {n: [1, 2], delay: {path: links.l.delay, values: [1 ms, 5 ms], with: n}}\n");
    assert_eq!(points(&sweep), ["1 1 ms", "2 5 ms"]);
    assert!(
        wrong("vary: {n: [1, 2], delay: {path: links.l.delay, values: [1 ms], with: n}}\n").contains("need as many")
    );
    assert!(
        wrong("vary: {n: [1, 2], delay: {path: links.l.delay, values: [1 ms], with: m}}\n")
            .contains("no parameter `m` with values")
    );
}

#[test]
fn ranges_have_units() {
    let of = |range: &str| points(&with(&format!("vary: {{delay: {{path: links.l.delay, {range}}}}}\n")));
    assert_eq!(of("from: 1 ms, to: 2 ms, step: 500 us"), ["1000 us", "1500 us", "2000 us"]);
    assert_eq!(of("from: 1 ms, to: 1 s, count: 4, scale: log"), ["1 ms", "10 ms", "100 ms", "1000 ms"]);
    assert_eq!(of("from: 0 ms, to: 10 ms, count: 3"), ["0 ms", "5 ms", "10 ms"]);
}

#[test]
fn columns_of_a_table_are_parameters() {
    let folder = tempfile("columns");
    fs::write(folder.join("points.csv"), "n,rate\n3,1 Mbit/s\n5,\"2 Mbit/s\"\n").unwrap();
    let text = format!("{LAB}vary: {{all: {{csv: points.csv, paths: {{rate: links.l.rate}}}}}}\n");
    let file = folder.join("test.yaml");
    let sweep = Sweep::read(&text, &file.to_string_lossy()).unwrap_or_else(|found| panic!("{found}"));
    assert_eq!(
        (points(&sweep), sweep.parameters()),
        (vec!["3 1 Mbit/s".into(), "5 2 Mbit/s".into()], vec!["n", "rate"])
    );
    let said = played(&sweep, 1, 0).lab.plan.text().to_string();
    assert!(said.contains("ping -c 5") && said.contains("2 Mbit/s"), "{said}");
    fs::remove_dir_all(folder).unwrap();
}

/// A field in braces is what a lab file would have there.
#[test]
fn a_field_of_a_table_may_be_a_map() {
    let folder = tempfile("maps");
    let read = |field: &str| {
        fs::write(folder.join("points.csv"), format!("n,queue\n3,\"{field}\"\n")).unwrap();
        let text = format!("{LAB}vary: {{all: {{csv: points.csv, paths: {{queue: links.l.queue}}}}}}\n");
        Sweep::read(&text, &folder.join("test.yaml").to_string_lossy()).map_err(|found| found.to_string())
    };
    let sweep = read("{kind: red, limit: 50 packets}").unwrap_or_else(|found| panic!("{found}"));
    let said = played(&sweep, 0, 0).lab.plan.text().to_string();
    assert!(said.contains("kind: red, limit: 50 packets"), "{said}");
    let broken = read("{kind: red").map(|_| ()).expect_err("it has no end");
    assert!(broken.contains("its field \"{kind: red\" cannot be read"), "{broken}");
    fs::remove_dir_all(folder).unwrap();
}

fn tempfile(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("netloom-sweeps-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_path_leads_to_items_of_lists_and_to_new_keys() {
    let at = |path: &str, value: &str| {
        let sweep = with(&format!("vary: {{n: [1], x: {{path: {path}, values: [{value}]}}}}\n"));
        played(&sweep, 0, 0).lab.plan.text().to_string()
    };
    assert!(at("'timeline[0].at'", "3 s").contains("3 s"));
    assert!(at("timeline.ping.run", "true").contains("true"));
    assert!(at("timeline.0.run", "[echo, x]").contains("echo x"));
    assert!(at("links.l.queue", "7 packets").contains("queue 7 packets"));
    assert!(at("[links.l.forward, links.l.backward]", "{loss: 1 %}").matches("loss 1 %").count() == 2);
    let forward = at("links.l.forward.queue", "7 packets");
    assert!(forward.matches("queue 7 packets").count() == 1, "{forward}");
    assert!(at("links.l.backward.loss", "~").matches("loss").count() == 0, "nothing is added for nothing");
    for (path, why) in [
        ("links.m.rate", "there is no `m` in `links`"),
        ("timeline.pong.run", "did you mean"),
        ("links.l.rate.x", "is a text"),
        ("vary.n", "cannot be varied itself"),
    ] {
        let said = wrong(&format!("vary: {{n: [1], x: {{path: {path}, values: [1]}}}}\n"));
        assert!(said.contains(why) || path.contains("pong") && said.contains("none is `pong`"), "{path}: {said}");
    }
}

#[test]
fn the_number_of_nodes_can_vary() {
    let sweep = sweep("vary: {n: [3, 5]}\ngenerate: {kind: star, n: \"${n}\"}\n");
    let nodes = |point| played(&sweep, point, 0).lab.plan.nodes.len();
    assert_eq!((nodes(0), nodes(1)), (4, 6));
}

#[test]
fn each_repetition_has_a_seed_of_its_own() {
    let sweep = with("vary: {n: [1, 2]}\nrepeat: 3\nseed: 7\n");
    let seed = |point, repetition| played(&sweep, point, repetition).lab.plan.seed;
    assert_eq!(seed(0, 0), Seed::new(7));
    assert_eq!(seed(0, 1), Seed::new(7).derive("repetition 2"));
    assert_eq!(seed(1, 2), Seed::new(7).derive("repetition 3"), "the same at every point");
}

/// What is played lies beside a run, and can be run by itself.
#[test]
fn what_is_played_is_a_lab_file() {
    let sweep = with("vary: {n: [1, 2], q: {path: links.l.queue, values: [{kind: codel}, 5 packets]}}\nrepeat: 2\n");
    for point in 0..4 {
        let prepared = played(&sweep, point, 1);
        let again = netloom_lab::parse(&prepared.text, "other.yaml")
            .unwrap_or_else(|found| panic!("{}\n{found}", prepared.text));
        assert_eq!(again.plan.text().to_string(), prepared.lab.plan.text().to_string());
        assert_eq!((again.note, again.plan.name.as_str()), (None, "run-1"));
    }
}

#[test]
fn a_file_of_many_runs_is_read_as_its_first() {
    let lab = netloom_lab::parse(&format!("{LAB}vary: {{n: [4, 5]}}\nrepeat: 3\n"), "test.yaml").unwrap();
    assert!(lab.plan.text().to_string().contains("ping -c 4"));
    assert_eq!(
        lab.note.as_deref(),
        Some(
            "this file describes 6 runs: `netloom sweep` runs all of them, and this is one, the first of 2 points (n=4)"
        )
    );
    assert_eq!(netloom_lab::parse("nodes: [a]\nrepeat: 1\n", "test.yaml").unwrap().note, None);
}

#[test]
fn an_error_of_a_point_names_it() {
    let sweep = with("vary: {n: [1], rate: {path: links.l.rate, values: [1 Mbit/s, 2 Mbps]}}\n");
    let found = sweep.run(Run { point: 1, repetition: 0 }, "run-1").unwrap_err();
    let lines: Vec<String> = found.lines().collect();
    assert!(lines[0].starts_with("test.yaml:7: links.l.rate: "), "{lines:?}");
    assert_eq!(lines[1], "test.yaml: at the point n=1, rate=2 Mbps");
}

#[test]
fn settings_say_how_runs_count() {
    let settings = with("vary: {n: [1]}\nsweep: {count: all, processors: 2}\n").settings();
    assert_eq!((settings.counts_all, settings.processors), (true, Some(Processors::Count(2))));
    assert!(!with("vary: {n: [1]}\n").settings().counts_all);
}

#[test]
fn too_many_runs_are_refused() {
    assert!(wrong("vary: {n: {from: 1, to: 100000, step: 1}}\nrepeat: 1000\n").contains("more than 10000000 runs"));
}

#[test]
fn what_differs_between_two_files_is_named() {
    let sweep = with("vary: {n: [1, 2]}\n");
    let other = LAB.replace("1 ms", "2 ms").replace("a: {}", "a: {cpus: 1}");
    assert_eq!(
        sweep.differences(&format!("# other\n{other}vary: {{n: [1, 3]}}\n")),
        ["nodes.a.cpus", "links.l.delay", "vary.n[1]"]
    );
    assert_eq!(sweep.differences(&format!("# a remark\n{LAB}vary:\n  n: [1, 2]\n")), Vec::<String>::new());
}
