//! The program that continues a connection inside a node that the relay cannot enter.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, TcpStream};
use std::os::fd::FromRawFd;

/// Joins standard input and output to a TCP port of this machine, which is a node: `words` are the port and the addresses
/// at which it may be open, beside those of the loopback. Each direction ends independently.
///
/// # Errors
/// What is wrong with the words, or that nothing listens at the port.
pub fn main(words: &[OsString]) -> Result<(), String> {
    let words: Option<Vec<&str>> = words.iter().map(|word| word.to_str()).collect();
    let words = words.unwrap_or_default();
    let (port, addresses) = words.split_first().ok_or("the port is missing")?;
    let port: u16 = port.parse().map_err(|error| format!("{port}: {error}"))?;
    let loopback = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
    let addresses = loopback.into_iter().chain(addresses.iter().filter_map(|address| address.parse().ok()));
    let mut socket = addresses
        .map(|address| TcpStream::connect((address, port)))
        .find_map(Result::ok)
        .ok_or_else(|| format!("nothing listens at port {port}"))?;
    join(&mut socket).map_err(|error| error.to_string())
}

fn join(socket: &mut TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    // SAFETY: this program uses its standard streams for nothing else. Owned, each is closed when its direction ends.
    let (mut input, mut output) =
        unsafe { (File::from_raw_fd(libc::STDIN_FILENO), File::from_raw_fd(libc::STDOUT_FILENO)) };
    let mut writer = socket.try_clone()?;
    let sender = std::thread::spawn(move || {
        io::copy(&mut input, &mut writer)?;
        writer.shutdown(Shutdown::Write)
    });
    io::copy(socket, &mut output)?;
    drop(output);
    sender.join().unwrap_or(Ok(()))
}
