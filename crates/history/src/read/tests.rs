use super::*;

fn read(text: &str) -> Result<History, WrongHistory> {
    History::read(&[Source { name: "h", text }], None)
}

fn event(process: &str, kind: &str, rest: &str) -> String {
    format!("{{\"process\": \"{process}\", \"type\": \"{kind}\"{rest}}}\n")
}

#[test]
fn events_are_paired_in_the_order_of_lines() {
    let text = [
        event("a", "invoke", r#", "f": "write", "key": "x", "value": 1"#),
        event("b", "invoke", r#", "f": "read", "key": "x""#),
        event("a", "ok", ""),
        "\n".to_owned(),
        event("b", "ok", r#", "value": 1"#),
        event("a", "invoke", r#", "f": "write", "key": "x", "value": 2"#),
        event("a", "info", r#", "error": "timeout""#),
        event("b", "invoke", r#", "f": "read", "key": "x""#),
    ]
    .concat();
    let history = read(&text).unwrap();
    let found: Vec<_> = history.operations().iter().map(|one| (one.start, one.end, one.status, one.words())).collect();
    let expected = [
        (0, Some(2), Status::Ok, "write 1"),
        (1, Some(3), Status::Ok, "read → 1"),
        (4, None, Status::Info, "write 2 (indeterminate)"),
        (6, None, Status::Info, "read (indeterminate)"),
    ];
    assert_eq!(found, expected.map(|(start, end, status, words)| (start, end, status, words.to_owned())));
    assert_eq!((history.place(1), history.operations()[2].error.as_deref()), ("h:2".to_owned(), Some("timeout")));
}

#[test]
fn a_process_that_begins_anew_leaves_its_operation_open() {
    let text = [
        event("a", "invoke", r#", "f": "write", "value": 1"#),
        event("a", "invoke", r#", "f": "write", "value": 2"#),
        event("a", "ok", ""),
    ]
    .concat();
    let history = read(&text).unwrap();
    let found: Vec<_> = history.operations().iter().map(|one| (one.status, one.end)).collect();
    assert_eq!(found, [(Status::Info, None), (Status::Ok, Some(2))]);
}

#[test]
fn a_torn_last_line_is_left_out_and_told() {
    let whole = event("a", "invoke", r#", "f": "write", "value": 1"#);
    let history = read(&format!("{whole}{{\"process\": \"a\", \"ty")).unwrap();
    assert_eq!((history.operations().len(), history.notes().len()), (1, 1));
    // A whole line that is wrong is none that was torn, and neither is one with its line end.
    assert!(read(&format!("{whole}{{\"process\": \"a\"}}")).is_err());
    assert!(read(&format!("{whole}{{\"process\"\n")).is_err());
}

#[test]
fn lines_that_do_not_fit_are_refused_with_their_place() {
    let invoke = event("a", "invoke", r#", "f": "read", "key": 1"#);
    let cases = [
        (event("a", "ok", ""), "h:1: process a has nothing to complete: an `invoke` before it would be right"),
        (event("a", "invoke", ""), "h:1: `f` is missing"),
        (format!("{invoke}{}", event("a", "ok", r#", "f": "write""#)), "h:2: `f` is \"write\": \"read\", which"),
        (format!("{invoke}{}", event("a", "ok", r#", "key": 2"#)), "h:2: `key` is another one"),
        (format!("{invoke}\n{{"), "h:3"),
    ];
    for (text, message) in cases {
        match read(&text) {
            Err(error) => assert!(error.to_string().contains(message), "{error}"),
            Ok(history) => assert!(history.notes()[0].contains(message), "{:?}", history.notes()),
        }
    }
}

#[test]
fn times_that_go_back_need_an_order() {
    let at = |process: &str, kind: &str, time: u64| event(process, kind, &format!(r#", "f": "read", "time": {time}"#));
    let text = [
        at("a", "invoke", 3_000_000_000),
        at("a", "ok", 4_000_000_000),
        at("b", "invoke", 1_000_000_000),
        at("b", "ok", 2_000_000_000),
    ]
    .concat();
    let error = read(&text).unwrap_err().to_string();
    assert!(error.starts_with("h:3: `time` goes back by 3 s"), "{error}");
    let source = [Source { name: "h", text: &text }];
    let lines = History::read(&source, Some(Order::Lines)).unwrap();
    assert_eq!(lines.operations()[0].process, "a");
    let times = History::read(&source, Some(Order::Times)).unwrap();
    assert_eq!(times.operations()[0].process, "b");
    assert!(times.operations()[0].precedes(&times.operations()[1]));
}

#[test]
fn several_files_are_merged_by_time_and_keep_their_processes_apart() {
    let at = |kind: &str, time: u64| event("1", kind, &format!(r#", "f": "read", "time": {time}"#));
    let first = [at("invoke", 10), at("ok", 20), at("invoke", 20), at("ok", 30)].concat();
    let second = [at("invoke", 20), at("ok", 40)].concat();
    let sources = [Source { name: "first", text: &first }, Source { name: "second", text: &second }];
    let history = History::read(&sources, None).unwrap();
    let found: Vec<_> = history.operations().iter().map(|one| (one.file, one.start, one.end)).collect();
    // At 20 the other file's invocation comes before the completion: they may have been at the same time.
    assert_eq!(found, [(0, 0, Some(2)), (1, 1, Some(5)), (0, 3, Some(4))]);
    assert!(History::read(&sources, Some(Order::Lines)).is_err());
    let untimed = event("1", "invoke", r#", "f": "read""#);
    let without = [Source { name: "first", text: &first }, Source { name: "second", text: &untimed }];
    let error = History::read(&without, None).unwrap_err().to_string();
    assert!(error.starts_with("second:1: `time` is missing"), "{error}");
}

#[test]
fn fuzz_histories() {
    use proptest::strategy::Strategy;
    let good = [
        event("a", "invoke", r#", "f": "write", "key": "x", "value": [1, 2], "time": 5"#),
        event("b", "invoke", r#", "f": "read", "key": "x", "time": 6"#),
        event("a", "ok", r#", "time": 7"#),
        event("b", "ok", r#", "value": {"a": 1}, "time": 8"#),
    ]
    .concat();
    let inputs = netloom_fuzz::mutated(vec![good]).prop_map(|bytes| bytes);
    netloom_fuzz::fuzz("histories", 300, &inputs, |text| {
        let sources = [Source { name: "h", text: &text }];
        for order in [None, Some(Order::Lines), Some(Order::Times)] {
            if let Ok(history) = History::read(&sources, order) {
                for name in crate::Model::NAMES {
                    let model = crate::Model::named(name).unwrap();
                    let _ = crate::check(&history, &model, &crate::Limits::default());
                }
            }
        }
    });
}
