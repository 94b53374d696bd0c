//! Reading requests that anybody may have written: what is wrong is said with the key and with what would be right.

use super::reply::Refused;
use super::request::{Id, Message, Request};
use super::schema::REQUESTS;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// A longer identifier is no identifier: the lab keeps some for as long as a program runs.
const LONGEST_ID: usize = 128;
/// What the message shows of a name that does not exist.
const LONGEST_NAME: usize = 60;

/// The request in a line, or the identifier that the line has all the same and what is wrong with it.
pub(crate) fn read(line: &[u8]) -> Result<Message, (Option<Id>, Refused)> {
    let value =
        serde_json::from_slice(line).map_err(|error| (None, no_object(&format!("this is no JSON: {error}"))))?;
    let Value::Object(mut object) = value else { return Err((None, no_object("this is no JSON object"))) };
    let id = object.remove("id").map(id).transpose().map_err(|refused| (None, refused))?;
    let word = object.remove("of_all").map(word).transpose().map_err(|refused| (id.clone(), refused))?;
    match request(object) {
        Ok(request) => Ok(Message { id, of_all: word, request }),
        Err(refused) => Err((id, refused)),
    }
}

fn no_object(what: &str) -> Refused {
    Refused::usage(format!(
        "{what}; a request is an object on a line of its own, for example {{\"request\": \"info\"}}"
    ))
}

fn id(value: Value) -> Result<Id, Refused> {
    match serde_json::from_value(value) {
        Ok(Id::Text(text)) if text.len() > LONGEST_ID => Err(()),
        other => other.map_err(drop),
    }
    .map_err(|()| wrong("id", format!("`id`: write a whole number or a string of at most {LONGEST_ID} bytes")))
}

fn word(value: Value) -> Result<String, Refused> {
    match value {
        Value::String(text) if text.len() <= LONGEST_ID => Ok(text),
        _ => Err(wrong("of_all", format!("`of_all`: write a string of at most {LONGEST_ID} bytes"))),
    }
}

fn request(mut object: Map<String, Value>) -> Result<Request, Refused> {
    let names = || REQUESTS.keys().map(String::as_str);
    let missing = || format!("a request has the key `request`: {}", list(names()));
    let name = match object.remove("request") {
        Some(Value::String(name)) => name,
        Some(_) => return Err(wrong("request", "`request`: write its name, for example \"info\"".to_owned())),
        None => return Err(wrong("request", missing())),
    };
    let Some(keys) = REQUESTS.get(&name) else {
        let what = format!("no request is called `{}`: {}", shown(&name), suggestion(&name, names()));
        return Err(wrong("request", what));
    };
    check_keys(&name, &object, keys)?;
    // Whoever has nothing to say may say so.
    object
        .retain(|key, value| !value.is_null() || keys.iter().any(|(known, is_required)| *is_required && known == key));
    decode(&name, object.into())
}

/// A key that nobody knows may be one that matters, mistyped.
fn check_keys(name: &str, object: &Map<String, Value>, keys: &[(String, bool)]) -> Result<(), Refused> {
    let known = || keys.iter().map(|(key, _)| key.as_str());
    if let Some(unknown) = object.keys().find(|key| known().all(|other| other != key.as_str())) {
        let what = format!("`{name}` takes no key `{}`: {}", shown(unknown), suggestion(unknown, known()));
        return Err(wrong(shown(unknown), what));
    }
    match keys.iter().find(|(key, is_required)| *is_required && !object.contains_key(key)) {
        Some((missing, _)) => Err(wrong(missing, format!("`{name}` lacks the key `{missing}`"))),
        None => Ok(()),
    }
}

fn decode(name: &str, body: Value) -> Result<Request, Refused> {
    match name {
        "hello" => body_of(body, Request::Hello),
        "info" => Ok(Request::Info),
        "topology" => Ok(Request::Topology),
        "now" => Ok(Request::Now),
        "advance" => body_of(body, Request::Advance),
        "pause" => Ok(Request::Pause),
        "resume" => Ok(Request::Resume),
        "stats" => Ok(Request::Stats),
        "verdict" => Ok(Request::Verdict),
        "restart" => body_of(body, Request::Restart),
        "stop" => body_of(body, Request::Stop),
        "start" => body_of(body, Request::Start),
        "exercise" => Ok(Request::Exercise),
        "exec" => body_of(body, Request::Exec),
        "capture" => body_of(body, Request::Capture),
        "signal" => body_of(body, Request::Signal),
        "set" => body_of(body, Request::Set),
        "partition" => body_of(body, Request::Partition),
        "heal" => Ok(Request::Heal),
        "fault" => body_of(body, Request::Fault),
        "socket" => body_of(body, Request::Socket),
        "console" => body_of(body, Request::Console),
        "subscribe" => body_of(body, Request::Subscribe).and_then(as_its_topic_has_it),
        "unsubscribe" => body_of(body, Request::Unsubscribe),
        "down" => Ok(Request::Down),
        other => Err(wrong("request", format!("no request is called `{other}`"))),
    }
}

fn body_of<T: DeserializeOwned>(body: Value, request: impl FnOnce(T) -> Request) -> Result<Request, Refused> {
    serde_path_to_error::deserialize(body).map(request).map_err(|error| {
        let key = error.path().to_string();
        wrong(&key, format!("`{key}`: {}", error.inner()))
    })
}

/// A subscription has the keys of its topic.
fn as_its_topic_has_it(request: Request) -> Result<Request, Refused> {
    match &request {
        Request::Subscribe(wanted) => match wanted.wrong_key() {
            Some((key, what)) => Err(wrong(key, what)),
            None => Ok(request),
        },
        _ => Ok(request),
    }
}

fn wrong(key: &str, message: String) -> Refused {
    Refused { key: Some(key.to_owned()), ..Refused::usage(message) }
}

/// What was meant, or what there is.
fn suggestion<'a>(word: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    match netloom_lab::nearest(word, known.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => list(known),
    }
}

fn list<'a>(known: impl Iterator<Item = &'a str>) -> String {
    let all: Vec<&str> = known.collect();
    if all.is_empty() { "it takes none".to_owned() } else { format!("there are {}", all.join(", ")) }
}

/// The beginning of a name that somebody may have made long.
fn shown(name: &str) -> &str {
    name.char_indices().nth(LONGEST_NAME).map_or(name, |(end, _)| &name[..end])
}
