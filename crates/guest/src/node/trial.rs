//! Whether a kernel boots here: one with no interface and no program, as a kernel node's.

use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use netloom_host::sealed::Bare;
use netloom_units::Dilation;
use netloom_vhost::Listener;

use super::{Boot, KernelNode, Pump, SocketChannel};
use crate::shim::{Lapse, Orders, Shim};

/// Memory of the kernel in MiB: the least with which kernels of distributions boot, too.
const MEMORY_MIB: u64 = 96;

/// Boots a kernel and ends it again; how long it took until the agent inside answered. `folder`: an empty folder, which the
/// caller removes. The calling process is that of a lab; `is_bare`: of one without namespaces.
///
/// # Errors
/// What failed, in words.
pub fn attempt(kernel: &Path, folder: &Path, within: Duration, is_bare: bool) -> Result<Duration, String> {
    let begun = Instant::now();
    let own = folder.join("own");
    let failed = |what: &'static str| move |error: std::io::Error| format!("{what}: {error}");
    std::fs::create_dir(&own).map_err(failed("make a folder for a kernel"))?;
    let listener = Listener::bind(&folder.join("c")).map_err(failed("listen for a kernel's device"))?;
    let (_pump, mut ends) = Pump::start(vec![listener]).map_err(failed("serve a kernel's agent"))?;
    let end = ends.pop().ok_or("a kernel's agent is not served")?;
    let boot = Boot {
        name: "doctor".to_owned(),
        kernel: kernel.to_owned(),
        init: std::env::current_exe().map_err(failed("find this program"))?,
        memory_mib: MEMORY_MIB,
        folder: own,
        console: folder.join("console"),
        devices: vec!["../c".into()],
        processor: None,
        polls: Vec::new(),
        cgroup: None,
        disk: None,
        arguments: Vec::new(),
        late: false,
        bare: is_bare.then(|| Rc::new(Bare::in_folder(folder))),
    };
    let shim = Shim::in_memory().map_err(|error| error.to_string())?;
    let orders = Orders { lapse: Some(Lapse::from_now(Dilation::ONE)), seed: Some(1), machine: false };
    let mut arm = |command: &mut std::process::Command| shim.arm(command, &orders);
    let started = KernelNode::start(&boot, Box::new(SocketChannel::new(end)), &mut arm);
    let mut node = started.map_err(|error| error.to_string())?;
    node.await_up(within).map_err(|error| error.to_string())?;
    Ok(begun.elapsed())
}
