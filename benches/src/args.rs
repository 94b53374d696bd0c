//! What was asked for on the command line.

use crate::case::Case;
use crate::goals::CASES;
use crate::peers::options::Options;
use crate::{clocks, growth, peers};

/// Stands for all cases of the module `clocks`.
const CLOCKS: &str = "clocks";
/// Stands for all cases of the module `growth`.
const GROWTH: &str = "growth";
/// Stands for the cases that run when none is named.
const GOALS: &str = "goals";
/// Stands for the only case of the module `peers`.
const PEERS: &str = "peers";
const QUICK: &str = "--quick";
const WRITE_DOCS: &str = "--write-docs";
const ONLY: &str = "--only";
const SHADOW: &str = "--shadow";
const NS3: &str = "--ns3";

const HELP: &str = "\
Measure accuracy and speed of Netloom on this machine

Usage: netloom-bench [OPTIONS] [CASE]...
       netloom-bench list

Without a case: those of the goals, in some twelve minutes. Those of the clocks run for two hours and need a kernel of
Netloom's; those of growth tell how cost grows with packets, hops, pipes, streams and nodes.
The table goes to standard output, all else to standard error.

Arguments:
  [CASE]...  Names of cases, see `netloom-bench list`; `goals`, `growth` and `clocks` stand for all of theirs;
             `peers` compares virtual time with Shadow and ns-3

Options:
      --quick           Few and short measurements: shows that everything runs, not what the machine can do
      --write-docs      Write tables, plots and arithmetic of these cases into docs/performance.md, too
      --only ROWS       Of the case `peers`, only these rows, or systems of a row: tcp-100,etcd/shadow
      --shadow PROGRAM  The Shadow that `peers` measures, instead of the one in PATH
      --ns3 FOLDER      Where the ns-3 is installed that `peers` measures, instead of the one that pkg-config knows
  -h, --help            Print help

Files:
  results/bench.json        the figures, with what they were measured on
  results/bench/index.html  the same as a page with plots
  results/bench/*.svg       the plots

Environment:
  NETLOOM  the program to measure, instead of the one beside netloom-bench

Examples:
  netloom-bench
  netloom-bench streams chain
  netloom-bench growth
  netloom-bench clocks
  netloom-bench peers --only tcp-100,etcd
  netloom-bench goals growth --write-docs
  netloom-bench --quick > table.txt
";

/// What is to be done.
pub(crate) enum Asked {
    Help(String),
    Measure { cases: Vec<Case>, quick: bool, write_docs: bool, peers: Options },
}

/// An error says what is wrong with the arguments.
pub(crate) fn parse(arguments: &[String]) -> Result<Asked, String> {
    let is = |words: &'static [&str]| arguments.iter().any(|argument| words.contains(&argument.as_str()));
    if is(&["-h", "--help", "help"]) {
        return Ok(Asked::Help(HELP.to_owned()));
    }
    if is(&["list"]) {
        return Ok(Asked::Help(list()));
    }
    let (arguments, peers) = options(arguments)?;
    if let Some(unknown) = arguments.iter().find(|argument| !is_known(argument)) {
        return Err(format!(
            "unknown argument {unknown}: `netloom-bench list` lists the cases, `--help` says the rest"
        ));
    }
    let named: Vec<&String> =
        arguments.iter().filter(|argument| ![QUICK, WRITE_DOCS].contains(&argument.as_str())).collect();
    let is_wanted = |(group, case): &(&str, Case)| {
        let by_default = named.is_empty() && *group == GOALS;
        by_default || named.iter().any(|name| *name == case.name || name == group)
    };
    let cases = all().filter(is_wanted).map(|(_, case)| case).collect();
    Ok(Asked::Measure { cases, quick: is(&[QUICK]), write_docs: is(&[WRITE_DOCS]), peers })
}

/// The options that have values, and the other arguments.
fn options(arguments: &[String]) -> Result<(Vec<String>, Options), String> {
    let (mut rest, mut found) = (Vec::new(), Options::default());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let (name, inline) = word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        if ![ONLY, SHADOW, NS3].contains(&name) {
            rest.push(word.clone());
            continue;
        }
        let next = inline.or_else(|| words.next().map(String::as_str));
        let value = next.ok_or_else(|| format!("{name} needs a value"))?;
        match name {
            SHADOW => found.shadow = value.into(),
            NS3 => found.ns3 = Some(value.into()),
            _ => found.only.extend(value.split(',').map(str::to_owned)),
        }
    }
    let is_row = |word: &&String| peers::names().any(|name| word.split('/').next() == Some(name));
    match found.only.iter().find(|word| !is_row(word)) {
        None => Ok((rest, found)),
        Some(unknown) => {
            let names: Vec<&str> = peers::names().collect();
            Err(format!("{ONLY}: no row is called {unknown}: there are {}", names.join(", ")))
        }
    }
}

/// Every case and the word that stands for it and its like.
fn all() -> impl Iterator<Item = (&'static str, Case)> {
    let of = |group, cases: &'static [Case]| cases.iter().map(move |case| (group, *case));
    let goals = of(GOALS, &CASES).chain(of(GROWTH, &growth::CASES));
    goals.chain(of(CLOCKS, &clocks::CASES)).chain(of(PEERS, &peers::CASES))
}

fn is_known(argument: &str) -> bool {
    [QUICK, WRITE_DOCS].contains(&argument) || all().any(|(group, case)| argument == case.name || argument == group)
}

/// The cases and how long they take.
fn list() -> String {
    let line = |case: &Case| format!("  {:20}  {:>6}  {}\n", case.name, span(case.seconds), case.title);
    let lines = |cases: &[Case]| cases.iter().map(line).collect::<String>();
    let [goals, growth, clocks, peers] = [&CASES[..], &growth::CASES, &clocks::CASES, &peers::CASES].map(lines);
    format!("goals\n{goals}growth\n{growth}clocks\n{clocks}peers\n{peers}")
}

/// About how long something takes.
pub(crate) fn span(seconds: u32) -> String {
    if seconds < 100 { format!("{seconds} s") } else { format!("{} min", (seconds + 30) / 60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(arguments: &[&str]) -> Vec<&'static str> {
        let arguments: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        match parse(&arguments) {
            Ok(Asked::Measure { cases, .. }) => cases.iter().map(|case| case.name).collect(),
            _ => Vec::new(),
        }
    }

    #[test]
    fn groups_run_when_they_are_named_and_the_goals_by_default() {
        assert_eq!(names(&["--quick"]).len(), CASES.len());
        assert_eq!(names(&["goals", "growth", "--write-docs"]).len(), CASES.len() + growth::CASES.len());
        assert_eq!(names(&[CLOCKS]).len(), clocks::CASES.len());
        assert_eq!(names(&["star", "pace"]), ["star", "pace"]);
    }

    #[test]
    fn options_of_peers_have_values() {
        let words = ["peers", "--only", "etcd,pairs/shadow", "--shadow=/opt/shadow"].map(str::to_owned);
        let Ok(Asked::Measure { cases, peers, .. }) = parse(&words) else { panic!("it is right") };
        assert_eq!((cases.len(), &peers.only[..]), (1, &["etcd".to_owned(), "pairs/shadow".to_owned()][..]));
        assert_eq!(peers.shadow.to_str(), Some("/opt/shadow"));
        assert!(parse(&["peers".to_owned(), "--only=ectd".to_owned()]).is_err_and(|said| said.contains("etcd")));
        assert!(parse(&["--ns3".to_owned()]).is_err());
    }

    #[test]
    fn what_is_unknown_is_said() {
        assert!(parse(&["--quik".to_owned()]).is_err_and(|said| said.contains("--quik")));
        assert!(matches!(parse(&["list".to_owned()]), Ok(Asked::Help(list)) if list.contains("streams")));
    }
}
