//! Files of other tools, generated networks, and what a lab file may say.

use crate::access::From;
use crate::answer::{Answer, Refusal, read, reply};
use crate::app::App;
use crate::check::{checked, shown};
use crate::places::Places;
use crate::visitors::Visitor;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use netloom_import::{Format, Imported, Options, Target};
use netloom_lab::{Diagnostics, Limits};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// `GET /api/schema`
pub(crate) async fn schema() -> Answer {
    reply(&netloom_lab::schema())
}

/// `GET /api/schema/protocol`
pub(crate) async fn protocol() -> Answer {
    reply(&netloom_control::schema())
}

/// `GET /api/keys`
pub(crate) async fn keys() -> Answer {
    reply(&netloom_lab::key_table())
}

/// `GET /api/formats`
pub(crate) async fn formats() -> Answer {
    let formats: Vec<Value> =
        Format::ALL.iter().map(|format| json!({ "name": format.name(), "title": format.title() })).collect();
    let targets: Vec<Value> = Target::ALL.iter().map(|target| json!({ "name": target.name() })).collect();
    reply(&json!({ "formats": formats, "targets": targets }))
}

#[derive(Debug, Deserialize)]
struct Foreign {
    name: String,
    text: String,
    from: Option<String>,
}

/// `POST /api/convert`
pub(crate) async fn convert(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Extension(From(address)): Extension<From>,
    body: Bytes,
) -> Answer {
    let Foreign { name, text, from } = read(&body)?;
    let path = app.lab_files()?.named(&name)?;
    let format = match from {
        Some(from) => Some(Format::named(&from).ok_or_else(|| unknown(&from))?),
        None => Format::of(&path, &text),
    };
    let format = format
        .ok_or_else(|| Refusal::bad(format!("{name} has no known format: name it in `from`")).with("key", "from"))?;
    let converted = app.turns.take(&visitor, address, move || {
        let refused = |found: &Diagnostics| wrong(&text, found);
        let file = path.to_string_lossy();
        let imported =
            netloom_import::read(format, &file, text.clone(), &Options::default()).map_err(|found| refused(&found))?;
        imported.parse(None).map_err(|found| refused(&found))?;
        let notes: Vec<String> = Imported::notes(&imported).collect();
        Ok::<_, Refusal>(json!({ "format": format.name(), "text": imported.yaml(), "notes": notes }))
    });
    reply(&converted.await??)
}

fn unknown(format: &str) -> Refusal {
    let names = Format::ALL.map(Format::name).join(", ");
    Refusal::bad(format!("no format is called `{}`: these are: {names}", format.escape_debug())).with("key", "from")
}

/// A text that is refused, with the places of what is wrong.
fn wrong(text: &str, found: &Diagnostics) -> Refusal {
    let message = found.iter().next().map_or_else(|| "this cannot be read".to_owned(), |one| one.message().to_owned());
    Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, message).with("errors", shown(found, &Places::new(text)))
}

#[derive(Debug, Deserialize)]
struct Export {
    path: String,
    text: String,
    to: String,
}

/// `POST /api/export`
pub(crate) async fn export(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Extension(From(address)): Extension<From>,
    body: Bytes,
) -> Answer {
    let Export { path, text, to } = read(&body)?;
    let named = |target: &Target| target.name() == to;
    let target = Target::ALL.into_iter().find(named).ok_or_else(|| {
        let names = Target::ALL.map(Target::name).join(", ");
        Refusal::bad(format!("labs are not written as `{}`: these are possible: {names}", to.escape_debug()))
            .with("key", "to")
    })?;
    let path = app.lab_files()?.named(&path)?;
    let written = app.turns.take(&visitor, address, move || {
        let lab = netloom_lab::parse_within(&text, &path.to_string_lossy(), None, &Limits::SERVED)
            .map_err(|found| wrong(&text, &found))?;
        let (written, notes) = target.write(&lab.plan);
        Ok::<_, Refusal>(json!({ "text": written, "notes": notes }))
    });
    reply(&written.await??)
}

#[derive(Debug, Deserialize)]
struct AsJson {
    text: String,
}

/// `POST /api/format`
pub(crate) async fn as_json(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Extension(From(address)): Extension<From>,
    body: Bytes,
) -> Answer {
    let AsJson { text } = read(&body)?;
    let json = app
        .turns
        .take(&visitor, address, move || netloom_lab::to_json(&text, "the text").map_err(|found| wrong(&text, &found)));
    reply(&json!({ "json": json.await?? }))
}

/// `GET /api/generators`
pub(crate) async fn generators() -> Answer {
    let all: Vec<_> = netloom_lab::generator_keys().collect();
    let shared = all.iter().find(|(kind, ..)| kind.is_empty()).map(|(_, _, keys)| keys.as_slice()).unwrap_or_default();
    let described = all.iter().filter(|(kind, ..)| !kind.is_empty()).map(|(kind, doc, keys)| {
        let keys = keys.iter().chain(shared).map(
            |key| json!({ "name": key.name, "doc": key.doc, "example": key.example, "required": key.is_required }),
        );
        json!({ "kind": kind, "doc": doc, "keys": keys.collect::<Vec<_>>() })
    });
    reply(&json!({ "generators": described.collect::<Vec<_>>() }))
}

#[derive(Debug, Deserialize)]
struct Network {
    kind: String,
    #[serde(default)]
    keys: BTreeMap<String, String>,
    name: Option<String>,
}

/// `POST /api/generate`
pub(crate) async fn generate(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Extension(From(address)): Extension<From>,
    body: Bytes,
) -> Answer {
    let Network { kind, keys, name } = read(&body)?;
    let name = name.unwrap_or_else(|| kind.clone());
    netloom_lab::check_name(&name).map_err(|reason| Refusal::bad(reason).with("key", "name"))?;
    // A value of several lines could bring keys of its own.
    if let Some((key, _)) =
        keys.iter().find(|(key, value)| key.contains(['\n', '\r', ':']) || value.contains(['\n', '\r']))
    {
        return Err(
            Refusal::bad(format!("`{}` is one value on one line", key.escape_debug())).with("key", key.as_str())
        );
    }
    if !netloom_lab::generator_kinds().any(|known| known == kind) {
        let known: Vec<&str> = netloom_lab::generator_kinds().collect();
        return Err(Refusal::bad(format!(
            "no network is called `{}`: these are: {}",
            kind.escape_debug(),
            known.join(", ")
        ))
        .with("key", "kind"));
    }
    let made = app.turns.take(&visitor, address, move || {
        let keys: Vec<(String, String)> = keys.into_iter().filter(|(_, value)| !value.trim().is_empty()).collect();
        let text = netloom_lab::generate(&name, &kind, &keys).map_err(|found| wrong("", &found))?;
        let file = format!("{name}.yaml");
        let found = checked(&text, std::path::Path::new(&file), None);
        Ok::<_, Refusal>(json!({ "text": text, "scene": found["scene"] }))
    });
    reply(&made.await??)
}
