//! The map as SVG.

use super::contours::Grid;
use super::{Map, Point};
use netloom_lab::markup::escaped;
use std::fmt::Write;

/// The margins around the map, in pixels.
const LEFT: f64 = 56.0;
const TOP: f64 = 16.0;
const RIGHT: f64 = 16.0;
const BELOW: f64 = 64.0;
/// The height of a row of the legend, and of a line of words, and the width of a letter on the average.
const ROW: f64 = 18.0;
const LINE: f64 = 13.0;
const LETTER: f64 = 6.4;
/// The grid on which contours are found has so many squares on its longer side.
const SQUARES: f64 = 120.0;
/// Closer than so many pixels, two lines are one.
const NEAR: f64 = 1.0;
/// A name stands so many lines away from its mark at most.
const MOST_LINES: u32 = 100;
/// The room of a mark.
const MARK: Point = [20.0, 20.0];
/// At most so many contours.
const CONTOURS: usize = 6;
/// One of so many names at most is written; the others are seen when one points at their marks.
const NAMES: usize = 60;

const STYLE: &str = "text{font:12px system-ui,sans-serif;fill:#1f2328;paint-order:stroke;stroke:#fff;stroke-width:3px;stroke-linejoin:round}\
.small{font-size:11px;fill:#57606a}.mid{text-anchor:middle}.end{text-anchor:end}.paper{fill:#fff}.frame{fill:none;stroke:#8c959f}.grid{stroke:#d0d7de;stroke-width:0.6}\
.contour{fill:none;stroke:#0072b2;stroke-linejoin:round}.wall{stroke:#1f2328;stroke-width:3;stroke-linecap:round}\
.way{fill:none;stroke:#b35900;stroke-width:1.6;stroke-dasharray:6 4;stroke-linejoin:round}.ahead{fill:#b35900}\
.belongs{stroke:#57606a;stroke-width:2;stroke-dasharray:0.1 4.5;stroke-linecap:round}\
.station{fill:#fff;stroke:#1f2328;stroke-width:1.6}.sender{fill:#0072b2;stroke:#fff;stroke-width:1}\
@media (prefers-color-scheme:dark){text{fill:#e6edf3;stroke:#0d1117}.small{fill:#9da7b3}.paper{fill:#0d1117}.frame{stroke:#7d8590}.grid{stroke:#30363d}\
.contour{stroke:#58a6ff}.wall{stroke:#e6edf3}.way{stroke:#f0883e}.ahead{fill:#f0883e}.belongs{stroke:#9da7b3}\
.station{fill:#0d1117;stroke:#e6edf3}.sender{fill:#58a6ff;stroke:#0d1117}}";

/// The text of the SVG file, of which the longer side of the map is so long that a wide map has this width in pixels.
pub(super) fn svg(map: &Map<'_>, most: f64) -> String {
    let [wide, high] = [0, 1].map(|axis| map.to[axis] - map.from[axis]);
    let scale = (most - LEFT - RIGHT) / wide.max(high);
    let place = |[x, y]: Point| [LEFT + (x - map.from[0]) * scale, TOP + (map.to[1] - y) * scale];
    let (width, height) = (wide * scale, high * scale);
    let all = LEFT + width + RIGHT;
    let inside = [[LEFT, TOP], [LEFT + width, TOP + height]];
    let named = place_names(map, inside, place);
    let boxes = named.iter().flatten().map(|name| name.taken).collect();
    let mut taken = Taken { inside, boxes };
    taken.boxes.extend(map.marks.iter().map(|mark| around(place(mark.at), MARK)));
    let mut curves = String::new();
    let has_contours = draw_contours(&mut curves, map, &mut taken, place);
    let mut legend = String::new();
    let rows = draw_legend(&mut legend, map, has_contours, [all, TOP + height + 44.0]);
    let tall = TOP + height + BELOW + (rows - 1.0) * ROW;
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
    text.push_str(&curves);
    text.push_str("</g>\n");
    for [from, to] in &map.walls {
        draw_line(&mut text, "wall", place(*from), place(*to));
    }
    map.ways.iter().for_each(|way| draw_way(&mut text, way, place));
    // Over the ways, along which they may lead.
    for [from, to] in &map.belongs {
        draw_line(&mut text, "belongs", place(*from), place(*to));
    }
    draw_marks(&mut text, map, &named, place);
    let _ =
        writeln!(text, "<rect class=\"frame\" x=\"{LEFT}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height:.1}\"/>");
    text.push_str(&legend);
    text.push_str("</svg>\n");
    text
}

/// Lines at round numbers of metres.
fn draw_axes(text: &mut String, map: &Map<'_>, scale: f64, place: impl Fn(Point) -> Point) {
    let [left, below] = place(map.from);
    let [right, above] = place(map.to);
    let longest = [map.from, map.to].concat().iter().map(|metres| format!("{metres:.0}").len()).max().unwrap_or(0);
    // Numbers do not cover one another.
    let room = ((right - left) / 8.0).clamp(48.0, 80.0).max(LETTER * (longest + 1) as f64);
    let step = round_step(room / scale);
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

/// Draws contours, each with its power, and returns whether there are any.
fn draw_contours(text: &mut String, map: &Map<'_>, taken: &mut Taken, place: impl Fn(Point) -> Point) -> bool {
    if map.senders.is_empty() {
        return false;
    }
    let [wide, high] = [0, 1].map(|axis| map.to[axis] - map.from[axis]);
    let grid = Grid::of(map.from, map.to, wide.max(high) / SQUARES, |point| map.strongest(point));
    // The limit, and multiples of 10 dB above it.
    let tens = (1..40).map(|step| ((map.least + 1.0) / 10.0).ceil() * 10.0 + f64::from(step - 1) * 10.0);
    let levels = std::iter::once(map.least).chain(tens.take_while(|level| *level < grid.greatest()));
    let mut drawn = 0;
    let mut labels = String::new();
    for level in levels {
        let lines = grid.lines(level);
        if lines.is_empty() {
            continue;
        }
        if drawn == CONTOURS {
            break;
        }
        let stroke = if drawn == 0 && level <= map.least { "stroke-width=\"2.4\"" } else { "stroke-width=\"1\"" };
        let path: String = lines.iter().map(|line| path_of(line, &place)).collect();
        let _ = writeln!(text, "<path class=\"contour\" {stroke} d=\"{path}\"/>");
        let words = format!("{level:.0} dBm");
        // Lines of other powers are begun elsewhere, so that their powers do not stand in a row.
        let all = lines.iter().flat_map(|line| {
            let first = line.len() * (drawn % 3) / 4;
            (0..line.len()).map(move |step| line[(first + step) % line.len()])
        });
        if let Some([x, y]) = taken.find(all.map(&place), [LETTER * words.len() as f64, LINE]) {
            let _ = writeln!(labels, "<text class=\"small mid\" x=\"{x:.1}\" y=\"{:.1}\">{words}</text>", y + 4.0);
        }
        drawn += 1;
    }
    text.push_str(&labels);
    drawn > 0
}

/// A rectangle by its least and its greatest coordinates.
type Rectangle = [Point; 2];

fn around([x, y]: Point, [wide, high]: Point) -> Rectangle {
    [[x - wide / 2.0, y - high / 2.0], [x + wide / 2.0, y + high / 2.0]]
}

fn is_within(own: &Rectangle, whole: &Rectangle) -> bool {
    (0..2).all(|axis| own[0][axis] > whole[0][axis] && own[1][axis] < whole[1][axis])
}

fn overlap(one: &Rectangle, other: &Rectangle) -> bool {
    (0..2).all(|axis| one[0][axis] < other[1][axis] && other[0][axis] < one[1][axis])
}

/// Where words stand already.
struct Taken {
    inside: Rectangle,
    boxes: Vec<Rectangle>,
}

impl Taken {
    /// Returns the first of some places around which words of a size cover nothing, and takes it.
    fn find(&mut self, mut places: impl Iterator<Item = Point>, size: Point) -> Option<Point> {
        let is_free = |at: &Point| {
            let own = around(*at, size);
            is_within(&own, &self.inside) && !self.boxes.iter().any(|other| overlap(&own, other))
        };
        let found = places.find(is_free)?;
        self.boxes.push(around(found, size));
        Some(found)
    }
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

/// Where the name of a mark stands, and to which side of that.
struct Named {
    at: Point,
    class: &'static str,
    taken: Rectangle,
}

/// Places names beside their marks, or above or below them: where they cover neither names nor marks, within the frame. Where there is no such place, further away.
fn place_names(map: &Map<'_>, inside: Rectangle, place: impl Fn(Point) -> Point) -> Vec<Option<Named>> {
    let marks: Vec<Rectangle> = map.marks.iter().map(|mark| around(place(mark.at), MARK)).collect();
    let mut all: Vec<Option<Named>> = Vec::new();
    for (number, mark) in map.marks.iter().enumerate() {
        let [x, y] = place(mark.at);
        let wide = LETTER * mark.name.chars().count() as f64;
        let named = |at: Point, class: &'static str| {
            let from = match class {
                "key" => at[0],
                "key end" => at[0] - wide,
                _ => at[0] - wide / 2.0,
            };
            Named { at, class, taken: [[from, at[1] - LINE + 3.0], [from + wide, at[1] + 3.0]] }
        };
        let covers = |own: &Rectangle| all.iter().flatten().any(|other| overlap(&other.taken, own));
        let beside = [
            ([x + 11.0, y + 4.0], "key"),
            ([x - 11.0, y + 4.0], "key end"),
            ([x, y + 22.0], "mid"),
            ([x, y - 13.0], "mid"),
        ];
        let mut free = beside.into_iter().map(|(at, class)| named(at, class));
        let found = free.find(|own| {
            let others = marks.iter().enumerate().filter(|(other, _)| *other != number);
            is_within(&own.taken, &inside)
                && !covers(&own.taken)
                && !others.clone().any(|(_, other)| overlap(other, &own.taken))
        });
        let below = || {
            let from = (x + 11.0).min(inside[1][0] - wide - 1.0).max(inside[0][0] + 1.0);
            let at = |line: f64| named([from, y + 4.0 + line * LINE], "key");
            let lines = (0..MOST_LINES).map(f64::from);
            let within = lines.clone().flat_map(|line| [line, -line]).map(at);
            let mut near = within.filter(|own| is_within(&own.taken, &inside)).chain(lines.map(at));
            near.find(|own| !covers(&own.taken)).unwrap_or_else(|| at(0.0))
        };
        let own = (number < NAMES).then(|| found.unwrap_or_else(below));
        all.push(own);
    }
    all
}

fn draw_marks(text: &mut String, map: &Map<'_>, named: &[Option<Named>], place: impl Fn(Point) -> Point) {
    for (mark, name) in map.marks.iter().zip(named) {
        let [x, y] = place(mark.at);
        let shape = if mark.is_sender {
            format!("<path class=\"sender\" d=\"M{x:.1},{:.1}l8,14h-16z\"/>", y - 9.0)
        } else {
            format!("<circle class=\"station\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\"/>")
        };
        let _ = writeln!(text, "<g>{shape}<title>{}</title></g>", escaped(&mark.about));
        if let Some(Named { at: [left, base], class, .. }) = name {
            let _ =
                writeln!(text, "<text class=\"{class}\" x=\"{left:.1}\" y=\"{base:.1}\">{}</text>", escaped(mark.name));
        }
    }
}

/// Explains the signs, in as many rows as have to be, and returns their number. `wide`: the width of the picture; `y`: where the first row is.
fn draw_legend(text: &mut String, map: &Map<'_>, has_contours: bool, [wide, first]: Point) -> f64 {
    let signs = [
        (has_contours, "contour", "strongest sender"),
        (!map.walls.is_empty(), "wall", "wall"),
        (!map.ways.is_empty(), "way", "way"),
        (!map.belongs.is_empty(), "belongs", "belongs to"),
        (true, "", "metres to the east and north"),
    ];
    let (mut x, mut y, mut rows) = (LEFT, first, 1.0);
    for (_, class, words) in signs.into_iter().filter(|(is_there, ..)| *is_there) {
        let sign = if class.is_empty() { 0.0 } else { 30.0 };
        let length = sign + LETTER * words.len() as f64;
        if x > LEFT && x + length > wide {
            (x, y, rows) = (LEFT, y + ROW, rows + 1.0);
        }
        if !class.is_empty() {
            draw_line(text, class, [x, y], [x + 24.0, y]);
        }
        let _ = writeln!(text, "<text class=\"small key\" x=\"{:.1}\" y=\"{:.1}\">{words}</text>", x + sign, y + 4.0);
        x += length + 12.0;
    }
    rows
}
