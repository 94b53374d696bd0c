//! The map as SVG.

use super::contours::Grid;
use super::{Map, Point};
use netloom_lab::markup::escaped;
use std::fmt::Write;

/// The size of the map in pixels: its longer side, and what is around it.
const SIZE: f64 = 640.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 16.0;
const RIGHT: f64 = 16.0;
const BELOW: f64 = 64.0;
/// The grid on which contours are found has so many squares on its longer side.
const SQUARES: f64 = 120.0;
/// Closer than so many pixels, two lines are one.
const NEAR: f64 = 1.0;
/// At most so many contours.
const CONTOURS: usize = 6;
/// One of so many names at most is written; the others are seen when one points at their marks.
const NAMES: usize = 60;

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#1f2328;paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}\
.small{font-size:11px;fill:#57606a}.mid{text-anchor:middle}.end{text-anchor:end}.paper{fill:#fff}.frame{fill:none;stroke:#8c959f}.grid{stroke:#d0d7de;stroke-width:0.6}\
.contour{fill:none;stroke:#0072b2;stroke-linejoin:round}.wall{stroke:#1f2328;stroke-width:3;stroke-linecap:round}\
.way{fill:none;stroke:#b35900;stroke-width:1.6;stroke-dasharray:6 4;stroke-linejoin:round}.ahead{fill:#b35900}\
.belongs{stroke:#57606a;stroke-width:1;stroke-dasharray:1 4;stroke-linecap:round}\
.station{fill:#fff;stroke:#1f2328;stroke-width:1.6}.sender{fill:#0072b2;stroke:#fff;stroke-width:1}\
@media (prefers-color-scheme:dark){text{fill:#e6edf3;stroke:#0d1117}.small{fill:#9da7b3}.paper{fill:#0d1117}.frame{stroke:#7d8590}.grid{stroke:#30363d}\
.contour{stroke:#58a6ff}.wall{stroke:#e6edf3}.way{stroke:#f0883e}.ahead{fill:#f0883e}.belongs{stroke:#9da7b3}\
.station{fill:#0d1117;stroke:#e6edf3}.sender{fill:#58a6ff;stroke:#0d1117}}";

/// The text of the SVG file.
pub(super) fn svg(map: &Map<'_>) -> String {
    let [wide, high] = [0, 1].map(|axis| map.to[axis] - map.from[axis]);
    let scale = SIZE / wide.max(high);
    let place = |[x, y]: Point| [LEFT + (x - map.from[0]) * scale, TOP + (map.to[1] - y) * scale];
    let (width, height) = (wide * scale, high * scale);
    let (all, tall) = (LEFT + width + RIGHT, TOP + height + BELOW);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all:.0}\" height=\"{tall:.0}\" viewBox=\"0 0 {all:.0} {tall:.0}\" role=\"img\">\n\
         <title>{} in metres</title>\n<style>{STYLE}</style>\n<rect class=\"paper\" width=\"{all:.0}\" height=\"{tall:.0}\"/>\n",
        escaped(map.name)
    );
    draw_axes(&mut text, map, scale, place);
    // The grid of the contours reaches beyond the frame.
    let _ = writeln!(
        text,
        "<clipPath id=\"inside\"><rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height:.1}\"/></clipPath>\n<g clip-path=\"url(#inside)\">"
    );
    let levels = draw_contours(&mut text, map, place);
    text.push_str("</g>\n");
    for [from, to] in &map.belongs {
        draw_line(&mut text, "belongs", place(*from), place(*to));
    }
    for [from, to] in &map.walls {
        draw_line(&mut text, "wall", place(*from), place(*to));
    }
    map.ways.iter().for_each(|way| draw_way(&mut text, way, place));
    draw_marks(&mut text, map, place);
    let _ =
        writeln!(text, "<rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height:.1}\"/>");
    draw_legend(&mut text, map, &levels, TOP + height + 44.0);
    text.push_str("</svg>\n");
    text
}

/// Lines at round numbers of metres.
fn draw_axes(text: &mut String, map: &Map<'_>, scale: f64, place: impl Fn(Point) -> Point) {
    let step = round_step(80.0 / scale);
    let [left, below] = place(map.from);
    let [right, above] = place(map.to);
    for axis in 0..2 {
        let first = (map.from[axis] / step).ceil() as i64;
        for number in first..=(map.to[axis] / step).floor() as i64 {
            let metres = number as f64 * step;
            let words = if step < 1.0 { format!("{metres:.1}") } else { format!("{metres:.0}") };
            if axis == 0 {
                let x = place([metres, map.from[1]])[0];
                draw_line(text, "grid", [x, above], [x, below]);
                let _ =
                    writeln!(text, "<text class=\"small mid\" x=\"{x:.1}\" y=\"{:.1}\">{words}</text>", below + 16.0);
            } else {
                let y = place([map.from[0], metres])[1];
                draw_line(text, "grid", [left, y], [right, y]);
                let _ = writeln!(
                    text,
                    "<text class=\"small end\" x=\"{:.1}\" y=\"{:.1}\">{words}</text>",
                    left - 6.0,
                    y + 4.0
                );
            }
        }
    }
}

/// 1, 2 or 5 times a power of ten, at least this.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|times| times * power).find(|step| *step >= least).unwrap_or(10.0 * power)
}

/// Draws contours, each with its power, and returns those that are there.
fn draw_contours(text: &mut String, map: &Map<'_>, place: impl Fn(Point) -> Point) -> Vec<f64> {
    if map.senders.is_empty() {
        return Vec::new();
    }
    let [wide, high] = [0, 1].map(|axis| map.to[axis] - map.from[axis]);
    let grid = Grid::of(map.from, map.to, wide.max(high) / SQUARES, |point| map.strongest(point));
    // The limit, and multiples of 10 dB above it.
    let tens = (1..40).map(|step| ((map.least + 1.0) / 10.0).ceil() * 10.0 + f64::from(step - 1) * 10.0);
    let levels = std::iter::once(map.least).chain(tens.take_while(|level| *level < grid.greatest()));
    let mut drawn = Vec::new();
    let mut labels = String::new();
    for level in levels {
        let lines = grid.lines(level);
        let Some(longest) = lines.iter().max_by_key(|line| line.len()) else { continue };
        if drawn.len() == CONTOURS {
            break;
        }
        let stroke = if drawn.is_empty() && level <= map.least { "stroke-width=\"2.4\"" } else { "stroke-width=\"1\"" };
        let path: String = lines.iter().map(|line| path_of(line, &place)).collect();
        let _ = writeln!(text, "<path class=\"contour\" {stroke} d=\"{path}\"/>");
        // Written where lines of other powers are written elsewhere.
        let [x, y] = place(longest[(longest.len() * (1 + drawn.len() % 3) / 4).min(longest.len() - 1)]);
        let _ = writeln!(labels, "<text class=\"small mid\" x=\"{x:.1}\" y=\"{y:.1}\">{level:.0} dBm</text>");
        drawn.push(level);
    }
    text.push_str(&labels);
    drawn
}

fn path_of(line: &[Point], place: impl Fn(Point) -> Point) -> String {
    let mut path = String::new();
    for (number, point) in line.iter().enumerate() {
        let [x, y] = place(*point);
        let _ = write!(path, "{}{x:.1},{y:.1}", if number == 0 { "M" } else { "L" });
    }
    path
}

/// The pieces of a line in pixels that do not lead along earlier ones.
fn fresh(line: &[Point]) -> Vec<Vec<Point>> {
    let mut drawn: Vec<[Point; 2]> = Vec::new();
    let mut pieces: Vec<Vec<Point>> = Vec::new();
    let mut is_open = false;
    for pair in line.windows(2) {
        let [from, to] = [pair[0], pair[1]];
        let middle = [(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0];
        if drawn.iter().any(|old| distance(*old, middle) < NEAR) {
            is_open = false;
            continue;
        }
        if !is_open {
            pieces.push(vec![from]);
        }
        is_open = true;
        pieces.last_mut().into_iter().for_each(|piece| piece.push(to));
        drawn.push([from, to]);
    }
    pieces
}

/// How far a point is from a piece of a line.
fn distance([from, to]: [Point; 2], [x, y]: Point) -> f64 {
    let along = [to[0] - from[0], to[1] - from[1]];
    let length = along[0] * along[0] + along[1] * along[1];
    let share = ((x - from[0]) * along[0] + (y - from[1]) * along[1]) / length.max(1e-9);
    let share = share.clamp(0.0, 1.0);
    (from[0] + share * along[0] - x).hypot(from[1] + share * along[1] - y)
}

fn draw_line(text: &mut String, class: &str, [x1, y1]: Point, [x2, y2]: Point) {
    let _ = writeln!(text, "<line class=\"{class}\" x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\"/>");
}

/// A way with an arrow at its end. Where it leads along itself again it is drawn once: dashes of both directions would fill each other's gaps.
fn draw_way(text: &mut String, way: &[Point], place: impl Fn(Point) -> Point) {
    let mut seen: Vec<Point> = Vec::new();
    for point in way.iter().map(|point| place(*point)) {
        // Shorter steps cannot be told from those before.
        if seen.last().is_none_or(|[x, y]| (point[0] - x).hypot(point[1] - y) > 3.0 * NEAR) {
            seen.push(point);
        }
    }
    let path: String = fresh(&seen).iter().map(|piece| path_of(piece, |point| point)).collect();
    let _ = writeln!(text, "<path class=\"way\" d=\"{path}\"/>");
    let Some(last) = way.last().map(|point| place(*point)) else { return };
    let before = way.iter().rev().map(|point| place(*point)).find(|[x, y]| (x - last[0]).hypot(y - last[1]) > 4.0);
    if let Some([x, y]) = before {
        let degrees = (last[1] - y).atan2(last[0] - x).to_degrees();
        let _ = writeln!(
            text,
            "<path class=\"ahead\" d=\"M0,0L-9,4.5L-9,-4.5Z\" transform=\"translate({:.1} {:.1}) rotate({degrees:.0})\"/>",
            last[0], last[1]
        );
    }
}

fn draw_marks(text: &mut String, map: &Map<'_>, place: impl Fn(Point) -> Point) {
    let mut taken: Vec<Point> = Vec::new();
    for (number, mark) in map.marks.iter().enumerate() {
        let [x, y] = place(mark.at);
        let shape = if mark.is_sender {
            format!("<path class=\"sender\" d=\"M{x:.1},{:.1}l8,14h-16z\"/>", y - 9.0)
        } else {
            format!("<circle class=\"station\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>")
        };
        let _ = writeln!(text, "<g>{shape}<title>{}</title></g>", escaped(&mark.about));
        // A name that would cover another one stands below it.
        let mut at = [x + 10.0, y + 4.0];
        while taken.iter().any(|other| (other[0] - at[0]).abs() < 60.0 && (other[1] - at[1]).abs() < 13.0) {
            at[1] += 13.0;
        }
        if number < NAMES {
            let _ = writeln!(
                text,
                "<text class=\"key\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                at[0],
                at[1],
                escaped(mark.name)
            );
            taken.push(at);
        }
    }
}

/// Explains the signs, in a row.
fn draw_legend(text: &mut String, map: &Map<'_>, levels: &[f64], y: f64) {
    let mut x = LEFT;
    let mut key = |to: &mut String, sign: String, words: &str| {
        let _ =
            writeln!(to, "{sign}<text class=\"small key\" x=\"{:.1}\" y=\"{:.1}\">{words}</text>", x + 30.0, y + 4.0);
        x += 42.0 + 6.2 * words.len() as f64;
        x
    };
    let line = |class: &str, from: f64| {
        format!("<line class=\"{class}\" x1=\"{from:.1}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\"/>", from + 24.0)
    };
    let mut at = LEFT;
    if !levels.is_empty() {
        at = key(text, line("contour", at), "strongest sender");
    }
    if !map.walls.is_empty() {
        at = key(text, line("wall", at), "wall");
    }
    if !map.ways.is_empty() {
        at = key(text, line("way", at), "way");
    }
    if !map.belongs.is_empty() {
        at = key(text, line("belongs", at), "belongs to");
    }
    key(text, String::new(), &format!("{}metres to the east and to the north", if at > LEFT { "" } else { "in " }));
}
