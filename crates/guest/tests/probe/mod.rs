//! What the tests run in a process with the shim. Each probe is a test that is ignored when the tests run by themselves.

mod clocks;
mod entropy;
mod host;
mod timers;
mod waits;
#[cfg(target_arch = "x86_64")]
mod xstate;
