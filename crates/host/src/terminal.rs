//! Terminals for interactive programs in nodes.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::sys::termios::{SetArg, Termios, cfmakeraw, tcgetattr, tcsetattr};
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{Winsize, tcgetwinsize, tcsetwinsize};

use crate::error::{Attempted, KernelError};

/// A pseudo terminal.
#[derive(Debug)]
pub struct Pty {
    /// The end that a terminal emulator holds: what the program prints is read here.
    pub master: OwnedFd,
    /// The end that the program gets as its standard streams.
    pub slave: OwnedFd,
}

/// Opens a pseudo terminal.
///
/// # Errors
/// The kernel's refusal.
pub fn open_pty() -> Result<Pty, KernelError> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).attempted(|| "open /dev/ptmx")?;
    unlockpt(&master).attempted(|| "unlock a pseudo terminal")?;
    // Asking the master itself works in whichever mount namespace this runs; a path under /dev/pts might not.
    let slave = ioctl_tiocgptpeer(&master, flags).attempted(|| "open the other end of a pseudo terminal")?;
    Ok(Pty { master, slave })
}

/// A terminal in raw mode, which passes on every key at once, as long as this value lives.
#[derive(Debug)]
pub struct RawMode<'a> {
    terminal: BorrowedFd<'a>,
    before: Termios,
}

impl<'a> RawMode<'a> {
    /// Switches `terminal` over.
    ///
    /// # Errors
    /// The kernel's refusal; `ENOTTY` when it is not a terminal.
    pub fn enter(terminal: BorrowedFd<'a>) -> Result<Self, KernelError> {
        let before = tcgetattr(terminal).attempted(|| "read the terminal's settings")?;
        let mut raw = before.clone();
        cfmakeraw(&mut raw);
        tcsetattr(terminal, SetArg::TCSADRAIN, &raw).attempted(|| "switch the terminal to raw mode")?;
        Ok(Self { terminal, before })
    }
}

impl Drop for RawMode<'_> {
    fn drop(&mut self) {
        // The terminal may be gone, and then there is nothing to restore.
        let _ = tcsetattr(self.terminal, SetArg::TCSADRAIN, &self.before);
    }
}

/// Puts a pseudo terminal into raw mode for good: it passes everything on in both directions, and another terminal behind it
/// handles control characters.
///
/// # Errors
/// The kernel's refusal; `ENOTTY` when it is not a terminal.
pub fn pass_through(terminal: impl AsFd) -> Result<(), KernelError> {
    let mut settings = tcgetattr(terminal.as_fd()).attempted(|| "read the terminal's settings")?;
    cfmakeraw(&mut settings);
    tcsetattr(terminal.as_fd(), SetArg::TCSANOW, &settings).attempted(|| "switch the terminal to raw mode")
}

/// How many characters a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WindowSize {
    /// Lines.
    pub rows: u16,
    /// Characters in a line.
    pub columns: u16,
}

/// The size of a terminal; `None` when `fd` is none.
pub fn window_size(fd: impl AsFd) -> Option<WindowSize> {
    let size = tcgetwinsize(fd).ok()?;
    Some(WindowSize { rows: size.ws_row, columns: size.ws_col })
}

/// Gives a pseudo terminal its size. Its program learns of a change by SIGWINCH.
///
/// # Errors
/// The kernel's refusal.
pub fn set_window_size(fd: impl AsFd, size: WindowSize) -> Result<(), KernelError> {
    let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(fd, size).attempted(|| "set the size of a terminal")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Write};

    #[test]
    fn a_raw_terminal_passes_what_an_ordinary_one_interprets() {
        let pty = open_pty().unwrap();
        let mut master = File::from(pty.master);
        let mut slave = File::from(pty.slave.try_clone().unwrap());
        let mut byte = [0];
        {
            let _raw = RawMode::enter(pty.slave.as_fd()).unwrap();
            // Control-C is a byte like any other, and no end of line is needed.
            master.write_all(b"\x03").unwrap();
            slave.read_exact(&mut byte).unwrap();
            assert_eq!(byte, [3]);
        }
        slave.write_all(b"\n").unwrap();
        let mut line = [0; 2];
        master.read_exact(&mut line).unwrap();
        assert_eq!(&line, b"\r\n", "the settings from before are back");
    }

    #[test]
    fn the_size_is_copied() {
        let pty = open_pty().unwrap();
        let size = WindowSize { rows: 24, columns: 100 };
        set_window_size(&pty.master, size).unwrap();
        assert_eq!(window_size(&pty.slave), Some(size));
        let (_, pipe) = std::io::pipe().unwrap();
        assert_eq!(window_size(&pipe), None);
    }
}
