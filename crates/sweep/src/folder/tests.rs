use super::*;
use crate::{Figure, Outcome, check, write_tables};
use std::fs;

const LAB: &str = "name: pair\nvary: {n: [1, 2]}\nrepeat: 2\nnodes: {a: {env: {N: '${n}'}}}\n";

fn open(folder: &Path, text: &str, resume: bool) -> Result<(Sweep, SweepFolder), SweepError> {
    let file = folder.with_extension("yaml");
    let sweep = Sweep::read(text, &file.to_string_lossy()).unwrap();
    let checked = check(&sweep, &file)?;
    let opened = SweepFolder::open(folder, (&sweep, text, &file), &checked, Played::default(), resume)?;
    Ok((sweep, opened))
}

fn record(run: u64, outcome: Outcome, value: f64) -> RunRecord {
    RunRecord {
        run,
        point: run.div_ceil(2),
        repetition: 1,
        seed: 1,
        outcome,
        exit_code: Some(if outcome == Outcome::Failed { 8 } else { 0 }),
        lab_ns: 1_000_000_000,
        wall_s: 0.5,
        figures: vec![Figure { name: "time".into(), unit: "ns".into(), value: Some(value), missing: None }],
        ..RunRecord::default()
    }
}

#[test]
fn a_folder_is_made_once_and_then_gone_on_with() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("out");
    let (_, folder) = open(&path, LAB, false).unwrap();
    assert!(matches!(open(&path, LAB, true), Err(SweepError::Busy(_))), "it is locked");
    drop(folder);
    let again = open(&path, LAB, false).unwrap_err().to_string();
    assert!(again.contains("holds a sweep already: --resume"), "{again}");
    open(&path, &format!("# a remark\n{LAB}"), true).unwrap();
    let other = open(&path, &LAB.replace("[1, 2]", "[1, 3]"), true).unwrap_err();
    assert_eq!(other.exit_code(), netloom_judge::ExitCode::Usage);
    assert!(other.to_string().contains("what differs: `vary.n[1]`: change it back"), "{other}");
}

#[test]
fn a_folder_of_something_else_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("diary.txt"), "dear diary").unwrap();
    for (resume, why) in [(false, "is no sweep"), (true, "there is no sweep in")] {
        let refused = open(root.path(), LAB, resume).unwrap_err().to_string();
        assert!(refused.contains(why), "{refused}");
    }
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
}

#[test]
fn what_was_killed_at_the_beginning_is_begun_again() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("out");
    fs::create_dir_all(path.join("runs")).unwrap();
    fs::write(path.join(".netloom-7-0.new"), "na").unwrap();
    open(&path, LAB, true).unwrap();
}

#[test]
fn a_table_that_has_changed_is_named() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("out");
    let table = root.path().join("points.csv");
    fs::write(&table, "n\n1\n").unwrap();
    let text = "vary: {all: {csv: points.csv}}\nnodes: {a: {env: {N: '${n}'}}}\n";
    open(&path, text, false).unwrap();
    fs::write(&table, "n\n2\n").unwrap();
    let refused = open(&path, text, true).unwrap_err().to_string();
    assert!(refused.contains("what differs: points.csv:"), "{refused}");
}

#[test]
fn names_of_runs_are_names_of_labs() {
    let root = tempfile::tempdir().unwrap();
    let (_, folder) = open(&root.path().join("out"), LAB, false).unwrap();
    assert_eq!(folder.name_of(11), "pair-0012");
    let long = LAB.replace("pair", "a-very-long-name-of-a-small-lab");
    let (_, other) = open(&root.path().join("long"), &long, false).unwrap();
    assert_eq!(other.name_of(0), "a-very-long-name-of-a-small-0001");
}

#[test]
fn tables_are_made_of_records() {
    let root = tempfile::tempdir().unwrap();
    let (sweep, folder) = open(&root.path().join("out"), LAB, false).unwrap();
    let runs = [(0, Outcome::AsDescribed, 4.0), (1, Outcome::AsDescribed, 6.0), (2, Outcome::NotAsDescribed, 100.0)];
    for (number, outcome, value) in runs {
        fs::create_dir_all(folder.run(number)).unwrap();
        assert_eq!(folder.record(number).unwrap(), None);
        folder.keep(number, &record(number + 1, outcome, value)).unwrap();
    }
    let tables = write_tables(&sweep, &folder, &[]).unwrap();
    assert_eq!((tables.total, tables.as_described, tables.not_as_described, tables.missing()), (4, 2, 1, 1));
    assert_eq!(tables.points[0].figures[0].mean(), Some(5.0));
    assert_eq!((tables.points[1].counted, tables.points[1].left_out), (0, 1));
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let points = read("points.csv");
    let lines: Vec<&str> = points.lines().collect();
    assert_eq!(lines[0], "point,n,figure,unit,runs,mean,ci95,deviation,least,most");
    assert!(lines[1].starts_with("1,1,time,ns,2,5,12.70620"), "{}", lines[1]);
    assert_eq!(lines[2], "2,2,time,ns,0,,,,,");
    assert_eq!(read("runs.csv").lines().count(), 4);
    let document: serde_json::Value = serde_json::from_str(&read("sweep.json")).unwrap();
    assert_eq!((&document["complete"], &document["left_out"][0]["run"]), (&false.into(), &3.into()));
    assert_eq!(document["points"][0]["figures"]["time"]["mean"], 5.0);
    folder.forget(0).unwrap();
    assert_eq!(folder.record(0).unwrap(), None);
}

#[test]
fn folders_of_one_sweep_are_joined() {
    let root = tempfile::tempdir().unwrap();
    let path = |name: &str| root.path().join(name);
    for (name, numbers) in [("one", vec![0, 1]), ("two", vec![1, 2])] {
        let (_, folder) = open(&path(name), LAB, false).unwrap();
        for number in numbers {
            let results = folder.run(number).join("results");
            fs::create_dir_all(&results).unwrap();
            fs::write(results.join("report.json"), name).unwrap();
            std::os::unix::fs::symlink("results", folder.run(number).join("latest")).unwrap();
            folder.keep(number, &record(number + 1, Outcome::AsDescribed, 1.0)).unwrap();
        }
    }
    let (sweep, folder) = open(&path("all"), LAB, false).unwrap();
    // What a run that was taken in part has left is taken again.
    fs::create_dir_all(folder.run(2).join("half")).unwrap();
    let (_, other) = open(&path("other"), &LAB.replace("[1, 2]", "[1, 3]"), false).unwrap();
    let refused = folder.join(&sweep, &[path("one"), other.path().to_owned()]).unwrap_err().to_string();
    assert!(refused.contains("other is of another sweep") && refused.contains("`vary.n[1]`"), "{refused}");
    assert!(folder.join(&sweep, &[root.path().to_owned()]).unwrap_err().to_string().contains("there is no sweep in"));
    assert_eq!(folder.record(0).unwrap(), None, "nothing is taken when one of them is wrong");

    let joined = folder.join(&sweep, &[path("one"), path("two")]).unwrap();
    assert_eq!(joined, crate::Joined { taken: 3, repeated: 1 });
    assert_eq!(folder.record(2).unwrap().map(|record| record.run), Some(3));
    assert_eq!(folder.record(3).unwrap(), None);
    assert!(!folder.run(2).join("half").exists());
    assert_eq!(fs::read_to_string(folder.run(1).join("latest/report.json")).unwrap(), "one");
    let tables = write_tables(&sweep, &folder, &[]).unwrap();
    assert_eq!((tables.total, tables.missing()), (4, 1));
    let again = folder.join(&sweep, &[path("two")]).unwrap();
    assert_eq!(again, crate::Joined { taken: 0, repeated: 2 });
}
