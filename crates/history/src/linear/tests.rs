use crate::{History, Limits, Model, Operation, Source, Status, Verdict, check, picture};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::VecDeque;

fn history(text: &str) -> History {
    History::read(&[Source { name: "h", text }], None).unwrap()
}

fn verdict(name: &str, text: &str) -> Verdict {
    check(&history(text), &Model::named(name).unwrap(), &Limits::default()).unwrap().verdict
}

/// Events as short words: `a>write 1` invokes, `a=1` completes with a value, `a=` without one, `a!` failed, `a?` is indeterminate.
fn events(words: &[&str]) -> String {
    let mut text = String::new();
    for word in words {
        let at = word.find(['>', '=', '!', '?']).unwrap();
        let (process, rest) = (&word[..at], &word[at + 1..]);
        let mut event = json!({"process": process});
        match &word[at..=at] {
            ">" => {
                let (function, value) = rest.split_once(' ').unwrap_or((rest, "null"));
                event["type"] = json!("invoke");
                event["f"] = json!(function);
                event["value"] = serde_json::from_str(value).unwrap();
            }
            "=" => {
                event["type"] = json!("ok");
                if !rest.is_empty() {
                    event["value"] = serde_json::from_str(rest).unwrap();
                }
            }
            "!" => event["type"] = json!("fail"),
            _ => event["type"] = json!("info"),
        }
        text.push_str(&format!("{event}\n"));
    }
    text
}

#[test]
fn known_histories_of_registers() {
    let cases: [(&[&str], Verdict); 10] = [
        (&["a>write 1", "a=", "b>read", "b=1"], Verdict::Valid),
        // A stale read.
        (&["a>write 1", "a=", "a>write 2", "a=", "b>read", "b=1"], Verdict::Contradiction),
        // Reads beside a write see the old or the new value, but not the new one and then the old one.
        (&["a>write 1", "b>read", "b=null", "b>read", "b=1", "a="], Verdict::Valid),
        (&["a>write 1", "b>read", "b=1", "b>read", "b=null", "a="], Verdict::Contradiction),
        // An indeterminate write may take effect late, early, or never, but not twice.
        (&["a>write 1", "a?", "b>read", "b=null", "b>read", "b=1"], Verdict::Valid),
        (&["a>write 1", "a?", "b>read", "b=1", "b>read", "b=null"], Verdict::Contradiction),
        (
            &["a>write 1", "b>write 2", "b=", "b>read", "b=1", "b>write 2", "b=", "b>read", "b=1"],
            Verdict::Contradiction,
        ),
        // A write that failed never takes effect.
        (&["a>write 1", "a!", "b>read", "b=1"], Verdict::Contradiction),
        // A read that did not return says nothing.
        (&["a>write 1", "a=", "b>read", "b?", "a>read", "a=1"], Verdict::Valid),
        (&[], Verdict::Valid),
    ];
    for (words, expected) in cases {
        assert_eq!(verdict("register", &events(words)), expected, "{words:?}");
    }
}

#[test]
fn known_histories_of_other_objects() {
    let cases: [(&str, &[&str], Verdict); 14] = [
        ("cas", &["a>cas [null, 1]", "a=", "b>cas [1, 2]", "b=", "c>read", "c=2"], Verdict::Valid),
        ("cas", &["a>cas [null, 1]", "b>cas [null, 2]", "a=", "b="], Verdict::Contradiction),
        ("cas", &["a>cas [null, 1]", "b>cas [null, 2]", "a=", "b!"], Verdict::Valid),
        ("cas", &["a>cas [null, 1]", "a?", "b>cas [1, 2]", "b=", "c>read", "c=2"], Verdict::Valid),
        ("set", &["a>add 1", "a=", "b>add 2", "b=", "a>read", "a=[2, 1]"], Verdict::Valid),
        ("set", &["a>add 1", "a=", "b>read", "b=[]"], Verdict::Contradiction),
        (
            "set",
            &["a>add 1", "a=", "b>remove 1", "b?", "a>contains 1", "a=true", "a>contains 1", "a=false"],
            Verdict::Valid,
        ),
        ("set", &["a>add 1", "a=", "a>contains 1", "a=false", "a>contains 1", "a=true"], Verdict::Contradiction),
        ("queue", &["a>enqueue 1", "a=", "a>enqueue 2", "a=", "b>dequeue", "b=1", "b>dequeue", "b=2"], Verdict::Valid),
        ("queue", &["a>enqueue 1", "a=", "a>enqueue 2", "a=", "b>dequeue", "b=2"], Verdict::Contradiction),
        // Who knows what an indeterminate dequeue took?
        ("queue", &["a>enqueue 1", "a=", "a>enqueue 2", "a=", "c>dequeue", "c?", "b>dequeue", "b=2"], Verdict::Valid),
        ("queue", &["a>enqueue 1", "a=", "b>dequeue", "b=null"], Verdict::Contradiction),
        ("mutex", &["a>acquire", "a=", "b>acquire", "a>release", "a=", "b="], Verdict::Valid),
        ("mutex", &["a>acquire", "a=", "b>acquire", "b=", "a>release", "a="], Verdict::Contradiction),
    ];
    for (name, words, expected) in cases {
        assert_eq!(verdict(name, &events(words)), expected, "{name} {words:?}");
    }
}

#[test]
fn keys_are_objects_of_their_own_and_contradictions_name_theirs() {
    let text = r#"{"process": 1, "type": "invoke", "f": "write", "key": "x", "value": 1}
{"process": 1, "type": "ok"}
{"process": 1, "type": "invoke", "f": "read", "key": "y"}
{"process": 1, "type": "ok", "value": null}
{"process": 1, "type": "invoke", "f": "read", "key": "x"}
{"process": 1, "type": "ok", "value": null}
"#;
    let history = history(text);
    let outcome = check(&history, &Model::named("register").unwrap(), &Limits::default()).unwrap();
    let [found] = &outcome.contradictions[..] else { panic!("{outcome:?}") };
    assert_eq!((&found.key, &found.operations[..], found.culprit), (&Some(json!("x")), &[0, 2][..], Some(2)));
    let message = "key \"x\": no order of these 2 operations explains process 1: read → null (h:5)";
    assert_eq!(found.message, message);
    assert_eq!(outcome.to_json(&history)["contradictions"][0]["operations"][1]["result"], Value::Null);
}

#[test]
fn a_contradiction_is_shown_by_the_operations_that_suffice() {
    let mut words: Vec<String> = Vec::new();
    for value in 10..200 {
        words.extend([format!("a>write {value}"), "a=".to_owned(), "c>read".to_owned(), format!("c={value}")]);
    }
    words.extend(["a>write 1", "b>write 7", "a=", "b?", "a>write 2", "a=", "c>read", "c=1"].map(str::to_owned));
    for value in 10..200 {
        words.extend([format!("a>write {value}"), "a=".to_owned()]);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let history = history(&events(&words));
    let outcome = check(&history, &Model::named("register").unwrap(), &Limits::default()).unwrap();
    let found = &outcome.contradictions[0];
    let shown: Vec<String> = found.operations.iter().map(|index| history.operations()[*index].words()).collect();
    assert_eq!(shown, ["write 1", "write 2", "read → 1"]);
    assert_eq!(found.order.len(), 2);
}

#[test]
fn what_takes_too_much_is_unknown() {
    // Of 24 writes at once, any order is possible, and none leads to what is read.
    let mut words: Vec<String> = (0..24).map(|process| format!("p{process}>enqueue {process}")).collect();
    words.extend((0..24).map(|process| format!("p{process}=")));
    words.extend((0..24).flat_map(|value| ["d>dequeue".to_owned(), format!("d={}", (value * 7) % 23)]));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let history = history(&events(&words));
    let model = Model::named("queue").unwrap();
    let small = Limits { memory_bytes: 100_000, ..Limits::default() };
    let over = Limits { is_over: &|| true, ..Limits::default() };
    for limits in [small, over] {
        let outcome = check(&history, &model, &limits).unwrap();
        assert_eq!((outcome.verdict, outcome.notes.len()), (Verdict::Unknown, 1));
    }
}

#[test]
fn long_histories_are_quick() {
    let mut words: Vec<String> = Vec::new();
    for value in 0..20_000 {
        words.extend([format!("a>write {value}"), "b>read".to_owned(), "a=".to_owned(), format!("b={value}")]);
        if value % 50 == 0 {
            words.extend([format!("x{value}>write {}", value + 1_000_000), format!("x{value}?")]);
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert_eq!(verdict("register", &events(&words)), Verdict::Valid);
}

#[test]
fn wrong_values_are_refused_with_their_line() {
    let cases: [(&str, &[&str], &str); 6] = [
        ("register", &["a>cas [1, 2]", "a="], "h:1: `f` is \"cas\": the model `register` knows read, write"),
        ("register", &["a>read", "a="], "h:2: an `ok` of `read` lacks `value`"),
        ("cas", &["a>cas 5", "a="], "h:2: `value` is 5: [old, new], a list, would be right"),
        ("cas", &["a>cas [5]", "a="], "h:2: `value` has 1 elements"),
        ("set", &["a>read", "a=5"], "h:2: `value` is 5: the elements, a list"),
        ("set", &["a>contains 5", "a=5"], "h:2: `value` of an `ok` of `contains` is 5: true or false"),
    ];
    for (name, words, message) in cases {
        let error = check(&history(&events(words)), &Model::named(name).unwrap(), &Limits::default()).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
    }
}

/// Objects of the oracle, which knows nothing of the checker's.
#[derive(Clone)]
enum Plain {
    Register(Value),
    Set(Vec<Value>),
    Queue(VecDeque<Value>),
    Lock(Option<String>),
}

/// Carries an operation out; false if it cannot return what it did.
fn apply(object: &mut Plain, operation: &Operation) -> bool {
    let is_known = operation.status == Status::Ok;
    let value = &operation.value;
    let result = operation.result.clone().unwrap_or(Value::Null);
    match (object, operation.function.as_str()) {
        (Plain::Register(held), "read") => *held == result,
        (Plain::Register(held), "write") => {
            *held = value.clone();
            true
        }
        (Plain::Register(held), _) => {
            let fits = *held == value[0];
            if fits {
                *held = value[1].clone();
            }
            fits
        }
        (Plain::Set(held), "add") => {
            held.retain(|one| one != value);
            held.push(value.clone());
            true
        }
        (Plain::Set(held), "remove") => {
            held.retain(|one| one != value);
            true
        }
        (Plain::Set(held), "contains") => json!(held.contains(value)) == result,
        (Plain::Set(held), _) => {
            let shown = result.as_array().unwrap();
            shown.len() == held.len() && shown.iter().all(|one| held.contains(one))
        }
        (Plain::Queue(held), "enqueue") => {
            held.push_back(value.clone());
            true
        }
        (Plain::Queue(held), _) => {
            let taken = held.pop_front();
            !is_known || taken.unwrap_or(Value::Null) == result
        }
        (Plain::Lock(held), "acquire") => held.replace(operation.process.clone()).is_none(),
        (Plain::Lock(held), _) => held.take() == Some(operation.process.clone()),
    }
}

/// Whether any order of all that completed and some of the rest is right, tried one by one.
fn has_order(object: &Plain, operations: &[&Operation]) -> bool {
    if operations.iter().all(|one| one.end.is_none()) {
        return true;
    }
    (0..operations.len()).any(|next| {
        let mut after = object.clone();
        let rest: Vec<&Operation> =
            operations.iter().enumerate().filter(|(at, _)| *at != next).map(|(_, one)| *one).collect();
        !rest.iter().any(|one| one.precedes(operations[next]))
            && apply(&mut after, operations[next])
            && has_order(&after, &rest)
    })
}

fn oracle(object: &Plain, history: &History) -> bool {
    let says = |one: &&Operation| {
        !matches!((one.status, one.function.as_str()), (Status::Fail, _) | (Status::Info, "read" | "contains"))
    };
    has_order(object, &history.operations().iter().filter(says).collect::<Vec<_>>())
}

/// Makes a history of random choices: a process that is busy completes, one that is not invokes.
fn random(name: &str, choices: &[(u8, u8, u8, u8)]) -> String {
    let mut open: [Option<&str>; 4] = [None; 4];
    let mut text = String::new();
    for (who, what, one, other) in choices {
        let process = usize::from(*who) % open.len();
        let mut event = json!({"process": format!("p{process}")});
        let Some(function) = open[process].take() else {
            let functions = Model::named(name).unwrap().functions();
            let function = functions[usize::from(*what) % functions.len()];
            open[process] = Some(function);
            event["type"] = json!("invoke");
            event["f"] = json!(function);
            event["value"] = match function {
                "cas" => json!([one % 3, other % 3]),
                "read" | "dequeue" | "acquire" | "release" => Value::Null,
                _ => json!(one % 3),
            };
            text.push_str(&format!("{event}\n"));
            continue;
        };
        event["type"] = json!(["ok", "ok", "ok", "ok", "fail", "info"][usize::from(*what) % 6]);
        if event["type"] == "ok" {
            match (name, function) {
                ("set", "read") => event["value"] = json!((0..3).filter(|bit| one >> bit & 1 == 1).collect::<Vec<_>>()),
                (_, "contains") => event["value"] = json!(one % 2 == 0),
                (_, "read" | "dequeue") => event["value"] = if one % 4 == 3 { Value::Null } else { json!(one % 4) },
                _ => {}
            }
        }
        text.push_str(&format!("{event}\n"));
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn verdicts_are_those_of_all_orders(
        which in 0..5_usize,
        choices in prop::collection::vec((any::<u8>(), any::<u8>(), any::<u8>(), any::<u8>()), 1..15),
    ) {
        let name = ["register", "cas", "set", "queue", "mutex"][which];
        let object = match which {
            0 | 1 => Plain::Register(Value::Null),
            2 => Plain::Set(Vec::new()),
            3 => Plain::Queue(VecDeque::new()),
            _ => Plain::Lock(None),
        };
        let history = history(&random(name, &choices));
        let outcome = check(&history, &Model::named(name).unwrap(), &Limits::default()).unwrap();
        let expected = if oracle(&object, &history) { Verdict::Valid } else { Verdict::Contradiction };
        prop_assert_eq!(outcome.verdict, expected);
        for found in &outcome.contradictions {
            // By the end of the culprit, what is shown contradicts by itself when all else may have happened at any time.
            let end = history.operations[found.culprit.unwrap()].end.unwrap();
            let mut relaxed = history.clone();
            relaxed.operations.retain(|one| one.start < end);
            for (index, operation) in relaxed.operations.iter_mut().enumerate() {
                operation.end = operation.end.filter(|it| *it <= end);
                if !found.operations.contains(&index) && operation.status == Status::Ok {
                    (operation.start, operation.end) = (0, None);
                }
                let is_open = operation.end.is_none() && operation.status == Status::Ok;
                let observes = matches!(operation.function.as_str(), "read" | "contains");
                if is_open && (observes || operation.function == "dequeue" && operation.result == Some(Value::Null)) {
                    operation.status = Status::Fail;
                }
            }
            prop_assert!(!oracle(&object, &relaxed), "{}", found.message);
            prop_assert!(picture(&history, found).contains("class=\"culprit\""));
        }
    }
}
