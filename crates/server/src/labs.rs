//! Labs that are up: listed, and taken down.

use crate::answer::{Answer, apart, reply};
use crate::app::App;
use crate::reach::LabName;
use crate::token::Role;
use crate::visitors::Visitor;
use axum::Extension;
use axum::extract::State;
use netloom_control::{ControlError, Look, Silence, TakenDown, look_at_labs, take_down};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;

/// `GET /api/labs`
pub(crate) async fn list(State(app): State<Arc<App>>, Extension(visitor): Extension<Arc<Visitor>>) -> Answer {
    let mut labs = apart(move || look(&app)).await??;
    labs.retain(|lab| visitor.role == Role::Edit || lab["shared"] == Value::Bool(true));
    reply(&json!({ "labs": labs }))
}

/// What labs say of themselves, and where their files and results are among those that are served.
pub(crate) fn look(app: &App) -> Result<Vec<Value>, ControlError> {
    Ok(look_at_labs()?.iter().map(|lab| described(lab, app)).collect())
}

fn described(lab: &Look, app: &App) -> Value {
    let (mut value, file, results) = match lab {
        Look::Answers(info) => {
            let mut value = json!(info);
            value["answers"] = true.into();
            (value, Some(&info.file), app.results_index.id(&info.folder))
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
    let inside = app.labs.as_ref().zip(file).and_then(|(labs, file)| labs.inside(file));
    let name = value["name"].as_str().unwrap_or_default();
    value["shared"] = app.is_shared(name, file.map(PathBuf::as_path)).into();
    value["path"] = json!(inside);
    value["results"] = json!(&results);
    value["job"] = json!(results.and_then(|results| app.jobs.of_results(&results)));
    value
}

/// `DELETE /api/labs/LAB`
pub(crate) async fn down(lab: LabName) -> Answer {
    let TakenDown { killed, report } = apart(move || take_down(lab.get())).await??;
    reply(&json!({ "killed": killed, "report": report }))
}
