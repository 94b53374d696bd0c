//! The tasks of an exercise in words.

use super::{FAINT, GOOD, push_line};
use netloom_judge::quantity::span;
use netloom_judge::{ExerciseReport, TaskRow};

/// The tasks, each with whether it is met; of the one that is to be done next what its checks found.
pub fn tasks(exercise: &ExerciseReport) -> String {
    let mut text = String::new();
    for (place, task) in exercise.tasks.iter().enumerate() {
        let number = place + 1;
        match task.met_ns {
            Some(at) => {
                push_line(
                    &mut text,
                    &format!("{GOOD}met{GOOD:#}    {number}. {} {FAINT}at {}{FAINT:#}", task.title, span(at)),
                );
            }
            None => push_line(&mut text, &format!("to do  {number}. {}", task.title)),
        }
        if task.next {
            next(&mut text, task);
        }
    }
    text
}

fn next(text: &mut String, task: &TaskRow) {
    for line in task.text.lines() {
        push_line(text, &format!("       {line}"));
    }
    for check in &task.checks {
        let sign = if check.met { "holds" } else { "not yet" };
        push_line(text, &format!("       {sign}: {} {FAINT}{}{FAINT:#}", check.text, check.explanation));
    }
}
