//! The files of the machine that a run read, or the runs of a sweep together, as an image: what a bundle with its root takes along.
//!
//! A run writes down the names of the files that its kernel nodes looked at, and of the folders that they listed
//! (`netloom_results::read_files`). All that was looked at is packed as it is, and of what was only listed, the name: programs find what they
//! found. Files that only some may read, and private keys, stay behind.

mod entries;
mod secrets;

mod names;

use crate::ArchiveError;
use crate::manifest::{LeftOut, ROOT};
use entries::Entry;
use names::Names;
use netloom_image::{Config, Image, Limits, Store, write_layout};
use netloom_lab::ImageSource;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes the files that the runs with these results read, at least one, as an image into the folder [`ROOT`] of `target`. Returns what it leaves out.
///
/// # Errors
/// If nobody knows what was read, or it is not what it was.
pub(crate) fn write(runs: &[PathBuf], target: &Path) -> Result<Vec<LeftOut>, ArchiveError> {
    let names = Names::of(runs)?;
    let image = |node: &String| LeftOut { path: format!("image of node {node}"), why: "a root has no images".into() };
    let mut left_out = names.images.iter().map(image).collect();
    let all = entries(&names, &mut left_out)?;
    let config = Config { working_dir: names.start_folder.to_string_lossy().into_owned(), ..Config::default() };
    let written = write_layout(&target.join(ROOT), &config, |output| entries::write(&all, output));
    written.map_err(|error| ArchiveError::Unsuitable(format!("packing the files that were read: {error}")))?;
    left_out.sort();
    Ok(left_out)
}

/// The image that was unpacked from the results in a folder, and where programs start in it; none if they have none. It goes with `home`.
///
/// # Errors
/// If it is damaged, leads out of its folder, or is too large; or if nothing says where programs start.
pub(crate) fn open(results: &Path, home: &Path) -> Result<Option<(Image, PathBuf)>, ArchiveError> {
    let folder = results.join(ROOT);
    if !folder.join("index.json").is_file() {
        return Ok(None);
    }
    let refused = |why: String| ArchiveError::Unsuitable(format!("the root of {}: {why}", results.display()));
    let store = Store::at(&home.join("images"), Limits::default());
    let image = store.get(&ImageSource::Oci { folder, tag: None }, &mut |_| {});
    let image = image.map_err(|error| refused(error.to_string()))?;
    let start = image.record.as_ref().map(|record| PathBuf::from(&record.config.working_dir));
    let start =
        start.filter(|start| start.is_absolute()).ok_or_else(|| refused("it names no folder for programs".into()))?;
    Ok(Some((image, start)))
}

/// All that is packed, by paths.
fn entries(names: &Names, left_out: &mut Vec<LeftOut>) -> Result<BTreeMap<PathBuf, Entry>, ArchiveError> {
    let mut all = BTreeMap::new();
    let is_provided = |path: &Path| names.provided.iter().any(|provided| path.starts_with(provided));
    for (path, ended_ns) in names.all() {
        for above in path.ancestors() {
            if all.contains_key(above) {
                continue;
            }
            let leave = |why: &str| LeftOut { path: format!("{ROOT}{}", above.display()), why: why.to_owned() };
            match Entry::of(above, is_provided(above), ended_ns)? {
                Ok(entry) => drop(all.insert(above.to_owned(), entry)),
                Err(why) if left_out.iter().all(|left| left.path != leave(why).path) => left_out.push(leave(why)),
                Err(_) => {}
            }
        }
    }
    for (folder, ended_ns) in names.listed.iter().filter(|(folder, _)| !is_provided(folder)) {
        // One that is gone by now was only there for the run.
        for name in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = name.path();
            if let (false, Some(entry)) = (all.contains_key(&path), Entry::name_of(&path, *ended_ns)) {
                all.insert(path, entry);
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
