//! Images by fuse-overlayfs, a program of the machine, where the kernel's own overlays do not serve an ordinary user: before
//! Linux 5.11 it mounts none, and before 6.6 its file systems in memory keep no marks of what a folder hides.
//!
//! The program runs beside the lab process, not in the node: programs of the node cannot end it, and it ends with the lab.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::mount::{MntFlags, MsFlags, umount2};
use rustix::fs::statfs;

use super::FilesConfig;
use super::layers::{Layers, bind};
use crate::error::{Attempted, KernelError};
use crate::programs;
use crate::sealed::bind_to_us;

/// The program (package fuse-overlayfs).
const PROGRAM: &str = "fuse-overlayfs";

/// The variable that names [`PROGRAM`] if it is to be taken where the kernel's overlays would do, too.
const CHOICE: &str = "NETLOOM_OVERLAYS";

/// By which the program serves the kernel.
const DEVICE: &str = "/dev/fuse";

/// What statfs(2) says of its file systems (FUSE_SUPER_MAGIC).
const FUSE: i64 = 0x6573_5546;

/// How long it may take until it has mounted one, which takes some milliseconds.
const WITHIN: Duration = Duration::from_secs(20);

/// The folders of a node in memory: what is copied, what takes writes, and where both are seen.
const LOWER: &str = "lower";
const ROOT: &str = "root";

/// A program that is about to show an image.
#[derive(Debug)]
pub(crate) struct Showing {
    node: String,
    folder: PathBuf,
    child: Child,
}

/// Begins to show the image of a node in its folder of the lab's memory, if it has one and needs that. Runs in the lab process, before
/// the node is made.
pub(crate) fn show(node: &str, files: &FilesConfig) -> Result<Option<Showing>, KernelError> {
    /// One answer for all nodes of a lab.
    static CHOSEN: OnceLock<Option<PathBuf>> = OnceLock::new();
    let Some((memory, image)) = files.memory.as_ref().zip(files.image.as_ref()) else { return Ok(None) };
    let program = match CHOSEN.get() {
        Some(program) => program,
        None => CHOSEN.get_or_init({
            let chosen = chosen(memory)?;
            || chosen
        }),
    };
    program.as_ref().map(|program| begin(program, node, &memory.join(node), &image.root)).transpose()
}

/// The root that was shown for a node whose folder this is, if one was.
pub(super) fn shown(folder: &Path) -> Option<PathBuf> {
    Some(folder.join(ROOT)).filter(|root| is_shown(root))
}

fn is_shown(root: &Path) -> bool {
    statfs(root).is_ok_and(|about| about.f_type == FUSE)
}

/// The program, if it is needed and there.
fn chosen(memory: &Path) -> Result<Option<PathBuf>, KernelError> {
    let is_wanted = std::env::var_os(CHOICE).is_some_and(|choice| choice == PROGRAM);
    if !is_wanted && kernel_does(memory)? {
        return Ok(None);
    }
    // Without the device, a kernel's overlay is better than none.
    if !is_wanted && File::options().read(true).write(true).open(DEVICE).is_err() {
        return Ok(None);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).map(|folder| folder.join(PROGRAM)).find(|file| programs::is_executable(file));
    match found {
        None if is_wanted => Err(KernelError::new(format!("find {PROGRAM}, which {CHOICE} names"), libc::ENOENT)),
        other => Ok(other),
    }
}

/// Whether an overlay of the kernel over this memory is all that an image needs.
fn kernel_does(memory: &Path) -> Result<bool, KernelError> {
    let mut layers = Layers::new(memory.to_owned())?;
    if layers.is_privileged {
        return Ok(true);
    }
    let (lower, target) = (layers.folder()?, layers.folder()?);
    let mounted = layers.overlay(&lower, &target, MsFlags::empty(), |_| Ok(())).is_ok();
    if mounted {
        let _ = umount2(&target, MntFlags::MNT_DETACH);
    }
    let does = mounted && layers.keeps_marks();
    layers.remove();
    Ok(does)
}

/// Starts the program for a node.
fn begin(program: &Path, node: &str, folder: &Path, image: &Path) -> Result<Showing, KernelError> {
    let attempted = || format!("start {}", program.display());
    for name in ["", LOWER, "upper", "work", ROOT] {
        let place = folder.join(name);
        fs::create_dir(&place).attempted(|| format!("make {}", place.display()))?;
    }
    // By a name of our own, since the program takes colons and commas for its own signs.
    bind(image, &folder.join(LOWER), MsFlags::MS_REC)?;
    let said = File::create(folder.join("said")).attempted(attempted)?;
    let mut command = Command::new(program);
    command.args(["-f", "-o", &format!("lowerdir={LOWER},upperdir=upper,workdir=work"), ROOT]);
    // What a terminal signals is for netloom.
    command.current_dir(folder).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
    bind_to_us(&mut command);
    let child = command.spawn().attempted(attempted)?;
    Ok(Showing { node: node.to_owned(), folder: folder.to_owned(), child })
}

impl Showing {
    /// The name of the node whose image it is.
    pub(crate) fn node(&self) -> &str {
        &self.node
    }

    /// Waits until the image can be seen.
    pub(crate) fn finish(mut self) -> Result<(), KernelError> {
        let (root, end) = (self.folder.join(ROOT), Instant::now() + WITHIN);
        while !is_shown(&root) {
            let ended = self.child.try_wait().attempted(|| "wait for fuse-overlayfs")?;
            if ended.is_some() || Instant::now() > end {
                let _ = self.child.kill();
                return Err(self.refused());
            }
            sleep(Duration::from_millis(2));
        }
        Ok(())
    }

    fn refused(&self) -> KernelError {
        let said = fs::read_to_string(self.folder.join("said")).unwrap_or_default();
        let words = said.lines().rev().find(|line| !line.trim().is_empty() && !line.contains("ignored"));
        let why = words.unwrap_or("it said nothing").trim();
        let error = io::Error::other(format!("{why}: it needs {DEVICE}, which this user has to be able to open"));
        KernelError::from_io("show the image by fuse-overlayfs", &error)
    }
}
