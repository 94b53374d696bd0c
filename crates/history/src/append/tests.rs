use crate::{History, Isolation, Limits, Model, Outcome, Source, Status, Verdict, check};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Transactions one after the other or at once: a line is one that ends before the next line begins; those of one line overlap. A transaction has
/// parts such as `a x 1` (append) and `r x 1 2` (read), and a mark in front: `!` failed, `?` indeterminate.
fn history(lines: &[&[&str]]) -> History {
    let mut text = String::new();
    let mut process = 0;
    for line in lines {
        let mut ends = Vec::new();
        for transaction in *line {
            let (kind, parts) = match transaction.split_at(1) {
                ("!", rest) => ("fail", rest),
                ("?", rest) => ("info", rest),
                _ => ("ok", *transaction),
            };
            let parts: Vec<(Value, Value)> = parts.split(", ").map(part).collect();
            let (asked, done): (Vec<Value>, Vec<Value>) = parts.into_iter().unzip();
            text.push_str(&format!("{}\n", json!({"process": process, "type": "invoke", "f": "txn", "value": asked})));
            ends.push(json!({"process": process, "type": kind, "value": done}));
            process += 1;
        }
        ends.iter().for_each(|end| text.push_str(&format!("{end}\n")));
    }
    History::read(&[Source { name: "h", text: &text }], None).unwrap()
}

fn part(words: &str) -> (Value, Value) {
    let words: Vec<&str> = words.split_whitespace().collect();
    let numbers: Vec<u32> = words[2..].iter().map(|word| word.parse().unwrap()).collect();
    if words[0] == "a" {
        let append = json!(["append", words[1], numbers[0]]);
        return (append.clone(), append);
    }
    (json!(["r", words[1], null]), json!(["r", words[1], numbers]))
}

fn outcome(history: &History, isolation: Isolation) -> Outcome {
    check(history, &Model::Append { isolation }, &Limits::default()).unwrap()
}

fn kinds(lines: &[&[&str]]) -> Vec<&'static str> {
    outcome(&history(lines), Isolation::StrictSerializable).contradictions.iter().map(|one| one.kind).collect()
}

#[test]
fn each_anomaly_has_its_name() {
    let cases: [(&str, &[&[&str]]); 13] = [
        ("G0", &[&["a x 1, a y 1", "a x 2, a y 2"], &["r x 1 2, r y 2 1"]]),
        ("G1a", &[&["!a x 1"], &["r x 1"]]),
        ("G1b", &[&["a x 1, a x 2", "r x 1"], &["r x 1 2"]]),
        ("G1c", &[&["a x 1, r y 1", "a y 1, r x 1"]]),
        ("G-single", &[&["a x 1, a y 1", "r x 1, r y"]]),
        // A lost update: the second one was appended to what it had read, and is gone.
        ("G-single", &[&["r x, a x 1", "r x, a x 2"], &["r x 1"]]),
        ("G2", &[&["r x, a y 1", "r y, a x 1"]]),
        ("internal", &[&["a x 1, r x"]]),
        ("internal", &[&["r x, r x 1", "a x 1"]]),
        ("incompatible order", &[&["a x 1", "a x 2"], &["r x 1 2"], &["r x 2 1"]]),
        ("duplicate elements", &[&["a x 1"], &["r x 1 1"]]),
        ("unexpected element", &[&["r x 1"]]),
        // Serializable, but not in the order of real time.
        ("G-single-realtime", &[&["a x 1"], &["r x"], &["r x 1"]]),
    ];
    for (kind, lines) in cases {
        assert!(kinds(lines).contains(&kind), "{kind}: {:?}", kinds(lines));
    }
}

#[test]
fn what_a_serial_order_explains_is_valid() {
    let cases: [&[&[&str]]; 6] = [
        &[&["a x 1"], &["r x 1, a x 2"], &["r x 1 2"]],
        &[&["?a x 1"], &["r x"], &["r x 1"]],
        &[&["!a x 1"], &["r x"]],
        &[&["r x, a x 1, r x 1, a x 2, r x 1 2"]],
        &[&["a x 1", "r x 1", "r x"]],
        &[&["a x 1", "a y 1"], &["r x 1, r y 1"]],
    ];
    for lines in cases {
        assert_eq!(kinds(lines), [""; 0], "{lines:?}");
    }
}

#[test]
fn a_level_allows_what_only_stronger_ones_forbid() {
    let skew = history(&[&["r x, a y 1", "r y, a x 1"], &["r x 1, r y 1"]]);
    assert_eq!(outcome(&skew, Isolation::Serializable).verdict, Verdict::Contradiction);
    let allowed = outcome(&skew, Isolation::Snapshot);
    assert_eq!((allowed.verdict, allowed.notes[0].as_str()), (Verdict::Valid, "snapshot allows what was found: G2"));
    let single = history(&[&["a x 1, a y 1", "r x 1, r y"], &["r y 1"]]);
    assert_eq!(outcome(&single, Isolation::Snapshot).verdict, Verdict::Contradiction);
    assert_eq!(outcome(&single, Isolation::ReadCommitted).verdict, Verdict::Valid);
    let late = history(&[&["a x 1"], &["r x"], &["r x 1"]]);
    assert_eq!(outcome(&late, Isolation::Serializable).verdict, Verdict::Valid);
}

#[test]
fn a_circle_says_what_shows_each_of_its_edges() {
    let found = outcome(&history(&[&["r x, a y 1", "r y, a x 1"]]), Isolation::Serializable);
    let circle = &found.contradictions[0];
    assert_eq!((circle.kind, circle.arrows.len(), &circle.operations[..]), ("G2", 2, &[0, 1][..]));
    assert!(circle.message.contains("it read list \"x\" up to nothing, before 1 was appended"), "{}", circle.message);
}

#[test]
fn wrong_transactions_are_refused() {
    let cases = [
        (r#""value": 5"#, r#""value": 5"#, "`value` is 5: a list of"),
        (r#""value": [["w", 1, 2]]"#, r#""value": [["w", 1, 2]]"#, "`append` or `r` would be right"),
        (r#""value": [["r", 1, null]]"#, r#""value": [["r", 1, 7]]"#, "[\"r\", KEY, [ELEMENT, …]] would be right"),
        (r#""value": [["r", 1, null]]"#, r#""value": [["r", 2, []]]"#, "other parts than the invocation at line 1"),
        (
            r#""value": [["append", 1, 1], ["append", 1, 1]]"#,
            r#""value": [["append", 1, 1], ["append", 1, 1]]"#,
            "a second time",
        ),
    ];
    for (asked, done, message) in cases {
        let text = format!(
            "{{\"process\": 1, \"type\": \"invoke\", \"f\": \"txn\", {asked}}}\n{{\"process\": 1, \"type\": \"ok\", {done}}}\n"
        );
        let history = History::read(&[Source { name: "h", text: &text }], None).unwrap();
        let error = check(&history, &Model::named("append").unwrap(), &Limits::default()).unwrap_err();
        assert!(error.to_string().contains(message), "{error}");
    }
}

#[test]
fn long_histories_are_quick() {
    let lines: Vec<String> = (1..3_000)
        .map(|number| format!("r x{} {}, a x{} {number}", number / 10, read_before(number), number / 10))
        .collect();
    let lines: Vec<[&str; 1]> = lines.iter().map(|line| [line.as_str()]).collect();
    let lines: Vec<&[&str]> = lines.iter().map(|line| &line[..]).collect();
    assert_eq!(outcome(&history(&lines), Isolation::StrictSerializable).verdict, Verdict::Valid);
}

fn read_before(number: u32) -> String {
    let first = (number / 10 * 10).max(1);
    (first..number).map(|one| one.to_string()).collect::<Vec<_>>().join(" ").trim().to_owned()
}

/// A transaction of the oracle: its parts, each a key, and an element that it appends or how much of the list it reads.
type Plain = Vec<(usize, Result<u32, usize>)>;

/// Makes a history of a store whose reads may be old, and that always appends to the newest lists. A last transaction reads everything, so that all
/// orders are known.
fn stored(transactions: &[Vec<(u8, bool, u8)>]) -> (History, Vec<Plain>, [Vec<u32>; 2]) {
    let mut lists: [Vec<u32>; 2] = Default::default();
    let mut plain: Vec<Plain> = Vec::new();
    let mut element = 0;
    for transaction in transactions {
        let mut parts = Plain::new();
        for (key, is_append, age) in transaction {
            let key = usize::from(*key % 2);
            if *is_append {
                element += 1;
                lists[key].push(element);
                parts.push((key, Ok(element)));
            } else if !parts.iter().any(|(known, _)| *known == key) {
                // A read behind a transaction's own parts of that list would have to fit them.
                parts.push((key, Err(lists[key].len().saturating_sub(usize::from(*age % 3)))));
            }
        }
        plain.push(parts);
    }
    plain.push(vec![(0, Err(lists[0].len())), (1, Err(lists[1].len()))]);
    let mut text = String::new();
    for (process, parts) in plain.iter().enumerate() {
        let asked: Vec<Value> = parts
            .iter()
            .map(|(key, what)| what.map_or_else(|_| json!(["r", key, null]), |added| json!(["append", key, added])))
            .collect();
        text.push_str(&format!("{}\n", json!({"process": process, "type": "invoke", "f": "txn", "value": asked})));
    }
    for (process, parts) in plain.iter().enumerate() {
        let done: Vec<Value> = parts
            .iter()
            .map(|(key, what)| {
                what.map_or_else(|count| json!(["r", key, lists[*key][..count]]), |added| json!(["append", key, added]))
            })
            .collect();
        text.push_str(&format!("{}\n", json!({"process": process, "type": "ok", "value": done})));
    }
    (History::read(&[Source { name: "h", text: &text }], None).unwrap(), plain, lists)
}

/// Whether the rest of the transactions can follow one after the other.
fn is_serial(lists: &[Vec<u32>; 2], state: &[Vec<u32>; 2], rest: &[&Plain]) -> bool {
    rest.is_empty()
        || (0..rest.len()).any(|next| {
            let mut after = state.clone();
            let fits = rest[next].iter().all(|(key, what)| match what {
                Ok(element) => {
                    after[*key].push(*element);
                    true
                }
                Err(count) => after[*key] == lists[*key][..*count],
            });
            let others: Vec<&Plain> =
                rest.iter().enumerate().filter(|(at, _)| *at != next).map(|(_, one)| *one).collect();
            fits && is_serial(lists, &after, &others)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn a_history_is_valid_if_some_order_of_its_transactions_explains_it(
        transactions in prop::collection::vec(prop::collection::vec((any::<u8>(), any::<bool>(), any::<u8>()), 1..4), 1..6),
    ) {
        let (history, plain, lists) = stored(&transactions);
        let found = outcome(&history, Isolation::Serializable);
        let expected = is_serial(&lists, &Default::default(), &plain.iter().collect::<Vec<_>>());
        prop_assert_eq!(found.verdict == Verdict::Valid, expected, "{:?}", found);
        prop_assert!(history.operations().iter().all(|one| one.status == Status::Ok));
    }
}
