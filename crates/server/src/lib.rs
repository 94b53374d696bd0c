//! The server of `netloom ui`: one local page, and over HTTP and WebSockets what it needs of the program.
//!
//! It is a client like the command line and decides nothing by itself: it passes on the control protocol, starts `netloom` itself to bring labs
//! up, reads and writes lab files, and reads results folders. It knows neither namespaces nor packets, and no lab waits for it. What is said to
//! the page is in the manual, `docs/ui-protocol.md`.
//!
//! Everything that a browser sends may come from a stranger: see `access`. Everything that waits has a bound.

#![forbid(unsafe_code)]

mod access;
mod answer;
mod app;
mod captures;
mod certificate;
mod check;
mod commands;
mod connections;
mod control;
mod entry;
mod events;
mod files;
mod folder;
mod generate;
mod jobs;
mod journal;
mod journals;
mod lab_files;
mod labs;
mod lessons;
mod listen;
mod looks;
mod names;
mod options;
mod outbox;
mod page;
mod people;
mod places;
mod query;
mod ranges;
mod reach;
mod results;
mod route;
mod rule;
mod scene;
mod scope;
mod serve;
mod shares;
mod shelf;
mod shells;
mod socket;
mod state;
mod terminal;
mod token;
mod tree;
mod turns;
mod visitors;
mod world;

pub use certificate::Certificate;
pub use options::{Opened, Options, Share};
pub use serve::{Served, serve};
pub use token::Role;
