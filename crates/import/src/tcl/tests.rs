use super::*;

/// Remembers what it was asked.
#[derive(Default)]
struct Recorder {
    calls: Vec<String>,
    notes: Vec<String>,
}

impl Host for Recorder {
    fn call(&mut self, words: &[String], place: Place) -> Option<Result<String, String>> {
        if words[0] != "say" {
            return None;
        }
        self.calls.push(format!("{}: {}", place.span.line, words[1..].join("|")));
        Some(Ok("said".to_owned()))
    }

    fn named(&mut self, _: &str, _: &str) {}

    fn script(&mut self, name: &str, _: Place) -> Option<(usize, String)> {
        (name == "other.tcl").then(|| (7, "proc fail {} {\n  error here\n}\nset y 3\nreturn 4".to_owned()))
    }

    fn note(&mut self, place: Place, message: String) {
        self.notes.push(format!("{}: {message}", place.span.line));
    }
}

fn run(script: &str) -> (Result<String, String>, Recorder) {
    let mut host = Recorder::default();
    let result = Interpreter::new(Lines::of(script, 0)).run(script, 1, &mut host);
    let result = result.map_err(|leave| match leave {
        Leave::Error(wrong) => format!("{}: {}", wrong.place.span.line, wrong.message),
        other => format!("{other:?}"),
    });
    (result, host)
}

fn value(script: &str) -> String {
    run(script).0.unwrap_or_else(|error| panic!("{script}: {error}"))
}

#[test]
fn words_are_those_of_tcl() {
    assert_eq!(value("set a {x $y [z]}"), "x $y [z]");
    assert_eq!(value("set y 1; set a \"x $y [set y 2] $y\""), "x 1 2 2");
    assert_eq!(value("set i 3; set n($i) b; set n(3)"), "b");
    assert_eq!(value("set i 1; set a(1,2) x; set j 2; set b $a($i,$j)"), "x");
    assert_eq!(value("set a \\\n c"), "c");
    assert_eq!(value("# a comment; set x 1\nset x 2 ;# more"), "2");
    assert_eq!(value("set a 1; set ${a}b 5; set 1b"), "5");
    assert_eq!(value("set l [list a {b c} {}]; llength $l"), "3");
    assert_eq!(value("list {*}{a b} c"), "a b c");
}

#[test]
fn other_scripts_run_and_keep_their_places() {
    assert_eq!(value("source other.tcl"), "4");
    assert_eq!(value("source other.tcl; source other.tcl; set y"), "3");
    let script = "source other.tcl\n\nfail";
    let Err(Leave::Error(wrong)) = Interpreter::new(Lines::of(script, 0)).run(script, 1, &mut Recorder::default())
    else {
        panic!("the script fails")
    };
    assert_eq!((wrong.place.file, wrong.place.span.line), (7, 2));
    let (result, host) = run("source missing.tcl\nset x 1");
    assert_eq!(result.as_deref(), Ok("1"));
    assert_eq!(host.notes, ["1: `source missing.tcl`: only scripts beside this one are read"]);
}

#[test]
fn paths_are_taken_apart() {
    assert_eq!(
        value("list [file tail a/b.tcl] [file dirname a/b.tcl] [file extension b.tcl] [file rootname a/b.tcl]"),
        "b.tcl a .tcl a/b"
    );
    assert_eq!(value("if [file exists x] { set y 1 } else { set y 2 }"), "2");
    assert_eq!(value("expr {![regexp a b line]}"), "1");
}

#[test]
fn loops_and_procedures_run() {
    assert_eq!(value("set s 0; for {set i 0} {$i < 5} {incr i} { incr s $i }; set s"), "10");
    assert_eq!(value("set s {}; foreach {a b} {1 2 3 4} { append s $b$a }; set s"), "2143");
    assert_eq!(value("set i 0; while 1 { incr i; if {$i == 3} continue; if {$i > 5} { break } }; set i"), "6");
    assert_eq!(value("proc add {a {b 2}} { return [expr {$a + $b}] }; expr {[add 1] * [add 1 4]}"), "15");
    assert_eq!(value("proc f {} { global x; set x 7 }; f; set x"), "7");
    assert_eq!(value("proc f {} { global n; set n(1) 7 }; f; set n(1)"), "7");
    assert_eq!(value("if {0} { set x a } elseif {1 && !0} { set x b } else { set x c }"), "b");
    assert_eq!(value("switch b { a { set x 1 } b { set x 2 } default { set x 3 } }"), "2");
    assert_eq!(value("catch { error bad } message; set message"), "the script fails: bad");
}

#[test]
fn expressions_compute() {
    for (text, wanted) in [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("7 / 2", "3"),
        ("-7 / 2", "-4"),
        ("-7 % 3", "2"),
        ("7 / 2.0", "3.5"),
        ("1.5e3", "1500.0"),
        ("int(3.7) + round(2.5)", "6"),
        ("pow(2, 3)", "8.0"),
        ("1 < 2 && 3 >= 3", "1"),
        ("1 ? 5 : nothing", "5"),
        ("\"a\" eq \"b\"", "0"),
        ("0x10 + 1", "17"),
        ("1 << 4 | 1", "17"),
        ("max(1, 7, 3)", "7"),
    ] {
        assert_eq!(value(&format!("expr {{{text}}}")), wanted, "{text}");
    }
    assert_eq!(value("set x 3; expr $x*2"), "6");
    assert_eq!(value("expr {1 || [error never]}"), "1");
}

#[test]
fn texts_are_formatted() {
    assert_eq!(value("format %03d-%.2f-%s-%5s 7 1.234 x y"), "007-1.23-x-    y");
    assert_eq!(value("string range abcdef 1 end-1"), "bcde");
    assert_eq!(value("string match n* node"), "1");
    assert_eq!(value("lindex {a b {c d}} end 0"), "c");
    assert_eq!(value("lsort -integer {10 9 2}"), "2 9 10");
    assert_eq!(value("array set a {x 1 y 2}; array size a"), "2");
    assert_eq!(value("join [split 10.0.0.1 .] -"), "10-0-0-1");
}

#[test]
fn what_is_unknown_is_noted_and_what_is_wrong_has_its_line() {
    let (result, host) = run("say a\nfor {set i 0} {$i < 2} {incr i} {\n  say $i\n}\nfly away");
    assert_eq!(result, Ok(String::new()));
    assert_eq!(host.calls, ["1: a", "3: 0", "3: 1"]);
    assert_eq!(host.notes, ["5: `fly` is no command that is known here: it does nothing"]);
    let error = |script: &str| run(script).0.expect_err(script);
    assert_eq!(error("set a 1\nset b $c"), "2: there is no variable `c`");
    assert_eq!(error("set a {\n"), "1: this `{` has no `}`");
    assert_eq!(error("set a [list 1"), "1: a `]` is missing");
    assert!(error("expr {1 +}").contains("this is no expression"));
    assert!(error("expr {1 / 0}").contains("cannot be computed"));
}

#[test]
fn nothing_goes_on_for_ever() {
    let error = |script: &str| run(script).0.expect_err(script);
    assert!(error("while 1 {}").contains("steps"));
    assert!(error("proc f {} { f }; f").contains("within one another"));
    assert!(error("set a x; while 1 { append a $a }").contains("MiB"));
    let text = "x".repeat(1_000);
    assert!(error(&format!("set i 0; while 1 {{ set v($i) {text}; incr i }}")).contains("MiB"));
    assert!(error(&format!("expr {}1{}", "(".repeat(5_000), ")".repeat(5_000))).contains("parentheses"));
    assert!(error(&"[".repeat(5_000)).contains("brackets"));
    assert!(error(&"if 1 {".repeat(5_000)).contains("has no"));
}
