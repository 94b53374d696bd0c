//! The plan for readers: as JSON, and as text.

mod air;
mod firing;
mod json;
mod node;
mod text;

pub use firing::firing;
pub use json::{change, settings_of};
pub use node::mac;
