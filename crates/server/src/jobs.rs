//! Commands that the page has given: `netloom up`, `run` and `sim`, each a process of its own.
//!
//! A lab ends with the server that brought it up, unless the user wants to keep it: its command gets the process with which it ends (`--parent`),
//! so that this holds however the server ends.

use crate::answer::Refusal;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};

/// Jobs that are remembered, lines of each, and those that go on at a time.
const MOST_JOBS: usize = 100;
const MOST_LINES: usize = 500;
const MOST_GOING_ON: usize = 16;

/// See the module.
pub(crate) struct Jobs {
    all: Mutex<VecDeque<Job>>,
    changed: watch::Sender<u64>,
    pub(crate) program: PathBuf,
    pub(crate) keep: bool,
}

/// A command that was given.
#[derive(Debug)]
pub(crate) struct Job {
    about: About,
    lines: VecDeque<String>,
    /// The number of the first line that is remembered.
    first: u64,
    /// Another number after each change.
    version: u64,
    stop: Arc<Notify>,
}

/// What pages know of a job.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct About {
    id: u64,
    command: &'static str,
    path: String,
    lab: Option<String>,
    state: &'static str,
    exit_code: Option<i32>,
    results: Option<String>,
    report: Option<Value>,
}

/// What a page has heard of jobs: their versions, and the next line of each.
#[derive(Debug, Default)]
pub(crate) struct Heard(BTreeMap<u64, (u64, u64)>);

const GOING_ON: &str = "going on";
const OVER: &str = "over";

impl Jobs {
    pub(crate) fn new(program: PathBuf, keep: bool) -> Self {
        Self { all: Mutex::default(), changed: watch::Sender::new(0), program, keep }
    }

    fn all(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of every change from now on.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    /// The job that brought a lab up, by the lab's results.
    pub(crate) fn of_results(&self, results: &str) -> Option<u64> {
        self.all().iter().rev().find(|job| job.about.results.as_deref() == Some(results)).map(|job| job.about.id)
    }

    /// The labs that jobs have brought up, each with its results.
    pub(crate) fn brought_up(&self) -> Vec<(String, String)> {
        let of = |job: &Job| Some((job.about.lab.clone()?, job.about.results.clone()?));
        self.all().iter().filter(|job| job.about.command == "up").filter_map(of).collect()
    }

    /// Tells all commands that go on to end.
    pub(crate) fn stop_all(&self) {
        self.all().iter().for_each(|job| job.stop.notify_one());
    }

    /// Tells a command to end.
    pub(crate) fn stop(&self, id: u64) -> Result<(), Refusal> {
        let stop = self.all().iter().find(|job| job.about.id == id).map(|job| Arc::clone(&job.stop));
        stop.ok_or_else(|| no_such(id))?.notify_one();
        Ok(())
    }

    /// Those that somebody may see, by their labs and lab files, without their lines.
    pub(crate) fn list(&self, may: impl Fn(Option<&str>, &str) -> bool) -> Vec<About> {
        self.all().iter().map(|job| job.about.clone()).filter(|about| about.is_for(&may)).collect()
    }

    /// Whether any goes on.
    pub(crate) fn is_any_going_on(&self) -> bool {
        self.all().iter().any(|job| job.about.state == GOING_ON)
    }

    /// Changes a job, and tells of it.
    pub(crate) fn change(&self, id: u64, change: impl FnOnce(&mut Job)) {
        if let Some(job) = self.all().iter_mut().find(|job| job.about.id == id) {
            change(job);
            job.version += 1;
        }
        self.changed.send_modify(|version| *version += 1);
    }

    /// What a page has not heard yet of the jobs that it may see, as events.
    pub(crate) fn news(&self, heard: &mut Heard, may: impl Fn(Option<&str>, &str) -> bool) -> Vec<Value> {
        let all = self.all();
        heard.0.retain(|id, _| all.iter().any(|job| job.about.id == *id));
        let mut news = Vec::new();
        for job in all.iter().filter(|job| job.about.is_for(&may)) {
            let (version, next) = heard.0.entry(job.about.id).or_insert((0, job.first));
            if *version != job.version {
                let first = (*next).max(job.first);
                let lines: Vec<&String> =
                    job.lines.iter().skip(usize::try_from(first - job.first).unwrap_or(usize::MAX)).collect();
                news.push(json!({ "event": "job", "job": job.about, "lines": lines, "first": first }));
                (*version, *next) = (job.version, job.first + job.lines.len() as u64);
            }
        }
        news
    }

    /// Remembers a job that begins.
    pub(crate) fn begin(&self, asked: &Asked) -> Result<(u64, Arc<Notify>), Refusal> {
        let mut all = self.all();
        if all.iter().filter(|job| job.about.state == GOING_ON).count() >= MOST_GOING_ON {
            return Err(Refusal::new(
                StatusCode::TOO_MANY_REQUESTS,
                format!("{MOST_GOING_ON} commands go on: wait for one, or end one"),
            ));
        }
        let id = all.back().map_or(1, |last| last.about.id + 1);
        if all.len() >= MOST_JOBS {
            let oldest = all.iter().position(|job| job.about.state == OVER).unwrap_or(0);
            all.remove(oldest);
        }
        let stop = Arc::new(Notify::new());
        let about = About {
            id,
            command: asked.command,
            path: asked.path.clone(),
            lab: asked.lab.clone(),
            state: GOING_ON,
            exit_code: None,
            results: None,
            report: None,
        };
        all.push_back(Job { about, lines: VecDeque::new(), first: 0, version: 1, stop: Arc::clone(&stop) });
        Ok((id, stop))
    }

    pub(crate) fn described(&self, id: u64, may: impl Fn(Option<&str>, &str) -> bool) -> Result<Value, Refusal> {
        let all = self.all();
        let job = all.iter().find(|job| job.about.id == id && job.about.is_for(&may)).ok_or_else(|| no_such(id))?;
        let mut value = json!(job.about);
        value["lines"] = json!(job.lines);
        value["first"] = job.first.into();
        Ok(value)
    }
}

impl About {
    fn is_for(&self, may: &impl Fn(Option<&str>, &str) -> bool) -> bool {
        may(self.lab.as_deref(), &self.path)
    }
}

impl Job {
    /// The results are known now.
    pub(crate) fn found(&mut self, results: Option<String>) {
        if self.about.state == GOING_ON && results.is_some() {
            self.about.results = results;
        }
    }

    /// The command has ended.
    pub(crate) fn ended(&mut self, code: i32, report: Option<Value>) {
        (self.about.state, self.about.exit_code, self.about.report) = (OVER, Some(code), report);
    }

    /// Remembers a line.
    pub(crate) fn say(&mut self, line: String) {
        if self.lines.len() == MOST_LINES {
            self.lines.pop_front();
            self.first += 1;
        }
        self.lines.push_back(line);
    }
}

fn no_such(id: u64) -> Refusal {
    Refusal::missing(format!("there is no command {id}, or it ended long ago"))
}

/// What a page has asked for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) command: &'static str,
    /// The lab file, in the folder.
    pub(crate) path: String,
    pub(crate) clock: Option<String>,
    pub(crate) seed: Option<u64>,
    pub(crate) name: Option<String>,
    /// The name of the lab, if it is known.
    pub(crate) lab: Option<String>,
    /// The folder with the lab files.
    pub(crate) home: PathBuf,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Asked {
        Asked {
            command: "run",
            path: "a.yaml".into(),
            clock: None,
            seed: None,
            name: None,
            lab: Some("a".into()),
            home: "/".into(),
        }
    }

    #[test]
    fn a_page_hears_of_each_line_once() {
        let jobs = Jobs::new("netloom".into(), false);
        let (id, _) = jobs.begin(&asked()).unwrap();
        let mut heard = Heard::default();
        assert_eq!(jobs.news(&mut heard, |_, _| true).len(), 1);
        assert!(jobs.news(&mut heard, |_, _| true).is_empty());
        for line in ["one", "two"] {
            jobs.change(id, |job| job.say(line.into()));
        }
        let news = jobs.news(&mut heard, |_, _| true);
        assert_eq!((&news[0]["lines"], &news[0]["first"]), (&json!(["one", "two"]), &json!(0)));
        for number in 0..2 * MOST_LINES {
            jobs.change(id, |job| job.say(number.to_string()));
        }
        let later = jobs.news(&mut heard, |_, _| true);
        assert_eq!((later[0]["lines"].as_array().unwrap().len(), &later[0]["first"]), (MOST_LINES, &json!(502)));
    }

    #[test]
    fn so_many_go_on_and_so_many_are_remembered() {
        let jobs = Jobs::new("netloom".into(), false);
        for _ in 0..MOST_GOING_ON {
            jobs.begin(&asked()).unwrap();
        }
        assert!(jobs.begin(&asked()).is_err());
        for id in 1..=1_000 {
            jobs.change(id, |job| job.about.state = OVER);
            jobs.begin(&asked()).unwrap();
        }
        assert_eq!(jobs.all().len(), MOST_JOBS);
    }
}
