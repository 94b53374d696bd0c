//! Files that `docker save` and `podman save` write: a tar archive with a file `manifest.json`, a configuration and layers.

use crate::contents::Contents;
use crate::entries::{Entries, Kind};
use crate::error::{Attempted, open_file, printable};
use crate::limits::MOST_LAYERS;
use crate::manifest::{Blob, parse};
use crate::{Digest, ImageError, Name};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// Files in an archive: some for each layer.
const MOST_FILES: usize = 100_000;

/// An image of the archive.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Saved {
    config: String,
    repo_tags: Option<Vec<String>>,
    layers: Vec<String>,
}

/// Where a file of the archive is, or what it leads to.
enum Place {
    At { offset: u64, size: u64 },
    LinkTo(String),
}

/// Finds an image in an archive.
pub(crate) fn open(path: &Path, name: Option<&str>) -> Result<Contents, ImageError> {
    let what = format!("docker-archive:{}", path.display());
    let archive = Archive::open(path, &what)?;
    let Some(manifest) = archive.file("manifest.json") else {
        return Err(ImageError::Unsuitable(format!(
            "{what} is nothing that `docker save` wrote: it has no manifest.json"
        )));
    };
    let all: Vec<Saved> = parse(&manifest?.document(None)?, &what)?;
    let saved = choose(&all, name, &what)?;
    let part = |part: &str| {
        archive
            .file(part)
            .unwrap_or_else(|| Err(ImageError::damaged(&what, format!("it has no `{}`", printable(part.as_bytes())))))
    };
    let config = part(&saved.config)?.document(None)?;
    let id = Digest::of(&config);
    if saved.layers.len() > MOST_LAYERS {
        return Err(ImageError::Unsuitable(format!("{what} has more than {MOST_LAYERS} layers")));
    }
    let layers = saved.layers.iter().map(|layer| Ok((part(layer)?, None))).collect::<Result<_, ImageError>>()?;
    let tags = saved.repo_tags.iter().flatten();
    let names = tags.filter_map(|tag| Name::parse(tag).ok()).collect();
    Ok(Contents { manifest: None, id, config, layers, names, what })
}

fn choose<'a>(all: &'a [Saved], name: Option<&str>, what: &str) -> Result<&'a Saved, ImageError> {
    let tags = || {
        let mut tags: Vec<&str> =
            all.iter().filter_map(|one| one.repo_tags.as_deref()).flatten().map(String::as_str).collect();
        tags.sort_unstable();
        if tags.is_empty() { "its images have no names".to_owned() } else { format!("there are {}", tags.join(", ")) }
    };
    let Some(name) = name else {
        return match all {
            [one] => Ok(one),
            [] => Err(ImageError::Missing(format!("{what} has no image"))),
            _ => Err(ImageError::Missing(format!("{what} has several images: write the name behind it. {}", tags()))),
        };
    };
    let wanted = Name::parse(name).ok();
    let is_meant = |tag: &String| tag == name || wanted.is_some() && Name::parse(tag).ok() == wanted;
    let found = all.iter().find(|one| one.repo_tags.iter().flatten().any(is_meant));
    found.ok_or_else(|| ImageError::Missing(format!("{what} has no image `{name}`: {}", tags())))
}

struct Archive {
    file: File,
    what: String,
    places: BTreeMap<String, Place>,
}

impl Archive {
    /// Notes where everything in the archive is. One that is packed as a whole is unpacked to a file without a name first.
    fn open(path: &Path, what: &str) -> Result<Self, ImageError> {
        let mut file = open_file(path)?;
        let mut first = [0; 2];
        let count = file.read(&mut first).at("read", path)?;
        file.rewind().at("read", path)?;
        if count == 2 && first == [0x1f, 0x8b] {
            file = unpacked(file, what)?;
        }
        let mut places = BTreeMap::new();
        let mut entries =
            Entries::new(Positioned { input: BufReader::new(file.try_clone().at("open", path)?), at: 0 }, what);
        while let Some(entry) = entries.next()? {
            if places.len() >= MOST_FILES {
                return Err(ImageError::Unsuitable(format!("{what} has more than {MOST_FILES} files")));
            }
            let Ok(name) = String::from_utf8(entry.path) else { continue };
            let place = match entry.kind {
                Kind::File => Place::At { offset: entries.input().at, size: entry.size },
                Kind::Symlink | Kind::HardLink => {
                    let Some(target) = leads_to(&name, &entry.link, entry.kind == Kind::HardLink) else { continue };
                    Place::LinkTo(target)
                }
                _ => continue,
            };
            places.insert(plain(&name), place);
        }
        Ok(Self { file, what: what.to_owned(), places })
    }

    /// A file of the archive; none if there is none of that name.
    fn file(&self, name: &str) -> Option<Result<Blob, ImageError>> {
        let mut place = self.places.get(&plain(name))?;
        // Old versions of Docker wrote a layer that occurs twice once, with a link to it.
        if let Place::LinkTo(target) = place {
            place = self.places.get(target)?;
        }
        let Place::At { offset, size } = place else { return None };
        let open = || {
            // A descriptor with a place of its own: a copy would share it.
            let mut file = File::open(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&self.file)))?;
            file.seek(SeekFrom::Start(*offset))?;
            Ok::<File, std::io::Error>(file)
        };
        let what = format!("{} of {}", printable(name.as_bytes()), self.what);
        Some(open().attempted(|| format!("open {what}")).map(|file| Blob { file, size: *size, what: what.clone() }))
    }
}

/// Knows how much has been read.
struct Positioned<R> {
    input: R,
    at: u64,
}

impl<R: Read> Read for Positioned<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.at += count as u64;
        Ok(count)
    }
}

fn unpacked(file: File, what: &str) -> Result<File, ImageError> {
    let mut whole = tempfile::tempfile().attempted(|| "make a file for what is unpacked")?;
    let mut input = crate::compression::unpack(BufReader::new(file), what)?;
    let most = crate::Limits::default().bytes;
    let written =
        std::io::copy(&mut Read::take(&mut input, most), &mut whole).attempted(|| format!("unpack {what}"))?;
    if written == most {
        return Err(ImageError::Unsuitable(format!("{what} has more than {most} bytes when it is unpacked")));
    }
    whole.rewind().attempted(|| "read what was unpacked")?;
    Ok(whole)
}

/// The path of what a link in the archive leads to; none if out of it.
fn leads_to(name: &str, link: &[u8], counts_from_root: bool) -> Option<String> {
    let link = std::str::from_utf8(link).ok()?;
    let mut parts: Vec<&str> = if counts_from_root { Vec::new() } else { name.split('/').collect() };
    parts.pop();
    for part in link.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop()?;
        } else {
            parts.push(part);
        }
    }
    Some(plain(&parts.join("/")))
}

fn plain(name: &str) -> String {
    name.strip_prefix("./").unwrap_or(name).to_owned()
}
