use super::*;

fn target(folder: &Path, duration: &str) -> Target {
    let path = folder.join("kv.yaml");
    let text = format!(
        "clock: virtual\nduration: {duration}\nnodes: [n1, n2]\nlinks: {{l: {{ends: [n1, n2]}}}}\nhunt: {{}}\n"
    );
    fs::write(&path, text).unwrap();
    Target::read(&path).unwrap()
}

fn search(seed: u64) -> Search {
    Search { seed, is_systematic: false, varies_seed: false }
}

#[test]
fn a_hunt_that_was_killed_loses_no_run() {
    let home = tempfile::tempdir().unwrap();
    let (path, own) = (home.path().join("out"), target(home.path(), "20 s"));
    let failed = RunLine {
        run: 2,
        faults: 1,
        failures: vec![Failure::new("always x", "lost 3")],
        choices: vec![1, 0, 7],
        ..RunLine::default()
    };
    let mut folder = HuntFolder::open(&path, &own, search(1), false).unwrap();
    folder.keep(&RunLine { run: 1, ..RunLine::default() }).unwrap();
    folder.keep(&failed).unwrap();
    assert!(matches!(HuntFolder::open(&path, &own, search(1), true), Err(HuntError::Busy(_))));
    folder.runs.write_all(b"{\"run\":3,\"fau").unwrap();
    folder.unfinished().unwrap();
    drop(folder);
    let mut resumed = HuntFolder::open(&path, &own, search(1), true).unwrap();
    assert_eq!(resumed.runs().unwrap()[1], failed);
    assert!(resumed.findings().unwrap().is_empty());
    resumed.keep(&RunLine { run: 3, ..RunLine::default() }).unwrap();
    assert_eq!(resumed.runs().unwrap().len(), 3, "the line that was cut off is gone");
}

#[test]
fn another_hunt_needs_another_folder() {
    let home = tempfile::tempdir().unwrap();
    let (path, own) = (home.path().join("out"), target(home.path(), "20 s"));
    drop(HuntFolder::open(&path, &own, search(1), false).unwrap());
    let again = HuntFolder::open(&path, &own, search(1), false).unwrap_err().to_string();
    assert!(again.contains("holds a hunt already"), "{again}");
    let seed = HuntFolder::open(&path, &own, search(2), true).unwrap_err().to_string();
    assert!(seed.contains("what differs: the seed, which is 1 there"), "{seed}");
    let other = HuntFolder::open(&path, &target(home.path(), "30 s"), search(1), true).unwrap_err().to_string();
    assert!(other.contains("what differs: the lab file"), "{other}");
    let way = HuntFolder::open(&path, &own, Search { is_systematic: true, ..search(1) }, true).unwrap_err().to_string();
    assert!(way.contains("what differs: --systematic, which was not given there"), "{way}");
    let foreign = HuntFolder::open(home.path(), &own, search(1), false).unwrap_err().to_string();
    assert!(foreign.contains("is no hunt"), "{foreign}");
}

/// A hunt with three runs, of which the second failed, and with its finding.
fn hunted(path: &Path, own: &Target) -> HuntFolder {
    let mut folder = HuntFolder::open(path, own, search(1), false).unwrap();
    for run in 1..=3 {
        let failures = if run == 2 { vec![Failure::new("always x", "lost 3")] } else { Vec::new() };
        folder.keep(&RunLine { run, failures, choices: vec![run], ..RunLine::default() }).unwrap();
    }
    keep_finding(&folder, 1);
    folder
}

fn keep_finding(folder: &HuntFolder, finding: usize) {
    let record = FindingRecord {
        finding,
        failure: Failure::new("always x", "lost 3"),
        run: 2,
        original: Vec::new(),
        minimal: Vec::new(),
        shrink_runs: 0,
        is_repeated: true,
        causes: Vec::new(),
        branches: Vec::new(),
        files_elsewhere: Vec::new(),
    };
    let others = vec![(Failure::new("always y", ""), vec![7])];
    let home = folder.unfinished().unwrap();
    write_json(&home.join("choices.json"), &KeptChoices { others, ..KeptChoices::default() }).unwrap();
    write_json(&home.join("finding.json"), &record).unwrap();
    folder.publish(finding).unwrap();
}

#[test]
fn a_file_that_was_cut_off_is_never_read_as_whole() {
    let home = tempfile::tempdir().unwrap();
    let (path, own) = (home.path().join("out"), target(home.path(), "20 s"));
    drop(hunted(&path, &own));
    let open = || HuntFolder::open(&path, &own, search(1), true);
    let runs = fs::read(path.join("runs.jsonl")).unwrap();
    for end in 0..runs.len() {
        fs::write(path.join("runs.jsonl"), &runs[..end]).unwrap();
        let whole = runs[..end].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(open().unwrap().runs().unwrap().len(), whole, "at {end}");
    }
    for name in ["origin.json", "findings/0001/finding.json", "findings/0001/choices.json"] {
        let text = fs::read_to_string(path.join(name)).unwrap();
        for end in 0..text.trim_end().len() {
            fs::write(path.join(name), &text[..end]).unwrap();
            let read = open().and_then(|folder| Ok((folder.findings()?, folder.choices(1)?)));
            let error = read.expect_err(&text[..end]).to_string();
            assert!(error.contains(name) && (error.contains("-o") || error.contains("--resume")), "{error}");
        }
        fs::write(path.join(name), text).unwrap();
    }
    assert_eq!(open().unwrap().choices(1).unwrap().others, [(Failure::new("always y", ""), vec![7])]);
}

#[test]
fn damage_is_told_with_its_place() {
    let home = tempfile::tempdir().unwrap();
    let (path, own) = (home.path().join("out"), target(home.path(), "20 s"));
    drop(hunted(&path, &own));
    let lines = fs::read_to_string(path.join("runs.jsonl")).unwrap();
    fs::write(path.join("runs.jsonl"), lines.replace("{\"run\":2", "{\"run\":?")).unwrap();
    let folder = HuntFolder::open(&path, &own, search(1), true).unwrap();
    let error = folder.runs().unwrap_err().to_string();
    assert!(error.contains("runs.jsonl: ") && error.contains("line 2 is damaged; without it"), "{error}");
    fs::rename(path.join("findings/0001"), path.join("findings/0004")).unwrap();
    let moved = folder.findings().unwrap_err().to_string();
    assert!(moved.contains("is about finding 1: remove "), "{moved}");
    assert_eq!(folder.next_finding().unwrap(), 5, "no folder is in the way");
}

#[test]
fn findings_that_were_removed_are_in_nobodys_way() {
    let home = tempfile::tempdir().unwrap();
    let (path, own) = (home.path().join("out"), target(home.path(), "20 s"));
    let folder = hunted(&path, &own);
    keep_finding(&folder, 2);
    fs::remove_file(path.join("findings/0001/finding.json")).unwrap();
    fs::create_dir(path.join("findings/notes")).unwrap();
    let numbers: Vec<usize> = folder.findings().unwrap().iter().map(|one| one.finding).collect();
    assert_eq!((numbers, folder.next_finding().unwrap()), (vec![2], 3));
    assert!(folder.choices(7).unwrap().others.is_empty());
}

#[test]
fn a_hunt_does_not_write_where_links_lead() {
    let home = tempfile::tempdir().unwrap();
    let (path, own) = (home.path().join("out"), target(home.path(), "20 s"));
    drop(hunted(&path, &own));
    fs::write(path.join("hunt.json"), "{}").unwrap();
    let victim = home.path().join("victim");
    fs::write(&victim, "no line").unwrap();
    for name in OWN {
        let kept = home.path().join("kept");
        let is_there = path.join(name).exists();
        if is_there {
            fs::rename(path.join(name), &kept).unwrap();
        }
        std::os::unix::fs::symlink(&victim, path.join(name)).unwrap();
        let error = HuntFolder::open(&path, &own, search(1), true).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("is a symbolic link"), "{error}");
        fs::remove_file(path.join(name)).unwrap();
        if is_there {
            fs::rename(&kept, path.join(name)).unwrap();
        }
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), "no line");
    drop(HuntFolder::open(&path, &own, search(1), true).unwrap());
    assert!(!path.join("hunt.json").exists(), "what an earlier invocation said is not what comes out now");
    fs::remove_file(path.join("lock")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(path.join("lock")).status().unwrap();
    assert!(made.success());
    let pipe = HuntFolder::open(&path, &own, search(1), true).unwrap_err().to_string();
    assert!(pipe.contains("lock is no regular file"), "{pipe}");
}
