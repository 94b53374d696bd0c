//! The agent's program and its libraries, for a machine that has neither: this program, and what the loader has mapped for it.

use crate::archive::Archive;
use crate::error::VmError;
use crate::iso;
use netloom_host::guest::vm::{DISK, FOLDER, LOADER, PROGRAM};
use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The agent's files, by their names in its folder.
#[derive(Debug)]
pub(crate) struct Agent(Vec<(String, Vec<u8>)>);

impl Agent {
    /// Reads them.
    pub(crate) fn pack() -> Result<Self, VmError> {
        let program = std::env::current_exe().map_err(VmError::file("find", Path::new("/proc/self/exe")))?;
        let loader = loader_of(&program)?;
        let mut files = vec![(PROGRAM.to_owned(), loaded(&program)?), (LOADER.to_owned(), loaded(&loader)?)];
        for library in libraries()? {
            let Some(name) = library.file_name().and_then(|name| name.to_str()) else { continue };
            files.push((name.to_owned(), loaded(&library)?));
        }
        Ok(Self(files))
    }

    /// For an initial file system.
    pub(crate) fn archive(&self) -> Vec<u8> {
        let folder = FOLDER.trim_start_matches('/');
        let mut archive = Archive::default();
        archive.folder(folder);
        for (name, content) in &self.0 {
            archive.program(&format!("{folder}/{name}"), content);
        }
        archive.finish()
    }

    /// For a machine that boots its own disk.
    pub(crate) fn disk(&self) -> Vec<u8> {
        iso::image(DISK, &self.0)
    }
}

/// What the program's loader is, as its file says.
fn loader_of(program: &Path) -> Result<PathBuf, VmError> {
    let bytes = read(program)?;
    let file = parsed(program, &bytes)?;
    let endian = file.endian();
    let mut headers = file.elf_program_headers().iter();
    let name = headers.find_map(|header| header.interpreter(endian, &*bytes).ok().flatten());
    let name = name.and_then(|name| std::str::from_utf8(name).ok());
    let name = name.ok_or_else(|| VmError::Wrong(format!("{} names no loader of libraries", program.display())))?;
    fs::canonicalize(name).map_err(VmError::file("find", Path::new(name)))
}

/// The libraries that this process has mapped (proc_pid_maps(5)), by the names under which they are looked for.
fn libraries() -> Result<BTreeSet<PathBuf>, VmError> {
    let maps = Path::new("/proc/self/maps");
    let text = fs::read_to_string(maps).map_err(VmError::file("read", maps))?;
    let mapped = |line: &str| line.split_ascii_whitespace().nth(5).map(PathBuf::from);
    let is_library = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.contains(".so") && path.is_absolute() && !name.starts_with("ld-")
    };
    Ok(text.lines().filter_map(mapped).filter(is_library).collect())
}

/// As much of a program's file as is loaded when it runs: a program with all that a debugger wants is ten times as long.
fn loaded(path: &Path) -> Result<Vec<u8>, VmError> {
    let mut bytes = read(path)?;
    let file = parsed(path, &bytes)?;
    let endian = file.endian();
    let end = |header: &_| {
        let header: &object::elf::ProgramHeader64<object::Endianness> = header;
        header.p_offset(endian) + header.p_filesz(endian)
    };
    let end = file.elf_program_headers().iter().map(end).max().unwrap_or_default();
    let class = file.elf_header().is_class_64();
    let end = usize::try_from(end).unwrap_or(usize::MAX);
    if class && end <= bytes.len() {
        bytes.truncate(end);
        // The table of sections, which came behind them: its place (e_shoff), its length and that of names (e_shnum, e_shstrndx).
        bytes[0x28..0x30].fill(0);
        bytes[0x3c..0x40].fill(0);
    }
    Ok(bytes)
}

fn read(path: &Path) -> Result<Vec<u8>, VmError> {
    fs::read(path).map_err(VmError::file("read", path))
}

fn parsed<'a>(path: &Path, bytes: &'a [u8]) -> Result<ElfFile64<'a>, VmError> {
    ElfFile64::parse(bytes).map_err(|error| VmError::Wrong(format!("{} is no program: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// The loader starts a program of which only what is loaded was kept.
    #[test]
    fn what_is_loaded_is_enough_to_run() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, from: &Path| {
            let path = folder.path().join(name);
            fs::write(&path, loaded(from).unwrap()).unwrap();
            netloom_testing::programs::make_executable(&path);
            path
        };
        let own = std::env::current_exe().unwrap();
        let (loader, program) = (put("ld", &loader_of(&own).unwrap()), put("program", &own));
        for library in libraries().unwrap() {
            put(library.file_name().unwrap().to_str().unwrap(), &library);
        }
        assert!(fs::metadata(&program).unwrap().len() < fs::metadata(&own).unwrap().len());
        let run = Command::new(loader)
            .arg("--library-path")
            .arg(folder.path())
            .arg(program)
            .arg("--list")
            .env_clear()
            .output();
        let run = run.unwrap();
        assert!(run.status.success(), "{run:?}");
        assert!(String::from_utf8_lossy(&run.stdout).contains("what_is_loaded_is_enough_to_run"));
    }
}
