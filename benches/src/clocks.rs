//! The clocks of labs with kernel nodes: how exact they are, what the paper on time dilation shows, and how long it takes.
//!
//! "To Infinity and Beyond: Time-Warped Network Emulation" (Gupta and others, NSDI 2006), sections 3.1 to 3.4 and 4.1. The
//! labs are those of `examples/papers/time-warp`; the figures are written as SVG.

mod beyond;
mod blocks;
mod exact;
mod groups;
mod idle;
mod pace;
mod packets;
pub(crate) mod play;
mod qdiscs;
mod rings;
mod shares;
mod statistics;

use crate::case::{Case, case};

/// All cases, in the order in which a newcomer would want to know them; the word `clocks` stands for all of them.
pub(crate) const CASES: [Case; 10] = [
    case("pace", "Clocks of kernel nodes: slope, sleep and ping", 300, pace::run),
    case("repetition", "Virtual time repeats runs", 20, exact::repetition),
    case("speed", "Wall time of virtual time", 120, exact::speed),
    case("rings", "Virtual time with many kernels", 60, rings::run),
    case("kernels", "Kernel nodes: time to be ready, memory and processor", 60, idle::run),
    case("qdiscs", "Our queues beside the disciplines of the Linux kernel", 150, qdiscs::run),
    case("packets", "Figures 2 to 4 and table 3: packet times of one TCP connection", 540, packets::run),
    case("shares", "Table 2: dilation and processor shares scaled together", 780, shares::run),
    case("groups", "Figure 5: 60 flows in three groups of round-trip times", 900, groups::run),
    case("beyond", "Figure 9: 50 flows of TCP and of BIC, 80 ms, up to 100 Gbit/s", 3600, beyond::run),
];
