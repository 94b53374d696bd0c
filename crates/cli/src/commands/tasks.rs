//! `netloom tasks`

use super::{DONE, Failure, Outcome, print};
use crate::args::TasksArgs;
use netloom_control::{Client, only_lab};
use netloom_judge::{ExerciseReport, RunError};
use netloom_results::render;

pub(super) fn tasks(args: &TasksArgs) -> Outcome {
    let lab = args.lab.clone().map_or_else(only_lab, Ok)?;
    let exercise = Client::connect(&lab)?.exercise()?;
    if args.json {
        return print(&serde_json::to_string(&exercise).expect("an exercise has string keys only"));
    }
    if exercise.tasks.is_empty() {
        return Err(Failure::from(RunError::Lab(format!("lab `{lab}` has no tasks: its file has no key `exercise`"))));
    }
    print(&words(&exercise, args.hints))?;
    DONE
}

fn words(exercise: &ExerciseReport, hints: bool) -> String {
    let mut parts = vec![exercise.title.clone()];
    parts.extend(Some(exercise.text.clone()).filter(|text| !text.is_empty()));
    parts.push(render::tasks(exercise).trim_end().to_owned());
    if hints {
        let next = exercise.tasks.iter().filter(|task| task.next);
        let lines: Vec<String> = next.flat_map(|task| task.hints.iter().map(|hint| format!("hint: {hint}"))).collect();
        parts.push(if lines.is_empty() { "no hints".into() } else { lines.join("\n") });
    }
    parts.join("\n\n")
}
