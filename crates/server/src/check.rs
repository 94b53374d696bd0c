//! Lab files, read while they are written: what is wrong where, what would be set up, and where it stands on the map.

use crate::access::From;
use crate::answer::{Answer, Refusal, read, reply};
use crate::app::App;
use crate::lab_files::LONGEST_TEXT;
use crate::places::Places;
use crate::scene::scene;
use crate::token::Role;
use crate::tree::{ends, tree};
use crate::visitors::Visitor;
use axum::Extension;
use axum::body::Bytes;
use axum::extract::State;
use netloom_judge::expectations::Tasks;
use netloom_lab::{Clock, Diagnostics, Lab, Limits, Plan, settings_of};
use netloom_units::Duration;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// What is to be read.
#[derive(Debug, Deserialize)]
struct Wanted {
    path: String,
    text: Option<String>,
    clock: Option<String>,
}

/// `POST /api/check`
pub(crate) async fn check(
    State(app): State<Arc<App>>,
    Extension(visitor): Extension<Arc<Visitor>>,
    Extension(From(address)): Extension<From>,
    body: Bytes,
) -> Answer {
    let Wanted { path, text, clock } = read(&body)?;
    if text.is_some() && visitor.role < Role::Edit {
        return Err(Refusal::forbidden("a text of one's own needs the role `edit`: leave `text` out"));
    }
    let clock = clock.map(|clock| parse_clock(&clock)).transpose()?;
    let labs = app.lab_files()?;
    app.scope.check_file(visitor.role, &path)?;
    let found = app.turns.take(&visitor, address, move || {
        let file = labs.named(&path)?;
        let text = match text {
            Some(text) if text.len() as u64 > LONGEST_TEXT => return Err(too_long()),
            Some(text) => text,
            None => labs.read(&path)?.text,
        };
        Ok::<_, Refusal>(checked(&text, &file, clock))
    });
    reply(&found.await??)
}

fn too_long() -> Refusal {
    Refusal::new(axum::http::StatusCode::PAYLOAD_TOO_LARGE, "a lab file has at most 4 MiB")
}

/// A clock as the command line has it.
pub(crate) fn parse_clock(text: &str) -> Result<Clock, Refusal> {
    let wrong =
        || Refusal::bad("`clock` is real, virtual, or a factor by which lab time is slower").with("key", "clock");
    match text {
        "real" => Ok(Clock::Real),
        "virtual" => Ok(Clock::Virtual),
        factor => factor.parse().map(Clock::Dilated).map_err(|_| wrong()),
    }
}

/// What is found in a text that would stand in the file `path`.
pub(crate) fn checked(text: &str, path: &Path, clock: Option<Clock>) -> Value {
    let places = Places::new(text);
    let file = path.to_string_lossy();
    let parsed = netloom_lab::parse_within(text, &file, clock, &Limits::SERVED);
    let tree = netloom_lab::yaml::parse_within(text, &Limits::SERVED).map_or(Value::Null, |root| tree(&root, &places));
    match parsed {
        Ok(Lab { plan, warnings, note }) => json!({
            "ok": true,
            "errors": [],
            "warnings": shown(&warnings, &places),
            "notes": note.into_iter().collect::<Vec<_>>(),
            "tree": tree,
            "plan": described(&plan),
            "scene": scene(&plan),
        }),
        Err(errors) => json!({
            "ok": false,
            "errors": shown(&errors, &places),
            "warnings": [],
            "notes": [],
            "tree": tree,
            "plan": null,
            "scene": null,
        }),
    }
}

/// What would be set up, as `netloom check --json` has it, without what grows faster than the lab: routes, neighbours, names.
fn described(plan: &Plan) -> Value {
    let nodes = plan.nodes.iter().map(|node| {
        let interfaces = node.interfaces.iter().map(|interface| {
            let addresses: Vec<String> = interface.addresses.iter().map(ToString::to_string).collect();
            json!({ "name": interface.name, "addresses": addresses, "mtu_bytes": interface.mtu })
        });
        json!({
            "name": node.name,
            "kind": node.kind.name(),
            "stack": node.stack.name(),
            "interfaces": interfaces.collect::<Vec<_>>(),
            "routes": node.routes.len(),
        })
    });
    let links = plan.links.iter().map(|link| {
        let ends = link.ends.iter().map(|end| {
            let node = &plan.nodes[end.node];
            let interface = node.interfaces.get(end.interface).map(|interface| &interface.name);
            json!({ "node": node.name, "interface": interface })
        });
        let [forward, backward] = link.pipes.each_ref().map(settings_of);
        json!({
            "name": link.name,
            "ends": ends.collect::<Vec<_>>(),
            "shared": link.is_shared,
            "mtu_bytes": link.mtu,
            "forward": { "described": forward },
            "backward": { "described": backward },
        })
    });
    json!({
        "name": plan.name,
        "seed": plan.seed.get(),
        "clock": plan.clock.name(),
        "duration_ns": plan.duration.map(Duration::as_nanos),
        "nodes": nodes.collect::<Vec<_>>(),
        "links": links.collect::<Vec<_>>(),
        "events": plan.timeline.len(),
        "expect": plan.expect.iter().map(|one| json!({ "line": one.line, "text": one.text })).collect::<Vec<_>>(),
        "exercise": plan.exercise.as_ref().map(|_| Tasks::of(plan).report(plan)),
        "bounds": { "events_ns": plan.bounds.events.as_nanos() },
        "journal": plan.journal.is_some(),
    })
}

/// Errors or warnings with their places.
pub(crate) fn shown(found: &Diagnostics, places: &Places<'_>) -> Vec<Value> {
    let shown = found.iter().map(|one| {
        let [from, to] = ends(one.span(), places);
        let column = if one.line() == 0 { 1 } else { places.column(one.span().start) };
        json!({ "line": one.line(), "column": column, "from": from, "to": to, "key": one.key(), "message": one.message() })
    });
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_text_has_a_plan_and_a_map() {
        let found = checked(
            "nodes: [a, b]\nlinks: {l: {ends: [a, b], rate: 1 Mbit/s}}\nlayout: {a: [2, 3]}\n",
            Path::new("x.yaml"),
            None,
        );
        assert_eq!(found["ok"], true, "{found}");
        assert_eq!(
            found["scene"]["nodes"][0],
            json!({
                "name": "a", "kind": "host", "x": 2.0, "y": 3.0, "placed": true, "addresses": ["10.0.0.1", "fd00:6e6c::1"]
            })
        );
        assert_eq!(found["scene"]["nodes"][1]["placed"], false);
        assert_eq!(found["scene"]["links"][0], json!({ "name": "l", "ends": ["a", "b"], "words": ["1 Mbit/s"] }));
        assert_eq!(found["plan"]["name"], "x");
    }

    #[test]
    fn what_is_too_large_is_refused_before_much_is_made_of_it() {
        let many: Vec<String> = (0..30_000).map(|number| format!("n{number}")).collect();
        let aliases =
            format!("nodes: {{a: {{x: &a [{}]}}, b: {{x: [*a, *a, *a, *a, *a, *a, *a]}}}}\n", many.join(", "));
        let range = "from: 1, to: 100000, count: 100000";
        let varied =
            format!("nodes: [a, b]\nvary:\n  x: {{{range}}}\n  y: {{{range}, with: x}}\n  z: {{{range}, with: x}}\n");
        for (text, why) in [
            (format!("nodes: [{}]\n", many.join(", ")), "these are 30000 nodes: a lab on a page has at most 10000"),
            ("generate: {kind: ring, n: 20000}\n".to_owned(), "10000 nodes"),
            (aliases, "more than 200000 values"),
            (varied, "at most 200000 values"),
        ] {
            let found = checked(&text, Path::new("x.yaml"), None);
            let said = found["errors"][0]["message"].as_str().unwrap_or_default();
            assert!(found["ok"] == false && said.contains(why), "{said}");
        }
    }

    #[test]
    fn a_wrong_text_says_where_and_still_has_its_tree() {
        let text = "# über\nnodes: [a, b]\nlinks: {l: {ends: [a, b], rate: fast}}\n";
        let found = checked(text, Path::new("x.yaml"), Some(Clock::Virtual));
        assert_eq!(found["ok"], false);
        let error = &found["errors"][0];
        assert_eq!((&error["line"], &error["key"]), (&json!(3), &json!("links.l.rate")), "{error}");
        let units: Vec<u16> = text.encode_utf16().collect();
        let [from, to] = ["from", "to"].map(|key| usize::try_from(error[key].as_u64().unwrap()).unwrap());
        assert_eq!(String::from_utf16(&units[from..to]).unwrap(), "fast");
        assert!(found["tree"]["map"].is_array());
        assert_eq!(checked("a: [", Path::new("x.yaml"), None)["tree"], Value::Null);
    }
}
