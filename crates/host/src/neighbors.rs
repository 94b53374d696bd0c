//! Room in the kernel's tables of neighbours, which all network namespaces of a machine share.
//!
//! The kernel keeps 1,024 learned neighbours of IPv4, and as many of IPv6, for all namespaces together (`gc_thresh3`); beyond, it drops
//! packets, of whichever namespace. Only root of the machine's own network namespace may raise that. Labs of root do, as long as one of
//! them is there: all that need it share a lock, and the locked file says what the limits were, so that whoever comes last puts them back.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};

use crate::error::{Attempted, KernelError};
use crate::locked::{alone, is_at};
use crate::sysctl;

/// How many learned neighbours there is room for, at least, while a lab of root is up: four times what Mininet asks for.
pub const ENOUGH: u64 = 65_536;

/// The folder of the record: that of root's labs, wherever their own folders are.
const FOLDER: &str = "/run/netloom";
const RECORD: &str = "neighbors";

/// The last of the three is where packets are dropped.
const LIMITS: [&str; 3] = ["gc_thresh1", "gc_thresh2", "gc_thresh3"];
const FAMILIES: [&str; 2] = ["ipv4", "ipv6"];

/// A share in the raised limits. It belongs to this process and to all that it forks.
#[derive(Debug)]
pub struct Room {
    path: PathBuf,
    /// Locked, shared, for as long as the room is needed.
    file: File,
}

/// One limit, before and since.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Raised {
    key: String,
    before: u64,
    since: u64,
}

/// Tells for how many learned neighbours of one family this machine has room; none in a network namespace that does not say.
pub fn limit() -> Option<u64> {
    FAMILIES.iter().filter_map(|family| read(&key(family, LIMITS[2]))).min()
}

/// Tells whether this process can raise that.
pub fn can_raise() -> bool {
    let path = |family: &str| format!("/proc/sys/net/{family}/neigh/default/{}", LIMITS[2]);
    nix::unistd::geteuid().is_root()
        && FAMILIES.iter().all(|family| !Path::new(&path(family)).exists() || is_writable(&path(family)))
        && limit().is_some()
}

fn is_writable(path: &str) -> bool {
    File::options().write(true).open(path).is_ok()
}

impl Room {
    /// Raises the limits to `wanted`, where they are lower; none where this process may not.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn hold(wanted: u64) -> Result<Option<Self>, KernelError> {
        if !can_raise() {
            return Ok(None);
        }
        let folder = Path::new(FOLDER);
        let made = fs::DirBuilder::new().mode(0o700).recursive(true).create(folder);
        made.attempted(|| format!("make the directory {FOLDER}"))?;
        Self::hold_in(folder, wanted).map(Some)
    }

    fn hold_in(folder: &Path, wanted: u64) -> Result<Self, KernelError> {
        let path = folder.join(RECORD);
        let attempted = || format!("make room for neighbours, noted in {}", path.display());
        loop {
            let mut file = open(&path).attempted(attempted)?;
            let is_first = alone(&file).attempted(attempted)?;
            if !is_first {
                file.lock_shared().attempted(attempted)?;
            }
            if !is_at(&file, &path) {
                // The last one has just removed it.
                continue;
            }
            if is_first {
                // What a killed one has left.
                put_back(&mut file).attempted(attempted)?;
            }
            raise(&mut file, wanted)?;
            if is_first {
                file.lock_shared().attempted(attempted)?;
            }
            // The kernel gives a lock back before it gives the other kind: the last one may have ended in between.
            if is_at(&file, &path) {
                return Ok(Self { path, file });
            }
        }
    }

    /// Gives the share back; the last one puts the limits back.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn release(self) -> Result<(), KernelError> {
        let Self { path, file } = self;
        drop(file);
        end(&path)
    }
}

/// Puts the limits back if no lab needs them any more. In the machine's own network namespace only.
pub(crate) fn sweep() -> Result<(), KernelError> {
    if limit().is_none() {
        return Ok(());
    }
    end(&Path::new(FOLDER).join(RECORD))
}

fn end(path: &Path) -> Result<(), KernelError> {
    let attempted = || format!("put the limits on neighbours back, as noted in {}", path.display());
    let mut file = match File::options().read(true).write(true).open(path) {
        // An ordinary user has changed nothing.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {
            return Ok(());
        }
        other => other.attempted(attempted)?,
    };
    if !alone(&file).attempted(attempted)? || !is_at(&file, path) {
        return Ok(());
    }
    put_back(&mut file).attempted(attempted)?;
    fs::remove_file(path).attempted(attempted)
}

fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).write(true).create(true).truncate(false).open(path)
}

/// Raises what is lower. First noted, then done: whatever happens in between, it is put back.
fn raise(file: &mut File, wanted: u64) -> Result<(), KernelError> {
    let attempted = || "note the limits on neighbours";
    let mut known = text_of(file).map(|text| parse(&text)).attempted(attempted)?;
    for (family, (limit, share)) in
        FAMILIES.iter().flat_map(|family| LIMITS.iter().zip([4, 2, 1]).map(move |one| (family, one)))
    {
        let (key, since) = (key(family, limit), wanted / share);
        let Some(now) = read(&key).filter(|now| *now < since) else { continue };
        match known.iter_mut().find(|raised| raised.key == key) {
            Some(raised) => raised.since = since,
            None => known.push(Raised { key, before: now, since }),
        }
    }
    write(file, &known).attempted(attempted)?;
    for Raised { key, since, .. } in &known {
        if read(key).is_some_and(|now| now < *since) {
            sysctl::set(key, &since.to_string())?;
        }
    }
    Ok(())
}

/// What somebody else has changed meanwhile stays as it is.
fn put_back(file: &mut File) -> io::Result<()> {
    for Raised { key, before, since } in parse(&text_of(file)?) {
        if read(&key) == Some(since) {
            let _ = sysctl::set_if_present(&key, &before.to_string());
        }
    }
    file.set_len(0)
}

fn key(family: &str, limit: &str) -> String {
    format!("net.{family}.neigh.default.{limit}")
}

fn read(key: &str) -> Option<u64> {
    sysctl::get(key).ok()?.trim().parse().ok()
}

fn text_of(file: &mut File) -> io::Result<String> {
    let mut text = String::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_string(&mut text)?;
    Ok(text)
}

/// In one go: a record that is cut short would lose what the limits were.
fn write(file: &mut File, known: &[Raised]) -> io::Result<()> {
    let line = |raised: &Raised| format!("{} {} {}\n", raised.key, raised.before, raised.since);
    let text: String = known.iter().map(line).collect();
    file.seek(SeekFrom::Start(0))?;
    file.write_all(text.as_bytes())?;
    file.set_len(text.len() as u64)
}

fn parse(text: &str) -> Vec<Raised> {
    let line = |line: &str| {
        let [key, before, since] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
        let is_limit = FAMILIES.iter().any(|family| LIMITS.iter().any(|limit| self::key(family, limit) == key));
        let (before, since) = (before.parse().ok()?, since.parse().ok()?);
        is_limit.then(|| Raised { key: key.to_owned(), before, since })
    };
    text.split_inclusive('\n').filter_map(|whole| line(whole.strip_suffix('\n')?)).collect()
}

/// The kernel's counters of its neighbour tables, opened where the machine has them; processes in other network namespaces read them, too.
#[derive(Debug)]
pub struct Overflows(Vec<File>);

impl Overflows {
    /// Opens the counters; there are none outside of the machine's own network namespace.
    pub fn watch() -> Self {
        let tables = ["arp_cache", "ndisc_cache"];
        Self(tables.iter().filter_map(|table| File::open(format!("/proc/net/stat/{table}")).ok()).collect())
    }

    /// Returns how often a table was full since the machine began, so that a packet had no neighbour to go to.
    pub fn count(&self) -> u64 {
        self.0.iter().filter_map(|file| contents(file).ok()).map(|text| overflows(&text)).sum()
    }

    /// Whether the machine has these counters.
    pub fn is_known(&self) -> bool {
        !self.0.is_empty()
    }
}

fn contents(file: &File) -> io::Result<String> {
    let mut bytes = vec![0; 1 << 16];
    let mut read = 0;
    loop {
        match file.read_at(&mut bytes[read..], read as u64)? {
            0 => break,
            some => read += some,
        }
        if read == bytes.len() {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&bytes[..read]).into_owned())
}

/// The sum of the column over all processors; the numbers are hexadecimal.
fn overflows(text: &str) -> u64 {
    let mut lines = text.lines();
    let names = lines.next().unwrap_or_default();
    let Some(column) = names.split_whitespace().position(|name| name == "table_fulls") else { return 0 };
    let value = |line: &str| u64::from_str_radix(line.split_whitespace().nth(column)?, 16).ok();
    lines.filter_map(value).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_what_the_limits_were() {
        let text = "net.ipv4.neigh.default.gc_thresh3 1024 65536\nnet.ipv6.neigh.default.gc_thresh1 128 16384\n";
        let known = parse(text);
        assert_eq!(known[0], Raised { key: "net.ipv4.neigh.default.gc_thresh3".into(), before: 1024, since: 65_536 });
        assert_eq!(known.len(), 2);
        let mut file = tempfile::tempfile().unwrap();
        write(&mut file, &known).unwrap();
        assert_eq!(text_of(&mut file).unwrap(), text);
        write(&mut file, &known[1..]).unwrap();
        assert_eq!(parse(&text_of(&mut file).unwrap()), known[1..]);
        // Neither other parameters nor what was cut short.
        assert!(parse("vm.swappiness 1 2\nnet.ipv4.neigh.default.gc_thresh3 1024 6553").is_empty());
    }

    #[test]
    fn overflows_are_summed_over_processors() {
        let text = "entries  allocs table_fulls\n00000005 00000004 0000001a\n00000005 00000003 00000001\n";
        assert_eq!(overflows(text), 27);
        assert_eq!((overflows("entries allocs\n00000005 00000004\n"), overflows("")), (0, 0));
    }
}
