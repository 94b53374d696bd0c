//! What is drawn from models without a lab that runs: a simulation of links with its results folder, the model plot of a model, and the
//! delays that packets had beside the distributions from which they were to be drawn.
//!
//! This crate starts no process and makes no interface: it runs fabrics in virtual time, by the crate sim, and writes what that shows.

mod delays;
mod model_plot;
mod simulation;

pub use delays::write_measured;
pub use model_plot::{ModelPlotRequest, model_plot};
pub use simulation::{SimRequest, simulate};
