use crate::{History, Limits, Model, Outcome, Source, Status, Verdict, check};
use proptest::prelude::*;
use serde_json::json;

/// Operations one after the other: function, value, how they end, and the value that comes back.
fn sequence(operations: &[(&str, &str, &str, &str)]) -> String {
    let mut text = String::new();
    for (number, (function, value, end, result)) in operations.iter().enumerate() {
        let value = if value.is_empty() { "null" } else { value };
        text.push_str(&format!(
            "{{\"process\": {number}, \"type\": \"invoke\", \"f\": \"{function}\", \"value\": {value}}}\n"
        ));
        let result = if result.is_empty() { String::new() } else { format!(", \"value\": {result}") };
        text.push_str(&format!("{{\"process\": {number}, \"type\": \"{end}\"{result}}}\n"));
    }
    text
}

fn outcome(model: &Model, text: &str) -> Outcome {
    let history = History::read(&[Source { name: "h", text }], None).unwrap();
    check(&history, model, &Limits::default()).unwrap()
}

fn kinds(model: &Model, operations: &[(&str, &str, &str, &str)]) -> Vec<&'static str> {
    outcome(model, &sequence(operations)).contradictions.iter().map(|one| one.kind).collect()
}

#[test]
fn identifiers_are_unique() {
    let model = Model::Ids;
    assert!(
        kinds(&model, &[("generate", "", "ok", "1"), ("generate", "", "info", ""), ("generate", "", "ok", "2")])
            .is_empty()
    );
    assert_eq!(kinds(&model, &[("generate", "", "ok", "1"), ("generate", "", "ok", "1")]), ["duplicate"]);
    // A text is not a number.
    assert!(kinds(&model, &[("generate", "", "ok", "1"), ("generate", "", "ok", "\"1\"")]).is_empty());
}

#[test]
fn counters_keep_their_bounds() {
    let model = Model::Counter { initial: 0 };
    let adds =
        [("add", "2", "ok", ""), ("add", "3", "info", ""), ("add", "-1", "info", ""), ("add", "100", "fail", "")];
    for (value, is_right) in [(0, false), (1, true), (2, true), (5, true), (6, false), (102, false)] {
        let read = value.to_string();
        let operations = [&adds[..], &[("read", "", "ok", read.as_str())]].concat();
        assert_eq!(kinds(&model, &operations).is_empty(), is_right, "{value}");
    }
    let message = &outcome(&model, &sequence(&[("add", "2", "ok", ""), ("read", "", "ok", "1")])).contradictions[0]
        .message
        .clone();
    assert_eq!(message, "the counter must be 2 for process 1: read → 1 (h:3)");
    assert_eq!(
        kinds(&Model::Counter { initial: 7 }, &[("read", "", "ok", "7"), ("read", "", "ok", "0")]),
        ["out of bounds"]
    );
}

#[test]
fn elements_of_sets_are_lost_stale_or_unexpected() {
    let (plain, strict) = (Model::SetFull { strict: false }, Model::SetFull { strict: true });
    let added = [("add", "1", "ok", ""), ("add", "2", "info", ""), ("add", "3", "fail", "")];
    let with = |reads: &[(&'static str, &'static str, &'static str, &'static str)]| [&added[..], reads].concat();
    assert!(kinds(&plain, &with(&[("read", "", "ok", "[1]")])).is_empty());
    assert!(kinds(&plain, &with(&[("read", "", "ok", "[2, 1]")])).is_empty());
    assert_eq!(kinds(&plain, &with(&[("read", "", "ok", "[]")])), ["lost"]);
    // An indeterminate element that was read once is known, too.
    assert_eq!(kinds(&plain, &with(&[("read", "", "ok", "[1, 2]"), ("read", "", "ok", "[1]")])), ["lost"]);
    assert_eq!(kinds(&plain, &with(&[("read", "", "ok", "[1, 3]")])), ["unexpected"]);
    assert_eq!(kinds(&plain, &with(&[("read", "", "ok", "[1, 4]")])), ["unexpected"]);
    assert_eq!(kinds(&plain, &with(&[("read", "", "ok", "[1, 1]")])), ["duplicated"]);
    let stale = with(&[("read", "", "ok", "[]"), ("read", "", "ok", "[1]")]);
    assert!(kinds(&plain, &stale).is_empty());
    assert_eq!(outcome(&plain, &sequence(&stale)).notes.len(), 1);
    assert_eq!(kinds(&strict, &stale), ["stale"]);
    // Nothing was read after it: nobody knows.
    assert_eq!(outcome(&plain, &sequence(&added)).verdict, Verdict::Unknown);
    let later = sequence(&[("read", "", "ok", "[1]"), ("add", "1", "ok", "")]);
    assert_eq!(outcome(&plain, &later).contradictions[0].kind, "unexpected");
}

#[test]
fn a_read_that_is_under_way_may_miss_what_another_one_shows() {
    let text = r#"{"process": 1, "type": "invoke", "f": "add", "value": 1}
{"process": 1, "type": "ok"}
{"process": 2, "type": "invoke", "f": "read"}
{"process": 3, "type": "invoke", "f": "read"}
{"process": 3, "type": "ok", "value": []}
{"process": 2, "type": "ok", "value": [1]}
"#;
    // The read that has it ended after the one that misses it: stale, and not lost.
    assert_eq!(outcome(&Model::SetFull { strict: false }, text).verdict, Verdict::Valid);
    assert_eq!(outcome(&Model::SetFull { strict: true }, text).contradictions[0].kind, "stale");
}

#[test]
fn what_goes_into_a_queue_comes_out() {
    let (plain, strict) = (Model::TotalQueue { strict: false }, Model::TotalQueue { strict: true });
    let sent = [("enqueue", "1", "ok", ""), ("enqueue", "2", "info", ""), ("enqueue", "3", "fail", "")];
    let with = |more: &[(&'static str, &'static str, &'static str, &'static str)]| [&sent[..], more].concat();
    assert!(kinds(&plain, &with(&[("dequeue", "", "ok", "2"), ("drain", "", "ok", "[1]")])).is_empty());
    assert_eq!(kinds(&plain, &with(&[("drain", "", "ok", "[]")])), ["lost"]);
    assert_eq!(kinds(&plain, &with(&[("dequeue", "", "ok", "null")])), ["lost"]);
    // An indeterminate dequeue may have taken it.
    assert!(kinds(&plain, &with(&[("dequeue", "", "info", ""), ("drain", "", "ok", "[]")])).is_empty());
    assert_eq!(kinds(&plain, &with(&[("dequeue", "", "ok", "3"), ("drain", "", "ok", "[1]")])), ["unexpected"]);
    assert_eq!(kinds(&plain, &with(&[("dequeue", "", "ok", "9"), ("drain", "", "ok", "[1]")])), ["unexpected"]);
    let twice = with(&[("dequeue", "", "ok", "1"), ("drain", "", "ok", "[1]")]);
    assert!(kinds(&plain, &twice).is_empty());
    assert_eq!(kinds(&strict, &twice), ["duplicated"]);
    assert_eq!(outcome(&plain, &sequence(&sent)).verdict, Verdict::Unknown);
    assert_eq!(kinds(&plain, &[("dequeue", "", "ok", "1"), ("enqueue", "1", "ok", "")]), ["unexpected"]);
}

#[test]
fn fencing_tokens_grow() {
    let model = Model::Fencing;
    let good = [("acquire", "", "ok", "1"), ("use", "1", "ok", ""), ("acquire", "", "ok", "5"), ("use", "5", "ok", "")];
    assert!(kinds(&model, &good).is_empty());
    assert_eq!(kinds(&model, &[&good[..], &[("use", "1", "ok", "")]].concat()), ["stale token"]);
    assert!(kinds(&model, &[&good[..], &[("use", "1", "fail", "")]].concat()).is_empty());
    assert_eq!(kinds(&model, &[("acquire", "", "ok", "2"), ("acquire", "", "ok", "1")]), ["token went back"]);
    assert_eq!(kinds(&model, &[("acquire", "", "ok", "2"), ("acquire", "", "ok", "2")]), ["duplicate token"]);
}

#[test]
fn reads_of_one_process_never_go_back() {
    let read = |process: u8, value: i64| {
        format!(
            "{{\"process\": {process}, \"type\": \"invoke\", \"f\": \"read\"}}\n{{\"process\": {process}, \"type\": \"ok\", \"value\": {value}}}\n"
        )
    };
    let two = [read(1, 5), read(2, 3), read(1, 5), read(2, 4)].concat();
    assert_eq!(outcome(&Model::Monotone, &two).verdict, Verdict::Valid);
    let back = outcome(&Model::Monotone, &[two.as_str(), &read(1, 4), &read(1, 5)].concat());
    assert_eq!((back.found, back.contradictions[0].kind), (1, "went back"));
}

#[test]
fn accounts_keep_their_sum() {
    let reads =
        [("read", "", "ok", r#"{"a": 5, "b": 5}"#), ("transfer", r#"{"from": "a", "to": "b", "amount": 9}"#, "ok", "")];
    let good = [&reads[..], &[("read", "", "ok", r#"{"a": -4, "b": 14}"#)]].concat();
    let found = outcome(&Model::Bank { total: None }, &sequence(&good));
    assert_eq!((found.verdict, found.notes.len()), (Verdict::Valid, 1));
    let bad = [&reads[..], &[("read", "", "ok", r#"{"a": 5, "b": 14}"#)]].concat();
    assert_eq!(kinds(&Model::Bank { total: None }, &bad), ["wrong total"]);
    assert_eq!(kinds(&Model::Bank { total: Some(11) }, &good), ["wrong total", "wrong total"]);
}

#[test]
fn logs_agree_as_far_as_they_go() {
    let model = Model::Log;
    let good = [("read", "", "ok", "[1, 2]"), ("read", "", "ok", "[1, 2, 3]"), ("read", "", "ok", "[]")];
    assert!(kinds(&model, &good).is_empty());
    let found = outcome(&model, &sequence(&[&good[..], &[("read", "", "ok", "[1, 4]")]].concat()));
    let message = "at entry 1 process 3 has 4 (h:7), and process 1 has 2 (h:3)";
    assert_eq!(
        (found.contradictions[0].kind, found.contradictions[0].message.as_str()),
        ("different entries", message)
    );
    assert_eq!(kinds(&model, &[("append", "1", "fail", ""), ("read", "", "ok", "[1]")]), ["unexpected"]);
    assert!(kinds(&model, &[("append", "1", "info", ""), ("read", "", "ok", "[1]")]).is_empty());
}

#[test]
fn many_contradictions_are_counted_and_a_few_are_kept() {
    let reads: Vec<_> = (0..100).map(|_| ("read", "", "ok", "5")).collect();
    let found = outcome(&Model::Counter { initial: 0 }, &sequence(&reads));
    assert_eq!((found.found, found.contradictions.len()), (100, Outcome::MOST));
}

/// Makes concurrent additions and reads.
fn counter_history(choices: &[(u8, u8, i8)]) -> History {
    let mut open = [false; 4];
    let mut functions = [""; 4];
    let mut text = String::new();
    for (who, what, amount) in choices {
        let process = usize::from(*who) % open.len();
        let mut event = json!({"process": process});
        if open[process] {
            event["type"] = json!(["ok", "ok", "fail", "info"][usize::from(*what) % 4]);
            if functions[process] == "read" {
                event["value"] = json!(amount % 6);
            }
        } else {
            functions[process] = ["add", "read"][usize::from(*what) % 2];
            event["type"] = json!("invoke");
            event["f"] = json!(functions[process]);
            event["value"] = json!(amount % 3);
        }
        open[process] = !open[process];
        text.push_str(&format!("{event}\n"));
    }
    History::read(&[Source { name: "h", text: &text }], None).unwrap()
}

proptest! {
    #[test]
    fn counters_are_right_if_some_of_the_additions_give_the_sum(
        choices in prop::collection::vec((any::<u8>(), any::<u8>(), any::<i8>()), 1..20),
    ) {
        let history = counter_history(&choices);
        let amount = |index: usize| history.operations()[index].value.as_i64().unwrap();
        let reads = history.operations().iter().filter(|one| one.function == "read" && one.status == Status::Ok);
        let wrong = reads.filter(|read| {
            let adds = || (0..history.operations().len()).filter(|index| {
                let one = &history.operations()[*index];
                one.function == "add" && one.status != Status::Fail && one.start < read.end.unwrap()
            });
            let must: i64 = adds().filter(|index| history.operations()[*index].precedes(read)).map(amount).sum();
            let may: Vec<i64> = adds().filter(|index| !history.operations()[*index].precedes(read)).map(amount).collect();
            // Bounds, as the checker says: the least and the greatest of all sums.
            let sums: Vec<i64> = (0..1_u32 << may.len())
                .map(|some| must + may.iter().enumerate().filter(|(at, _)| some >> at & 1 == 1).map(|(_, one)| one).sum::<i64>())
                .collect();
            let found = read.result.as_ref().unwrap().as_i64().unwrap();
            found < *sums.iter().min().unwrap() || found > *sums.iter().max().unwrap()
        }).count();
        let outcome = check(&history, &Model::Counter { initial: 0 }, &Limits::default()).unwrap();
        prop_assert_eq!(outcome.found, wrong);
    }
}
