//! What is the same for all cases: what is measured, where its scripts are and where figures go.

use crate::peers::options::Options;
use crate::picture::{self, Panel};
use std::cell::RefCell;
use std::path::PathBuf;

/// Where figures, lab files and results of runs go.
pub(crate) const OUTPUT: &str = "results/bench";

/// Everything that a case needs to know.
pub(crate) struct Settings {
    /// The program under test.
    pub(crate) netloom: PathBuf,
    /// The scripts of what is compared with.
    pub(crate) plain_veth: PathBuf,
    pub(crate) tunnel: PathBuf,
    pub(crate) plain_chain: PathBuf,
    pub(crate) peer: PathBuf,
    pub(crate) plain_vm: PathBuf,
    /// Makes what virtual machines boot.
    pub(crate) vm_root: PathBuf,
    /// What makes a container image.
    pub(crate) image: PathBuf,
    /// The lab files of the paper on time dilation.
    pub(crate) examples: PathBuf,
    /// The lab files of hunts.
    pub(crate) hunts: PathBuf,
    /// Where figures, lab files and results of runs go.
    pub(crate) output: PathBuf,
    /// Few and short measurements: shows that the benchmarks run, not what the machine can do.
    pub(crate) quick: bool,
    /// What the command line says of simulators.
    pub(crate) peers: Options,
    /// What the case that runs has drawn.
    pub(crate) figures: RefCell<Vec<String>>,
}

impl Settings {
    /// Those of this machine and checkout.
    pub(crate) fn new(quick: bool) -> Self {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        Self {
            netloom: std::env::var_os("NETLOOM").map_or_else(sibling, PathBuf::from),
            plain_veth: root.join("plain-veth.sh"),
            tunnel: root.join("tunnel.sh"),
            plain_chain: root.join("plain-chain.sh"),
            peer: root.join("peer.sh"),
            plain_vm: root.join("plain-vm.sh"),
            vm_root: root.join("../scripts/ensure-vm-root"),
            image: root.join("image.py"),
            examples: root.join("../examples/papers/time-warp"),
            hunts: root.join("../examples/hunt"),
            output: PathBuf::from(OUTPUT),
            quick,
            peers: Options::default(),
            figures: RefCell::default(),
        }
    }

    /// Draws a figure: for the page, and as a file of this name.
    pub(crate) fn draw(&self, name: &str, panels: &[Panel]) -> Result<(), String> {
        let svg = picture::svg(panels)?;
        let path = self.output.join(format!("{name}.svg"));
        let written = std::fs::create_dir_all(&self.output).and_then(|()| std::fs::write(&path, &svg));
        self.figures.borrow_mut().push(svg);
        written.map_err(|error| format!("writing {}: {error}", path.display()))
    }

    /// How often something is measured.
    pub(crate) fn rounds(&self, rounds: u32) -> u32 {
        if self.quick { 1 } else { rounds }
    }
}

/// The program that was built together with this one.
fn sibling() -> PathBuf {
    std::env::current_exe().map_or_else(|_| PathBuf::from("netloom"), |path| path.with_file_name("netloom"))
}
