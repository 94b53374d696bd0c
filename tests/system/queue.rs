//! The queue: jobs of several users, whatever is killed.

use crate::fixture::{Fixture, User, is_root, not_run};
use crate::wait::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

const NOBODY: u32 = 65_534;

/// A lab that is there for some seconds, whatever else the machine does.
fn nap(name: &str, seconds: &str) -> String {
    format!(
        "name: {name}\nbounds: {{lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}}\n\
         nodes: [a]\ntimeline: [{{on: a, run: 'sleep {seconds}; echo slept', as: nap}}]\n"
    )
}

/// The line of this test alone.
fn line(fixture: &Fixture) -> PathBuf {
    let line = fixture.path().join("line");
    if !line.exists() {
        fs::create_dir(&line).unwrap();
        fs::set_permissions(&line, fs::Permissions::from_mode(0o1777)).unwrap();
    }
    line
}

fn command(fixture: &Fixture, words: &[&str]) -> Command {
    let mut command = fixture.command(&[&["queue"], words].concat());
    command.env("NETLOOM_QUEUE_LINE", line(fixture)).env_remove("XDG_STATE_HOME");
    command
}

/// Exit code, standard output and standard error.
fn finish(mut command: Command) -> (Option<i32>, String, String) {
    let output = command.stdin(Stdio::null()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[track_caller]
fn queue(fixture: &Fixture, words: &[&str], code: i32) -> (String, String) {
    let (found, out, err) = finish(command(fixture, words));
    assert_eq!(found, Some(code), "{words:?}\n{out}\n{err}");
    (out, err)
}

fn jobs(fixture: &Fixture) -> Vec<Value> {
    let (out, _) = queue(fixture, &["list", "--json"], 0);
    serde_json::from_str::<Value>(&out).unwrap()["jobs"].as_array().unwrap().clone()
}

/// The processes of this fixture that were told `queue WORD`.
fn processes(fixture: &Fixture, word: &str) -> Vec<i32> {
    let said = |pid: &i32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        words.get(1) == Some(&&b"queue"[..]) && words.get(2) == Some(&word.as_bytes())
    };
    fixture.processes().into_iter().filter(said).collect()
}

fn kill_all(pids: &[i32]) {
    pids.iter().for_each(|pid| kill(Pid::from_raw(*pid), Signal::SIGKILL).unwrap());
}

#[test]
fn jobs_are_played_one_after_the_other() {
    for user in User::all() {
        let fixture = Fixture::new(user);
        fixture.write("one.yaml", &nap("one", "0.2"));
        fixture.write("two.yaml", &nap("two", "0.1").replace("echo slept", "exit 3"));
        fixture.write("three.yaml", "name: three\nnodes: [a\n");
        let (_, wrong) = queue(&fixture, &["add", "one.yaml", "three.yaml"], 3);
        assert!(wrong.contains("three.yaml"), "{wrong}");
        let (_, unknown) = queue(&fixture, &["add", "one.yaml", "--", "--no-such-option"], 2);
        assert!(unknown.contains("--no-such-option"), "{unknown}");
        assert!(jobs(&fixture).is_empty(), "nothing is added unless all is right");
        let (added, _) = queue(&fixture, &["add", "one.yaml", "two.yaml", "--", "--seed", "7"], 0);
        assert!(added.starts_with("job 1: one (one.yaml), waits for all processors\njob 2: two"), "{added}");
        // What was added counts.
        fixture.write("two.yaml", "nonsense");
        queue(&fixture, &["wait", "1"], 0);
        queue(&fixture, &["wait"], 1);
        let (log, _) = queue(&fixture, &["log", "2"], 0);
        assert!(log.contains("exit 3"), "{log}");
        let all = jobs(&fixture);
        assert_eq!((&all[0]["exit_code"], &all[1]["exit_code"]), (&0.into(), &1.into()));
        assert_eq!(fixture.json("one", "provenance.json")["seed"], 7);
        assert!(
            fixture.json("two", "provenance.json")["started_utc"].as_str()
                > fixture.json("one", "provenance.json")["started_utc"].as_str()
        );
        assert_eq!(queue(&fixture, &["log", "9"], 7).1, "error: there is no job 9: `netloom queue list` shows yours\n");
        fixture.assert_nothing_is_left("two");
    }
}

#[test]
fn jobs_can_be_cancelled() {
    let fixture = Fixture::new(User::Own);
    fixture.write("long.yaml", &nap("long", "60"));
    queue(&fixture, &["add", "long.yaml", "long.yaml"], 0);
    wait_until("the first goes on", || jobs(&fixture)[0]["state"] == "running");
    assert_eq!(jobs(&fixture)[1]["state"], "waiting");
    queue(&fixture, &["cancel", "2"], 0);
    queue(&fixture, &["wait", "2"], 130);
    assert_eq!(jobs(&fixture)[1]["attempts"], 0);
    wait_until("the lab is there", || fixture.latest("long").join("events.jsonl").exists());
    queue(&fixture, &["cancel", "1"], 0);
    queue(&fixture, &["wait", "1"], 130);
    assert_eq!(jobs(&fixture)[0]["state"], "cancelled");
    assert_eq!(fixture.json("long", "report.json")["interrupted"], true);
    fixture.assert_nothing_is_left("long");
}

#[test]
fn whatever_is_killed_no_job_is_lost_or_played_twice_in_silence() {
    let fixture = Fixture::new(User::Own);
    fixture.write("nap.yaml", &nap("nap", "2"));
    queue(&fixture, &["add", "nap.yaml", "nap.yaml"], 0);
    wait_until("the first goes on", || jobs(&fixture)[0]["state"] == "running");
    // Without its worker a job goes on, and the next command starts another.
    kill_all(&processes(&fixture, "work"));
    queue(&fixture, &["wait", "1"], 0);
    assert_eq!(jobs(&fixture)[0]["attempts"], 1);
    wait_until("the second goes on", || jobs(&fixture)[1]["state"] == "running" && fixture.latest("nap").exists());
    kill_all(&processes(&fixture, "keep"));
    queue(&fixture, &["wait", "2"], 0);
    let second = jobs(&fixture)[1].clone();
    assert_eq!(second["attempts"], 2, "{second}");
    assert_eq!(second["notes"][0], "start 1 was lost: the process that saw to it was ended");
    // All at once, as if the machine went down.
    queue(&fixture, &["add", "nap.yaml"], 0);
    wait_until("the third goes on", || jobs(&fixture)[2]["state"] == "running");
    kill_all(&[processes(&fixture, "work"), processes(&fixture, "keep")].concat());
    wait_until("its run is gone", || fixture.processes().is_empty());
    queue(&fixture, &["resume"], 0);
    queue(&fixture, &["wait"], 0);
    assert_eq!(jobs(&fixture)[2]["attempts"], 2);
    fixture.assert_nothing_is_left("nap");
}

#[test]
fn a_sweep_goes_on_where_it_was() {
    let fixture = Fixture::new(User::Own);
    let text =
        nap("naps", "${nap}").replace("nodes: [a]", "sweep: {processors: 1}\nvary: {nap: [0.1, 2, 0.2]}\nnodes: [a]");
    fixture.write("naps.yaml", &text);
    queue(&fixture, &["add", "naps.yaml", "--", "-o", "out", "--jobs", "1"], 0);
    let record = |run: &str| fixture.work().join(format!("out/runs/naps-{run}/run.json"));
    wait_until("the first run has ended", || record("0001").exists());
    let first = fs::metadata(record("0001")).unwrap().modified().unwrap();
    kill_all(&processes(&fixture, "keep"));
    queue(&fixture, &["wait"], 0);
    assert_eq!(fs::metadata(record("0001")).unwrap().modified().unwrap(), first, "it is not played again");
    assert!(record("0003").exists());
    assert_eq!(jobs(&fixture)[0]["attempts"], 2);
    fixture.assert_nothing_is_left("naps-0003");
}

/// When a run began, and when it had ended.
fn span(results: &Path) -> (SystemTime, SystemTime) {
    let provenance: Value = serde_json::from_slice(&fs::read(results.join("provenance.json")).unwrap()).unwrap();
    let began = provenance["started_utc"].as_str().unwrap().to_owned();
    let seconds = Command::new("date").args(["-d", &began, "+%s.%N"]).output().unwrap().stdout;
    let seconds: f64 = String::from_utf8(seconds).unwrap().trim().parse().unwrap();
    let ended = fs::metadata(results.join("report.json")).unwrap().modified().unwrap();
    (SystemTime::UNIX_EPOCH + Duration::from_secs_f64(seconds), ended)
}

#[test]
fn users_take_turns_and_trust_one_another_in_nothing() {
    if !is_root() {
        return not_run("root and an ordinary user in one queue");
    }
    let fixture = Fixture::new(User::Own);
    let home = fixture.path().join("other");
    fs::create_dir(&home).unwrap();
    chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
    // The first job lasts until the other user stands in the line: however slow the machine is, both have a job that waits.
    let go = fixture.path().join("go");
    let waits = format!("until [ -e {} ]; do sleep 0.1; done; sleep 0.1", go.display());
    fixture.write("one.yaml", &nap("one", "1").replace("sleep 1", &waits));
    fixture.write("two.yaml", &nap("two", "1"));
    for name in ["one", "two"] {
        fs::write(home.join(format!("{name}.yaml")), nap(&format!("other-{name}"), "1")).unwrap();
    }
    let other = |words: &[&str]| {
        let mut command = command(&fixture, words);
        command.uid(NOBODY).gid(NOBODY).current_dir(&home).env("HOME", &home).env("XDG_RUNTIME_DIR", &home);
        command
    };
    // A hostile user has taken the name of root's folder in the line, waits there with a ticket that nobody sees to, and has
    // put a pipe where others look.
    let line = line(&fixture);
    for name in ["netloom-queue-0", "netloom-queue-x"] {
        fs::create_dir(line.join(name)).unwrap();
        fs::write(line.join(name).join("ticket"), "\u{1b}]0;x\u{7}").unwrap();
        for path in [line.join(name), line.join(name).join("ticket")] {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    fs::remove_file(line.join("netloom-queue-x/ticket")).unwrap();
    nix::unistd::mkfifo(&line.join("netloom-queue-x/ticket"), nix::sys::stat::Mode::from_bits_truncate(0o666)).unwrap();
    queue(&fixture, &["add", "one.yaml", "two.yaml"], 0);
    let (code, added, err) = finish(other(&["add", "one.yaml", "two.yaml"]));
    assert_eq!(code, Some(0), "{added}{err}");
    wait_until("root sees the other", || queue(&fixture, &["list"], 0).1.contains("user nobody "));
    fs::write(go, "").unwrap();
    queue(&fixture, &["wait"], 0);
    let waited = finish(other(&["wait"]));
    assert_eq!(waited.0, Some(0), "{waited:?}");
    let latest = |place: &Path, lab: &str| span(&place.join("results").join(lab).join("latest"));
    let work = fixture.work();
    let mut spans = vec![
        ("one", latest(&work, "one")),
        ("two", latest(&work, "two")),
        ("other-one", latest(&home, "other-one")),
        ("other-two", latest(&home, "other-two")),
    ];
    spans.sort_by_key(|(_, (began, _))| *began);
    assert!(spans.is_sorted_by(|one, next| one.1.1 <= next.1.0), "one at a time: {spans:?}");
    let order: Vec<&str> = spans.iter().map(|(name, _)| *name).collect();
    assert_eq!(order, ["one", "other-one", "two", "other-two"], "in turn");
    // Each runs as who added it, and nobody reads or changes another's jobs.
    let owner = |path: PathBuf| std::os::unix::fs::MetadataExt::uid(&fs::metadata(path).unwrap());
    assert_eq!(owner(home.join("results/other-two/latest/report.json")), NOBODY);
    assert_eq!(owner(work.join("results/two/latest/report.json")), 0);
    let state = work.join(".local/state/netloom/queue");
    let mut peek = Command::new("ls");
    peek.arg("-R").arg(&state).uid(NOBODY).gid(NOBODY);
    assert_ne!(finish(peek).0, Some(0));
    // Root does not take orders from a folder that another user can write to.
    let mut lured = command(&fixture, &["list", "--json"]);
    let lure = home.join(".local/state");
    lured.env("XDG_STATE_HOME", &lure).env("HOME", &home);
    let (_, out, _) = finish(lured);
    assert!(!out.contains("other-one"), "{out}");
    fixture.assert_nothing_is_left("two");
}

#[test]
fn a_folder_that_others_can_write_to_is_refused() {
    let fixture = Fixture::new(User::Own);
    fixture.write("nap.yaml", &nap("nap", "0.1"));
    queue(&fixture, &["list"], 0);
    let host = fs::read_dir(fixture.work().join(".local/state/netloom/queue")).unwrap().next().unwrap().unwrap().path();
    fs::set_permissions(&host, fs::Permissions::from_mode(0o777)).unwrap();
    let (_, err) = queue(&fixture, &["add", "nap.yaml"], 4);
    assert!(err.contains("alone can write: what is in it is carried out"), "{err}");
}
