//! How cost grows: the engine's processor time for a packet, and how late packets are, with more packets, hops, pipes and
//! flows; and what more nodes take. `docs/performance.md` shows the figures.

mod air;
mod hops;
pub(crate) mod many;
pub(crate) mod packets;

use crate::case::{Case, case};
use crate::lab::Lab;
use crate::picture::{Panel, Series, Stroke};
use crate::probe::{Arrivals, Load};
use crate::row::Row;
use crate::settings::Settings;
use crate::{exactness, machine, processes};
use plotters::prelude::{RGBColor, SeriesLabelPosition};

/// All cases; the word `growth` stands for all of them.
pub(crate) const CASES: [Case; 8] = [
    case(PACKETS, "What a packet costs as there are more per second", 90, packets::run),
    case("growth-hops", "What a packet costs as there are more hops", 120, hops::run),
    case("growth-pipes", "What a packet costs as there are more pipes", 75, many::pipes),
    case(FLOWS, "What a segment costs as there are more TCP streams", 75, many::flows),
    case(NODES, "What nodes take as there are more", 60, many::nodes),
    case("growth-air", "What stations on one channel of Wi-Fi cost in virtual time", 150, air::saturated),
    case("growth-walking", "What nodes that walk about cost in real time", 40, air::walking),
    case("growth-random", "What random graphs of routers take as there are more", 300, crate::random::growth),
];

/// Of these the arithmetic for larger machines takes figures ([`crate::server`]).
pub(crate) const PACKETS: &str = "growth-packets";
pub(crate) const FLOWS: &str = "growth-flows";
pub(crate) const NODES: &str = "growth-nodes";

const ROUNDS: u32 = 3;

/// What became of a load, and what it took.
struct Carried {
    arrivals: Arrivals,
    /// Packets that were offered.
    offered: f64,
    /// Processor time of the engine, and of all that this machine did, in seconds.
    engine: f64,
    machine: f64,
    /// The part of both that has nothing to do with packets: starting the programs, waiting for the last.
    fixed: (f64, f64),
}

/// Sends from node a to node b and watches the processors.
fn carry(lab: &Lab, load: Load) -> Result<Carried, String> {
    let pid = lab.pid()?;
    let (engine, machine) = (processes::engine_seconds(pid), machine::busy_seconds());
    let arrivals = exactness::arrivals(lab, load)?;
    Ok(Carried {
        fixed: (0.0, 0.0),
        arrivals,
        offered: load.packets(),
        engine: processes::engine_seconds(pid) - engine,
        machine: machine::busy_seconds() - machine,
    })
}

/// The same so many times, without what a load takes that has hardly a packet.
fn carry_all(settings: &Settings, lab: &Lab, load: Load) -> Result<Vec<Carried>, String> {
    // So few that each port gets one.
    let few = load.burst as f64 + f64::from(load.ports);
    let none = carry(lab, Load { seconds: few / load.rate, ..load })?;
    let beyond = |_| Ok(Carried { fixed: (none.engine, none.machine), ..carry(lab, load)? });
    (0..settings.rounds(ROUNDS)).map(beyond).collect()
}

impl Carried {
    /// The engine's nanoseconds for each packet that arrived.
    fn cost_ns(&self) -> f64 {
        (self.engine - self.fixed.0) * 1e9 / self.arrivals.count as f64
    }

    /// Everything's: the sender's, the receiver's, and whatever else this machine did.
    fn machine_ns(&self) -> f64 {
        (self.machine - self.fixed.1) * 1e9 / self.arrivals.count as f64
    }

    fn lost_percent(&self) -> f64 {
        (1.0 - self.arrivals.count as f64 / self.offered).max(0.0) * 100.0
    }

    fn late_us(&self, share: f64) -> f64 {
        self.arrivals.quantile_us(share) - exactness::DELAY_US
    }
}

/// Points of a curve: where, and what the rounds measured there.
type Curve = Vec<(f64, Vec<f64>)>;

/// A row for each point of a curve.
fn rows(curve: &Curve, unit: &'static str, what: impl Fn(f64) -> String) -> Result<Vec<Row>, String> {
    curve.iter().map(|(at, samples)| Row::number(what(*at), unit, samples.clone())).collect()
}

/// The curve of the medians, with bars of half the spread.
fn series(name: &str, colour: RGBColor, curve: &Curve) -> Series {
    let points = curve.iter().map(|(at, samples)| {
        let (least, greatest) = crate::row::ends(samples);
        (*at, crate::row::median(samples).unwrap_or(f64::NAN), (greatest - least) / 2.0)
    });
    Series { name: name.to_owned(), colour, stroke: Stroke::Bars, points: points.collect() }
}

/// Above the highest point there is room for the names of the series.
const HEADROOM: f64 = 1.3;

/// A plot over an axis of ratios.
fn panel(title: &str, x: &'static str, y: &'static str, series: Vec<Series>) -> Panel {
    let mut ticks: Vec<f64> = series.iter().flat_map(|series| &series.points).map(|(at, ..)| *at).collect();
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    let most = series.iter().flat_map(|series| &series.points).map(|(_, at, bar)| at + bar).fold(0.0, f64::max);
    let (names, top) = (SeriesLabelPosition::UpperRight, Some(most.max(f64::MIN_POSITIVE) * HEADROOM));
    Panel { title: title.to_owned(), x, y, ticks, by_ratio: true, top, bottom: 0.0, series, names }
}

/// All of the values, or the first few where it is quick.
fn some<'a, T>(settings: &Settings, values: &'a [T]) -> &'a [T] {
    if settings.quick { &values[..values.len().min(2)] } else { values }
}
