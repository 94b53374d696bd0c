//! The server of `netloom ui`: one local page, and over HTTP and WebSockets what it needs of the program.
//!
//! It is a client like the command line and decides nothing by itself: it passes on the control protocol, starts `netloom` itself to bring labs
//! up, reads and writes lab files, and reads results folders. It knows neither namespaces nor packets, and no lab waits for it. What is said to
//! the page is in the manual, `docs/ui-protocol.md`.
//!
//! Everything that a browser sends may come from a stranger: see `access`. Everything that waits has a bound.
//!
//! `control` passes on the lines of a lab's control socket, `jobs` starts `netloom up`, `run` and `sim` as processes,
//! `check`, `results` and `journal` read folders. Every request passes `access`, which judges its host, origin and
//! token and says who asks (`visitors`); `route` says which role a place needs. Handlers get names of labs and
//! results as types that only a look at what is shared makes (`reach`), and lab files from `lab_files` alone, which
//! asks one rule (`rule`). What each visitor may take is counted (`shares`), and so are those who have a lab file
//! read at a time (`turns`), which cannot be stopped once it has begun.
//!
//! Nothing waits for a page, and nothing is queued for one: lines of a lab are read when the page has taken those
//! before (`socket`), so it is the lab that leaves samples out. `events` compares what a page knows with what is true
//! (`world`) when the page listens again. A terminal sends what the page says it has shown, and a window more.
//!
//! tokio is for this crate alone (`deny.toml`), in a process that moves no packets. Servers with threads were
//! considered: `tiny_http` and `rouille` have had no release for years and no WebSockets; `tungstenite` with a thread
//! for each direction cannot split a TLS stream; `hyper` on another executor still brings tokio's types.

#![forbid(unsafe_code)]

mod access;
mod air_frames;
mod air_logs;
mod air_map;
mod air_maps;
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
mod results_index;
mod route;
mod rule;
mod scene;
mod scope;
mod serve;
mod serve_error;
mod shares;
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
pub use netloom_pages::ARE_CURRENT as PAGE_IS_CURRENT;
pub use options::{Opened, Options, Share};
pub use serve::{Served, serve};
pub use serve_error::ServeError;
pub use token::Role;
