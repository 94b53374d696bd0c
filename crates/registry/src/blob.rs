//! Fetches one part of an image, on from where it was left.

use crate::RegistryError;
use crate::client::{Answer, Ask};
use crate::session::Session;
use netloom_image::{Download, Hashing, ImageError, Part};
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;
use ureq::http::header;

/// Attempts that may bring nothing before the fetching is given up.
const MOST_FRUITLESS: u32 = 2;

/// Bytes that are read at a time.
const PIECE: usize = 1 << 17;

/// Fetches a part, unless it is there. `told` is called with the number of its bytes that are there.
pub(crate) fn fetch(
    session: &mut Session<'_>,
    download: &Download,
    part: &Part,
    told: &mut dyn FnMut(u64),
) -> Result<(), RegistryError> {
    let (whole, partial) = (download.blob(&part.digest), download.partial(&part.digest));
    // What has its name was compared with its digest, and the import does so again.
    if fs::metadata(&whole).is_ok_and(|about| about.len() == part.size) {
        told(part.size);
        return Ok(());
    }
    let opened = File::options().create(true).truncate(false).read(true).write(true).open(&partial);
    let mut file = opened.map_err(|error| wrong("open", &partial, error))?;
    let mut fruitless = 0;
    loop {
        let at = file.seek(SeekFrom::End(0)).map_err(|error| wrong("look at", &partial, error))?;
        if at == part.size {
            break;
        }
        match more(session, part, &mut file, at, &partial, told) {
            Ok(()) => {}
            Err(RegistryError::Network(why)) => {
                let has_grown = file.seek(SeekFrom::End(0)).is_ok_and(|now| now > at);
                fruitless = if has_grown { 0 } else { fruitless + 1 };
                if fruitless == MOST_FRUITLESS {
                    let advice =
                        "what has come is kept for a day, and the next `netloom image pull` goes on from there";
                    return Err(RegistryError::Network(format!("{why}; {advice}")));
                }
            }
            Err(other) => return Err(other),
        }
    }
    confirm(part, file, &partial, &whole)
}

/// Reads what one answer brings of it.
fn more(
    session: &mut Session<'_>,
    part: &Part,
    file: &mut File,
    at: u64,
    partial: &Path,
    told: &mut dyn FnMut(u64),
) -> Result<(), RegistryError> {
    let at = if at > part.size { 0 } else { at };
    let answer = session.get(&format!("blobs/{}", part.digest), Ask { from: at, ..Ask::default() })?;
    // A server that does not know of parts sends the whole.
    let mut at = if answer.status == 206 && begins_at(&answer, at) { at } else { 0 };
    file.set_len(at).and_then(|()| file.seek(SeekFrom::Start(at))).map_err(|error| wrong("write", partial, error))?;
    if answer.status == 416 {
        return Err(RegistryError::Network(format!("{} does not send the rest of {}", answer.host, part.digest)));
    }
    let host = answer.host;
    let mut body = answer.body.into_reader();
    let mut piece = vec![0; PIECE];
    while at < part.size {
        told(at);
        let room = piece.len().min(usize::try_from(part.size - at).unwrap_or(usize::MAX));
        let failed = |why: String| RegistryError::Network(format!("read {} from {host}: {why}", part.digest));
        match body.read(&mut piece[..room]) {
            Ok(0) => return Err(failed(format!("it ends after {at} of {} bytes", part.size))),
            Ok(count) => {
                file.write_all(&piece[..count]).map_err(|error| wrong("write", partial, error))?;
                at += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(session.client.of_io(&error))),
        }
    }
    told(at);
    // What comes behind it is not read: the connection ends with it.
    Ok(())
}

/// Whether it is the part that was asked for (RFC 9110, section 14.4).
fn begins_at(answer: &Answer, at: u64) -> bool {
    let range = answer.headers.get(header::CONTENT_RANGE).and_then(|range| range.to_str().ok());
    let first = range.and_then(|range| range.strip_prefix("bytes ")?.split('-').next()?.trim().parse::<u64>().ok());
    first == Some(at)
}

/// Compares it with its digest, and puts it to its place.
fn confirm(part: &Part, mut file: File, partial: &Path, whole: &Path) -> Result<(), RegistryError> {
    file.seek(SeekFrom::Start(0)).map_err(|error| wrong("read", partial, error))?;
    let mut hashing = Hashing::new(BufReader::with_capacity(PIECE, file));
    io::copy(&mut hashing, &mut io::sink()).map_err(|error| wrong("read", partial, error))?;
    let (found, _) = hashing.finish();
    if found != part.digest {
        // The next attempt begins anew; if it cannot be removed, the next one says so.
        let _ = fs::remove_file(partial);
        let why = format!("what the registry sends has the digest {found}");
        return Err(ImageError::Damaged { what: part.digest.to_string(), why }.into());
    }
    fs::rename(partial, whole).map_err(|error| wrong("put in its place", partial, error))
}

fn wrong(verb: &str, path: &Path, error: io::Error) -> RegistryError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ImageError::NoRoom { folder: path.parent().unwrap_or(path).to_owned(), wanted: 1 }.into()
        }
        _ => ImageError::Io { attempted: format!("{verb} {}", path.display()), error }.into(),
    }
}
