//! Quantities of networking with exact integer arithmetic: instants, durations, rates, sizes, probabilities, dilations, days. And
//! the quantiles of many, and how measured ones are written.
//!
//! This crate reads no clock, starts no thread and opens no file: it is `no_std`, and the compiler proves it. Every
//! quantity is written with its unit and parsed without rounding or clamping; what cannot be represented exactly is
//! refused with a message that lists the accepted forms. [`quantity`] alone rounds, for people.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod bit_error_rate;
mod cost;
mod date;
mod decimal;
mod dilation;
mod limit;
mod parse;
mod probability;
pub mod quantile;
pub mod quantity;
mod rate;
mod seed;
mod signed;
mod size;
mod time;

pub use bit_error_rate::BitErrorRate;
pub use cost::{BranchCount, Computing, CpuCost, CpuLevel, TimePerBranch, TimePerByte};
pub use date::Date;
pub use decimal::{Decimal, Inexact};
pub use dilation::Dilation;
pub use limit::Limit;
pub use parse::ParseError;
pub use probability::Probability;
pub use rate::{Rate, Serializer};
pub use seed::Seed;
pub use signed::{Drift, SignedDuration};
pub use size::Bytes;
pub use time::{Duration, Instant};
