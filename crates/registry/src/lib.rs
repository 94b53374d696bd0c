//! Fetches container images from registries, over HTTPS, into the cache of the crate `image`, which checks and unpacks them.
//!
//! It must not know of labs, but for how they name images, nor unpack anything itself. A registry is a stranger: what it sends has a
//! bound, what it does not send is not waited for without end, and nothing that its digest does not confirm is kept.
//!
//! The protocol is that of the [OCI distribution specification](https://github.com/opencontainers/distribution-spec), version 1.1,
//! as far as it concerns pulling; tokens are those of the
//! [Distribution project](https://distribution.github.io/distribution/spec/auth/token/), which all public registries use.
//!
//! `pull` fetches what a manifest names into a folder of the cache, a layout like any other, which is then imported.
//! `client` decides whom a request may go to and how long to wait, `session` adds the credentials, and `blob`
//! continues an answer that broke off.

#![forbid(unsafe_code)]

mod blob;
mod challenge;
mod client;
mod credentials;
mod error;
mod helper;
mod pull;
mod reference;
mod session;
mod token;

pub use error::RegistryError;
pub use pull::{Options, Progress, pull};
pub use reference::{Reference, Wanted};
