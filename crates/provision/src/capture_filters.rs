//! Expressions of captures: tcpdump, whose language they are in, translates them.

use netloom_judge::{ExitCode, RunError};
use netloom_lab::{FilterExpression, Plan};
use netloom_results::capture::FilterProgram;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

/// The link type of all our links.
const ETHERNET: &str = "EN10MB";

/// A problem with the expressions of a plan's captures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterProblem {
    /// An expression is wrong; file, line, key and why.
    Wrong(String),
    /// Expressions cannot be translated on this machine; why.
    Unknown(String),
}

/// Returns the problems with the expressions of captures, as far as they can be found on this machine.
pub fn filter_problems(plan: &Plan, lab_file: &Path) -> Vec<FilterProblem> {
    let expressions = plan.capture.iter().filter_map(|capture| capture.expression.as_ref());
    expressions.filter_map(|expression| translated(expression, lab_file).err()).collect()
}

/// Translates the expression of each capture of a plan that has one.
pub fn compile(plan: &Plan, lab_file: &Path) -> Result<Vec<Option<FilterProgram>>, RunError> {
    let translate = |expression: &FilterExpression| {
        translated(expression, lab_file).map_err(|problem| match problem {
            FilterProblem::Wrong(message) => RunError::Reported { code: ExitCode::LabFile, message },
            FilterProblem::Unknown(why) => RunError::Machine(why),
        })
    };
    plan.capture.iter().map(|capture| capture.expression.as_ref().map(translate).transpose()).collect()
}

fn translated(expression: &FilterExpression, lab_file: &Path) -> Result<FilterProgram, FilterProblem> {
    let place = format!("{}:{}: capture.filter", lab_file.display(), expression.line);
    let mut tcpdump = Command::new("tcpdump");
    // A name of this machine's services is the same in every language.
    tcpdump.args(["-ddd", "-y", ETHERNET, "--", &expression.text]).env("LC_ALL", "C").stdin(Stdio::null());
    let output = tcpdump.output().map_err(|error| {
        FilterProblem::Unknown(match error.kind() {
            ErrorKind::NotFound => {
                format!("{place}: tcpdump translates filters and is not on this machine: `apt install tcpdump`")
            }
            _ => format!("{place}: starting tcpdump, which translates filters: {error}"),
        })
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said.lines().rev().find(|line| line.starts_with("tcpdump: ")).unwrap_or("tcpdump does not know it");
        let why = why.trim_start_matches("tcpdump: ");
        return Err(FilterProblem::Wrong(format!("{place}: \"{}\": {why}", expression.text)));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    FilterProgram::parse(&text).map_err(|wrong| {
        FilterProblem::Unknown(format!("{place}: what tcpdump makes of \"{}\" is no program: {wrong}", expression.text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(filter: &str) -> Plan {
        let text = format!(
            "nodes: [a, b]\nlinks: {{l: {{ends: [a, b]}}}}\ncapture:\n  - l\n  - {{node: a, filter: \"{filter}\"}}\n"
        );
        netloom_lab::parse(&text, "test.yaml").expect("a lab").plan
    }

    #[test]
    fn expressions_are_translated_and_errors_have_their_place() {
        let programs = compile(&plan("tcp port 80 or vlan 3"), Path::new("test.yaml")).expect("tcpdump is here");
        assert!(programs[0].is_none() && programs[1].is_some());
        let problems = filter_problems(&plan("tcp prt 80"), Path::new("test.yaml"));
        let [FilterProblem::Wrong(why)] = &problems[..] else { panic!("{problems:?}") };
        assert!(why.starts_with("test.yaml:5: capture.filter: \"tcp prt 80\": "), "{why}");
        assert!(why.contains("syntax error"), "{why}");
        // Nothing in an expression is an option of tcpdump.
        let option = filter_problems(&plan("-w /tmp/x"), Path::new("test.yaml"));
        assert!(matches!(&option[..], [FilterProblem::Wrong(_)]), "{option:?}");
    }
}
