//! The program that continues a connection, or passes a client's datagrams on, inside a node that the relay cannot enter.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, TcpStream};
use std::os::fd::{AsFd, FromRawFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::attempts::{Attempts, LONGEST};
use super::frames::{Frames, framed};

/// Joins standard input and output to a port of this machine, which is a node: `words` are `tcp` or `udp`, the port, and the
/// addresses at which it may be open, beside those of the loopback. Each direction of a connection ends independently;
/// datagrams are passed on until standard input ends.
///
/// # Errors
/// What is wrong with the words, or that nothing listens at the port.
pub fn main(words: &[OsString]) -> Result<(), String> {
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let words = words.unwrap_or_default();
    let [protocol, port, addresses @ ..] = &words[..] else {
        return Err("the protocol and the port are missing".into());
    };
    let port: u16 = port.parse().map_err(|error| format!("{port}: {error}"))?;
    let loopback = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
    let addresses = loopback.into_iter().chain(addresses.iter().filter_map(|address| address.parse().ok()));
    if *protocol == "udp" {
        return pass_on(&addresses.collect::<Vec<_>>(), port).map_err(|error| error.to_string());
    }
    let mut socket = addresses
        .map(|address| TcpStream::connect((address, port)))
        .find_map(Result::ok)
        .ok_or_else(|| format!("nothing listens at port {port}"))?;
    join(&mut socket).map_err(|error| error.to_string())
}

/// Standard input and output.
fn standard_streams() -> (File, File) {
    // SAFETY: this program uses its standard streams for nothing else. Owned, each is closed when its direction ends.
    unsafe { (File::from_raw_fd(libc::STDIN_FILENO), File::from_raw_fd(libc::STDOUT_FILENO)) }
}

/// Datagrams of one client.
fn pass_on(addresses: &[IpAddr], port: u16) -> io::Result<()> {
    let (mut input, mut output) = standard_streams();
    let mut attempts = Attempts::new(addresses, port)?;
    let (mut frames, mut buffer) = (Frames::default(), vec![0; LONGEST]);
    loop {
        let mut fds = [input.as_fd(), attempts.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        match poll(&mut fds, PollTimeout::NONE) {
            Ok(_) => {}
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let [from_client, from_node] = fds.map(|fd| fd.any() == Some(true));
        if from_client {
            match input.read(&mut buffer)? {
                0 => return Ok(()),
                length => frames.feed(&buffer[..length]),
            }
            frames.drain(|datagram| attempts.send(datagram));
        }
        if from_node
            && let Some(length) = attempts.receive(&mut buffer)
            && let Some(framed) = framed(&buffer[..length])
        {
            output.write_all(&framed)?;
        }
    }
}

fn join(socket: &mut TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let (mut input, mut output) = standard_streams();
    let mut writer = socket.try_clone()?;
    let sender = std::thread::spawn(move || {
        io::copy(&mut input, &mut writer)?;
        writer.shutdown(Shutdown::Write)
    });
    io::copy(socket, &mut output)?;
    drop(output);
    sender.join().unwrap_or(Ok(()))
}
