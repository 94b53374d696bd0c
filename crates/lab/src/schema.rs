//! The JSON schema of lab files, made of the same tables as the decoder.

use crate::keys::TOP;
use crate::section::{Key, Kind, Section};
use crate::yaml::yaml_value;
use serde_json::{Map, Value, json};

/// The JSON schema (draft 2020-12) of lab files, for editors and other tools. Two keywords of our own say what a text means: `x-quantity`
/// which quantity it is, and `x-name` of what it is the name.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    let top = section(&TOP, &mut definitions);
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Netloom lab",
    });
    let object = schema.as_object_mut().expect("it is an object");
    object.extend(top.as_object().cloned().expect("a section is an object"));
    object.insert("$defs".into(), Value::Object(definitions));
    schema
}

fn section(section: &Section, definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for key in section.keys() {
        properties.insert(key.name.into(), property(key, definitions));
    }
    let required: Vec<&str> = section.keys().filter(|key| key.required).map(|key| key.name).collect();
    let mut object = json!({
        "description": section.doc,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    if section.name == "lab" {
        object["anyOf"] = json!(["nodes", "generate"].map(|key| json!({ "required": [key] })));
    }
    if section.name == "cpu" {
        object["minProperties"] = json!(1);
    }
    if section.name == "ready" {
        object["oneOf"] = json!(["tcp", "udp", "file", "command", "pause"].map(|key| json!({ "required": [key] })));
    }
    object
}

fn property(key: &Key, definitions: &mut Map<String, Value>) -> Value {
    let mut value = kind(&key.kind, definitions);
    value["description"] = json!(key.doc);
    value["examples"] = json!([yaml_value(key.example)]);
    value
}

fn kind(this: &Kind, definitions: &mut Map<String, Value>) -> Value {
    match this {
        Kind::Text(pattern) => json!({ "type": "string", "pattern": pattern }),
        Kind::Any => json!({}),
        Kind::Scalar => json!({ "type": ["string", "number", "boolean"] }),
        Kind::Integer { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Coordinate => json!({ "type": "number" }),
        Kind::Positive => json!({ "type": "number", "exclusiveMinimum": 0 }),
        Kind::Number { least, most } => json!({ "type": "number", "minimum": least, "maximum": most }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::True => json!({ "const": true }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Name(named) => json!({ "type": "string", "pattern": named.pattern(), "x-name": named.word() }),
        Kind::Quantity(quantity) => {
            json!({ "type": "string", "pattern": quantity.pattern(), "x-quantity": quantity.name() })
        }
        Kind::Zero => json!({ "const": 0 }),
        Kind::Section(inner) => reference(inner, definitions),
        Kind::Optional(inner) => json!({ "anyOf": [reference(inner, definitions), { "type": "null" }] }),
        Kind::Map { names, values } => json!({
            "type": "object",
            "propertyNames": { "pattern": names },
            "additionalProperties": kind(values, definitions),
        }),
        Kind::List { items, least, most } => {
            let mut list = json!({ "type": "array", "items": kind(items, definitions), "minItems": least });
            if let Some(most) = most {
                list["maxItems"] = json!(most);
            }
            list
        }
        Kind::OneOf(kinds) => {
            let mut options = Vec::new();
            for option in *kinds {
                match option {
                    Kind::Sections(all) => options.extend(all.iter().map(|one| reference(one, definitions))),
                    other => options.push(kind(other, definitions)),
                }
            }
            json!({ "anyOf": options })
        }
        Kind::Sections(all) => {
            json!({ "anyOf": all.iter().map(|one| reference(one, definitions)).collect::<Vec<_>>() })
        }
    }
}

fn reference(inner: &Section, definitions: &mut Map<String, Value>) -> Value {
    if !definitions.contains_key(inner.name) {
        // The name is taken before the section is made, so that one that contains itself would end.
        definitions.insert(inner.name.into(), Value::Null);
        let made = section(inner, definitions);
        definitions.insert(inner.name.into(), made);
    }
    json!({ "$ref": format!("#/$defs/{}", inner.name) })
}

#[cfg(test)]
mod tests;
