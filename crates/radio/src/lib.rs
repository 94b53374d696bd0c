//! Radio media: physical layers, access and propagation of IEEE 802.11, and cells of mobile networks, as exact events.
//!
//! This crate reads no clock, starts no thread and opens no file: it is `no_std`, and the compiler proves it. It knows sizes and
//! instants of frames, and nothing of packets, pipes or labs. Its parts:
//!
//! - [`Phy`]: how long what is on the air, by standard, channel, width and [`Mode`].
//! - [`Medium`]: stations that contend for one channel by DCF or EDCA and all hear one another. [`Access`], [`Contention`],
//!   [`Aggregation`], [`RetryLimits`] and [`Discipline`] say how.
//! - [`RadioMedium`]: stations at positions, each of which hears what reaches it: hidden and exposed stations, interference, capture, rate control.
//! - [`CellMedium`]: a base station that schedules its terminals, as those of LTE and 5G do.
//! - [`Interferer`]: what neighbours' networks and other devices send on the channel.
//! - [`Path`]: where a station is at each time, if it moves. [`Generator`] and [`Group`] draw paths.
//! - [`PathLoss`], [`Scenario`], [`Wall`], [`AntennaPattern`], [`Shadowing`] and [`Fading`]: what is left of a signal at a distance. [`packet_error_rate`]: how many frames
//!   get lost at a ratio of signal to noise. [`Medium`] does not use these, [`RadioMedium`] does.
//!
//! ```
//! use netloom_radio::{
//!     AccessCategory, Channel, Destination, Frame, Medium, MediumConfig, Mode, Phy, PhyConfig, Standard, StationConfig, StationId,
//! };
//! use netloom_units::{Bytes, Instant, Seed};
//!
//! // Two stations of 802.11a with 54 Mbit/s.
//! let phy = Phy::new(&PhyConfig::new(Standard::A, Channel::new(36)?))?;
//! let station = |name: &str| StationConfig { name: name.into(), link: Mode::kilobits(54_000).into() };
//! let mut medium = Medium::new(&MediumConfig::new(phy), &[station("ap"), station("phone")], Seed::new(7))?;
//! // The medium has been idle for long when a packet of 1,500 bytes comes, so it is sent at once.
//! let now = Instant::from_nanos(1_000_000);
//! let (to, size) = (Destination::Station(StationId(1)), Bytes::new(1_500));
//! medium.enqueue(now, StationId(0), Frame { to, size, category: AccessCategory::BestEffort, payload: "a packet" });
//! // 20 us of preamble, and 57 symbols of 4 us for 1,536 bytes with all headers.
//! let mut outcomes = Vec::new();
//! while let Some(wake) = medium.next_wake() {
//!     medium.advance(wake, |outcome| outcomes.push(outcome));
//! }
//! assert_eq!(outcomes[0].at.since(now).as_nanos(), 248_000);
//! # Ok::<(), netloom_radio::ConfigError>(())
//! ```
//!
//! # How a fabric drives a medium
//! A medium takes the place of the pipe of a shared medium, as `Medium<Packet>`; the ports of the medium are its stations, in order.
//!
//! - *Inject* at a port: [`Medium::enqueue`] with the size behind the Ethernet header, the category of the packet's DSCP
//!   ([`AccessCategory::of_dscp`]), and a destination by the Ethernet address: a group address is [`Destination::Everybody`], and so is an
//!   address that no station has. Which addresses are behind which station, the fabric knows as a switch does (an access point that is a
//!   switch stands for all behind it). A train is cut into segments first: each of them is a frame.
//! - *Wake*: [`Medium::next_wake`] goes among the wakes of pipes. [`Medium::advance`] hands out each [`Outcome`] in order: what was
//!   delivered goes to the port of its destination, or to all ports but the sender's; what was dropped into the drop log, with
//!   its [`Cause`]. Instants do not depend on when the medium is called, nor on the order of calls at one instant but for frames of one station.
//! - *Lookahead*: [`Medium::lookahead_until`] for the instant before which deliveries are certain: it reaches behind the PPDU on the air and is at
//!   least [`Medium::lookahead`] ahead, 20 us. To act ahead of time, copy the medium (`Clone`), advance the copy up to that
//!   instant, and keep the original for what is enqueued.
//! - *Changes*: [`Medium::set_link`] at the instant of the change.
//! - *Records*: [`Medium::record_attempts`] and [`Medium::attempts`] for journals and the page; [`Medium::record_frames`] and [`Medium::frames`]
//!   for captures with headers of 802.11.
//! - *Verdict*: [`Medium::airtime`] sums up to the time that passed, and each station's frames are delivered, dropped or
//!   [waiting](Medium::waiting).
//!
//! # Keys of lab files
//! ```yaml
//! medium: {kind: wifi, standard: ax, channel: 36, width: 80 MHz, guard-interval: 800 ns, preamble: long, slot: short, access: dcf,
//!          rts-above: 2 kB, retries: {short: 7, long: 4}, amsdu: 0 B, ampdu: 65535 B, window: 64, queue: {kind: airtime-fq, limit: 1000}}
//! rate: {mcs: 7, streams: 1}     # of a station, or of a link between two; with a, b and g: rate: 54 Mbit/s
//! ```
//! [`PhyConfig`] has `standard` to `slot`, [`MediumConfig`] the others, [`StationConfig`] the rate. [`ConfigError::key`] is the key of a wrong
//! value.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod aired;
mod airtime;
mod antenna;
mod association;
mod attempt;
mod category;
mod cell;
mod config;
mod contender;
mod contention;
mod counters;
mod coverage;
mod decibels;
mod error;
mod error_rate;
mod fading;
mod frame;
mod interferer;
mod link;
mod measured;
mod medium;
mod path;
mod path_loss;
mod phy;
mod position;
mod power;
mod propagation;
mod queue;
mod radio;
mod rate_control;
mod scenario;
mod shadowing;
mod station;
mod transmission;
mod wall;

pub use aired::{Aired, AiredMpdu, Control};
pub use airtime::Airtime;
pub use antenna::{AntennaPattern, Beam};
pub use association::{AccessPoint, AccessPoints, RoamingRule};
pub use attempt::Attempt;
pub use category::AccessCategory;
pub use cell::{
    CellConfig, CellMedium, CellSignal, CellSite, CellStation, CqiTable, Drx, HandoverGaps, HandoverRule,
    RadioLinkControl, Scheduler, SlotUse, transport_block,
};
pub use config::{Access, Aggregation, Discipline, MediumConfig, Recovery, RetryLimits};
pub use contention::Contention;
pub use counters::{StationCounters, Totals};
pub use coverage::Coverage;
pub use decibels::Decibels;
pub use error::ConfigError;
pub use error_rate::{Coding, best_mcs, packet_error_rate};
pub use fading::{Fading, FadingModel};
pub use frame::{Cause, Destination, Frame, Outcome, StationId};
pub use interferer::{Interferer, Source};
pub use link::LinkConfig;
pub use medium::Medium;
pub use path::{Area, Circle, GaussMarkov, Generator, Group, Manhattan, Path, RandomWaypoint, Waypoint};
pub use path_loss::{Floors, Heights, Metres, PathLoss, Walls, noise_floor};
pub use phy::{Band, Channel, GuardInterval, Mode, Phy, PhyConfig, Ppdu, Preamble, SlotTime, Standard, Width};
pub use position::Position;
pub use propagation::{FadingConfig, Propagation, ShadowingConfig};
pub use radio::{Associated, Join, RadioConfig, RadioMedium, RadioStation, Reception};
pub use rate_control::RateControl;
pub use scenario::{Scenario, street_line_of_sight};
pub use shadowing::{Place, Shadowing};
pub use station::StationConfig;
pub use wall::Wall;
