//! The table of keys as JSON, for forms: what the decoder accepts, section by section, with what a reader wants to know.

use crate::keys::TOP;
use crate::section::{Key, Kind, Quantity, Section};
use serde_json::{Map, Value, json};

/// All sections by name, each with its keys; `top` names that of the whole file. Kinds refer to sections by name.
pub fn key_table() -> Value {
    let mut sections = Map::new();
    add(&TOP, &mut sections);
    json!({ "top": TOP.name, "sections": sections })
}

/// Adds a section, and those that its keys refer to.
fn add(section: &'static Section, sections: &mut Map<String, Value>) {
    if sections.contains_key(section.name) {
        return;
    }
    // Sections refer to one another in circles.
    sections.insert(section.name.into(), Value::Null);
    let keys: Vec<Value> = section.keys().map(|key| described(key, sections)).collect();
    sections.insert(section.name.into(), json!({ "doc": section.doc, "keys": keys }));
}

fn described(key: &'static Key, sections: &mut Map<String, Value>) -> Value {
    json!({
        "name": key.name,
        "doc": key.doc,
        "example": key.example,
        "required": key.required,
        "kind": kind(&key.kind, sections),
    })
}

fn kind(this: &'static Kind, sections: &mut Map<String, Value>) -> Value {
    match this {
        Kind::Text(pattern) => json!({ "text": pattern }),
        Kind::Name(named) => json!({ "text": named.pattern() }),
        Kind::Any => json!({ "any": true }),
        Kind::Scalar => json!({ "scalar": true }),
        Kind::Integer { least, most } => json!({ "integer": { "least": least, "most": most } }),
        Kind::Number { least, most } => json!({ "number": { "least": least, "most": most } }),
        Kind::Positive => json!({ "positive": true }),
        Kind::Coordinate => json!({ "coordinate": true }),
        Kind::Flag => json!({ "flag": true }),
        Kind::True => json!({ "true": true }),
        Kind::Word(words) => json!({ "words": words }),
        Kind::Quantity(quantity) => json!({ "quantity": quantity.name(), "units": units(*quantity) }),
        Kind::Zero => json!({ "zero": true }),
        Kind::Section(inner) => named(inner, sections),
        Kind::Optional(inner) => {
            add(inner, sections);
            json!({ "optional": inner.name })
        }
        Kind::Map { names, values } => json!({ "map": { "names": names, "values": kind(values, sections) } }),
        Kind::List { items, least, most } => {
            json!({ "list": { "items": kind(items, sections), "least": least, "most": most } })
        }
        Kind::OneOf(kinds) => {
            json!({ "one_of": kinds.iter().flat_map(|one| options(one, sections)).collect::<Vec<_>>() })
        }
        Kind::Sections(_) => json!({ "one_of": options(this, sections) }),
    }
}

/// What one of several kinds stands for.
fn options(this: &'static Kind, sections: &mut Map<String, Value>) -> Vec<Value> {
    match this {
        Kind::Sections(all) => all.iter().map(|inner| named(inner, sections)).collect(),
        other => vec![kind(other, sections)],
    }
}

fn named(inner: &'static Section, sections: &mut Map<String, Value>) -> Value {
    add(inner, sections);
    json!({ "section": inner.name })
}

/// The units that a form offers, the usual one first.
fn units(quantity: Quantity) -> &'static [&'static str] {
    match quantity {
        Quantity::Rate => &["Mbit/s", "bit/s", "kbit/s", "Gbit/s", "Tbit/s", "B/s", "kB/s", "MB/s", "GB/s"],
        Quantity::Duration | Quantity::SignedDuration => &["ms", "ns", "us", "s", "min", "h"],
        Quantity::Drift => &["ppm", "ppb", "%"],
        Quantity::TimePerByte => &["ns", "ps", "us"],
        Quantity::Probability | Quantity::Correlation => &["%"],
        Quantity::Size => &["kB", "B", "MB", "GB", "KiB", "MiB", "GiB"],
        Quantity::Limit => &["packets", "kB", "B", "MB", "GB", "KiB", "MiB", "GiB", "ms", "ns", "us", "s"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of sections that a kind refers to.
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                for (key, member) in members {
                    if let Some(name) = member.as_str().filter(|_| key == "section" || key == "optional") {
                        found.push(name.to_owned());
                    }
                    references(member, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn every_key_and_every_section_is_there() {
        let table = key_table();
        let sections = table["sections"].as_object().unwrap();
        let mut found = Vec::new();
        references(&table["sections"], &mut found);
        assert!(found.iter().all(|name| sections[name].is_object()));
        let top = table["top"].as_str().unwrap();
        let keys = sections[top]["keys"].as_array().unwrap();
        assert!(keys.iter().any(|key| key["name"] == "links" && key["doc"].as_str().unwrap().len() > 10));
        let schema = crate::schema();
        let named = schema["properties"].as_object().unwrap();
        assert_eq!(keys.len(), named.len());
    }

    #[test]
    fn the_units_of_forms_are_read() {
        for unit in units(Quantity::Rate) {
            assert!(format!("1 {unit}").parse::<netloom_units::Rate>().is_ok(), "{unit}");
        }
        for unit in units(Quantity::Duration) {
            assert!(format!("1 {unit}").parse::<netloom_units::Duration>().is_ok(), "{unit}");
        }
        for unit in units(Quantity::Size) {
            assert!(format!("1 {unit}").parse::<netloom_units::Bytes>().is_ok(), "{unit}");
        }
    }
}
