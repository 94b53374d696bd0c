//! Traces of delay and loss: constant values one after the other, once or again and again (crate `netem-trace`).

use super::{share, time};
use crate::files::Input;
use crate::notes::Notes;
use crate::source::{Place, Read, Wrong};
use crate::tree::{self, Tree};
use crate::value::{Value, entry};
use netloom_lab::yaml::{Content, Node};
use netloom_units::Duration;

/// Steps of a schedule that is repeated a number of times.
const MOST_STEPS: usize = 10_000;

/// The schedule in the file that `said` names; none if it has another form.
pub(super) fn read(said: &Node, key: &str, input: &mut Input<'_>, notes: &mut Notes) -> Read<Option<Value>> {
    let name = said.text().unwrap_or_default();
    let missing = || said.place().wrong(format!("there is no file {name:?} beside this one or below that can be read"));
    let file = input.open(name).ok_or_else(missing)?;
    let text = input.source(file);
    let root = if name.ends_with(".toml") { crate::toml::parse(text) } else { tree::parse(text) };
    let within = |wrong: Wrong| Wrong { place: Place { file, ..wrong.place }, ..wrong };
    match schedule(&root.map_err(within)?, key).map_err(within)? {
        Some(schedule) => Ok(Some(schedule)),
        None => {
            notes.add(said.place(), "a trace that is not of constant values one after the other is not read");
            Ok(None)
        }
    }
}

fn schedule(root: &Node, key: &str) -> Read<Option<Value>> {
    let (repeated, constant) = match key {
        "delay" => ("RepeatedDelayPatternConfig", "StaticDelayConfig"),
        _ => ("RepeatedLossPatternConfig", "StaticLossConfig"),
    };
    let (parts, count) = match (root.get(repeated), root.get(constant)) {
        (Some(all), _) => {
            let parts: Option<Vec<&Node>> =
                all.get("pattern").map_or(&[][..], Tree::items).iter().map(|part| part.get(constant)).collect();
            (parts, all.word("count").unwrap_or("0").parse::<usize>().ok())
        }
        (None, only) => (only.map(|only| vec![only]), Some(1)),
    };
    let (Some(parts), Some(count)) = (parts.filter(|parts| !parts.is_empty()), count) else { return Ok(None) };
    let mut steps = Vec::new();
    let mut at = Duration::ZERO;
    for part in (0..count.max(1)).flat_map(|_| &parts) {
        if steps.len() >= MOST_STEPS {
            break;
        }
        let Some(value) = value_of(part, key)? else { return Ok(None) };
        steps.push(Value::map(vec![entry("at", at), entry(key, value)]));
        let span = part.required("duration", "write for example `\"duration\": \"1s\"`")?;
        at = at + time(span)?;
        if time(span)?.is_zero() {
            return Err(span.place().wrong("a part without a duration"));
        }
    }
    let mut keys = Vec::new();
    if count == 0 {
        // At the time of its last step it begins again.
        let Some(first) = value_of(parts[0], key)? else { return Ok(None) };
        steps.push(Value::map(vec![entry("at", at), entry(key, first)]));
        keys.push(entry("repeat", Value::plain("true")));
    }
    keys.insert(0, entry("steps", Value::list(steps)));
    Ok(Some(Value::map(keys)))
}

/// The delay, or the loss if it is the same for all packets.
fn value_of(part: &Node, key: &str) -> Read<Option<Value>> {
    let said = part.required(key, "a part has a value")?;
    if key == "delay" {
        return Ok(Some(time(said)?.into()));
    }
    match &said.content {
        Content::List(items) if items.len() == 1 => Ok(Some(share(&items[0])?.into())),
        _ => Ok(None),
    }
}
