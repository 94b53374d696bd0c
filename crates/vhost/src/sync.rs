//! What both sides of a queue share. The file `suppress` takes it from here, and is also run under loom, which tries every order in
//! which two threads can meet: `tests/models` brings a `sync` of its own.

pub(crate) use std::sync::atomic::{AtomicU16, Ordering, fence};
