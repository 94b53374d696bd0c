//! Patterns for paths.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Virtual file systems, which are searched only if a pattern names them.
const WINDOWS: [&str; 3] = ["/proc", "/sys", "/dev"];

/// How many names a pattern is compared with, at most.
const MOST_LOOKS: usize = 1_000_000;

/// A pattern for absolute paths: `*`, `?` and `[a-z]` stand for characters of a name, `**` for any number of folders. None of
/// them matches a dot at the beginning of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Glob {
    /// The folder before the first name that is a pattern. Links in it are followed.
    base: PathBuf,
    rest: Vec<Vec<u8>>,
}

impl Glob {
    /// Parses a pattern; none if it is invalid.
    pub(super) fn new(pattern: &OsStr) -> Option<Self> {
        let path = pattern.as_bytes().strip_prefix(b"/")?;
        let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty()).collect();
        let is_pattern = |name: &&[u8]| name.iter().any(|byte| b"*?[".contains(byte));
        let plain = names.iter().position(is_pattern).unwrap_or(names.len());
        let mut base = PathBuf::from("/");
        base.extend(names[..plain].iter().map(|name| OsStr::from_bytes(name)));
        Some(Self { base, rest: names[plain..].iter().map(|name| name.to_vec()).collect() })
    }

    /// The paths that exist and match, in their order, and whether there may be more, since the search stopped early.
    pub(super) fn find(&self) -> (BTreeSet<PathBuf>, bool) {
        let mut search = Search { found: BTreeSet::new(), looks: 0 };
        search.walk(&self.base, &self.rest);
        (search.found, search.looks >= MOST_LOOKS)
    }
}

struct Search {
    found: BTreeSet<PathBuf>,
    looks: usize,
}

impl Search {
    fn walk(&mut self, folder: &Path, rest: &[Vec<u8>]) {
        let Some((first, behind)) = rest.split_first() else {
            if fs::symlink_metadata(folder).is_ok() {
                self.found.insert(folder.to_owned());
            }
            return;
        };
        let any_depth = first == b"**";
        if any_depth {
            self.walk(folder, behind);
        }
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            self.looks += 1;
            if self.looks >= MOST_LOOKS {
                return;
            }
            let (name, path) = (entry.file_name(), entry.path());
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let is_window = WINDOWS.iter().any(|window| path == Path::new(window));
            if any_depth {
                if is_folder && !is_window && !name.as_bytes().starts_with(b".") {
                    self.walk(&path, rest);
                }
            } else if matches(first, name.as_bytes()) && (behind.is_empty() || is_folder && !is_window) {
                self.walk(&path, behind);
            }
        }
    }
}

/// Whether a name matches a pattern.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    if name.starts_with(b".") && !pattern.starts_with(b".") {
        return false;
    }
    // Where to go on if what follows the last star does not fit here: the star then takes one byte more.
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match step(&pattern[p..], &name[n..]) {
            Some((taken, read)) => (p, n) = (p + taken, n + read),
            None if pattern.get(p) == Some(&b'*') => {
                star = Some((p + 1, n));
                p += 1;
            }
            None => match star {
                Some((behind, from)) => {
                    star = Some((behind, from + 1));
                    (p, n) = (behind, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// The lengths of the next element of the pattern and of the character that it matches; none if it matches none.
fn step(pattern: &[u8], name: &[u8]) -> Option<(usize, usize)> {
    // A character is all bytes up to the next that does not continue it (UTF-8).
    let length = 1 + name[1..].iter().take_while(|byte| **byte & 0xc0 == 0x80).count();
    match pattern.first()? {
        b'*' => None,
        b'?' => Some((1, length)),
        b'[' => {
            let (set, taken) = class(pattern)?;
            let (set, wanted) = match set.split_first() {
                Some((b'!' | b'^', others)) => (others, false),
                _ => (set, true),
            };
            (contains(set, name[0]) == wanted).then_some((taken, length))
        }
        plain => (*plain == name[0]).then_some((1, 1)),
    }
}

/// What is between brackets, and the length including them. The first character may be a bracket itself.
fn class(pattern: &[u8]) -> Option<(&[u8], usize)> {
    let end = pattern.iter().skip(2).position(|byte| *byte == b']')? + 2;
    Some((&pattern[1..end], end + 1))
}

fn contains(set: &[u8], byte: u8) -> bool {
    match set {
        [from, b'-', to, rest @ ..] => (*from..=*to).contains(&byte) || contains(rest, byte),
        [first, rest @ ..] => *first == byte || contains(rest, byte),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_as_in_a_shell() {
        let fits = [
            ("*", "a"),
            ("*.log", "x.log"),
            ("a*b*c", "aXbYbZc"),
            ("?", "é"),
            ("[a-c]x", "bx"),
            ("[!a]", "b"),
            ("[]x]", "]"),
        ];
        for (pattern, name) in fits {
            assert!(matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        let others = [
            ("*", ".hidden"),
            ("*.log", "x.logs"),
            ("a*b", "abc"),
            ("?", ""),
            ("[a-c]", "d"),
            ("[!a]", "a"),
            ("[a", "a"),
        ];
        for (pattern, name) in others {
            assert!(!matches(pattern.as_bytes(), name.as_bytes()), "{pattern} {name}");
        }
        assert!(matches(b".*", b".hidden") && matches(b"*", b"\xff\xfe"));
        assert!(!matches(&b"*a".repeat(50), &b"a".repeat(49)), "in no time");
    }

    #[test]
    fn patterns_find_what_is_there_in_order() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for folder in ["b/deep/er", "a", "real"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        for file in ["b/2.log", "b/1.log", "b/deep/er/3.log", "a/no", "real/4.log"] {
            fs::write(at(file), "").unwrap();
        }
        std::os::unix::fs::symlink("real", at("link")).unwrap();
        let find = |pattern: &str| {
            let (found, more) = Glob::new(at(pattern).as_os_str()).unwrap().find();
            assert!(!more);
            found.iter().map(|path| path.strip_prefix(root.path()).unwrap().display().to_string()).collect::<Vec<_>>()
        };
        // The folder's own name begins with a dot.
        assert_eq!(find("*/*.log"), ["b/1.log", "b/2.log", "real/4.log"]);
        assert_eq!(find("**/*.log"), ["b/1.log", "b/2.log", "b/deep/er/3.log", "real/4.log"]);
        assert_eq!(find("link/4.log"), ["link/4.log"], "what is written out may be a link");
        assert_eq!(find("b"), ["b"]);
        assert!(find("c/*").is_empty());
        assert_eq!(Glob::new(OsStr::new("relative/*")), None);
    }
}
