//! Jobs from the first to the last moment, with commands of a shell in the place of experiments. This program is its own `netloom`: told
//! `queue work` or `queue keep`, it does that.

use netloom_queue::{Cancelled, Job, Order, State, Store, keep, start_worker, work};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread::sleep;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let words: Vec<&str> = words.iter().filter_map(|word| word.to_str()).collect();
    let done = match words[..] {
        ["queue", "work", store] => Store::at(Path::new(store)).and_then(|store| work(&store, &program())),
        ["queue", "keep", store, job] => {
            Store::at(Path::new(store)).and_then(|store| keep(&store, job.parse().expect("a number")))
        }
        _ => return tests(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

type Test = fn(&Fixture);

const TESTS: [(&str, Test); 5] = [
    ("jobs are played one after the other", one_after_the_other),
    ("jobs are cancelled", cancelled),
    ("a worker that is killed disturbs no job", killed_worker),
    ("what is lost is played again, and told", killed_keeper),
    ("what is lost too often ends", lost_too_often),
];

/// The variable that names the line.
const LINE: &str = "NETLOOM_QUEUE_LINE";

/// As the test harness does: all of them, or those whose names contain the first argument.
fn tests() -> ExitCode {
    if std::env::var_os(LINE).is_none() {
        // Once more, in a line of its own.
        let line = tempfile::tempdir().expect("a folder");
        let again = Command::new(program()).args(std::env::args_os().skip(1)).env(LINE, line.path()).status();
        let passed = again.expect("this program can be started").success();
        return if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-')).unwrap_or_default();
    let chosen: Vec<_> = TESTS.iter().filter(|(name, _)| name.contains(&wanted)).collect();
    println!("\nrunning {} tests", chosen.len());
    for (name, test) in &chosen {
        test(&Fixture::new());
        println!("test {name} ... ok");
    }
    println!("\ntest result: ok. {} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n", chosen.len());
    ExitCode::SUCCESS
}

fn program() -> PathBuf {
    std::env::current_exe().expect("this program is somewhere")
}

struct Fixture {
    root: tempfile::TempDir,
    store: Store,
}

impl Fixture {
    fn new() -> Self {
        let root = tempfile::tempdir().expect("a folder");
        let store = Store::at(&root.path().join("queue")).expect("a store");
        Self { root, store }
    }

    fn add(&self, script: &str) -> u64 {
        let command = ["/bin/sh", "-c", script, "sh"].map(OsString::from).to_vec();
        let order = Order::from_here("shell".into(), "lab.yaml".into(), command).expect("an order");
        let order = Order { text_option: "--text".into(), again: vec!["--again".into()], ..order };
        self.store.add(&order, "the text\n").expect("a job")
    }

    fn start(&self) {
        start_worker(&self.store, &program()).expect("a worker");
    }

    fn job(&self, number: u64) -> Job {
        self.store.find(number).expect("the job")
    }

    /// Waits for the end of a job, as `netloom queue wait` does: a worker that was killed just now may not have gone yet.
    fn end(&self, number: u64) -> Job {
        self.until("a job ends", || {
            self.start();
            self.job(number).state.is_over()
        });
        self.job(number)
    }

    fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let began = Instant::now();
        while !holds() {
            let log = fs::read_to_string(self.store.path().join("worker.txt")).unwrap_or_default();
            assert!(began.elapsed() < Duration::from_secs(100), "never: {what}\n{log}");
            sleep(Duration::from_millis(20));
        }
    }

    fn output(&self, number: u64) -> String {
        fs::read_to_string(self.store.output(number)).expect("its output")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The processes of this fixture that were told this word.
    fn processes(&self, word: &str) -> Vec<String> {
        let here = self.store.path().to_string_lossy().into_owned();
        let told = |pid: &String| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let words: Vec<_> = words.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
            words.get(2).is_some_and(|own| own == word) && words.get(3).is_some_and(|own| *own == here)
        };
        let all = fs::read_dir("/proc").expect("processes").flatten();
        all.filter_map(|entry| entry.file_name().into_string().ok()).filter(told).collect()
    }

    fn kill(&self, word: &str) {
        let found = self.processes(word);
        assert!(!found.is_empty(), "nobody was told {word}");
        for pid in found {
            assert!(Command::new("kill").args(["-9", &pid]).status().expect("kill is there").success());
        }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        self.until("all of them have gone", || self.processes("work").is_empty() && self.processes("keep").is_empty());
    }
}

fn one_after_the_other(fixture: &Fixture) {
    let order = fixture.file("order");
    let first = fixture.add(&format!("echo one >> {0}; sleep 0.3; echo end >> {0}; cat; echo \"$@\"", order.display()));
    let second = fixture.add(&format!("echo two >> {}; exit 5", order.display()));
    let third = fixture.add("kill -9 $$");
    fixture.start();
    let jobs = [first, second, third].map(|job| fixture.end(job));
    assert_eq!([first, second, third], [1, 2, 3]);
    assert_eq!(jobs.each_ref().map(|job| job.exit_code), [Some(0), Some(5), None]);
    assert_eq!(jobs[2].notes, ["it was killed by signal 9"]);
    // Its standard input is empty, and it is told where the text is and with whom to end.
    let output = fixture.output(1);
    assert!(output.starts_with("--text /") && output.contains("lab.yaml --parent "), "{output}");
    assert!(fs::read_to_string(&order).expect("their order").starts_with("one\n"));
    assert!(jobs.iter().all(|job| job.attempts == 1));
}

fn cancelled(fixture: &Fixture) {
    // It needs all processors that there are, so the second one waits.
    let long = fixture.add("trap 'echo asked; exit 130' TERM; sleep 100 & wait");
    let never = fixture.add("echo never");
    fixture.start();
    fixture.until("the first goes on", || fixture.job(long).state == State::Running);
    assert_eq!(fixture.store.cancel(never, false).expect("a job"), Cancelled::Waiting);
    fixture.until("it listens", || fixture.store.output(long).exists());
    sleep(Duration::from_millis(200));
    assert_eq!(fixture.store.cancel(long, false).expect("a job"), Cancelled::Running);
    let (long, never) = (fixture.end(long), fixture.end(never));
    assert_eq!((long.state, never.state), (State::Cancelled, State::Cancelled));
    assert_eq!((fixture.output(1).as_str(), never.attempts), ("asked\n", 0));
}

fn killed_worker(fixture: &Fixture) {
    let job = fixture.add("sleep 1; echo done");
    fixture.start();
    fixture.until("it goes on", || fixture.job(job).state == State::Running);
    fixture.kill("work");
    let second = fixture.add("echo second");
    fixture.start();
    assert_eq!(fixture.end(job).attempts, 1);
    assert_eq!((fixture.output(job).as_str(), fixture.end(second).exit_code), ("done\n", Some(0)));
}

fn killed_keeper(fixture: &Fixture) {
    // The first time it goes on for a second after its keeper: as long as nobody else may begin.
    let (began, ended) = (fixture.file("began"), fixture.file("ended"));
    let script = format!(
        "if [ -e {began} ]; then [ -e {ended} ] && echo \"again $1\"; else touch {began}; sleep 1.5; touch {ended}; fi",
        began = began.display(),
        ended = ended.display()
    );
    let job = fixture.add(&script);
    fixture.start();
    fixture.until("it goes on", || began.exists());
    fixture.kill("keep");
    let job = fixture.end(job);
    assert_eq!((job.exit_code, job.attempts), (Some(0), 2));
    assert_eq!(job.notes, ["start 1 was lost: the process that saw to it was ended"]);
    assert_eq!(fixture.output(job.job), "-- start 2 --\nagain --again\n");
}

fn lost_too_often(fixture: &Fixture) {
    let job = fixture.add("echo started; sleep 1");
    fixture.start();
    for attempt in 1..=3 {
        fixture.until("it is started", || {
            fixture.job(job).attempts == attempt && fixture.output_of(job).matches("started").count() == attempt
        });
        // One that ends at once is tried again after ten seconds, which would be right, but long.
        sleep(Duration::from_millis(200));
        fixture.kill("keep");
    }
    let job = fixture.end(job);
    assert_eq!((job.exit_code, job.attempts, job.notes.len()), (Some(8), 3, 4));
}

impl Fixture {
    fn output_of(&self, job: u64) -> String {
        fs::read_to_string(self.store.output(job)).unwrap_or_default()
    }
}
