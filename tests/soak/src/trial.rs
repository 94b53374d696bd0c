//! Plays a script and looks whether everything is as it has to be afterwards.

use crate::fixture::{Fixture, peak_memory};
use crate::script::{Action, Script, Victim};
use crate::topology::NAME;
use netloom_testing::processes::{children, lab_of};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io;
use std::path::Path;
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The exit codes in docs/exit-codes.md.
const DOCUMENTED: [i32; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 130];
/// A lab that nobody disturbs ends in one of these ways: links and programs are random, and so is whether they fit.
const UNDISTURBED: [i32; 3] = [0, 1, 5];
/// These labs hold a few megabytes of packets; all beyond is the engine itself.
const MOST_MEMORY: u64 = 1 << 30;
/// How long leftovers may take to go: the kernel removes a killed lab's namespaces in the background. The processes of an
/// `exact` lab share one processor with all that the machine does otherwise, and may wait seconds for each turn.
const LONGEST_CLEANUP: Duration = Duration::from_secs(60);
/// Other commands than runs, and how long they may take after the lab has ended.
const LONGEST_COMMAND: Duration = Duration::from_secs(30);
/// Before this nothing is set up, not even the handling of signals, on a machine that is busy with other things, too.
const AT_ONCE: Duration = Duration::from_millis(200);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How a lab ended.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The exit code of the run; none if it was killed, or if the lab was up.
    pub(crate) code: Option<i32>,
    /// What ended it, in a word.
    pub(crate) ended_by: String,
    /// What was done, and when.
    pub(crate) log: Vec<String>,
    /// What should not be so.
    pub(crate) problems: Vec<String>,
    pub(crate) seconds: f64,
    pub(crate) peak_bytes: u64,
}

struct Trial<'a> {
    fixture: &'a mut Fixture,
    script: &'a Script,
    begun: Instant,
    /// The run itself, or what took the lab up.
    guard: Option<i32>,
    run: Option<Child>,
    others: Vec<(String, Child)>,
    ending: Option<Action>,
    /// When that happened.
    struck_at: Duration,
    outcome: Outcome,
}

/// Plays it.
pub(crate) fn play(fixture: &mut Fixture, script: &Script) -> io::Result<Outcome> {
    let begun = Instant::now();
    let outcome = Outcome { ended_by: "by itself".into(), ..Outcome::default() };
    let mut trial = Trial {
        fixture,
        script,
        begun,
        guard: None,
        run: None,
        others: Vec::new(),
        ending: None,
        struck_at: Duration::ZERO,
        outcome,
    };
    trial.begin()?;
    for timed in &script.actions {
        if !trial.wait_until(Duration::from_millis(timed.at_ms))? {
            break;
        }
        trial.act(&timed.action)?;
    }
    trial.end()?;
    trial.look()?;
    trial.outcome.seconds = begun.elapsed().as_secs_f64();
    Ok(trial.outcome)
}

impl Trial<'_> {
    fn begin(&mut self) -> io::Result<()> {
        if !self.script.up {
            let run = self.fixture.start(&["run", "soak.yaml"])?;
            self.guard = i32::try_from(run.id()).ok();
            self.run = Some(run);
            return Ok(());
        }
        let patience = Duration::from_secs(self.script.patience_s);
        let code = self.finish("up", &["up", "soak.yaml"], patience)?;
        if code != Some(0) {
            self.problem(format!("`netloom up` ended with {code:?}"));
        }
        self.finish("ps", &["ps", "--json"], LONGEST_COMMAND)?;
        let labs: serde_json::Value = serde_json::from_str(&self.fixture.latest_output("ps")).unwrap_or_default();
        self.guard = labs[0]["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        self.begun = Instant::now();
        Ok(())
    }

    fn problem(&mut self, text: String) {
        self.outcome.problems.push(text);
    }

    /// Runs a command to its end; one that hangs is a problem, and is killed.
    fn finish(&mut self, word: &str, arguments: &[&str], patience: Duration) -> io::Result<Option<i32>> {
        let child = self.fixture.start(arguments)?;
        self.wait_for(word, child, Instant::now() + patience)
    }

    fn wait_for(&mut self, word: &str, mut child: Child, until: Instant) -> io::Result<Option<i32>> {
        loop {
            self.measure();
            if let Some(status) = child.try_wait()? {
                return Ok(status.code());
            }
            if Instant::now() > until {
                self.problem(format!("`netloom {word}` hangs"));
                child.kill()?;
                return Ok(child.wait()?.code());
            }
            sleep(LOOK_EVERY);
        }
    }

    fn lab(&self) -> Option<i32> {
        lab_of(self.guard?)
    }

    fn measure(&mut self) {
        let peak = self.lab().and_then(peak_memory).unwrap_or(0);
        self.outcome.peak_bytes = self.outcome.peak_bytes.max(peak);
    }

    /// Waits for the moment of an action; false if the run has ended before.
    fn wait_until(&mut self, after: Duration) -> io::Result<bool> {
        loop {
            self.measure();
            if let Some(run) = &mut self.run
                && run.try_wait()?.is_some()
            {
                return Ok(false);
            }
            let left = after.saturating_sub(self.begun.elapsed());
            if left.is_zero() {
                return Ok(true);
            }
            sleep(left.min(LOOK_EVERY));
        }
    }

    fn act(&mut self, action: &Action) -> io::Result<()> {
        let at = self.begun.elapsed().as_secs_f64();
        self.outcome.log.push(format!("{at:.3} s: {}", serde_json::to_string(action)?));
        if action.may_end_the_lab() {
            self.ending.get_or_insert_with(|| action.clone());
            self.struck_at = self.begun.elapsed();
        }
        match action {
            Action::Set { link, change } => self.other(&["set", NAME, link, change]),
            Action::Exec { node, argv } => {
                let words: Vec<&str> =
                    ["exec", NAME, node, "--"].into_iter().chain(argv.iter().map(String::as_str)).collect();
                self.other(&words)
            }
            Action::Stats => self.other(&["stats", NAME, "--once", "--json"]),
            Action::Ps => self.other(&["ps", "--json"]),
            Action::Capture { link } => self.other(&["capture", NAME, link, "-w", "live.pcapng"]),
            Action::Down => self.other(&["down", NAME]),
            Action::Pause { ms } => {
                self.pause(Duration::from_millis(*ms));
                Ok(())
            }
            Action::Interrupt => self.signal_run(Signal::SIGINT),
            Action::Terminate => self.signal_run(Signal::SIGTERM),
            Action::Kill { victim } => {
                let killed = self.strike(*victim);
                self.outcome.log.push(format!("  killed {killed:?}"));
                Ok(())
            }
        }
    }

    fn other(&mut self, arguments: &[&str]) -> io::Result<()> {
        let child = self.fixture.start(arguments)?;
        self.others.push((arguments[0].to_owned(), child));
        Ok(())
    }

    /// There is no terminal whose Ctrl-C could reach a lab that is up: then its guard gets a signal to end.
    fn signal_run(&mut self, signal: Signal) -> io::Result<()> {
        let signal = if self.run.is_some() { signal } else { Signal::SIGTERM };
        if let Some(guard) = self.guard {
            send(guard, signal);
        }
        Ok(())
    }

    fn pause(&self, span: Duration) {
        let Some(lab) = self.lab() else { return };
        send(lab, Signal::SIGSTOP);
        sleep(span);
        send(lab, Signal::SIGCONT);
    }

    /// Kills the victim, or whoever is there in its place so early.
    fn strike(&self, victim: Victim) -> Vec<i32> {
        let Some(guard) = self.guard else { return Vec::new() };
        let nth = |all: Vec<i32>, number: usize| (!all.is_empty()).then(|| all[number % all.len()]);
        let targets = match (victim, self.lab()) {
            (Victim::Guard, _) | (_, None) => vec![guard],
            (Victim::Lab, Some(lab)) => vec![lab],
            (Victim::Both, Some(lab)) => vec![guard, lab],
            (Victim::Node(number), Some(lab)) => vec![nth(children(lab), number).unwrap_or(lab)],
            (Victim::Program(number), Some(lab)) => {
                let programs = children(lab).into_iter().flat_map(children).collect();
                nth(programs, number).into_iter().collect()
            }
        };
        targets.iter().for_each(|pid| send(*pid, Signal::SIGKILL));
        targets
    }

    /// Waits for the end; a lab that is up is taken down.
    fn end(&mut self) -> io::Result<()> {
        let until = self.begun + Duration::from_secs(self.script.patience_s);
        if let Some(ending) = &self.ending {
            self.outcome.ended_by = word(ending);
        }
        if let Some(run) = self.run.take() {
            self.outcome.code = self.wait_for("run", run, until)?;
            self.judge_code();
        } else if self.ending.is_none() {
            let code = self.finish("down", &["down", NAME], LONGEST_COMMAND)?;
            // It says the verdict.
            if !code.is_some_and(|code| UNDISTURBED.contains(&code)) {
                self.problem(format!("`netloom down` ended with {code:?}"));
            }
        } else if matches!(self.ending, Some(Action::Kill { victim: Victim::Program(_) })) {
            // The lab does not end by that, unless the program was its service.
            self.finish("down", &["down", NAME], LONGEST_COMMAND)?;
        }
        for (word, child) in std::mem::take(&mut self.others) {
            let code = self.wait_for(&word, child, Instant::now() + LONGEST_COMMAND)?;
            // `exec` has the code of its program, which may have been killed.
            if word != "exec" && !code.is_some_and(|code| DOCUMENTED.contains(&code)) {
                self.problem(format!("`netloom {word}` ended with {code:?}"));
            }
        }
        Ok(())
    }

    fn judge_code(&mut self) {
        let code = self.outcome.code;
        // Whatever is too early for its victim strikes the guard, and a signal may come before it is held back.
        let may_die = match &self.ending {
            Some(Action::Kill { .. }) => true,
            Some(Action::Interrupt | Action::Terminate) => self.struck_at < AT_ONCE,
            _ => false,
        };
        let fits = match (&self.ending, code) {
            (None, Some(code)) => UNDISTURBED.contains(&code),
            (Some(_), Some(code)) => DOCUMENTED.contains(&code),
            (_, None) => may_die,
        };
        if !fits {
            self.problem(format!("`netloom run` ended with {code:?}, ended {}", self.outcome.ended_by));
        }
    }

    fn look(&mut self) -> io::Result<()> {
        self.look_for_leftovers()?;
        self.look_at_results();
        self.look_at_output();
        if self.outcome.peak_bytes > MOST_MEMORY {
            let megabytes = self.outcome.peak_bytes >> 20;
            self.problem(format!("the lab process had {megabytes} MiB of memory"));
        }
        Ok(())
    }

    /// If lab and guard were killed at once, the next command removes what is left of them.
    fn look_for_leftovers(&mut self) -> io::Result<()> {
        let begun = Instant::now();
        loop {
            let left = self.fixture.left();
            if left.is_empty() {
                return Ok(());
            }
            if begun.elapsed() > LONGEST_CLEANUP {
                left.into_iter().for_each(|what| self.problem(format!("left behind: {what}")));
                self.fixture.kill_all();
                return Ok(());
            }
            sleep(Duration::from_millis(200));
            if self.fixture.processes().is_empty() {
                let code = self.finish("ps", &["ps"], LONGEST_COMMAND)?;
                if code != Some(0) {
                    self.problem(format!("`netloom ps` ended with {code:?}"));
                }
            }
        }
    }

    /// A run that ended by itself, or that was interrupted, left a whole report, as did one of which a node was killed.
    fn look_at_results(&mut self) {
        if self.script.up {
            return;
        }
        let folder = self.fixture.results();
        let files: &[&str] = match self.outcome.code {
            Some(0 | 1 | 5) => &["provenance.json", "report.json", "verdict.json", "pipes.json", "commands.json"],
            Some(_) | None if folder.exists() => &["provenance.json"],
            _ => &[],
        };
        for file in files {
            if let Err(why) = read_json(&folder.join(file)) {
                self.problem(why);
            }
        }
        let report = read_json(&folder.join("report.json")).ok();
        let told = report.and_then(|report| report["exit_code"].as_i64());
        if let (Some(code), Some(told)) = (self.outcome.code, told)
            && told != i64::from(code)
        {
            self.problem(format!("report.json says exit code {told}, and it was {code}"));
        }
    }

    fn look_at_output(&mut self) {
        let files = fs::read_dir(self.fixture.out()).into_iter().flatten().flatten();
        for path in files.map(|entry| entry.path()) {
            let text = fs::read(&path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            if let Some(line) =
                text.lines().find(|line| line.contains("panicked at") || line.contains("stack overflow"))
            {
                self.problem(format!("{}: {line}", path.display()));
            }
        }
    }
}

fn read_json(path: &Path) -> Result<serde_json::Value, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn word(ending: &Action) -> String {
    match ending {
        Action::Kill { victim: Victim::Guard } => "guard killed",
        Action::Kill { victim: Victim::Lab } => "lab killed",
        Action::Kill { victim: Victim::Both } => "both killed",
        Action::Kill { victim: Victim::Node(_) } => "node killed",
        Action::Kill { victim: Victim::Program(_) } => "program killed",
        Action::Interrupt => "interrupted",
        Action::Terminate => "terminated",
        Action::Down => "taken down",
        _ => "by itself",
    }
    .into()
}

/// A process that has ended meanwhile needs no signal any more.
fn send(pid: i32, signal: Signal) {
    let _ = kill(Pid::from_raw(pid), signal);
}
