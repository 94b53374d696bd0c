//! The plan for readers: as JSON, and as text.

mod air;
mod json;
mod node;
mod text;

pub use json::{change, firing, settings_of};
pub use node::mac;
