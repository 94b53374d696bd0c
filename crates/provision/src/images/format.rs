//! Whether this machine's kernel can start a file of an image: what it would say otherwise is "No such file or directory" or
//! "Exec format error", which says nothing of the cause.

use super::found::Found;
use netloom_image::Found as Kind;
use std::path::Path;

/// How much of a file is looked at. Headers and the name of the loader are in front.
const BEGIN: u64 = 4096;

const ELF: &[u8] = b"\x7fELF";

/// The segment that names a program's loader (elf(5), `PT_INTERP`).
const LOADER: u32 = 3;

/// How programs of 64 bits describe themselves that are written as this machine writes numbers (elf(5), `EI_CLASS` and `EI_DATA`).
const LONG: u8 = 2;
const LITTLE: u8 = 1;

/// Processors by their numbers (elf(5), `e_machine`), with the one whose kernels run their programs.
const PROCESSORS: [(u16, &str, &str); 7] = [
    (62, "x86_64", "x86_64"),
    (3, "x86", "x86_64"),
    (183, "aarch64", "aarch64"),
    (40, "arm", "aarch64"),
    (243, "riscv64", "riscv64"),
    (21, "powerpc64", "powerpc64"),
    (22, "s390x", "s390x"),
];

impl Found {
    /// Why a program of the image cannot start; none if nothing is known against it.
    pub(super) fn obstacle(&self, program: &str) -> Option<String> {
        let begin = self.root().read(Path::new(program), BEGIN).ok()??;
        if let Some(line) = begin.strip_prefix(b"#!") {
            let line = String::from_utf8_lossy(line.split(|byte| *byte == b'\n').next()?).into_owned();
            let interpreter = line.split_ascii_whitespace().next()?.to_owned();
            return self
                .lacks(&interpreter)
                .then(|| format!("its first line names {interpreter}, which the image does not have"));
        }
        if !begin.starts_with(ELF) {
            return None;
        }
        let number = u16::from_le_bytes(bytes(&begin, 18)?);
        let known = PROCESSORS.iter().find(|(own, ..)| *own == number);
        if known.is_none_or(|(_, _, runs)| *runs != std::env::consts::ARCH) {
            let name = known.map_or_else(|| format!("number {number}"), |(_, name, _)| (*name).to_owned());
            return Some(format!("it is for the processor {name}, and this machine has {}", std::env::consts::ARCH));
        }
        let loader = loader(&begin)?;
        self.lacks(&loader).then(|| {
            format!("it was linked for {loader}, which the image does not have: it comes with the C library that it was made with")
        })
    }

    fn lacks(&self, program: &str) -> bool {
        program.starts_with('/') && !self.is_added(program) && self.root().find(program) != Some(Kind::Program)
    }
}

/// The loader that a 64-bit program names, if that is in front.
fn loader(begin: &[u8]) -> Option<String> {
    let number = |at: usize| Some(usize::from(u16::from_le_bytes(bytes(begin, at)?)));
    let long = |at: usize| usize::try_from(u64::from_le_bytes(bytes(begin, at)?)).ok();
    if begin.get(4..6)? != [LONG, LITTLE] {
        return None;
    }
    let (table, size, count) = (long(32)?, number(54)?, number(56)?);
    let mut headers = (0..count).filter_map(|header| table.checked_add(header.checked_mul(size)?));
    let header = headers.find(|at| bytes(begin, *at).map(u32::from_le_bytes) == Some(LOADER))?;
    let (from, length) = (long(header.checked_add(8)?)?, long(header.checked_add(32)?)?);
    let name = begin.get(from..from.checked_add(length)?)?;
    let name = name.split(|byte| *byte == 0).next()?;
    String::from_utf8(name.to_vec()).ok()
}

fn bytes<const N: usize>(begin: &[u8], at: usize) -> Option<[u8; N]> {
    begin.get(at..at.checked_add(N)?)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_of_a_program_is_found_and_nonsense_has_none() {
        let own = std::fs::read("/proc/self/exe").unwrap();
        let found = loader(&own[..own.len().min(4096)]);
        assert!(found.is_none_or(|loader| loader.starts_with("/lib")), "of this test");
        for length in 0..120 {
            let mut cut = own[..length].to_vec();
            let _ = loader(&cut);
            // A table that begins, or goes on, at the end of all numbers.
            for at in [32, 54, 56] {
                cut.iter_mut().skip(at).take(8).for_each(|byte| *byte = 0xff);
                let _ = loader(&cut);
            }
        }
    }
}
