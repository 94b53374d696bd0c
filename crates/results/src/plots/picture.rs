//! The picture of a pipe: throughput, queue, queueing delay and drops over the same time, and marks where something
//! happened.

use super::data::Subject;
use super::events::{Log, Marks};
use super::faults::FaultSpan;
use super::samples::{Span, Traffic};
use crate::chart::{
    AMBER, Area, BLACK_INK, Chart, Drawn, FIRST, GREY, HEADROOM, PURPLE, SECOND, THIRD, count_tick, drawn, panel,
};
use netloom_judge::quantity::{rate, span};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// In pixels; SVG scales it.
pub(super) const WIDTH: u32 = 900;
pub(super) const TITLE: u32 = 34;
const MARK_NUMBERS: u32 = 16;
const HEADING: u32 = 20;
const LARGE: u32 = 210;
const SMALL: u32 = 120;
pub(super) const TIMES: u32 = 40;
const MARK_LINE: u32 = 17;
/// How dark a shade is over which curves are still seen.
const SHADE: f64 = 0.1;
/// Numbers of marks that are closer than this would overlap.
const APART: i32 = 20;
/// Letters of a line of the list of marks, of which there are two beside each other.
const LETTERS: usize = 54;
/// A described rate that is so many times higher than all that was carried would leave no room for the curve.
const OUT_OF_SIGHT: f64 = 4.0;
/// Causes of drops, in the order of [`Span::dropped`].
const CAUSES: [(&str, RGBColor); 7] = [
    ("queue full", SECOND),
    ("early", AMBER),
    ("loss", PURPLE),
    ("link down", BLACK_INK),
    ("partition", FIRST),
    ("fault", GREY),
    ("air", THIRD),
];

/// The picture as SVG.
pub(super) fn draw(subject: &Subject, traffic: &Traffic, log: &Log) -> String {
    let marks = log.marks(subject);
    let rates = log.rates(subject);
    let faults = log.faults.iter().filter(|fault| fault.is_about(subject));
    let end = traffic.spans.last().map_or(0.0, |span| span.to).max(1e-6);
    let curves = Curves { spans: &traffic.spans, rates: &rates, end };
    let panels = curves.panels();
    let plots: u32 = panels.iter().map(|(panel, _)| panel.height()).sum();
    let list = marks_height(&marks);
    let height = TITLE + MARK_NUMBERS + plots + TIMES + list + 6;
    drawn((WIDTH, height), |whole| {
        let (top, mut rest) = whole.split_vertically(TITLE);
        top.draw(&Text::new(subject.title(), (LEFT, 10), ("sans-serif", 19)))?;
        let numbers;
        (numbers, rest) = rest.split_vertically(MARK_NUMBERS);
        for (number, (part, heading)) in panels.iter().enumerate() {
            let is_last = number + 1 == panels.len();
            let area;
            (area, rest) = rest.split_vertically(part.height() + if is_last { TIMES } else { 0 });
            let (head, plot) = area.split_vertically(HEADING);
            legend(&head, heading)?;
            let mut chart = curves.draw(&plot, *part, is_last)?;
            shades(&mut chart, faults.clone(), (curves.end, part.top(&curves)))?;
            lines(&mut chart, &marks, part.top(&curves))?;
            if number == 0 {
                mark_numbers(&numbers, &chart, &marks)?;
            }
        }
        mark_list(&rest, &marks)
    })
}

/// Where texts begin.
pub(super) const LEFT: i32 = 92;

/// A part of the picture.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Panel {
    Throughput,
    Queue,
    Delay,
    OneWay,
    Drops,
}

/// What is drawn: a colour, and what it means.
type Heading = Vec<(RGBColor, String)>;

impl Panel {
    fn height(self) -> u32 {
        HEADING + if self == Self::Throughput { LARGE } else { SMALL }
    }

    /// The highest value at its axis.
    fn top(self, curves: &Curves<'_>) -> f64 {
        let highest = match self {
            Self::Throughput => curves.highest_rate(),
            Self::Queue => curves.longest_queue() as f64,
            Self::Delay => curves.longest_delay(),
            Self::OneWay => curves.longest_one_way() as f64,
            Self::Drops => curves.most_drops() as f64,
        };
        highest.max(1.0) * HEADROOM
    }
}

/// All that is known of a pipe.
struct Curves<'a> {
    spans: &'a [Span],
    /// From when on which rate is described.
    rates: &'a [(f64, Option<u64>)],
    end: f64,
}

impl Curves<'_> {
    /// The parts that have something to show, each with its heading.
    fn panels(&self) -> Vec<(Panel, Heading)> {
        let mut panels = vec![(Panel::Throughput, self.throughput_heading())];
        let longest = self.longest_queue();
        if longest > 0 {
            let text = format!("queue in packets, most {longest}");
            panels.push((Panel::Queue, vec![(SECOND, text)]));
        }
        if self.longest_delay() > 0.0 {
            let most = span(self.longest_delay() as u64);
            let text = format!("queueing delay: the queue at the described rate, longest {most}");
            panels.push((Panel::Delay, vec![(THIRD, text)]));
        }
        if self.longest_one_way() > 0 {
            let most = span(self.longest_one_way());
            let heading =
                vec![(FIRST, "one-way delay: median".to_owned()), (PURPLE, format!("99th percentile, longest {most}"))];
            panels.push((Panel::OneWay, heading));
        }
        if self.most_drops() > 0 {
            let total = |cause: usize| self.spans.iter().map(|span| span.dropped[cause]).sum::<u64>();
            let named = CAUSES.iter().enumerate().filter(|(cause, _)| total(*cause) > 0);
            let heading = named.map(|(cause, (name, colour))| (*colour, format!("dropped, {name}: {}", total(cause))));
            panels.push((Panel::Drops, heading.collect()));
        }
        panels
    }

    fn throughput_heading(&self) -> Heading {
        let bits: f64 = self.spans.iter().map(|span| span.bits).sum();
        let mut heading = vec![(FIRST, format!("throughput, mean {}", rate(bits / self.end)))];
        match self.rates {
            [(_, None)] => {}
            [(_, Some(only))] => {
                let hidden = if self.shows_described() { "" } else { ", above the picture" };
                heading.push((GREY, format!("described rate {}{hidden}", rate(*only as f64))));
            }
            _ if self.shows_described() => heading.push((GREY, "described rate".into())),
            _ => heading.push((GREY, "described rate, above the picture".into())),
        }
        heading
    }

    fn described(&self) -> impl Iterator<Item = f64> {
        self.rates.iter().filter_map(|(_, rate)| rate.map(|bits| bits as f64))
    }

    fn highest_throughput(&self) -> f64 {
        self.spans.iter().map(throughput).fold(0.0, f64::max)
    }

    fn shows_described(&self) -> bool {
        self.described().fold(f64::INFINITY, f64::min) <= self.highest_throughput() * OUT_OF_SIGHT
    }

    fn highest_rate(&self) -> f64 {
        let carried = self.highest_throughput();
        let near = self.described().filter(|bits| *bits <= carried * OUT_OF_SIGHT);
        near.fold(carried, f64::max)
    }

    fn longest_queue(&self) -> u64 {
        self.spans.iter().map(|span| span.queued_packets).max().unwrap_or(0)
    }

    /// In nanoseconds.
    fn longest_delay(&self) -> f64 {
        self.spans.iter().filter_map(|span| self.delay(span)).fold(0.0, f64::max)
    }

    /// In nanoseconds.
    fn longest_one_way(&self) -> u64 {
        self.spans.iter().filter_map(|span| span.one_way).map(|[_, p99]| p99).max().unwrap_or(0)
    }

    fn most_drops(&self) -> u64 {
        self.spans.iter().map(|span| span.dropped.iter().sum()).max().unwrap_or(0)
    }

    /// How long what waited takes at the rate that was described then, in nanoseconds.
    fn delay(&self, span: &Span) -> Option<f64> {
        let (_, described) = self.rates.iter().rev().find(|(from, _)| *from < span.to)?;
        described.filter(|bits| *bits > 0).map(|bits| span.queued_bytes as f64 * 8e9 / bits as f64)
    }

    fn draw<'a, 'b: 'a>(
        &self,
        area: &Area<'b>,
        part: Panel,
        has_times: bool,
    ) -> Result<Chart<'a, 'b>, Box<dyn std::error::Error>> {
        let corner = (self.end, part.top(self));
        let of_y: &dyn Fn(&f64) -> String = match part {
            Panel::Throughput => &|bits| rate(*bits),
            Panel::Queue | Panel::Drops => &|count| count_tick(*count),
            Panel::Delay | Panel::OneWay => &|ns| span(*ns as u64),
        };
        let mut chart = panel(area, corner, if has_times { TIMES } else { 0 }, of_y)?;
        match part {
            Panel::Throughput => {
                self.draw_described(&mut chart, corner.1)?;
                self.draw_steps(&mut chart, FIRST, |span| Some(throughput(span)))?;
            }
            Panel::Queue => self.draw_steps(&mut chart, SECOND, |span| Some(span.queued_packets as f64))?,
            Panel::Delay => self.draw_steps(&mut chart, THIRD, |span| self.delay(span))?,
            Panel::OneWay => {
                self.draw_steps(&mut chart, PURPLE, |span| span.one_way.map(|[_, p99]| p99 as f64))?;
                self.draw_steps(&mut chart, FIRST, |span| span.one_way.map(|[p50, _]| p50 as f64))?;
            }
            Panel::Drops => self.draw_drops(&mut chart)?,
        }
        Ok(chart)
    }

    /// A line that keeps its value over each span, interrupted where there is none.
    fn draw_steps(&self, chart: &mut Chart<'_, '_>, colour: RGBColor, value: impl Fn(&Span) -> Option<f64>) -> Drawn {
        let known = self.spans.split(|span| value(span).is_none());
        for run in known.filter(|run| !run.is_empty()) {
            let corners = run.iter().flat_map(|span| {
                let at = value(span).unwrap_or(0.0);
                [(span.from, at), (span.to, at)]
            });
            chart.draw_series(LineSeries::new(corners, colour.stroke_width(2)))?;
        }
        Ok(())
    }

    fn draw_described(&self, chart: &mut Chart<'_, '_>, top: f64) -> Drawn {
        let ends = self.rates.iter().skip(1).map(|(from, _)| *from).chain([self.end]);
        for ((from, bits), to) in self.rates.iter().zip(ends) {
            if let Some(bits) = bits.map(|bits| bits as f64).filter(|bits| *bits <= top) {
                chart.draw_series(LineSeries::new([(*from, bits), (to, bits)], GREY.stroke_width(1)))?;
            }
        }
        Ok(())
    }

    /// One cause upon the other.
    fn draw_drops(&self, chart: &mut Chart<'_, '_>) -> Drawn {
        for span in self.spans {
            let mut below = 0;
            for (count, (_, colour)) in span.dropped.iter().zip(CAUSES).filter(|(count, _)| **count > 0) {
                let corners = [(span.from, below as f64), (span.to, (below + count) as f64)];
                chart.draw_series([Rectangle::new(corners, colour.filled())])?;
                below += count;
            }
        }
        Ok(())
    }
}

fn throughput(span: &Span) -> f64 {
    let seconds = span.to - span.from;
    if seconds > 0.0 { span.bits / seconds } else { 0.0 }
}

/// What the colours of a panel mean, in one line above it.
pub(super) fn legend(area: &Area<'_>, heading: &Heading) -> Drawn {
    let mut left = LEFT;
    for (colour, text) in heading {
        area.draw(&Rectangle::new([(left, 7), (left + 16, 13)], colour.filled()))?;
        area.draw(&Text::new(text.clone(), (left + 22, 4), ("sans-serif", 13)))?;
        left += 50 + 7 * i32::try_from(text.chars().count()).unwrap_or(0);
    }
    Ok(())
}

/// A shade over each span in which something was wrong.
pub(super) fn shades<'a>(
    chart: &mut Chart<'_, '_>,
    faults: impl Iterator<Item = &'a FaultSpan>,
    (end, top): (f64, f64),
) -> Drawn {
    for fault in faults {
        let corners = [(fault.from.min(end), 0.0), (fault.to.unwrap_or(end).min(end), top)];
        chart.draw_series([Rectangle::new(corners, SECOND.mix(SHADE).filled())])?;
    }
    Ok(())
}

/// A dashed line at each mark.
pub(super) fn lines(chart: &mut Chart<'_, '_>, marks: &Marks<'_>, top: f64) -> Drawn {
    for (seconds, _) in &marks.shown {
        let line = [(*seconds, 0.0), (*seconds, top)];
        chart.draw_series(DashedLineSeries::new(line, 4, 3, BLACK.mix(0.7).stroke_width(1)))?;
    }
    Ok(())
}

/// The numbers of the marks above the first panel; those of neighbours share one place.
pub(super) fn mark_numbers(area: &Area<'_>, chart: &Chart<'_, '_>, marks: &Marks<'_>) -> Drawn {
    let mut groups: Vec<(i32, usize, usize)> = Vec::new();
    for (number, (seconds, _)) in (1..).zip(&marks.shown) {
        let (x, _) = chart.backend_coord(&(*seconds, 0.0));
        match groups.last_mut() {
            Some((first, _, last)) if x - *first < APART => *last = number,
            _ => groups.push((x, number, number)),
        }
    }
    let style = ("sans-serif", 12).into_font().color(&BLACK).pos(Pos::new(HPos::Center, VPos::Top));
    for (x, first, last) in groups {
        let text = if first == last { first.to_string() } else { format!("{first}-{last}") };
        area.draw(&Text::new(text, (x, 2), style.clone()))?;
    }
    Ok(())
}

/// What the numbers mean, in two columns.
pub(super) fn mark_list(area: &Area<'_>, marks: &Marks<'_>) -> Drawn {
    let rows = marks.shown.len().div_ceil(2);
    let entries = (1..).zip(&marks.shown).map(|(number, (seconds, text))| {
        // Nanoseconds after time zero; no run lasts for centuries.
        format!("{number}: {}, {text}", span((seconds * 1e9) as u64))
    });
    for (place, entry) in entries.enumerate() {
        let (column, row) = (place / rows, place % rows);
        let short: String = entry.chars().take(LETTERS).collect();
        let more = if short.len() < entry.len() { "…" } else { "" };
        let at = ([LEFT, LEFT + 400][column.min(1)], i32::try_from(row).unwrap_or(0) * MARK_LINE as i32);
        area.draw(&Text::new(format!("{short}{more}"), at, ("sans-serif", 13)))?;
    }
    if marks.others > 0 {
        let at = (LEFT, i32::try_from(rows).unwrap_or(0) * MARK_LINE as i32);
        let text = format!("and {} more in events.jsonl", marks.others);
        area.draw(&Text::new(text, at, ("sans-serif", 13).into_font().color(&GREY)))?;
    }
    Ok(())
}

/// How high the list of marks is, in pixels.
pub(super) fn marks_height(marks: &Marks<'_>) -> u32 {
    MARK_LINE * marks.lines()
}

impl Marks<'_> {
    /// Of the list.
    fn lines(&self) -> u32 {
        let more = usize::from(self.others > 0);
        u32::try_from(self.shown.len().div_ceil(2) + more).unwrap_or(0)
    }
}
