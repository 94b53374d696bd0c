//! A workload: the executables of a folder, which begin as their names say. The names and their meaning are those of Antithesis' Test Composer:
//!
//! | name | when it runs |
//! |---|---|
//! | `first_` | one of them, once, before all others |
//! | `parallel_driver_` | beside others of its kind, again and again |
//! | `serial_driver_` | again and again, but while no other driver runs |
//! | `singleton_driver_` | as the only driver of the run |
//! | `anytime_` | beside all drivers, again and again |
//! | `eventually_` | one of them, in the end, after all others were killed |
//! | `finally_` | one of them, in the end, after all others have ended |

use crate::instants::place;
use crate::workload_programs::{Ended, Part, Programs};
use netloom_link::Spans;
use netloom_units::Seed;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// So many parallel drivers begin between two decisions what comes next, at most.
const MOST_IN_A_TURN: u64 = 8;
/// The longest pause before a parallel driver begins, in milliseconds.
const PAUSE: u64 = 50;
/// The longest pause before a command begins that may run at any time, in milliseconds.
const BETWEEN: u64 = 2_000;
/// A wait that no deadline ends is looked at again after so long.
const TURN: Duration = Duration::from_secs(1);

/// The beginnings of names.
const NAMES: [(&str, Part); 7] = [
    ("first_", Part::First),
    ("parallel_driver_", Part::Parallel),
    ("serial_driver_", Part::Serial),
    ("singleton_driver_", Part::Singleton),
    ("anytime_", Part::Anytime),
    ("eventually_", Part::Eventually),
    ("finally_", Part::Finally),
];
/// The beginning of names of files that belong to the commands and are none.
const HELPER: &str = "helper_";

/// The commands of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    commands: BTreeMap<Part, Vec<PathBuf>>,
    /// The files that are left out, and why.
    pub notes: Vec<String>,
}

/// How a workload is played.
#[derive(Clone, Debug)]
pub struct Course {
    /// For how long drivers are begun.
    pub lasts: Duration,
    /// How long drivers may take to end after that, before they are killed.
    pub grace: Duration,
    /// How many parallel drivers run at once, at most.
    pub most: usize,
    /// The seed of all choices.
    pub seed: u64,
    /// Variables for the environment of all commands.
    pub env: Vec<(String, PathBuf)>,
}

impl Workload {
    /// Reads a folder with commands, or one of its folders that have some: which one is drawn from the seed.
    ///
    /// # Errors
    /// What the kernel says, or that there is no command.
    pub fn read(folder: &Path, seed: u64) -> Result<(Self, PathBuf), String> {
        let own = Self::of(folder)?;
        if own.has_any() {
            return Ok((own, folder.to_owned()));
        }
        let mut templates = Vec::new();
        for path in listed(folder)?.into_iter().filter(|path| path.is_dir()) {
            let template = Self::of(&path)?;
            templates.extend(template.has_any().then_some((template, path)));
        }
        if templates.is_empty() {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "{} has no command: names of executables begin with {}",
                folder.display(),
                names.join(", ")
            ));
        }
        let mut random = Spans::new(Seed::new(seed).derive("template"));
        let chosen = place(&mut random, templates.len());
        Ok(templates.swap_remove(chosen))
    }

    fn of(folder: &Path) -> Result<Self, String> {
        let mut own = Self::default();
        for path in listed(folder)?.into_iter().filter(|path| path.is_file()) {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let part = NAMES.iter().find(|(beginning, _)| name.starts_with(beginning)).map(|(_, part)| *part);
            let Some(part) = part else {
                if !name.starts_with(HELPER) && !name.starts_with('.') {
                    own.notes.push(format!("{name} is no command by its name, and left out"));
                }
                continue;
            };
            let may_run = fs::metadata(&path).is_ok_and(|known| known.permissions().mode() & 0o111 != 0);
            if may_run {
                own.commands.entry(part).or_default().push(path);
            } else {
                own.notes.push(format!("{name} is not executable, and left out: chmod +x {}", path.display()));
            }
        }
        Ok(own)
    }

    fn has_any(&self) -> bool {
        !self.commands.is_empty()
    }

    fn has(&self, part: Part) -> bool {
        self.commands.contains_key(&part)
    }

    /// Plays the workload to its end; `say` is told what begins and ends. Returns what failed: commands that ended with another code than 0, by
    /// their names.
    ///
    /// # Errors
    /// A command that could not be started.
    pub fn play(&self, course: &Course, say: &mut dyn FnMut(&str)) -> Result<Vec<String>, String> {
        let now = Instant::now();
        let random = Spans::new(Seed::new(course.seed).derive("workload"));
        let programs = Programs::new(course.env.clone());
        let mut player = Player {
            workload: self,
            course,
            random,
            programs,
            say,
            end: now + course.lasts,
            next_anytime: now,
            wrong: Vec::new(),
        };
        player.play()?;
        Ok(player.wrong)
    }
}

/// The paths in a folder, in the order of their names.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(failed)?;
    let mut paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(failed)?;
    paths.sort();
    Ok(paths)
}

struct Player<'a> {
    workload: &'a Workload,
    course: &'a Course,
    random: Spans,
    programs: Programs,
    say: &'a mut dyn FnMut(&str),
    /// When no driver begins any more.
    end: Instant,
    next_anytime: Instant,
    wrong: Vec<String>,
}

impl Player<'_> {
    fn play(&mut self) -> Result<(), String> {
        if self.workload.has(Part::First) {
            self.start(Part::First)?;
            self.wait(None, |programs| programs.running(|_| true) == 0)?;
            if !self.wrong.is_empty() {
                return Ok(());
            }
        }
        self.next_anytime = Instant::now() + self.drawn(BETWEEN);
        self.drive()?;
        self.judge()
    }

    /// Begins drivers until the time is over.
    fn drive(&mut self) -> Result<(), String> {
        let has = |part| self.workload.has(part);
        let (parallel, serial, singleton) = (has(Part::Parallel), has(Part::Serial), has(Part::Singleton));
        let end = Some(self.end);
        if singleton && (!(parallel || serial) || self.random.below(2) == 0) {
            self.start(Part::Singleton)?;
            return self.wait(end, |programs| programs.running(is_driver) == 0);
        }
        if !(parallel || serial) {
            return self.wait(end, |_| false);
        }
        while Instant::now() < self.end {
            if serial && (!parallel || self.random.below(2) == 0) {
                self.wait(end, |programs| programs.running(is_driver) == 0)?;
                if Instant::now() < self.end {
                    self.start(Part::Serial)?;
                    self.wait(end, |programs| programs.running(is_driver) == 0)?;
                }
                continue;
            }
            let width = 1 + place(&mut self.random, self.course.most.max(1));
            for _ in 0..=self.random.below(MOST_IN_A_TURN) {
                let begins = Instant::now() + self.drawn(PAUSE);
                self.wait(Some(begins.min(self.end)), |_| false)?;
                self.wait(end, |programs| programs.running(is_driver) < width)?;
                if Instant::now() >= self.end {
                    return Ok(());
                }
                self.start(Part::Parallel)?;
            }
        }
        Ok(())
    }

    /// Ends drivers, and runs a command that judges.
    fn judge(&mut self) -> Result<(), String> {
        let (eventually, finally) = (self.workload.has(Part::Eventually), self.workload.has(Part::Finally));
        self.next_anytime = Instant::now() + self.course.grace + TURN;
        if eventually && (!finally || self.random.below(2) == 0) {
            self.kill();
            self.start(Part::Eventually)?;
        } else {
            let end = Instant::now() + self.course.grace;
            self.wait(Some(end), |programs| programs.running(|_| true) == 0)?;
            for name in self.programs.names() {
                (self.say)(&format!("{name} did not end, and is killed"));
            }
            self.kill();
            if finally {
                self.start(Part::Finally)?;
            }
        }
        self.wait(None, |programs| programs.running(|_| true) == 0)
    }

    fn kill(&mut self) {
        self.programs.kill();
    }

    /// Starts one of the commands that have this part.
    fn start(&mut self, part: Part) -> Result<(), String> {
        let Some(commands) = self.workload.commands.get(&part) else { return Ok(()) };
        let command = &commands[place(&mut self.random, commands.len())];
        let name = self.programs.start(part, command)?;
        (self.say)(&format!("{name} begins"));
        Ok(())
    }

    /// Waits until something holds of the programs that run, or until an instant; meanwhile, what may run at any time begins.
    fn wait(&mut self, until: Option<Instant>, is_met: impl Fn(&Programs) -> bool) -> Result<(), String> {
        loop {
            let now = Instant::now();
            if is_met(&self.programs) || until.is_some_and(|until| now >= until) {
                return Ok(());
            }
            if until.is_some() && self.workload.has(Part::Anytime) && now >= self.next_anytime {
                self.next_anytime = now + self.drawn(BETWEEN);
                self.start(Part::Anytime)?;
            }
            let mut longest = until.map_or(TURN, |until| until - now);
            if until.is_some() && self.workload.has(Part::Anytime) {
                longest = longest.min(self.next_anytime.saturating_duration_since(now));
            }
            if let Some(Ended { name, failure: Some(why) }) = self.programs.next(longest) {
                (self.say)(&format!("{name}: {why}"));
                // What differs from one start to the next is not told.
                let command = name.split('#').next().unwrap_or_default().trim_end().to_owned();
                self.wrong.push(format!("{command}: {why}"));
            }
        }
    }

    fn drawn(&mut self, most_ms: u64) -> Duration {
        Duration::from_millis(self.random.below(most_ms + 1))
    }
}

fn is_driver(part: Part) -> bool {
    matches!(part, Part::Parallel | Part::Serial | Part::Singleton)
}

#[cfg(test)]
mod tests;
