//! Where this user's programs keep what they can make again.

use std::env;
use std::path::PathBuf;

/// Returns the folder in which Netloom keeps what it can make again: `$XDG_CACHE_HOME/netloom`, or `~/.cache/netloom`; none if neither
/// `XDG_CACHE_HOME` nor `HOME` names a folder (XDG Base Directory Specification 0.8).
pub fn cache_folder() -> Option<PathBuf> {
    let folder = |variable: &str| env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| Some(folder("HOME")?.join(".cache")))?;
    Some(cache.join("netloom"))
}
