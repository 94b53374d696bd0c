//! The JSON schema of the protocol, made of the types that the program itself reads and writes.

use super::event::Event;
use super::reply::Reply;
use super::request::{Id, Request};
use super::{MAJOR, MINOR};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The JSON schema (draft 2020-12) of everything that is said over the control socket. One line is an instance; the
/// definitions `Request`, and `Reply` and `Event`, are those of either direction.
pub fn schema() -> Value {
    let mut generator = generator();
    let id = id_property(&mut generator);
    generator.subschema_for::<Request>();
    generator.subschema_for::<Reply>();
    generator.subschema_for::<Event>();
    let mut definitions = generator.take_definitions(true);
    let of_requests: Vec<String> = named_by(&definitions["Request"]).collect();
    of_requests.iter().for_each(|name| allow_null(&mut definitions[name.as_str()]));
    for (name, is_closed) in [("Request", true), ("Reply", false), ("Event", false)] {
        complete(&mut definitions[name], &id, is_closed);
    }
    let kinds = ["Request", "Reply", "Event"].map(|name| json!({ "$ref": format!("#/$defs/{name}") }));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("Netloom control protocol {MAJOR}.{MINOR}"),
        "oneOf": kinds,
        "$defs": definitions,
    })
}

/// The keys that each request takes beside `request` and `id`, and whether they have to be there.
pub(super) static REQUESTS: LazyLock<BTreeMap<String, Vec<(String, bool)>>> = LazyLock::new(|| {
    let mut generator =
        SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator();
    let all = generator.subschema_for::<Request>();
    let variants = all.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    variants.filter_map(keys).collect()
});

fn keys(variant: &Value) -> Option<(String, Vec<(String, bool)>)> {
    let name = variant["properties"]["request"]["const"].as_str()?;
    let is_required =
        |key: &str| variant["required"].as_array().is_some_and(|all| all.iter().any(|other| other == key));
    let keys = variant["properties"].as_object()?.keys().filter(|key| *key != "request");
    Some((name.to_owned(), keys.map(|key| (key.clone(), is_required(key))).collect()))
}

fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().into_generator()
}

fn id_property(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<Id>().to_value()
}

/// The names of the types that messages of this kind have their keys from.
fn named_by(messages: &Value) -> impl Iterator<Item = String> {
    let variants = messages["oneOf"].as_array().into_iter().flatten();
    variants.filter_map(|variant| Some(variant["$ref"].as_str()?.rsplit('/').next()?.to_owned()))
}

/// A key that need not be there may also be null.
fn allow_null(keys: &mut Value) {
    let required = keys["required"].take();
    let is_optional = |key: &String| !required.as_array().is_some_and(|all| all.iter().any(|other| other == key));
    for (_, key) in keys["properties"].as_object_mut().into_iter().flatten().filter(|(key, _)| is_optional(key)) {
        *key = json!({ "anyOf": [key.take(), { "type": "null" }] });
    }
    if !required.is_null() {
        keys["required"] = required;
    }
}

/// Adds the identifier to every kind of message. Requests take no key that they do not know; a client has to ignore what
/// it does not know.
fn complete(messages: &mut Value, id: &Value, is_closed: bool) {
    for message in messages["oneOf"].as_array_mut().into_iter().flatten() {
        let properties =
            message.as_object_mut().map(|message| message.entry("properties").or_insert_with(|| json!({})));
        if let Some(properties) = properties.and_then(Value::as_object_mut) {
            properties.insert("id".into(), id.clone());
        }
        if is_closed {
            message["unevaluatedProperties"] = json!(false);
        }
    }
}
