//! The lessons that come with the program: lab files with an exercise.

use crate::answer::{Answer, reply};
use netloom_judge::expectations::Tasks;
use serde_json::{Value, json};

/// Their names in addresses of the page, and their files.
const LESSONS: [(&str, &str); 3] = [
    ("bufferbloat", include_str!("../../../examples/lessons/bufferbloat.yaml")),
    ("ospf", include_str!("../../../examples/lessons/ospf.yaml")),
    ("bbr", include_str!("../../../examples/lessons/bbr.yaml")),
];

/// `GET /api/lessons`
pub(crate) async fn lessons() -> Answer {
    reply(&json!({ "lessons": LESSONS.map(|(id, text)| lesson(id, text)) }))
}

fn lesson(id: &str, text: &str) -> Value {
    let plan = netloom_lab::parse(text, id).expect("the lessons are lab files, which a test reads").plan;
    let exercise = Tasks::of(&plan).report(&plan);
    json!({ "id": id, "lab": plan.name, "file": format!("{}.yaml", plan.name), "text": text, "exercise": exercise })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lesson_is_a_lab_file_with_tasks() {
        for (id, text) in LESSONS {
            let lesson = lesson(id, text);
            assert!(lesson["exercise"]["tasks"].as_array().is_some_and(|tasks| tasks.len() >= 3), "{lesson}");
            assert_eq!(lesson["lab"], json!(format!("lesson-{id}")));
            assert_eq!(lesson["exercise"]["tasks"][0]["next"], json!(true));
        }
    }
}
