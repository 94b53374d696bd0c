//! Container images: found in folders and archives, checked against their digests, unpacked once into a cache, and looked into; written, too.
//!
//! It must not know of labs, but for how they name images, nor of namespaces, and it talks to no network. What is unpacked was made by strangers: every name is
//! resolved inside the folder that it is unpacked to, and everything that can grow has a bound ([`Limits`]).
//!
//! The formats are those of the [OCI image specification](https://github.com/opencontainers/image-spec), version 1.1, and of
//! what `docker save` writes.
//!
//! `entries` reads the stream of a layer with bounds, `layer` decides what becomes of an entry, and `tree` alone
//! touches the file system: the kernel resolves each name in the tree's root, and entries are made and removed by the
//! descriptor of their folder and their last name, which is never followed. All layers lie in one tree (`store` says
//! where). A lock per tree is held for writing while it is made or removed, and for reading by each process of a lab
//! that uses it.

#![forbid(unsafe_code)]

mod archive;
mod compression;
mod config;
mod contents;
mod digest;
mod download;
mod entries;
mod error;
mod folders;
mod import;
mod layer;
mod layout;
mod left;
mod limits;
mod lock;
mod manifest;
mod pack;
mod parts;
mod record;
mod root;
mod store;
mod tree;
mod whole;
mod write;

#[cfg(test)]
mod testing;

pub use compression::unpack as unpack_stream;
pub use config::Config;
pub use digest::{Digest, Hashing};
pub use download::Download;
pub use entries::{Entries, Entry, Kind as EntryKind};
pub use error::ImageError;
pub use import::Progress;
pub use layer::free_bytes;
pub use left::Left;
pub use limits::{LONGEST_DOCUMENT, Limits};
use netloom_lab::{ImageName as Name, ImageSource as Source};
pub use parts::{Leads, Part, check_config};
pub use record::Record;
pub use root::{Found, Root};
pub use store::{Image, Imported, Store};
pub use write::write_layout;
