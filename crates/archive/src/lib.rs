//! Bundles: the results of a run or a sweep as one file, which is packed, looked into, checked and unpacked here. It must not
//! run anything, nor believe what a bundle says of itself: a bundle may be a stranger's.
//!
//! A bundle is a tar archive, packed with zstd. Its first file is the [`Manifest`], with the digests of all others, in the order
//! in which they follow. The same files give the same bytes: owners, times and permissions are the same in every bundle.
//!
//! A bundle is read as layers of images are: the crate `image` has the reader of tar streams that bounds what a
//! stranger's header takes, the decompression, digests and limits. The [`Manifest`] names every file that may follow.
//! A bundle holds no time, owner or name of a folder that is not part of the results; with the files that a run read of its machine (`root`) it
//! holds those of these files, too.

#![forbid(unsafe_code)]

mod compare;
mod error;
mod frames;
mod gather;
mod manifest;
mod pack;
mod read;
mod rerun;
mod root;
mod unpack;

#[cfg(test)]
mod tests;

pub use compare::{Change, Comparison, Figure, FileDifference, How, compare};
pub use error::ArchiveError;
pub use manifest::{FileEntry, Kind, LeftOut, Manifest};
pub use pack::{Packed, file_name, pack};
pub use read::{list, verify};
pub use rerun::{Ready, Then};
pub use unpack::{Unpacked, unpack};
