//! What is not packed of the files that a run read, since a bundle is given away.

use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Names of files and folders in which programs keep what lets their users in elsewhere.
const PRIVATE: [&str; 10] = [
    ".ssh",
    ".gnupg",
    ".netrc",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".git-credentials",
    ".pgpass",
    ".password-store",
];

/// How a line begins and ends behind which a key follows (RFC 7468; PEM).
const BEGIN: &[u8] = b"-----BEGIN ";
const KEY: &[u8] = b"PRIVATE KEY-----";

/// How much of a file is searched for keys, in bytes: files of certificates with a key have some thousand.
const SEARCHED: u64 = 1 << 20;

/// Says why a file is kept back; none if it is not.
///
/// # Errors
/// If it cannot be read.
pub(super) fn reason(path: &Path, about: &Metadata) -> io::Result<Option<&'static str>> {
    let is_private = |part: &OsStr| PRIVATE.iter().any(|name| part == *name);
    if about.mode() & 0o004 == 0 {
        return Ok(Some("not everybody may read it"));
    }
    if path.iter().any(is_private) {
        return Ok(Some("it is where programs keep secrets"));
    }
    let mut text = Vec::new();
    netloom_regular::open(path)?.take(SEARCHED).read_to_end(&mut text)?;
    // Programs that make or read keys have such lines among their bytes.
    let has_key = !text.contains(&0) && text.split(|byte| *byte == b'\n').any(is_begin_of_key);
    Ok(has_key.then_some("it has a private key"))
}

fn is_begin_of_key(line: &[u8]) -> bool {
    let line = line.trim_ascii_end();
    line.starts_with(BEGIN) && line.ends_with(KEY)
}
