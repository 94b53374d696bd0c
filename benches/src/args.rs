//! What was asked for on the command line.

use crate::clocks;
use crate::{CASES, Case};

/// Stands for all cases of the module `clocks`.
pub(crate) const CLOCKS: &str = "clocks";
const QUICK: &str = "--quick";

const HELP: &str = "\
Measure accuracy and speed of Netloom on this machine

Usage: netloom-bench [OPTIONS] [CASE]...
       netloom-bench list

Without a case: all but those of the clocks, which run for two hours and need a kernel of Netloom's.
The table goes to standard output, all else to standard error.

Arguments:
  [CASE]...  Names of cases, see `netloom-bench list`; `clocks` stands for all of the clocks

Options:
      --quick  Few and short measurements: shows that everything runs, not what the machine can do
  -h, --help   Print help

Files:
  results/bench.json        the figures, with what they were measured on
  results/bench/index.html  the same as a page with plots
  results/bench/*.svg       the plots

Environment:
  NETLOOM  the program to measure, instead of the one beside netloom-bench

Examples:
  netloom-bench
  netloom-bench streams chain
  netloom-bench clocks
  netloom-bench --quick > table.txt
";

/// What is to be done.
pub(crate) enum Asked {
    Help(String),
    Measure { cases: Vec<Case>, quick: bool },
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
    if let Some(unknown) = arguments.iter().find(|argument| !is_known(argument)) {
        return Err(format!(
            "unknown argument {unknown}: `netloom-bench list` lists the cases, `--help` says the rest"
        ));
    }
    let named: Vec<&String> = arguments.iter().filter(|argument| *argument != QUICK).collect();
    let is_wanted = |case: &Case| {
        let is_clock = clocks::CASES.iter().any(|clock| clock.name == case.name);
        let by_default = named.is_empty() && !is_clock;
        by_default || named.iter().any(|name| *name == case.name || (is_clock && *name == CLOCKS))
    };
    Ok(Asked::Measure { cases: all().filter(is_wanted).collect(), quick: is(&[QUICK]) })
}

fn all() -> impl Iterator<Item = Case> {
    CASES.into_iter().chain(clocks::CASES)
}

fn is_known(argument: &str) -> bool {
    [QUICK, CLOCKS].contains(&argument) || all().any(|case| case.name == argument)
}

/// The cases and how long they take.
fn list() -> String {
    let line = |case: Case| format!("{:20}  {:>7}  {}\n", case.name, span(case.seconds), case.title);
    let lines = |cases: &[Case]| cases.iter().copied().map(line).collect::<String>();
    format!("{}\nOf the clocks:\n{}", lines(&CASES), lines(&clocks::CASES))
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
    fn the_clocks_run_when_they_are_named() {
        assert_eq!(names(&["--quick"]).len(), CASES.len());
        assert_eq!(names(&[CLOCKS]).len(), clocks::CASES.len());
        assert_eq!(names(&["star", "pace"]), ["star", "pace"]);
    }

    #[test]
    fn what_is_unknown_is_said() {
        assert!(parse(&["--quik".to_owned()]).is_err_and(|said| said.contains("--quik")));
        assert!(matches!(parse(&["list".to_owned()]), Ok(Asked::Help(list)) if list.contains("streams")));
    }
}
