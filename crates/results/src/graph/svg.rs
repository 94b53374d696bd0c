//! A scene as SVG, readable in print, and on light and dark screens.

use super::labels::{Area, HEIGHT, width};
use super::layout::Point;
use super::scene::{Line, Scene, Shape, Vertex};
use super::symbols;
use netloom_lab::markup::escaped;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Around the picture.
const MARGIN: f64 = 18.0;
/// A row of the legend.
const ROW: f64 = 22.0;

const STYLE: &str = "
text{font:11px Helvetica,Arial,'Liberation Sans',sans-serif;text-anchor:middle;fill:#1f2328;stroke:#fff;stroke-width:3px;\
stroke-linejoin:round;paint-order:stroke}
.small{font-size:10px;fill:#57606a}.key{text-anchor:start}
.paper{fill:#fff}.link{fill:none;stroke:#8c959f;stroke-linecap:round}
.node{fill:#f0f2f4;stroke:#1f2328;stroke-width:1.2}.foot{fill:none;stroke:#1f2328;stroke-width:1.2;stroke-linecap:round}
.full{stroke:#fff;stroke-width:0.8}.full.router{fill:#0072b2}.full.switch{fill:#00785a}.full.lan{fill:#57606a}
.hollow{fill:#fff;stroke-width:1.4}.hollow.router{stroke:#0072b2}.hollow.switch{stroke:#00785a}
.sign,.mark{fill:none;stroke:#fff;stroke-width:1.2;stroke-linecap:round;stroke-linejoin:round}
.mark.router{stroke:#0072b2}.mark.switch{stroke:#00785a}
@media (prefers-color-scheme:dark){text{fill:#e6edf3;stroke:#0d1117}.small{fill:#9da7b3}.paper{fill:#0d1117}.link{stroke:#7d8590}\
.node{fill:#21262d;stroke:#c9d1d9}.foot{stroke:#c9d1d9}.full{stroke:#0d1117}.full.router{fill:#58a6ff}.full.switch{fill:#3fb98e}\
.full.lan{fill:#9da7b3}.sign{stroke:#0d1117}.hollow{fill:#0d1117}.hollow.router,.mark.router{stroke:#58a6ff}\
.hollow.switch,.mark.switch{stroke:#3fb98e}}
";

/// The text of the SVG file.
pub(super) fn svg(scene: &Scene, name: &str) -> String {
    let shapes: BTreeSet<Shape> = scene.vertices.iter().map(|vertex| vertex.shape).collect();
    let keys: Vec<Shape> = if shapes.len() > 1 { shapes.iter().copied().collect() } else { Vec::new() };
    let all = extent(scene);
    let legend_width = legend_width(&keys, &scene.legend);
    let has_legend = !keys.is_empty() || !scene.legend.is_empty();
    let wide = (all.right - all.left).max(legend_width) + 2.0 * MARGIN;
    let high = all.bottom - all.top + 2.0 * MARGIN + if has_legend { ROW + 6.0 } else { 0.0 };
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide:.0}\" height=\"{high:.0}\" viewBox=\"0 0 {wide:.0} {high:.0}\" \
         role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n<defs>\n",
        escaped(name)
    );
    for shape in &shapes {
        let _ = writeln!(text, "<g id=\"{}\">{}</g>", symbols::id(*shape), symbols::drawing(*shape));
    }
    let _ = writeln!(text, "</defs>\n<rect class=\"paper\" width=\"{wide:.0}\" height=\"{high:.0}\"/>");
    let shift = [(wide - all.right - all.left) / 2.0, MARGIN - all.top];
    let moved = |[x, y]: Point| [x + shift[0], y + shift[1]];
    scene.lines.iter().for_each(|line| draw_line(&mut text, line, moved));
    let symbol = scene.radius / 10.0;
    scene.vertices.iter().for_each(|vertex| draw_vertex(&mut text, vertex, symbol, moved));
    for line in &scene.lines {
        write_beside(&mut text, line, moved);
    }
    for vertex in &scene.vertices {
        let Some(label) = vertex.label else { continue };
        write_at(&mut text, moved(label.middle()), "", &vertex.name);
    }
    if has_legend {
        let left = ((wide - legend_width) / 2.0).max(MARGIN);
        draw_legend(&mut text, &keys, &scene.legend, [left, high - MARGIN / 2.0 - ROW / 2.0]);
    }
    text.push_str("</svg>\n");
    text
}

/// All that is drawn.
fn extent(scene: &Scene) -> Area {
    let symbols = scene.vertices.iter().map(|vertex| vertex.area(scene.radius + 2.0));
    let labels = scene.vertices.iter().filter_map(|vertex| vertex.label);
    let words = scene.lines.iter().filter_map(|line| line.label);
    let bends = scene.lines.iter().map(|line| Area::around(line.at_middle(), 4.0, 4.0));
    let all = symbols.chain(labels).chain(words).chain(bends).reduce(|a, b| Area {
        left: a.left.min(b.left),
        top: a.top.min(b.top),
        right: a.right.max(b.right),
        bottom: a.bottom.max(b.bottom),
    });
    all.unwrap_or(Area { left: 0.0, top: 0.0, right: 0.0, bottom: 0.0 })
}

fn draw_line(text: &mut String, line: &Line, moved: impl Fn(Point) -> Point) {
    let [[x, y], [to_x, to_y]] = [moved(line.from), moved(line.to)];
    let path = if line.bend == 0.0 {
        format!("M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}")
    } else {
        // The curve goes half as far aside as the point that pulls it.
        let [middle_x, middle_y] = moved(line.at_middle());
        let [pull_x, pull_y] = [2.0 * middle_x - (x + to_x) / 2.0, 2.0 * middle_y - (y + to_y) / 2.0];
        format!("M{x:.1} {y:.1}Q{pull_x:.1} {pull_y:.1} {to_x:.1} {to_y:.1}")
    };
    let about = escaped(&line.about);
    let _ = writeln!(
        text,
        "<path class=\"link\" data-link=\"{}\" stroke-width=\"{:.1}\" d=\"{path}\"><title>{about}</title></path>",
        escaped(&line.name),
        line.width
    );
}

fn draw_vertex(text: &mut String, vertex: &Vertex, scale: f64, moved: impl Fn(Point) -> Point) {
    let [x, y] = moved(vertex.at);
    let _ = writeln!(
        text,
        "<g transform=\"translate({x:.1} {y:.1}) scale({scale:.2})\"><use href=\"#{}\"/><title>{}</title></g>",
        symbols::id(vertex.shape),
        escaped(&vertex.about)
    );
}

/// The settings of a link. Arrows are those of the line as it is drawn.
fn write_beside(text: &mut String, line: &Line, moved: impl Fn(Point) -> Point) {
    let Some(label) = line.label else { return };
    let [dx, dy] = [line.to[0] - line.from[0], line.to[1] - line.from[1]];
    let (forth, back) = match (dx.abs() >= dy.abs(), dx > 0.0, dy > 0.0) {
        (true, true, _) => ("→", "←"),
        (true, false, _) => ("←", "→"),
        (false, _, true) => ("↓", "↑"),
        (false, _, false) => ("↑", "↓"),
    };
    let [x, y] = label.middle();
    let wide = line.words.iter().map(|words| 0.86 * width(words)).fold(0.0, f64::max);
    let [left, top] = moved([x - wide / 2.0, y]);
    let (top, high) = (top - HEIGHT * line.words.len() as f64 / 2.0, HEIGHT * line.words.len() as f64);
    let _ = writeln!(
        text,
        "<rect class=\"paper\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{wide:.1}\" height=\"{high:.1}\"/>"
    );
    for (number, words) in line.words.iter().enumerate() {
        let words = match words.split_at_checked("→".len()) {
            Some(("→", rest)) => format!("{forth}{rest}"),
            Some(("←", rest)) => format!("{back}{rest}"),
            _ => words.clone(),
        };
        let below = label.top + HEIGHT * (number as f64 + 0.5);
        write_at(text, moved([x, below]), &format!(" class=\"small\" data-link=\"{}\"", escaped(&line.name)), &words);
    }
}

/// A text around a point.
fn write_at(text: &mut String, [x, y]: Point, class: &str, words: &str) {
    let _ = writeln!(text, "<text{class} x=\"{x:.1}\" y=\"{:.1}\">{}</text>", y + 3.8, escaped(words));
}

/// Between a sample and its meaning, and behind it.
const SAMPLE: f64 = 22.0;
const BEHIND: f64 = 20.0;

fn legend_width(keys: &[Shape], lines: &[(f64, String)]) -> f64 {
    let words = keys.iter().map(|shape| symbols::name(*shape)).chain(lines.iter().map(|(_, words)| words.as_str()));
    words.map(|words| SAMPLE + 6.0 + width(words) + BEHIND).sum::<f64>() - BEHIND
}

fn draw_legend(text: &mut String, keys: &[Shape], lines: &[(f64, String)], [mut x, y]: Point) {
    for shape in keys {
        let scale = if *shape == Shape::Lan { 0.7 } else { 0.8 };
        let _ = writeln!(
            text,
            "<use href=\"#{}\" transform=\"translate({:.1} {y:.1}) scale({scale})\"/>",
            symbols::id(*shape),
            x + SAMPLE / 2.0
        );
        write_key(text, [x + SAMPLE + 4.0, y], symbols::name(*shape));
        x += SAMPLE + 6.0 + width(symbols::name(*shape)) + BEHIND;
    }
    for (thick, words) in lines {
        let _ = writeln!(text, "<path class=\"link\" stroke-width=\"{thick:.1}\" d=\"M{x:.1} {y:.1}h{SAMPLE}\"/>");
        write_key(text, [x + SAMPLE + 6.0, y], words);
        x += SAMPLE + 6.0 + width(words) + BEHIND;
    }
}

/// What a sample means.
fn write_key(text: &mut String, [x, y]: Point, words: &str) {
    let _ = writeln!(text, "<text class=\"small key\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>", y + 3.6, escaped(words));
}
