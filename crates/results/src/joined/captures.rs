//! The captures of parts.
//!
//! A link that is cut is captured in two parts. Each has the packets at its own end of the link, and others at the end of a tunnel: those
//! interfaces are left out. So the file has what a capture of the link in one piece has.

use super::{Part, wrong};
use crate::regular;
use crate::{ReadError, WriteError};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

const FOLDER: &str = "captures";
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const ENHANCED_PACKET: u32 = 6;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE_NAME: u16 = 2;
/// Blocks are longer than the longest packet by some options.
const LONGEST_BLOCK: u32 = 1 << 20;
/// Places in blocks: behind their kind and length; of the number of a packet's interface, and its instant; of the options of an interface.
const BODY: usize = 8;
const INSTANT: usize = 12;
const OPTIONS: usize = 16;

/// Makes a capture of those that parts have under one name, for all names.
pub(super) fn join(folder: &Path, parts: &[Part]) -> Result<(), ReadError> {
    let mut named: BTreeMap<String, Vec<(&Part, PathBuf)>> = BTreeMap::new();
    for part in parts {
        let Ok(entries) = fs::read_dir(part.folder(folder).join(FOLDER)) else { continue };
        for entry in entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "pcapng")) {
            let name = entry.file_name().to_string_lossy().into_owned();
            named.entry(name).or_default().push((part, entry.path()));
        }
    }
    if named.is_empty() {
        return Ok(());
    }
    let target = folder.join(FOLDER);
    fs::create_dir_all(&target).map_err(WriteError::file(&target))?;
    for (name, found) in named {
        let mut sources = Vec::new();
        for (part, path) in &found {
            sources.push(Source::open(path, &part.nodes).map_err(|error| wrong(path, &error))?);
        }
        let path = target.join(name);
        let written = netloom_regular::replace(&path, |file| {
            let mut out = BufWriter::new(file);
            merge(sources, &mut out)?;
            out.flush()
        });
        written.map_err(WriteError::file(&path))?;
    }
    Ok(())
}

/// Writes the packets of all sources in the order of their instants; of those at one instant, those of the first source first.
fn merge(mut sources: Vec<Source<impl Read>>, out: &mut impl Write) -> io::Result<()> {
    let mut count = 0;
    out.write_all(sources.first().map_or(&[], |first| &first.head[..]))?;
    let most = sources.iter().map(|source| source.interfaces.len()).max().unwrap_or(0);
    for place in 0..most {
        for source in &mut sources {
            if let Some(interface) = source.interfaces.get_mut(place).filter(|interface| interface.is_own) {
                interface.number = count;
                count += 1;
                out.write_all(&interface.block)?;
            }
        }
    }
    for source in &mut sources {
        source.advance()?;
    }
    loop {
        let instants = sources.iter().enumerate().filter_map(|(place, source)| Some((source.next.as_ref()?.0, place)));
        let Some((_, first)) = instants.min() else { return Ok(()) };
        if let Some((_, block)) = &sources[first].next {
            out.write_all(block)?;
        }
        sources[first].advance()?;
    }
}

/// The capture of a part.
struct Source<R> {
    input: R,
    /// The header of its section.
    head: Vec<u8>,
    interfaces: Vec<Interface>,
    /// The next packet at an interface of its own nodes, and its instant.
    next: Option<(u64, Vec<u8>)>,
    /// A block that has been read, and not used.
    read: Option<Vec<u8>>,
}

/// An interface of a capture.
struct Interface {
    block: Vec<u8>,
    /// Whether it is of a node that is on the machine.
    is_own: bool,
    /// Its number in the joined capture.
    number: u32,
}

impl Source<BufReader<fs::File>> {
    fn open(path: &Path, nodes: &[String]) -> io::Result<Self> {
        Self::new(BufReader::new(regular::open(path)?), nodes)
    }
}

impl<R: Read> Source<R> {
    /// Reads what stands in front of the packets. `nodes` are those of the machine.
    fn new(mut input: R, nodes: &[String]) -> io::Result<Self> {
        let head = block(&mut input)?.unwrap_or_default();
        if kind(&head) != SECTION_HEADER || word(&head, BODY) != BYTE_ORDER {
            return Err(damaged("this is no capture of netloom"));
        }
        let mut this = Self { input, head, interfaces: Vec::new(), next: None, read: None };
        while let Some(found) = block(&mut this.input)? {
            if kind(&found) != INTERFACE_DESCRIPTION {
                this.read = Some(found);
                break;
            }
            // What is on the air is captured under the name of its medium, which is on one machine.
            let is_own = name(&found).is_none_or(|name| match name.split_once(':') {
                Some((node, _)) => nodes.iter().any(|own| own == node),
                None => true,
            });
            this.interfaces.push(Interface { block: found, is_own, number: 0 });
        }
        Ok(this)
    }

    /// Goes on to the next packet.
    fn advance(&mut self) -> io::Result<()> {
        self.next = None;
        loop {
            let read = match self.read.take() {
                Some(read) => Some(read),
                None => block(&mut self.input)?,
            };
            let Some(mut found) = read else { return Ok(()) };
            if kind(&found) != ENHANCED_PACKET || found.len() < OPTIONS + 4 {
                continue;
            }
            let interface = self.interfaces.get(word(&found, BODY) as usize);
            let interface = interface.ok_or_else(|| damaged("a packet names an interface that is not described"))?;
            if interface.is_own {
                found[BODY..BODY + 4].copy_from_slice(&interface.number.to_le_bytes());
                let at = u64::from(word(&found, INSTANT)) << 32 | u64::from(word(&found, INSTANT + 4));
                self.next = Some((at, found));
                return Ok(());
            }
        }
    }
}

/// Reads a block; none at the end, also that of a part that was killed while it wrote one.
fn block(input: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; BODY];
    if !fill(input, &mut bytes)? {
        return Ok(None);
    }
    let length = word(&bytes, 4);
    if !length.is_multiple_of(4) || !(BODY as u32 + 4..=LONGEST_BLOCK).contains(&length) {
        return Err(damaged("a block has no length of ours"));
    }
    bytes.resize(length as usize, 0);
    Ok(fill(input, &mut bytes[BODY..])?.then_some(bytes))
}

/// Whether there was as much.
fn fill(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn kind(block: &[u8]) -> u32 {
    word(block, 0)
}

/// The number at this place; 0 where the block is shorter.
fn word(block: &[u8], at: usize) -> u32 {
    block.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// The name of an interface.
fn name(block: &[u8]) -> Option<&str> {
    let mut at = OPTIONS;
    while let Some(&[first, second, low, high]) = block.get(at..at + 4) {
        let length = usize::from(u16::from_le_bytes([low, high]));
        if u16::from_le_bytes([first, second]) == INTERFACE_NAME {
            return std::str::from_utf8(block.get(at + 4..at + 4 + length)?).ok();
        }
        if [first, second] == [0, 0] {
            return None;
        }
        at += 4 + length.next_multiple_of(4);
    }
    None
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}
