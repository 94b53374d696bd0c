//! Labs that are up: listed, and taken down.

use crate::answer::{Answer, apart, reply};
use crate::app::App;
use axum::extract::{Path, State};
use netloom_control::{Look, Silence, TakenDown, look_at_labs, take_down};
use netloom_judge::RunError;
use serde_json::{Value, json};
use std::sync::Arc;

/// `GET /api/labs`
pub(crate) async fn list(State(app): State<Arc<App>>) -> Answer {
    let labs = apart(move || look(&app)).await??;
    reply(&json!({ "labs": labs }))
}

/// What labs say of themselves, and where their files and results are among those that are served.
pub(crate) fn look(app: &App) -> Result<Vec<Value>, RunError> {
    Ok(look_at_labs()?.iter().map(|lab| described(lab, app)).collect())
}

fn described(lab: &Look, app: &App) -> Value {
    let (mut value, file, results) = match lab {
        Look::Answers(info) => {
            let mut value = json!(info);
            value["answers"] = true.into();
            (value, Some(&info.file), app.shelf.id(&info.folder))
        }
        Look::Silent { name, why, pid, file } => {
            let state = match why {
                Silence::Starting => "starting",
                Silence::Ending => "ending",
                Silence::Stuck => "stuck",
            };
            (json!({ "name": name, "answers": false, "state": state, "pid": pid, "file": file }), file.as_ref(), None)
        }
    };
    let inside = app.folder.as_ref().zip(file).and_then(|(folder, file)| folder.inside(file));
    value["path"] = json!(inside);
    value["results"] = json!(&results);
    value["job"] = json!(results.and_then(|results| app.jobs.of_results(&results)));
    value
}

/// `DELETE /api/labs/LAB`
pub(crate) async fn down(Path(lab): Path<String>) -> Answer {
    let TakenDown { killed, report } = apart(move || take_down(&lab)).await??;
    reply(&json!({ "killed": killed, "report": report }))
}
