//! Looks at labs, files and results while pages watch, so that each of them gets what it does not know yet.

use crate::app::App;
use crate::lab_files::Listed;
use crate::labs::look;
use crate::world::Now;
use netloom_host::runtime::{self, LabState};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often labs and files are looked at, and results.
const LOOK: Duration = Duration::from_millis(500);
const LOOKS_AT_RESULTS: u32 = 4;
/// How often labs are asked that seem to be as they were: each answer takes them a moment.
const ASK_AGAIN: Duration = Duration::from_secs(5);

/// Looks at what there is as long as anybody watches, until the server ends.
pub(crate) async fn look_on(app: Arc<App>) {
    let mut ending = app.ending.clone();
    let (mut known, mut turn) = (Known::default(), 0_u32);
    loop {
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            _ = ending.wait_for(|is_ending| *is_ending) => return,
        }
        if !app.world.is_watched() {
            continue;
        }
        turn = turn.wrapping_add(1);
        let (seen, app_here) = (known, Arc::clone(&app));
        let looked = tokio::task::spawn_blocking(move || seen.look(&app_here, turn.is_multiple_of(LOOKS_AT_RESULTS)));
        let Ok(looked) = looked.await else { return };
        known = looked;
        app.world.change(|now| known.report(now));
    }
}

/// What was seen last.
#[derive(Default)]
struct Known {
    /// What labs have written down, which tells most changes without a question.
    states: BTreeMap<String, (Option<LabState>, bool)>,
    asked: Option<Instant>,
    labs: Vec<Value>,
    files: Vec<Listed>,
    results: u64,
}

impl Known {
    fn look(mut self, app: &App, is_about_results: bool) -> Self {
        let running = runtime::list().unwrap_or_default();
        let states = running.into_iter().map(|lab| (lab.name, (lab.state, runtime::is_ending(&lab.path)))).collect();
        let is_silent = self.labs.iter().any(|lab| lab["answers"] == false);
        if states != self.states || is_silent || self.asked.is_none_or(|asked| asked.elapsed() > ASK_AGAIN) {
            (self.states, self.asked) = (states, Some(Instant::now()));
            self.labs = look(app).unwrap_or_default();
        }
        if let Some(labs) = &app.labs {
            self.files = labs.list().0;
        }
        if is_about_results {
            self.results = app.results_index.fingerprint();
        }
        self
    }

    /// Brings what pages know up to date; false if it was.
    fn report(&self, now: &mut Now) -> bool {
        let same_labs = now.labs.len() == self.labs.len()
            && now.labs.iter().zip(&self.labs).all(|(one, other)| ageless(one) == ageless(other));
        let same_files = *now.files == self.files;
        let same_results = now.results == self.results;
        if !same_labs {
            now.labs = Arc::new(self.labs.clone());
        }
        if !same_files {
            now.files = Arc::new(self.files.clone());
        }
        now.results = self.results;
        !(same_labs && same_files && same_results)
    }
}

/// A lab without what changes at each look.
fn ageless(lab: &Value) -> Value {
    let mut lab = lab.clone();
    if let Some(members) = lab.as_object_mut() {
        members.remove("age_ns");
        if let Some(services) = members.get_mut("services").and_then(Value::as_array_mut) {
            services.iter_mut().for_each(|service| service["ended_since_ns"] = Value::Null);
        }
    }
    lab
}
