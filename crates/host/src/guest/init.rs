use std::ffi::OsString;
use std::io;
use std::os::fd::AsRawFd;

use nix::sched::{CloneFlags, unshare};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::agent::Agent;
use super::{devices, modules, root};
use crate::KernelError;
use crate::node::agent::watch_children;
use crate::node::dispatch::Place;

/// Descriptors that a program in a kernel node may ask for at most, as on a usual machine.
const DESCRIPTORS: u64 = 1 << 20;

/// The argument after which process 1 does not serve a lab, but shows that the kernel could be a node.
pub const TRIAL: &str = "trial";

/// The line that process 1 prints to show that the kernel could be a node; see [`TRIAL`].
pub const TRIAL_PASSED: &str = "netloom: this kernel runs";

/// Process 1 of a kernel node: makes the kernel into the node and serves the lab process. Returns only where it is not
/// process 1; otherwise the kernel powers off at its end.
///
/// # Errors
/// When this is an ordinary process.
pub fn main() -> Result<(), String> {
    if std::process::id() != 1 {
        return Err("this is the first process of a kernel node; netloom starts it where it belongs".to_owned());
    }
    if let Err(error) = serve() {
        // The console: the lab process shows its last lines.
        eprintln!("netloom: {error}");
    }
    power_off()
}

fn serve() -> Result<(), Box<dyn std::error::Error>> {
    // Programs must not see what the kernel made of its command line.
    let inherited: Vec<OsString> = std::env::vars_os().map(|(key, _)| key).collect();
    for key in inherited {
        // SAFETY: this process has one thread.
        unsafe { std::env::remove_var(key) };
    }
    // Only the name that `ps` shows depends on it.
    let _ = nix::sys::prctl::set_name(c"netloom-node");
    root::console();
    modules::load();
    root::enter()?;
    if std::env::args().next_back().is_some_and(|argument| argument == TRIAL) {
        println!("{TRIAL_PASSED}");
        return Ok(());
    }
    age_programs();
    let (soft, _) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, soft.max(1024), DESCRIPTORS)?;
    let signals = watch_children()?;
    if is_in_virtual_time() {
        read_own_code();
    }
    checkpoint();
    let socket = devices::hide_control(devices::first)?;
    Agent::new(socket, signals, Place::Kernel).run()?;
    Ok(())
}

/// The command of reboot(2) for it, of kernels that can be copied: `crates/guest/kernel/edits/copy.c`.
const CHECKPOINT: libc::c_uint = 0x4e65_744c;

/// Comes to what belongs to one node: in virtual time the kernel may be a template, and go on from here in each of its copies. Its
/// devices are there from here on. Other kernels know nothing of it.
fn checkpoint() {
    // SAFETY: numbers.
    unsafe { libc::syscall(libc::SYS_reboot, libc::LINUX_REBOOT_MAGIC1, libc::LINUX_REBOOT_MAGIC2, CHECKPOINT, 0) };
}

/// Says whether the kernel may be a template, whose memory its copies share.
fn is_in_virtual_time() -> bool {
    std::fs::read_to_string("/proc/cmdline")
        .is_ok_and(|line| line.split(' ').any(|word| word.starts_with("time-travel")))
}

/// This has the kernel read the code around this function: all copies then share it. Each would else read by itself what its agent needs next,
/// and keep it in memory of its own.
fn read_own_code() {
    let mut place = CodePlace { address: (read_own_code as fn()) as usize as u64, part: None };
    // SAFETY: the function is called with what the loader knows of this program and with the place, as long as this call lasts.
    unsafe { libc::dl_iterate_phdr(Some(find_code), (&raw mut place).cast()) };
    let (Some((begin, end, offset)), Ok(program)) = (place.part, std::fs::File::open("/proc/self/exe")) else { return };
    let from = place.address.saturating_sub(CODE / 2).max(begin);
    let to = end.min(from + CODE);
    for at in (from..to).step_by(AT_ONCE) {
        let in_file = i64::try_from(at - begin + offset).unwrap_or(i64::MAX);
        // SAFETY: numbers; what cannot be read ahead is read later.
        unsafe { libc::readahead(program.as_raw_fd(), in_file, AT_ONCE) };
    }
}

/// So many bytes of code are read. All that an agent needs lies close together, even in a build without optimization.
const CODE: u64 = 8 << 20;

/// The kernel reads at most so many bytes at once.
const AT_ONCE: usize = 128 << 10;

/// Says which part of this program's file is loaded at an address: from where to where, and its place in the file.
struct CodePlace {
    address: u64,
    part: Option<(u64, u64, u64)>,
}

/// This looks at the first of all loaded objects, which is this program: a positive result ends the iteration.
unsafe extern "C" fn find_code(object: *mut libc::dl_phdr_info, _size: usize, place: *mut libc::c_void) -> libc::c_int {
    // SAFETY: the loader passes a description that is valid during this call, with so many headers, and the caller's own place.
    let (base, headers, place) = unsafe {
        let object = &*object;
        let headers = std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum));
        (object.dlpi_addr, headers, &mut *place.cast::<CodePlace>())
    };
    let loaded = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let parts = loaded.map(|header| (base + header.p_vaddr, base + header.p_vaddr + header.p_filesz, header.p_offset));
    place.part = parts.into_iter().find(|(begin, end, _)| (*begin..*end).contains(&place.address));
    1
}

/// What programs see as the uptime of a machine that has just booted, in seconds. Some take a clock in its first second for
/// one that is not set yet: ping then forgets its interval.
const AGE: u32 = 1_000;

/// Lets the clocks since boot of all programs begin at [`AGE`], by a time namespace (time_namespaces(7)). A kernel without
/// them has programs that see its real age, which mostly does no harm.
fn age_programs() {
    if unshare(CloneFlags::from_bits_retain(libc::CLONE_NEWTIME)).is_ok() {
        // It can only fail if the namespace is in use by now, which only programs could do.
        let _ = std::fs::write("/proc/self/timens_offsets", format!("monotonic {AGE} 0\nboottime {AGE} 0\n"));
    }
}

fn power_off() -> ! {
    let Err(error) = reboot(RebootMode::RB_POWER_OFF);
    eprintln!("netloom: {}", KernelError::from_io("power off", &io::Error::from(error)));
    // The kernel ends when its process 1 does.
    std::process::exit(1)
}
