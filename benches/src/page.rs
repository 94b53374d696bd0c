//! The figures of a run as one page that needs nothing else: tables, a picture of each figure's distance from its goal,
//! and the plots of the cases.

use crate::report::{Outcome, Report};
use crate::row::{Figure, Finding, Row};
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");
const HEADS: [&str; 5] = ["", "goal", "measured", "ratio", "spread"];
/// The width of the picture of a distance, and what it shows at most: a figure ten times better or worse than its goal.
const WIDTH: f64 = 160.0;
const DECADES: f64 = 1.0;

/// The page.
pub(crate) fn html(report: &Report) -> String {
    let (met, total) = report.goals();
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Netloom benchmarks</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>Netloom benchmarks</h1>\n\
         <p class=\"soft\">{}; the whole run took {:.0} s</p>\n",
        escaped(&report.machine.words()),
        report.seconds,
    );
    if total > 0 {
        let side = if met == total { "good" } else { "bad" };
        let _ = writeln!(page, "<p class=\"goals\"><span class=\"{side}\">{met} of {total}</span> goals met</p>");
    }
    if report.quick {
        page.push_str(
            "<p class=\"note\">Few and short measurements: this shows that all cases run, not how good they are.</p>\n",
        );
    }
    page.push_str("<nav>");
    for Outcome { case, .. } in &report.outcomes {
        let _ = write!(page, "<a href=\"#{0}\">{0}</a> ", case.name);
    }
    page.push_str(
        "</nav>\n<p class=\"soft\">A ratio is to what a figure is compared with, in the same run; else to its goal. In the \
         pictures the line is the goal, and what is right of it is better, whatever is measured: the ends are ten times \
         worse and better. A dot is the median, and the bar reaches from the worst to the best round.</p>\n",
    );
    for outcome in &report.outcomes {
        section(&mut page, outcome);
    }
    page.push_str("<footer><p>Written by <code>netloom-bench</code>; the same figures for programs are in <code>bench.json</code>.</p></footer>\n</body>\n</html>\n");
    page
}

fn section(page: &mut String, outcome: &Outcome) {
    let Outcome { case, load, rows, figures, seconds } = outcome;
    let _ = write!(
        page,
        "<section id=\"{}\">\n<h2>{}</h2>\n<p class=\"soft\"><code>{}</code>, {seconds:.0} s; {:.2} processors were busy \
         before, the load average was {:.2}</p>\n",
        case.name,
        escaped(case.title),
        case.name,
        load.busy,
        load.average
    );
    if load.is_high() {
        page.push_str(
            "<p class=\"note\">Something else kept processors busy just before: the figures may be its doing.</p>\n",
        );
    }
    match rows {
        Ok(rows) => table(page, rows),
        Err(reason) => {
            let _ = writeln!(page, "<p class=\"note\">Could not be measured: {}</p>", escaped(reason));
        }
    }
    for svg in figures {
        let _ = writeln!(page, "<figure>{svg}</figure>");
    }
    page.push_str("</section>\n");
}

fn table(page: &mut String, rows: &[Row]) {
    page.push_str("<table>\n<thead><tr>");
    for head in HEADS.iter().chain(&["", ""]) {
        let _ = write!(page, "<th>{head}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        page.push_str("<tr>");
        let cells = row.cells();
        for (cell, head) in cells.iter().zip(HEADS) {
            let named =
                if head.is_empty() || cell.is_empty() { String::new() } else { format!(" data-head=\"{head}:\"") };
            let _ = write!(page, "<td{named}>{}</td>", escaped(cell));
        }
        let picture = match &row.finding {
            Finding::Number(figure) => picture(figure).unwrap_or_default(),
            Finding::Told { .. } | Finding::Absent => String::new(),
        };
        let verdict = match row.met() {
            Some(true) => "<span class=\"good\">met</span> ",
            Some(false) => "<span class=\"bad\">missed</span> ",
            None => "",
        };
        let _ = writeln!(page, "<td class=\"bar\">{picture}</td><td>{verdict}{}</td></tr>", escaped(&row.remark));
    }
    page.push_str("</tbody>\n</table>\n");
}

/// How far a figure and its rounds are from the goal; none without a goal.
fn picture(figure: &Figure) -> Option<String> {
    let place = |margin: f64| {
        let share = margin.max(1e-9).log10().clamp(-DECADES, DECADES) / DECADES;
        WIDTH / 2.0 + share * (WIDTH / 2.0 - 6.0)
    };
    let at = place(figure.margin(figure.median())?);
    let rounds = figure.samples.iter().filter_map(|sample| figure.margin(*sample)).map(place);
    let (least, most) = rounds.fold((at, at), |(least, most), round| (least.min(round), most.max(round)));
    let (middle, side) = (WIDTH / 2.0, if at >= WIDTH / 2.0 { "good" } else { "bad" });
    Some(format!(
        "<svg viewBox=\"0 0 {WIDTH} 22\" role=\"img\" aria-label=\"distance from the goal\">\
         <rect x=\"0\" y=\"4\" width=\"{WIDTH}\" height=\"14\" style=\"fill:var(--band)\"/>\
         <line x1=\"{least:.1}\" x2=\"{most:.1}\" y1=\"11\" y2=\"11\" style=\"stroke:var(--{side});stroke-width:4;opacity:.5\"/>\
         <line x1=\"{middle}\" x2=\"{middle}\" y1=\"1\" y2=\"21\" style=\"stroke:var(--soft);stroke-width:1.5\"/>\
         <circle cx=\"{at:.1}\" cy=\"11\" r=\"4.5\" style=\"fill:var(--{side})\"/></svg>"
    ))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Load, Machine};
    use crate::row::Goal;

    fn report() -> Report {
        let row = Row::number("a <figure>", "Gbit/s", vec![9.0, 8.0, 30.0]).unwrap().goal(Goal::AtLeast(8.5));
        let machine = Machine {
            processors: 2,
            model: "CPU".to_owned(),
            kernel: "6.18".to_owned(),
            version: "netloom 0.1.0".to_owned(),
            commit: None,
            user: "root",
        };
        let load = Load { busy: 0.0, average: 0.1 };
        let figures = vec!["<svg></svg>".to_owned()];
        let [first, second, ..] = crate::goals::CASES;
        let outcomes = vec![
            Outcome {
                case: first,
                load,
                rows: Ok(vec![row, Row::absent("a peer", "not installed")]),
                figures,
                seconds: 3.0,
            },
            Outcome { case: second, load, rows: Err("it broke".to_owned()), figures: Vec::new(), seconds: 1.0 },
        ];
        Report { machine, outcomes, quick: false, seconds: 4.0 }
    }

    #[test]
    fn the_page_says_all_and_loads_nothing() {
        let page = html(&report());
        for part in
            ["1 of 1", "a &lt;figure&gt;", "not installed", "it broke", "<figure><svg></svg></figure>", "met</span>"]
        {
            assert!(page.contains(part), "{part}");
        }
        assert!(!page.contains("http") && !page.contains("src="), "the page loads something");
    }

    #[test]
    fn what_is_better_is_right_of_the_goal() {
        let figure = |goal| Figure { unit: "us", samples: vec![10.0], against: None, goal: Some(goal) };
        for goal in [Goal::AtMost(20.0), Goal::AtLeast(5.0), Goal::Within(-20.0, 20.0)] {
            assert!(picture(&figure(goal)).unwrap().contains("fill:var(--good)"));
        }
        assert!(picture(&figure(Goal::AtMost(5.0))).unwrap().contains("fill:var(--bad)"));
    }
}
