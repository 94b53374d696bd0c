//! Names of labs and results in the paths of requests, as far as whoever asks may reach them: there is no other way to one for a handler.

use crate::answer::{Refusal, apart};
use crate::app::App;
use crate::scope::Scope;
use crate::token::Role;
use crate::visitors::Visitor;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use netloom_host::runtime;
use std::path::Path;
use std::sync::Arc;

impl App {
    /// Whether others may reach the lab of this name, whose file is this one.
    pub(crate) fn is_shared(&self, lab: &str, file: Option<&Path>) -> bool {
        match &self.scope {
            Scope::Folder => self.labs.as_ref().zip(file).is_some_and(|(labs, file)| labs.inside(file).is_some()),
            Scope::Lab { name, .. } => name == lab,
            Scope::Results(_) => false,
        }
    }
}

/// The name of a lab in the path of a request, which whoever asks may reach. There is no other way to a name of a lab for a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabName(String);

impl LabName {
    pub(crate) fn get(&self) -> &str {
        &self.0
    }
}

impl FromRequestParts<Arc<App>> for LabName {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let role = parts.extensions.get::<Arc<Visitor>>().map(|visitor| visitor.role);
        let role = role.ok_or_else(|| Refusal::failed("the role of this request is not known"))?;
        let name = of_path(parts, app, "lab").await?;
        if role == Role::Edit {
            return Ok(Self(name));
        }
        let (app, asked) = (Arc::clone(app), name.clone());
        let may = apart(move || {
            // Labs are listed, and the name is looked for among them: it leads nowhere else.
            let lab = runtime::find(&asked).ok().flatten();
            lab.is_some_and(|lab| app.is_shared(&lab.name, lab.state.as_ref().map(|state| state.lab_file.as_path())))
        });
        if may.await? { Ok(Self(name)) } else { Err(Refusal::missing(no_such_lab(&name))) }
    }
}

fn no_such_lab(name: &str) -> String {
    format!("no lab `{}` is up here, or it is not shared with you", name.escape_debug())
}

/// The ID of results in the path of a request, which whoever asks may read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResultsId(String);

impl ResultsId {
    pub(crate) fn get(&self) -> &str {
        &self.0
    }
}

impl FromRequestParts<Arc<App>> for ResultsId {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Refusal> {
        let id = of_path(parts, app, "id").await?;
        match parts.extensions.get::<Arc<Visitor>>() {
            Some(visitor) if app.scope.has_results(visitor.role, &id) => Ok(Self(id)),
            _ => Err(Refusal::missing(format!("there are no results `{}`", id.escape_debug()))),
        }
    }
}

/// A part of the path of a request by the name that its route gives it.
async fn of_path(parts: &mut Parts, app: &Arc<App>, name: &str) -> Result<String, Refusal> {
    let all = RawPathParams::from_request_parts(parts, app).await;
    let all = all.map_err(|error| Refusal::bad(format!("the path of this request: {error}")))?;
    let found = all.iter().find(|(own, _)| *own == name).map(|(_, value)| value.to_owned());
    found.ok_or_else(|| Refusal::missing("this path names nothing"))
}
