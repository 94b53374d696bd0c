//! What `netloom doctor` found out: one line per check, what to change, and a conclusion.

use super::{CAUTION, FAINT, GOOD, push_line, rate};
use anstyle::{AnsiColor, Style};
use netloom_judge::examination::{Capacity, Check, Examination, State};
use netloom_judge::quantity::grouped;

const ABSENT: Style = AnsiColor::Red.on_default();
/// Plain lines of the conclusion are broken before this column.
const WIDTH: usize = 100;

/// The whole examination for a terminal of at least 100 columns.
pub fn examination(examination: &Examination) -> String {
    let machine = &examination.machine;
    let processor = machine.processor.as_deref().unwrap_or("unknown processor");
    let mut text = String::new();
    push_line(&mut text, &format!("{}: {}, {} x {processor}", machine.host_name, machine.kernel, machine.processors));
    let mut group = "";
    let name_width = examination.checks.iter().map(|check| check.name.len()).max().unwrap_or(0);
    for check in &examination.checks {
        if check.group != group {
            group = &check.group;
            push_line(&mut text, &format!("\n{FAINT}{group}{FAINT:#}"));
        }
        push_check(&mut text, check, name_width);
    }
    text.push('\n');
    push_conclusion(&mut text, examination);
    text
}

fn push_check(text: &mut String, check: &Check, name_width: usize) {
    let style = match check.state {
        State::Fine => GOOD,
        State::CouldBeBetter => CAUTION,
        State::Missing => ABSENT,
    };
    let words = check.state.words();
    let state_width = State::CouldBeBetter.words().len();
    let blanks = " ".repeat(state_width - words.len());
    push_line(text, &format!("{:name_width$}  {style}{words}{style:#}{blanks}  {}", check.name, check.result));
    if let Some(change) = &check.change {
        let margin = " ".repeat(name_width + 2 + state_width + 2);
        push_line(text, &format!("{margin}-> {change}"));
    }
}

fn push_conclusion(text: &mut String, examination: &Examination) {
    let conclusion = &examination.conclusion;
    if conclusion.labs {
        push_line(text, &format!("{GOOD}Labs run here.{GOOD:#}"));
    } else {
        push_line(text, &format!("{ABSENT}Labs cannot run here:{ABSENT:#} see the line `namespaces`."));
    }
    for line in wrapped(&format!("Precision: {}. {}.", conclusion.precision, capitalized(&conclusion.because))) {
        push_line(text, &line);
    }
    if examination.busy {
        push_line(
            text,
            &format!("{CAUTION}Other programs ran meanwhile:{CAUTION:#} measure again when the machine is idle."),
        );
    }
    if conclusion.capacities.is_empty() {
        return;
    }
    push_line(text, "A lab may ask for:");
    let what = conclusion.capacities.iter().map(|capacity| capacity.what.len()).max().unwrap_or(0);
    let amounts: Vec<String> = conclusion.capacities.iter().map(amount).collect();
    let width = amounts.iter().map(String::len).max().unwrap_or(0);
    for (capacity, amount) in conclusion.capacities.iter().zip(&amounts) {
        let arithmetic = &capacity.arithmetic;
        push_line(text, &format!("  {:what$}  {amount:>width$}  {FAINT}= {arithmetic}{FAINT:#}", capacity.what));
    }
}

fn amount(capacity: &Capacity) -> String {
    match capacity.unit.as_str() {
        "bit/s" => rate(capacity.value),
        "nodes" => grouped(capacity.value),
        unit => format!("{} {unit}", grouped(capacity.value)),
    }
}

/// A sentence that begins with a number stays as it is.
fn capitalized(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is one from the beginning");
        if !line.is_empty() && line.len() + 1 + word.len() > WIDTH {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_judge::examination::Conclusion;

    #[test]
    fn a_line_says_what_was_found_and_the_next_what_to_change() {
        let check = |name: &str, state, change: Option<&str>| Check {
            group: "time".into(),
            name: name.into(),
            state,
            result: "a result".into(),
            change: change.map(str::to_owned),
        };
        let examined = Examination {
            checks: vec![check("clock", State::Fine, None), check("speed", State::CouldBeBetter, Some("do this"))],
            conclusion: Conclusion {
                labs: true,
                precision: "balanced".into(),
                because: "it is good".into(),
                capacities: vec![Capacity {
                    what: "nodes".into(),
                    value: 1_200.0,
                    unit: "nodes".into(),
                    arithmetic: "2,400 / 2".into(),
                }],
            },
            ..Examination::default()
        };
        let text = anstream::adapter::strip_str(&examination(&examined)).to_string();
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "time",
                "clock  fine             a result",
                "speed  could be better  a result",
                "                        -> do this",
                "",
                "Labs run here.",
                "Precision: balanced. It is good.",
                "A lab may ask for:",
                "  nodes  1,200  = 2,400 / 2",
            ]
        );
    }

    #[test]
    fn sentences_are_broken_between_words() {
        let lines = wrapped(&"word ".repeat(50));
        assert!(lines.len() > 1 && lines.iter().all(|line| line.len() <= WIDTH), "{lines:?}");
    }
}
