use super::*;
use netloom_lab::CHECKERS;

fn event(process: &str, kind: &str, f: &str, value: &str, ms: u64) -> String {
    format!(
        "{{\"process\":\"{process}\",\"type\":\"{kind}\",\"f\":\"{f}\",\"value\":{value},\"time\":{}}}\n",
        ms * 1_000_000
    )
}

/// A register that is read with this value after 1 and then 2 were written.
fn results(read: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let srv = folder.path().join("nodes/client/srv");
    fs::create_dir_all(&srv).unwrap();
    let mut text = String::new();
    for (number, value) in ["1", "2"].into_iter().enumerate() {
        let at = 100 * number as u64;
        text += &event("c1", "invoke", "write", value, at);
        text += &event("c1", "ok", "write", value, at + 10);
    }
    text += &event("c2", "invoke", "read", "null", 300);
    text += &event("c2", "ok", "read", read, 340);
    fs::write(srv.join("history.jsonl"), text).unwrap();
    folder
}

fn history(checker: &str, options: &[(&str, Option<&str>)]) -> PropertyTest {
    PropertyTest::History {
        checker: checker.into(),
        file: "history.jsonl".into(),
        options: options.iter().map(|(name, value)| ((*name).into(), value.map(str::to_owned))).collect(),
    }
}

#[test]
fn a_stale_read_is_a_contradiction() {
    let (good, stale) = (results("2"), results("1"));
    let test = history("linearizable", &[]);
    assert_eq!(judge(&test, good.path()), Ok(Held::of(true, "")));
    assert_eq!(explain(&test, good.path()), None);
    assert_eq!(judge(&test, stale.path()), Ok(Held::of(false, "not linearizable")));
    let explained = explain(&test, stale.path()).unwrap();
    assert!(explained.text.contains("process c2  read → 1"), "{}", explained.text);
    assert!(explained.svg.starts_with("<svg"));
}

#[test]
fn latencies_are_compared() {
    let run = results("2");
    let took = |permille, compare, ms: u64| {
        let bound = netloom_units::Duration::from_millis(ms);
        let test = PropertyTest::Latency { file: "history.jsonl".into(), permille, compare, bound };
        judge(&test, run.path()).unwrap().holds
    };
    assert_eq!(took(1000, Compare::AtMost, 40), Some(true));
    assert_eq!(took(1000, Compare::Below, 40), Some(false));
    assert_eq!(took(500, Compare::Equal, 10), Some(true));
}

#[test]
fn what_is_missing_is_said() {
    let run = results("2");
    let other = PropertyTest::History { checker: "ids".into(), file: "other.jsonl".into(), options: Vec::new() };
    assert!(judge(&other, run.path()).unwrap_err().contains("there is no file `other.jsonl`"));
    let wrong = judge(&history("queue", &[]), run.path()).unwrap_err();
    assert!(wrong.contains("the model `queue` knows enqueue, dequeue"), "{wrong}");
    // Elements that nobody ever read are not lost.
    let set = run.path().join("nodes/client/srv/set.jsonl");
    fs::write(set, event("c1", "invoke", "add", "1", 1) + &event("c1", "ok", "add", "1", 2)).unwrap();
    let full = PropertyTest::History { checker: "set-full".into(), file: "set.jsonl".into(), options: Vec::new() };
    assert_eq!(judge(&full, run.path()).unwrap().holds, None);
}

#[test]
fn only_files_of_the_results_are_read() {
    let run = results("1");
    fs::write(run.path().join("host.jsonl"), event("c1", "ok", "read", "7", 1)).unwrap();
    let inner = run.path().join("nodes");
    let of = |name: &str| find(&inner, name);
    let outside = run.path().join("host.jsonl").display().to_string();
    assert_eq!(of(&outside), Ok(Vec::new()), "what is at this path on this machine is not meant");
    assert!(of("../host.jsonl").unwrap_err().contains("leads out of the results"));
    let whole = find(run.path(), "/srv/history.jsonl");
    assert_eq!(whole, Ok(vec![run.path().join("nodes/client/srv/history.jsonl")]));
}

#[test]
fn every_checker_has_its_model() {
    assert_eq!(CHECKERS[1..], Model::NAMES);
    let empty = History::default();
    for name in &CHECKERS[1..] {
        assert_eq!(model(name, &[], &empty).name(), *name);
    }
    let options = |name: &str, value: Option<&str>| vec![(name.to_owned(), value.map(str::to_owned))];
    let register = model("register", &options("initial", Some("0")), &empty);
    assert_eq!(register, Model::Register { initial: 0.into() });
    let level = model("append", &options("snapshot", None), &empty);
    assert_eq!(level, Model::Append { isolation: Isolation::Snapshot });
    assert_eq!(model("bank", &options("total", Some("7")), &empty), Model::Bank { total: Some(7) });
    assert_eq!(model("set-full", &options("strict", None), &empty), Model::SetFull { strict: true });
}
