//! An exercise as JSON.

use crate::plan::{ExercisePlan, TaskPlan};
use netloom_units::Duration;
use serde_json::{Value, json};

pub(super) fn exercise(exercise: &ExercisePlan) -> Value {
    json!({ "title": exercise.title, "text": exercise.text, "tasks": exercise.tasks.iter().map(task).collect::<Vec<_>>() })
}

fn task(task: &TaskPlan) -> Value {
    json!({
        "line": task.line,
        "title": task.title,
        "text": task.text,
        "check": task.checks.iter().map(|one| json!({ "line": one.line, "text": one.text })).collect::<Vec<_>>(),
        "last_ns": task.last.map(Duration::as_nanos),
        "hints": task.hints,
    })
}
