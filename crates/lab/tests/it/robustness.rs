//! No text makes the parser panic, and what it accepts can be described.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{RngAlgorithm, RngSeed};

const LAB: &str = include_str!("../../../../examples/dumbbell.yaml");
const FIGURE: &str = include_str!("../../../../examples/papers/vimage/figure-3.yaml");
const TREATMENT: &str = include_str!("../../../../examples/treatment.yaml");

/// What turns one value into another, or the structure into something else.
const PIECES: [&str; 30] = [
    "",
    " ",
    "\n",
    "\t",
    ":",
    "- ",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "#",
    "&a ",
    "*a",
    "<<: *a",
    "~",
    "!x ",
    "0",
    "-1",
    "99999999999999999999",
    "1e400",
    "100 %",
    "10.0.0.1/8",
    "::/0",
    "µ",
    "\u{feff}",
    "\r",
    "router1",
    "during 1 s..2 s",
];

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 2_000,
        failure_persistence: None,
        rng_algorithm: RngAlgorithm::ChaCha,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    }
}

/// The nearest place to `at` where a text may be cut.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at % (text.len() + 1)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn survives(text: &str) {
    match netloom_lab::parse(text, "test.yaml") {
        Ok(lab) => {
            let _ = (lab.plan.text().to_string(), lab.plan.describe(), lab.plan.hosts(&[]), lab.plan.programs());
        }
        Err(diagnostics) => assert!(!diagnostics.is_empty() && !diagnostics.to_string().is_empty()),
    }
}

fn refused(text: &str) -> netloom_lab::Diagnostics {
    netloom_lab::parse(text, "test.yaml").expect_err("a wrong lab")
}

/// Thousands of errors are counted, and the first hundred are shown; so this ends soon, whatever it is compared with.
#[test]
fn of_many_errors_the_first_are_shown() {
    let nodes: Vec<String> = (0..3_000).map(|number| format!("node-{number}")).collect();
    let links = (0..20_000).map(|number| format!("  link-{number}: {{ends: [nude-{number}, node-1]}}\n"));
    let said = refused(&format!("nodes: [{}]\nlinks:\n{}", nodes.join(", "), links.collect::<String>()));
    assert!(said.len() >= 20_000, "{} errors", said.len());
    assert_eq!(said.iter().count(), 100);
    let text = said.to_string();
    assert!(text.contains("did you mean `node-0`?") && text.contains(" more errors") && text.len() < 100_000);
    assert_eq!(said.lines().count(), 101);
}

/// What has no name gets one, and what is wrong is looked for, in a time that does not grow with the square of their number:
/// this takes two seconds, and took ten minutes when each was compared with each.
#[test]
fn thousands_of_commands_and_wrong_names_are_read_soon() {
    let nodes = "nodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n";
    let commands = |node: &str| format!("timeline:\n{}", format!("  - {{on: {node}, run: ls}}\n").repeat(40_000));
    let traffic = "  - {from: a, to: b, kind: constant, rate: 1 Mbit/s, size: 100 B}\n".repeat(40_000);
    let plan = |rest: &str| netloom_lab::parse(&format!("{nodes}{rest}"), "test.yaml").unwrap().plan;
    assert_eq!(plan(&commands("a")).command_name(39_999), Some("ls-40000"));
    assert_eq!(plan(&format!("traffic:\n{traffic}")).traffic[39_999].name, "a-b-40000");
    let routers: String = (0..20_000).map(|number| format!("  n{number}: {{kind: transit}}\n")).collect();
    assert_eq!(refused(&format!("nodes:\n{routers}{}", commands("x"))).len(), 40_000);
}

/// Whatever a message quotes is cut, wherever it stands.
#[test]
fn long_names_make_short_messages() {
    let long = "x".repeat(2_000_000);
    for text in [
        format!("nodes: [a, {long}]\n"),
        format!("nodes: [a, b]\n{long}: 1\n"),
        format!("nodes: [a, b]\nlinks:\n  l: {{ends: [a, {long}]}}\n"),
        format!("nodes: [a, b]\nlinks:\n  l: {{ends: [a, b], rate: {long}}}\n"),
        format!("nodes: [a, b]\nduration: 1{}\n", "0".repeat(2_000_000)),
        format!("nodes: [a, b]\nexpect: [{long} == 1]\n"),
        format!("nodes: [a, b]\nlinks:\n  {long}: {{ends: [a, b], rate: [{}]}}\n", "1, ".repeat(10_000)),
        format!("{long}\n: {long}"),
    ] {
        let said = refused(&text);
        let longest = said.lines().map(|line| line.len()).max();
        assert!(longest < Some(10_000), "a line of {longest:?} bytes about {}", &text[..40]);
        let shown = said.to_string();
        assert!(shown.len() < 20_000 * said.iter().count(), "{} bytes about {}", shown.len(), &text[..40]);
    }
}

/// Aliases of a long text, and aliases of aliases.
#[test]
fn aliases_do_not_multiply_for_ever() {
    let texts = format!("a: &a {}\nb: [{}]\n", "x".repeat(1_000_000), "*a, ".repeat(100_000));
    assert!(refused(&texts).to_string().contains("aliases multiply them"));
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let below = format!("*a{}, ", level - 1).repeat(10);
        laughs.push_str(&format!("a{level}: &a{level} [{below}]\n"));
    }
    assert!(refused(&laughs).to_string().contains("aliases multiply them"));
    assert!(refused(&"[".repeat(1_000_000)).to_string().contains("recursion limit exceeded"));
    assert!(refused(&"- ".repeat(100_000)).to_string().contains("levels deep"));
}

/// What a stranger's lab file names is read if it is a file of a sensible length.
#[test]
fn devices_are_not_read() {
    let lab = "nodes: [a, b]\nlinks:\n  l: {ends: [a, b], delay: {kind: samples, file: /dev/zero}}\n";
    let said = refused(lab).to_string();
    assert!(said.contains("/dev/zero is not a regular file") && said.contains("test.yaml:3"), "{said}");
}

#[test]
fn a_link_from_a_node_to_itself_is_an_error_and_no_more() {
    assert!(!refused("nodes: [a, {s: b}]\nlinks:\n  l: {ends: [a, a]}\n").is_empty());
}

/// Behind the last address of all there is none.
#[test]
fn a_subnet_of_everything_leaves_no_other() {
    for (everything, family) in [("fd00::1/0", "IPv6"), ("10.0.0.1/0", "IPv4")] {
        let lab = format!(
            "nodes: [a, b, c]\nlinks:\n  l: {{ends: [{{node: a, address: \"{everything}\"}}, b]}}\n  m: {{ends: [b, c]}}\n"
        );
        let said = refused(&lab).to_string();
        assert!(said.contains(&format!("no automatic {family} subnet is left")), "{said}");
    }
}

#[test]
fn a_text_with_zeros_says_so() {
    let said = refused("nodes: [a, b]\nname: \0lab\n").to_string();
    assert!(said.contains("test.yaml:2") && said.contains("a zero byte"), "{said}");
    let tabs = refused("nodes:\n\ta: {}\n").to_string();
    assert!(tabs.contains("not with tabs"), "{tabs}");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_lab_with_a_few_changes(
        source in select(vec![LAB, FIGURE, TREATMENT]),
        changes in prop::collection::vec((any::<usize>(), 0..12_usize, select(PIECES.to_vec())), 1..4),
    ) {
        let mut text = source.to_owned();
        for (at, length, piece) in changes {
            let start = boundary(&text, at);
            let end = boundary(&text, (start + length).min(text.len()));
            text.replace_range(start.min(end)..end, piece);
        }
        survives(&text);
    }

    #[test]
    fn any_text(text in "\\PC*") {
        survives(&text);
        let _ = netloom_lab::parse_change(&text, &text);
    }

    #[test]
    fn any_expectation(text in "(backbone|ping|x)\\.(forward\\.)?(drops|loss|delay|json|stdout|exit)[.a-z0-9\\[\\]]{0,6} (==|<|within|between|contains) [ -~]{0,24}") {
        survives(&format!("{LAB}  - '{}'\n", text.replace('\'', "''")));
    }
}
