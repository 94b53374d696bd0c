//! From an archive or folder to an unpacked tree, with every digest checked.

use crate::config::Document;
use crate::contents::Contents;
use crate::digest::Hashing;
use crate::error::Attempted;
use crate::folders::Folders;
use crate::layer::Applier;
use crate::left::Left;
use crate::manifest::Blob;
use crate::pack::{self, Packed};
use crate::record::Record;
use crate::tree::Tree;
use crate::{Digest, ImageError, Limits, compression};
use rustix::fs::syncfs;
use std::io::{self, BufReader, Read};
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

/// A report on the progress of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Another process unpacks the same image.
    Waiting,
    /// A folder is being copied.
    Folder {
        /// The size of its files, in bytes.
        bytes: u64,
    },
    /// A layer is being unpacked.
    Layer {
        /// Its number, from 1.
        number: usize,
        /// How many there are.
        of: usize,
        /// Its size as it is packed, in bytes.
        bytes: u64,
    },
}

/// Unpacks all layers. The caller holds the lock of the tree. How many entries and bytes there were, and what was left out.
pub(crate) fn unpack(
    contents: Contents,
    document: &Document,
    folders: &Folders,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<(u64, u64, Left), ImageError> {
    let apply = |applier: &mut Applier<'_>| {
        let of = contents.layers.len();
        for (number, ((blob, packed), diff_id)) in contents.layers.into_iter().zip(document.diff_ids()).enumerate() {
            progress(Progress::Layer { number: number + 1, of, bytes: blob.size });
            layer(blob, packed, *diff_id, applier, limits)?;
        }
        Ok(())
    };
    fill(&document.chain(), folders, limits, apply, |_| Ok(()))
}

/// Unpacks an image that another cache has packed: nothing but the digest of its file, which the caller compares, says that it is right.
pub(crate) fn unpack_whole(
    packed: Packed,
    folders: &Folders,
    limits: &Limits,
    progress: &mut dyn FnMut(Progress),
) -> Result<(u64, u64, Left), ImageError> {
    let Record { chain, entries, bytes, left, .. } = packed.record;
    let apply = |applier: &mut Applier<'_>| {
        progress(Progress::Layer { number: 1, of: 1, bytes: packed.size });
        let mut layer = packed.layer.take(limits.bytes);
        applier.apply(&mut layer, "the packed image")?;
        // Its packing has a sum at the end.
        io::copy(&mut layer, &mut io::sink()).map(drop).attempted(|| "read the packed image")
    };
    let (_, _, own) = fill(&chain, folders, limits, apply, |_| Ok(()))?;
    let left =
        Left { devices: left.devices, owners: left.owners + own.owners, attributes: left.attributes + own.attributes };
    Ok((entries, bytes, left))
}

/// Copies a folder, of which this is the digest. The copy is made only if it has that digest: the folder may change meanwhile.
pub(crate) fn copy(
    folder: &Path,
    id: &Digest,
    folders: &Folders,
    limits: &Limits,
) -> Result<(u64, u64, Left), ImageError> {
    let apply = |applier: &mut Applier<'_>| {
        let (mut read, write) = io::pipe().attempted(|| "make a pipe")?;
        thread::scope(|scope| {
            let writer = scope.spawn(move || pack::write_layer(folder, write));
            let applied = applier.apply(&mut read, &folder.display().to_string());
            // Whoever writes comes to its end, and says why if it fails.
            let drained = io::copy(&mut read, &mut io::sink()).map(drop).at("read", folder);
            let written = writer.join().unwrap_or_else(|panic| resume_unwind(panic));
            written.and(applied).and(drained)
        })
    };
    let is_same = |copy: &Path| match Digest::of_copied(copy)? == *id {
        true => Ok(()),
        false => Err(ImageError::Changed(folder.to_owned())),
    };
    fill(id, folders, limits, apply, is_same)
}

/// Makes the tree with this chain of layers, which `apply` applies, unless `check` refuses it. How many entries and bytes there were, and what was left out.
fn fill(
    chain: &Digest,
    folders: &Folders,
    limits: &Limits,
    apply: impl FnOnce(&mut Applier<'_>) -> Result<(), ImageError>,
    check: impl FnOnce(&Path) -> Result<(), ImageError>,
) -> Result<(u64, u64, Left), ImageError> {
    let folder = folders.begin(chain)?;
    let done = (|| {
        let mut tree = Tree::new(&folder)?;
        let mut applier = Applier::new(&mut tree, &folder, limits);
        apply(&mut applier)?;
        let counts = applier.finish()?;
        check(&folder)?;
        // A tree in its place is whole even if the machine loses its power.
        syncfs(tree.root()).attempted(|| "write the image to the disk")?;
        Ok(counts)
    })();
    match done {
        Ok(counts) => folders.end(chain).map(|()| counts),
        Err(error) => {
            folders.give_up(chain);
            Err(error)
        }
    }
}

/// How much is read from a layer's file at a time, in bytes.
const PIECE: usize = 1 << 17;

fn layer(
    blob: Blob,
    digest: Option<Digest>,
    diff_id: Digest,
    applier: &mut Applier<'_>,
    limits: &Limits,
) -> Result<(), ImageError> {
    let Blob { file, size, what } = blob;
    let mut packed = Hashing::new(Read::take(file, size));
    let unpacked = compression::unpack(BufReader::with_capacity(PIECE, &mut packed), &what)?;
    let mut unpacked = Hashing::new(unpacked.take(limits.bytes));
    applier.apply(&mut unpacked, &what)?;
    // What stands behind the end of the archive counts for the digest.
    io::copy(&mut unpacked, &mut io::sink()).attempted(|| format!("read {what}"))?;
    let (found, length) = unpacked.finish();
    if length == limits.bytes {
        return Err(ImageError::damaged(&what, format!("it has more than {length} bytes when it is unpacked")));
    }
    if found != diff_id {
        return Err(ImageError::damaged(&what, format!("unpacked, its digest is {found}, and should be {diff_id}")));
    }
    let (own, read) = packed.finish();
    match digest.filter(|digest| *digest != own || read != size) {
        Some(digest) => Err(ImageError::damaged(&what, format!("its digest is {own}, and should be {digest}"))),
        None => Ok(()),
    }
}
