//! A yardstick for setting labs up: the same namespaces, interfaces, addresses, neighbours and routes, made by a program that
//! does nothing else. `netloom-bench batches FILE` reads the requests to the kernel, all of them made beforehand
//! ([`messages`]), and sends them in large batches: one process for each node, all at the same time, as the kernel lets them.
//! It prints how many seconds that took.

pub(crate) mod messages;

use messages::{End, SIZE_OF_END};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::process::ExitCode;
use std::time::Instant;

/// Its name on the command line.
pub(crate) const BATCHES: &str = "batches";

/// Bytes of one send: fewer sends are no faster.
const BATCH: usize = 32 << 10;
/// Of `nlmsghdr`, and where the flags are in it.
const HEADER: usize = 16;
const FLAGS: usize = 6;

/// Makes what the file says if the command line asks for it.
pub(crate) fn main(arguments: &[String]) -> Option<ExitCode> {
    let [command, file] = arguments else { return None };
    if command != BATCHES {
        return None;
    }
    match make(file) {
        Ok(seconds) => println!("{seconds}"),
        Err(error) => {
            eprintln!("{}: {error}", arguments.join(" "));
            return Some(ExitCode::FAILURE);
        }
    }
    Some(ExitCode::SUCCESS)
}

/// What is to be made: interfaces, and where in the file the requests of each node are.
struct Work {
    file: File,
    ends: Vec<End>,
    nodes: Vec<(u64, usize)>,
}

fn read(path: &str) -> io::Result<Work> {
    let mut file = File::open(path)?;
    let mut number = || -> io::Result<usize> {
        let mut bytes = [0; 4];
        file.read_exact(&mut bytes)?;
        Ok(u32::from_ne_bytes(bytes) as usize)
    };
    let (nodes, ends) = (number()?, number()?);
    let lengths = (0..nodes).map(|_| number()).collect::<io::Result<Vec<_>>>()?;
    let mut records = vec![0; ends * SIZE_OF_END];
    file.read_exact(&mut records)?;
    let mut offset = (8 + 4 * nodes + records.len()) as u64;
    let places = lengths.into_iter().map(|length| {
        offset += length as u64;
        (offset - length as u64, length)
    });
    let places = places.collect();
    Ok(Work { file, ends: records.chunks_exact(SIZE_OF_END).map(End::read).collect(), nodes: places })
}

/// Makes everything and removes it; how many seconds the former took.
fn make(path: &str) -> io::Result<f64> {
    let work = read(path)?;
    leave_the_machine()?;
    let begin = Instant::now();
    let (mut told, tell) = io::pipe()?;
    // Closed when they may begin, and when they may end.
    let (go, start) = io::pipe()?;
    let (over, end) = io::pipe()?;
    let mut children = Vec::with_capacity(work.nodes.len());
    let mut gates = Some((start, end));
    for place in &work.nodes {
        // SAFETY: this process has one thread, so that no lock is held by another one.
        match unsafe { libc::fork() } {
            -1 => return Err(io::Error::last_os_error()),
            0 => {
                drop(gates.take());
                let done = node(&work.file, *place, &tell, &go, &over);
                if let Err(error) = &done {
                    eprintln!("{error}");
                }
                // SAFETY: ends the process at once, as a forked one should.
                unsafe { libc::_exit(i32::from(done.is_err())) }
            }
            child => children.push(child),
        }
    }
    drop(tell);
    hear(&mut told, children.len())?;
    let (first, second) = gates.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let veths = work.ends.iter().zip(0..).flat_map(|(one, number)| one.create(number, children[one.node]));
    send_all(&netlink()?, &mut veths.collect::<Vec<u8>>())?;
    drop(first);
    hear(&mut told, children.len())?;
    let seconds = begin.elapsed().as_secs_f64();
    drop(second);
    for child in children {
        // SAFETY: a null pointer asks for no status.
        unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) };
    }
    Ok(seconds)
}

/// Into a network namespace of its own, and for an ordinary user into a user namespace that allows it.
fn leave_the_machine() -> io::Result<()> {
    // SAFETY: neither call takes anything, and neither can fail.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    let more = if user == 0 { 0 } else { libc::CLONE_NEWUSER };
    // SAFETY: concerns this process alone.
    if unsafe { libc::unshare(libc::CLONE_NEWNET | more) } != 0 {
        return Err(io::Error::last_os_error());
    }
    if user != 0 {
        std::fs::write("/proc/self/setgroups", "deny")?;
        std::fs::write("/proc/self/uid_map", format!("0 {user} 1\n"))?;
        std::fs::write("/proc/self/gid_map", format!("0 {group} 1\n"))?;
    }
    Ok(())
}

/// Waits for a byte from each; those that fail have said why.
fn hear(mut told: impl Read, count: usize) -> io::Result<()> {
    told.read_exact(&mut vec![0; count]).map_err(|_| io::Error::other("a node could not be made"))
}

/// The life of a node.
fn node(
    file: &File,
    (offset, length): (u64, usize),
    mut tell: impl Write,
    mut go: impl Read,
    mut over: impl Read,
) -> io::Result<()> {
    // SAFETY: concerns this process alone.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } != 0 {
        return Err(io::Error::last_os_error());
    }
    tell.write_all(&[0])?;
    go.read_to_end(&mut Vec::new())?;
    let mut requests = vec![0; length];
    file.read_exact_at(&mut requests, offset)?;
    send_all(&netlink()?, &mut requests)?;
    tell.write_all(&[0])?;
    over.read_to_end(&mut Vec::new()).map(drop)
}

fn netlink() -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers.
    let fd = unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_ROUTE) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just made it, and nothing else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sends requests in batches, of which the last one is answered, and any that fails.
fn send_all(socket: &OwnedFd, mut rest: &mut [u8]) -> io::Result<()> {
    let mut answer = vec![0; 8 << 10];
    while !rest.is_empty() {
        let (mut batch, mut last) = (0, 0);
        while batch < rest.len() && batch < BATCH {
            last = batch;
            batch += u32::from_ne_bytes(bytes(&rest[batch..])) as usize;
        }
        rest[last + FLAGS] |= libc::NLM_F_ACK as u8;
        let (now, later) = rest.split_at_mut(batch);
        // SAFETY: the buffer has the length that is given.
        let sent = unsafe { libc::send(socket.as_raw_fd(), now.as_ptr().cast(), now.len(), 0) };
        if sent < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the buffer has room for the length that is given.
        let heard = unsafe { libc::recv(socket.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), 0) };
        if heard < (HEADER + 4) as isize {
            return Err(io::Error::last_os_error());
        }
        match i32::from_ne_bytes(bytes(&answer[HEADER..])) {
            0 => rest = later,
            error => return Err(io::Error::from_raw_os_error(-error)),
        }
    }
    Ok(())
}

fn bytes(from: &[u8]) -> [u8; 4] {
    [from[0], from[1], from[2], from[3]]
}
