//! The plan for readers: as JSON, and as text.

mod container;
mod exercise;
mod image;
mod json;
mod recorded;
mod text;
mod vm;

pub use json::{change, mac, settings_of};
