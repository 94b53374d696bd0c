//! The plan for readers: as JSON, and as text.

mod container;
mod exercise;
mod hardware;
mod image;
mod json;
mod recorded;
mod switch;
mod text;
mod vm;

pub use hardware::mac;
pub use json::{change, settings_of};
