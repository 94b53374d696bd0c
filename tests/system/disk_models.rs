//! Random workloads on disks whose nodes crash at random instants, against a model of what may survive.
//!
//! Files that are appended to have what `fsync` was told to keep, byte by byte; behind that, each byte is what was written there, or zero, and there
//! are no more of them than were written. Files that are replaced by `rename` have one whole content: no older one than the last whose folder
//! was flushed after it, and none that was never begun.

use crate::fixture::{Fixture, User};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const PROGRAM: &str = include_str!("disk_workload.py");

/// Nodes: file system and rule. Each crashes again and again.
const NODES: [(&str, &str); 6] =
    [("ext4", "flushed"), ("ext4", "some"), ("ext4", "torn"), ("ext4", "all"), ("xfs", "flushed"), ("xfs", "some")];

/// How often each node crashes; before a release, 1,000 workloads in all.
fn crashes() -> usize {
    if std::env::var_os("NETLOOM_TEST_ALL").is_some() { 1_000_usize.div_ceil(NODES.len()) } else { 6 }
}

fn lab(crashes: usize, seed: u64) -> String {
    let (mut nodes, mut timeline, mut ends) = (String::new(), String::new(), String::new());
    for (number, (filesystem, keep)) in NODES.iter().enumerate() {
        let size = if *filesystem == "xfs" { "320 MB" } else { "64 MB" };
        let _ = writeln!(
            nodes,
            "  n{number}: {{disk: {{at: /data, size: {size}, filesystem: {filesystem}, latency: 60 us, flush: 700 us}}}}"
        );
        let _ = writeln!(
            timeline,
            "  - {{on: n{number}, run: exec python3 -S workload.py n{number}, as: work{number}, service: once}}"
        );
        let _ = writeln!(
            timeline,
            "  - {{at: 300 ms, crash: n{number}, keep: {keep}, for: 1 ms, every: {{uniform: [120 ms, 400 ms]}}, times: {crashes}}}"
        );
        let _ = write!(ends, "n{number}, ");
    }
    let duration = 400 * (crashes + 2);
    format!(
        "name: models\nclock: virtual\nseed: {seed}\nduration: {duration} ms\nnodes:\n{nodes}links: {{l: {{ends: [{ends}]}}}}\n\
         timeline:\n{timeline}"
    )
}

/// What a workload did in one life of its node, as far as it is known.
#[derive(Default)]
struct Life {
    /// The operations, in order: kind, file, and whether it is known to have ended.
    operations: Vec<(String, String, bool)>,
    is_judged: bool,
}

impl Life {
    /// What is wrong with the contents of its files after the crash.
    fn judge(&self, life: &str, found: &BTreeMap<String, Vec<u8>>) -> Result<(), String> {
        let record = |number: usize| format!("{life:0>16}{number:0>16}").into_bytes();
        for name in ["a", "b"] {
            self.judge_appended(name, found.get(name), record)?;
        }
        for name in ["x", "y"] {
            self.judge_replaced(name, found.get(name), record)?;
        }
        Ok(())
    }

    fn judge_appended(
        &self,
        name: &str,
        found: Option<&Vec<u8>>,
        record: impl Fn(usize) -> Vec<u8>,
    ) -> Result<(), String> {
        let (mut written, mut safe) = (Vec::new(), 0);
        for (number, (kind, file, has_ended)) in self.operations.iter().enumerate() {
            match kind.as_str() {
                "append" if file == name => written.extend(record(number)),
                "sync" if file == name && *has_ended => safe = written.len(),
                _ => {}
            }
        }
        let found = found.map_or(&[][..], Vec::as_slice);
        if found.len() < safe || found[..safe] != written[..safe] {
            return Err(format!("{name} has not the {safe} bytes that were flushed, but {} bytes", found.len()));
        }
        if found.len() > written.len() {
            return Err(format!("{name} has {} bytes, and {} were written", found.len(), written.len()));
        }
        let wrong = found.iter().zip(&written).skip(safe).position(|(is, was)| is != was && *is != 0);
        wrong.map_or(Ok(()), |at| Err(format!("{name} has a byte that nobody wrote, at {}", safe + at)))
    }

    fn judge_replaced(
        &self,
        name: &str,
        found: Option<&Vec<u8>>,
        record: impl Fn(usize) -> Vec<u8>,
    ) -> Result<(), String> {
        let (mut begun, mut done, mut safe) = (Vec::new(), None, None);
        for (number, (kind, file, has_ended)) in self.operations.iter().enumerate() {
            match kind.as_str() {
                "replace" if file == name => {
                    begun.push(number);
                    done = if *has_ended { Some(number) } else { done };
                }
                // A flush of the folder, by its own or behind that of another file.
                "settle" | "sync" if *has_ended => safe = done,
                _ => {}
            }
        }
        let Some(found) = found else {
            return safe.map_or(Ok(()), |number| Err(format!("{name} is gone, whose content {number} was flushed")));
        };
        let is = begun.iter().copied().find(|number| *found == record(*number).repeat(200));
        match is {
            None => Err(format!("{name} has {} bytes that are no whole content", found.len())),
            Some(number) if safe.is_some_and(|safe| number < safe) => {
                Err(format!("{name} has content {number}, and {safe:?} was flushed"))
            }
            Some(_) => Ok(()),
        }
    }
}

/// Judges all lives that a log tells of. Returns how many were judged, and how many operations they had begun.
fn judge(log: &str) -> Result<(usize, usize), String> {
    let mut lives: BTreeMap<String, Life> = BTreeMap::new();
    let mut found: BTreeMap<String, BTreeMap<String, Vec<u8>>> = BTreeMap::new();
    let (mut present, mut judged, mut begun) = (String::new(), 0, 0);
    // A line may be cut where the node crashed.
    for line in log.lines() {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["life", life] => {
                present = life.to_owned();
                lives.insert(present.clone(), Life::default());
            }
            ["begin", _, kind, file] => {
                let own = lives.get_mut(&present).ok_or("an operation before a life")?;
                own.operations.push((kind.to_owned(), file.to_owned(), false));
                begun += 1;
            }
            ["end", number] => {
                let own = lives.get_mut(&present).ok_or("an operation before a life")?;
                let number: usize = number.parse().map_err(|_| format!("{line}: no number"))?;
                own.operations.get_mut(number).ok_or("an end without a beginning")?.2 = true;
            }
            ["found", life, name, content] => {
                let bytes = (0..content.len() / 2).map(|at| u8::from_str_radix(&content[2 * at..2 * at + 2], 16));
                let bytes = bytes.collect::<Result<Vec<u8>, _>>().map_err(|_| format!("{line}: no bytes"))?;
                found.entry(life.to_owned()).or_default().insert(name.to_owned(), bytes);
            }
            ["seen", life] => {
                let own = lives.get_mut(life).ok_or_else(|| format!("nobody lived {life}"))?;
                // A later life finds it again if the crash came before it was gone.
                if std::mem::replace(&mut own.is_judged, true) {
                    continue;
                }
                own.judge(life, found.get(life).unwrap_or(&BTreeMap::new()))
                    .map_err(|why| format!("life {life}: {why}"))?;
                judged += 1;
            }
            _ => {}
        }
    }
    Ok((judged, begun))
}

fn logs(folder: &Path) -> Vec<(String, String)> {
    let all = fs::read_dir(folder.join("logs")).unwrap().flatten().map(|entry| entry.path());
    let ours = all.filter(|path| path.to_str().is_some_and(|path| path.contains("-work") && path.ends_with(".stdout")));
    ours.map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap())).collect()
}

fn events(folder: &Path) -> Vec<serde_json::Value> {
    let text = fs::read_to_string(folder.join("events.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_survives_crashes_at_random_instants_is_what_may() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("workload.py", PROGRAM);
    let crashes = crashes();
    fixture.write("lab.yaml", &lab(crashes, 11));
    let run = fixture.command(&["run", "lab.yaml", "--no-report"]).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let folder = fixture.latest("models").canonicalize().unwrap();
    // Crashes that lose nothing would show nothing.
    let lost: u64 = events(&folder).iter().filter_map(|event| event["disk"]["lost_writes"].as_u64()).sum();
    assert!(lost > 0, "no crash has lost a write");
    let logs = logs(&folder);
    assert_eq!(logs.len(), NODES.len());
    let (mut judged, mut begun) = (0, 0);
    for (name, log) in &logs {
        let (own, operations) = judge(log).unwrap_or_else(|why| panic!("{name}: {why}"));
        // Each crash but those within the start of Python leaves something to judge.
        assert!(own * 2 > crashes, "{name}: {own} of {crashes} lives were judged");
        (judged, begun) = (judged + own, begun + operations);
    }
    assert!(begun > 10 * judged, "{judged} lives with {begun} operations");
    fixture.assert_nothing_is_left("models");
}

#[test]
fn the_judge_notices_what_may_not_be() {
    let record = |number: usize| format!("{:0>16}{number:0>16}", 7);
    let hex = |text: &str| text.bytes().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    let begin = "life 7\nbegin 0 append a\nend 0\nbegin 1 sync a\nend 1\nbegin 2 append a\nbegin 3 replace x\nend 3\nbegin 4 settle x\nend 4\n\
                 begin 5 replace x\n";
    let with = |a: &str, x: &str| judge(&format!("{begin}found 7 a {}\nfound 7 x {}\nseen 7\n", hex(a), hex(x)));
    let whole = |number| record(number).repeat(200);
    let both = format!("{}{}", record(0), record(2));
    assert_eq!(with(&record(0), &whole(3)), Ok((1, 6)));
    assert_eq!(with(&both, &whole(5)), Ok((1, 6)));
    assert_eq!(with(&format!("{}\0\0\0", record(0)), &whole(5)), Ok((1, 6)));
    assert!(with("", &whole(3)).unwrap_err().contains("32 bytes that were flushed"));
    assert!(with(&format!("{}yyy", record(0)), &whole(3)).unwrap_err().contains("nobody wrote"));
    assert!(with(&format!("{both}0"), &whole(3)).unwrap_err().contains("64 were written"));
    assert!(with(&both, &whole(4)).unwrap_err().contains("no whole content"));
    assert!(judge(&format!("{begin}found 7 a {}\nseen 7\n", hex(&both))).unwrap_err().contains("is gone"));
}
