//! A contradiction as SVG: a row for each process, a bar for each operation from its invocation to its completion. The order of events counts, not
//! their distance; below the bars are the times.

use crate::history::{History, Operation, Status};
use crate::outcome::{Arrow, Contradiction};
use netloom_units::{Instant, quantity};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Around the picture.
const MARGIN: f64 = 16.0;
/// A row of bars, and a bar in it.
const ROW: f64 = 46.0;
const BAR: f64 = 24.0;
/// A character of text of this size, on average, and between two events.
const CHARACTER: f64 = 6.4;
const GAP: f64 = 18.0;
/// A line of the caption, and how many characters it has.
const LINE: f64 = 16.0;
const LONGEST_LINE: usize = 110;
/// How many operations and lines are drawn, and how long their words are.
const MOST_BARS: usize = 60;
const MOST_LINES: usize = 14;
const MOST_WORDS: usize = 40;

const STYLE: &str = "
text{font:11px Helvetica,Arial,'Liberation Sans',sans-serif;fill:#1f2328}.small{font-size:10px;fill:#57606a}
.bar{text-anchor:middle}.time{text-anchor:middle}.number{text-anchor:middle;font-size:9px;fill:#fff}
.paper{fill:#fff}.rule{stroke:#d0d7de;stroke-width:1}.tick{stroke:#8c959f;stroke-width:1;stroke-dasharray:2 3}
.ok{fill:#ddf4ff;stroke:#0072b2;stroke-width:1.2}.info{fill:#f0f2f4;stroke:#57606a;stroke-width:1.2;stroke-dasharray:5 3}
.fail{fill:#fff;stroke:#8c959f;stroke-width:1.2}.culprit{fill:#ffe9e0;stroke:#b3400a;stroke-width:2}
.place{fill:#0072b2}.arrow{fill:none;stroke:#b3400a;stroke-width:1.4}.head{fill:#b3400a}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9da7b3}.paper{fill:#0d1117}.rule{stroke:#30363d}.tick{stroke:#7d8590}
.ok{fill:#12304a;stroke:#58a6ff}.info{fill:#21262d;stroke:#9da7b3}.fail{fill:#0d1117;stroke:#7d8590}.culprit{fill:#4a2313;stroke:#ff8f5a}
.place{fill:#1f6feb}.arrow{stroke:#ff8f5a}.head{fill:#ff8f5a}}
";

/// A bar.
struct Bar<'a> {
    index: usize,
    operation: &'a Operation,
    words: String,
    row: usize,
    left: f64,
    right: f64,
}

/// Returns a picture of a contradiction as an SVG file.
pub fn picture(history: &History, contradiction: &Contradiction) -> String {
    let shown = shown(contradiction);
    let mut rows: BTreeMap<(usize, &str), usize> = BTreeMap::new();
    for index in &shown {
        let operation = &history.operations[*index];
        let next = rows.len();
        rows.entry((operation.file, &operation.process)).or_insert(next);
    }
    let names = row_names(history, &rows);
    let left = MARGIN + 12.0 + names.iter().map(|name| width(name)).fold(0.0, f64::max);
    let places = columns(history, &shown, left);
    let end = places.values().copied().fold(left, f64::max) + GAP;
    let bars: Vec<Bar<'_>> = shown
        .iter()
        .map(|index| {
            let operation = &history.operations[*index];
            let right = operation.end.and_then(|rank| places.get(&rank)).copied().unwrap_or(end);
            let row = rows[&(operation.file, operation.process.as_str())];
            Bar { index: *index, operation, words: words(operation), row, left: places[&operation.start], right }
        })
        .collect();
    let mut caption = lines(&format!("{}: {}", contradiction.kind, contradiction.message));
    if contradiction.operations.len() > shown.len() {
        caption.push(format!("{} more operations are not drawn.", contradiction.operations.len() - shown.len()));
    }
    let caption_width = caption.iter().map(|line| width(line)).fold(0.0, f64::max);
    let wide = (end + MARGIN).max(caption_width + 2.0 * MARGIN);
    let top = MARGIN + LINE * caption.len() as f64 + 26.0;
    let bottom = top + ROW * names.len() as f64;
    let high = bottom + 34.0 + MARGIN;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide:.0}\" height=\"{high:.0}\" viewBox=\"0 0 {wide:.0} {high:.0}\" \
         role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n<rect class=\"paper\" width=\"{wide:.0}\" height=\"{high:.0}\"/>\n",
        escaped(&contradiction.message)
    );
    for (number, line) in caption.iter().enumerate() {
        write_text(&mut text, "", MARGIN, MARGIN + LINE * (number as f64 + 0.7), line);
    }
    for (row, name) in names.iter().enumerate() {
        let y = top + ROW * row as f64 + BAR / 2.0;
        let _ = writeln!(text, "<path class=\"rule\" d=\"M{left:.1} {y:.1}H{end:.1}\"/>");
        write_text(&mut text, "small", MARGIN, y + 3.6, name);
    }
    draw_times(&mut text, &bars, [top, bottom], left);
    for bar in &bars {
        draw_bar(&mut text, history, contradiction, bar, top);
    }
    for arrow in &contradiction.arrows {
        draw_arrow(&mut text, arrow, &bars, top);
    }
    text.push_str("</svg>\n");
    text
}

/// Returns the operations that are drawn: the last ones and the culprit, if there are too many.
fn shown(contradiction: &Contradiction) -> Vec<usize> {
    let all = &contradiction.operations;
    let mut shown = all[all.len().saturating_sub(MOST_BARS)..].to_vec();
    if let Some(culprit) = contradiction.culprit.filter(|culprit| !shown.contains(culprit)) {
        shown.insert(0, culprit);
    }
    shown
}

fn row_names(history: &History, rows: &BTreeMap<(usize, &str), usize>) -> Vec<String> {
    let mut names = vec![String::new(); rows.len()];
    for ((file, process), row) in rows {
        let source = if history.files.len() > 1 { format!(" of {}", history.files[*file]) } else { String::new() };
        names[*row] = cut(&format!("process {process}{source}"));
    }
    names
}

/// Returns where each event is drawn: in order, and far enough apart for the words of each bar.
fn columns(history: &History, shown: &[usize], left: f64) -> BTreeMap<usize, f64> {
    let mut starts: BTreeMap<usize, Option<(usize, f64)>> = BTreeMap::new();
    for index in shown {
        let operation = &history.operations[*index];
        starts.insert(operation.start, None);
        if let Some(end) = operation.end {
            starts.insert(end, Some((operation.start, width(&words(operation)) + 26.0)));
        }
    }
    let mut places: BTreeMap<usize, f64> = BTreeMap::new();
    let mut at = left;
    for (rank, begun) in starts {
        if let Some((start, wide)) = begun {
            at = places.get(&start).map_or(at, |from| at.max(from + wide));
        }
        places.insert(rank, at);
        at += GAP;
    }
    places
}

fn draw_times(text: &mut String, bars: &[Bar<'_>], [top, bottom]: [f64; 2], left: f64) {
    let starts = bars.iter().filter_map(|bar| Some((bar.left, bar.operation.invoked?)));
    let ends = bars.iter().filter(|bar| bar.operation.end.is_some());
    let ends = ends.filter_map(|bar| Some((bar.right, bar.operation.completed?)));
    let mut times: Vec<(f64, Instant)> = starts.chain(ends).collect();
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    let Some(first) = times.iter().map(|(_, time)| *time).min() else { return };
    let base = quantity::span(first.as_nanos());
    write_text(text, "small", MARGIN, bottom + 30.0, &format!("times since {base}"));
    let mut free = left - 30.0;
    for (x, time) in times {
        let _ = writeln!(text, "<path class=\"tick\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>");
        let words = format!("+{}", quantity::span(time.since(first).as_nanos()));
        if x - width(&words) / 2.0 > free {
            write_text(text, "small time", x, bottom + 12.0, &words);
            free = x + width(&words) / 2.0 + 6.0;
        }
    }
}

fn draw_bar(text: &mut String, history: &History, contradiction: &Contradiction, bar: &Bar<'_>, top: f64) {
    let class = match bar.operation.status {
        _ if contradiction.culprit == Some(bar.index) => "culprit",
        Status::Ok => "ok",
        Status::Fail => "fail",
        Status::Info => "info",
    };
    let y = top + ROW * bar.row as f64;
    let wide = bar.right - bar.left;
    let about = history.describe(bar.index);
    let _ = writeln!(
        text,
        "<rect class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" height=\"{BAR}\" rx=\"3\"><title>{}</title></rect>",
        bar.left,
        escaped(&about)
    );
    write_text(text, "bar", bar.left + wide / 2.0, y + BAR / 2.0 + 3.8, &bar.words);
    if let Some(number) = contradiction.order.iter().position(|index| *index == bar.index) {
        let _ = writeln!(text, "<circle class=\"place\" cx=\"{:.1}\" cy=\"{y:.1}\" r=\"7\"/>", bar.left);
        write_text(text, "number", bar.left, y + 3.2, &(number + 1).to_string());
    }
}

/// Draws what must come before what, from the middle of one bar to the middle of another.
fn draw_arrow(text: &mut String, arrow: &Arrow, bars: &[Bar<'_>], top: f64) {
    let find = |index: usize| bars.iter().find(|bar| bar.index == index);
    let (Some(from), Some(to)) = (find(arrow.from), find(arrow.to)) else { return };
    let middle = |bar: &Bar<'_>| [bar.left.midpoint(bar.right), top + ROW * bar.row as f64];
    let ([x, mut y], [to_x, mut to_y]) = (middle(from), middle(to));
    // To the right above the words, to the left below them, so that both directions are seen.
    let (x, to_x, bow) = if to_x >= x { (x + 8.0, to_x + 8.0, -18.0) } else { (x - 8.0, to_x - 8.0, 18.0) };
    if bow > 0.0 {
        y += BAR;
        to_y += BAR;
    }
    let (pull_x, pull_y) = (x.midpoint(to_x), y.midpoint(to_y) + 2.0 * bow);
    let _ = writeln!(
        text,
        "<path class=\"arrow\" d=\"M{x:.1} {y:.1}Q{pull_x:.1} {pull_y:.1} {to_x:.1} {to_y:.1}\"><title>{}</title></path>",
        escaped(&arrow.reason)
    );
    let tip = if bow < 0.0 { -6.0 } else { 6.0 };
    let _ = writeln!(text, "<path class=\"head\" d=\"M{to_x:.1} {to_y:.1}l-4 {tip}h8z\"/>");
    write_text(text, "small time", x.midpoint(to_x), y.midpoint(to_y) + bow + 3.0, arrow.kind);
}

fn write_text(text: &mut String, class: &str, x: f64, y: f64, words: &str) {
    let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
    let _ = writeln!(text, "<text{class} x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(words));
}

/// Returns how wide a text is, about.
fn width(words: &str) -> f64 {
    CHARACTER * words.chars().count() as f64
}

fn words(operation: &Operation) -> String {
    cut(&operation.words())
}

fn cut(words: &str) -> String {
    if words.chars().count() <= MOST_WORDS {
        return words.to_owned();
    }
    words.chars().take(MOST_WORDS - 1).chain(['…']).collect()
}

/// Breaks a text into lines.
fn lines(words: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words.split_whitespace() {
        let last = lines.last_mut().expect("there is always one");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > LONGEST_LINE {
            lines.push(word.to_owned());
            continue;
        }
        if !last.is_empty() {
            last.push(' ');
        }
        last.push_str(word);
    }
    if lines.len() > MOST_LINES {
        lines.truncate(MOST_LINES);
        lines.push("…".to_owned());
    }
    lines
}

/// Returns a text without what is markup, and without characters that XML cannot have.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, Model, Source, check};

    fn first(name: &str, text: &str) -> (History, Contradiction) {
        let history = History::read(&[Source { name: "h", text }], None).unwrap();
        let model = Model::named(name).unwrap();
        let outcome = check(&history, &model, &Limits::default()).unwrap();
        let contradiction = outcome.contradictions[0].clone();
        (history, contradiction)
    }

    #[test]
    fn a_stale_read_is_drawn_with_its_process_times_and_culprit() {
        let text = r#"{"process": "<a>", "type": "invoke", "f": "write", "value": 1, "time": 1000000}
{"process": "<a>", "type": "ok", "time": 2000000}
{"process": "b", "type": "invoke", "f": "read", "time": 3000000}
{"process": "b", "type": "ok", "value": null, "time": 4000000}
"#;
        let (history, contradiction) = first("register", text);
        let svg = picture(&history, &contradiction);
        for part in [
            "<svg xmlns",
            "process &lt;a&gt;",
            ">write 1</text>",
            ">read → null</text>",
            "class=\"culprit\"",
            ">+3 ms</text>",
            "times since 1 ms",
            "</svg>\n",
        ] {
            assert!(svg.contains(part), "{part} in {svg}");
        }
        assert!(!svg.contains("<a>") && !svg.contains("NaN"));
        assert_eq!(svg.matches("class=\"culprit\"").count(), 1);
    }

    #[test]
    fn a_circle_of_transactions_has_its_arrows() {
        let text = r#"{"process": 1, "type": "invoke", "f": "txn", "value": [["r", "x", null], ["append", "y", 1]]}
{"process": 2, "type": "invoke", "f": "txn", "value": [["r", "y", null], ["append", "x", 2]]}
{"process": 1, "type": "ok", "value": [["r", "x", []], ["append", "y", 1]]}
{"process": 2, "type": "ok", "value": [["r", "y", []], ["append", "x", 2]]}
"#;
        let (history, contradiction) = first("append", text);
        let svg = picture(&history, &contradiction);
        assert_eq!((contradiction.kind, svg.matches("class=\"arrow\"").count()), ("G2", 2));
        assert_eq!(svg.matches(">rw</text>").count(), 2);
    }
}
