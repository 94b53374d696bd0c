//! Programs of netloom's own that a node runs, where its file system may have neither its libraries nor their loader: an image of another
//! C library, or with nothing but its own program. They are copies of the agent, which has all of that in memory, and no new programs.

use std::ffi::{OsStr, OsString};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{archive, expose, signals};

/// What stands for netloom itself.
const SELF: &str = "/proc/self/exe";

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    /// `node-pack`
    Pack,
    /// `node-connect`
    Connect,
}

impl Own {
    /// Which one these words mean; none if they mean another program.
    pub(super) fn of(argv: &[OsString]) -> Option<Self> {
        let [program, word, ..] = argv else { return None };
        match word.to_str()? {
            _ if program != OsStr::new(SELF) => None,
            "node-pack" => Some(Self::Pack),
            "node-connect" => Some(Self::Connect),
            _ => None,
        }
    }

    /// Is this program, in a process that was forked for it and has its standard streams. It uses nothing else of this process, and
    /// does not come back.
    pub(super) fn become_it(self, words: &[OsString]) -> ! {
        // SAFETY: whoever forked this process keeps these descriptors; here nobody uses them.
        unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
        signals::survive_file_limits();
        let main = || match self {
            Self::Pack => archive::main(words),
            Self::Connect => expose::main(words),
        };
        let code = match catch_unwind(AssertUnwindSafe(main)) {
            Ok(Ok(())) => 0,
            Ok(Err(why)) => {
                eprintln!("{why}");
                1
            }
            // What happened has been written to standard error.
            Err(_) => 101,
        };
        // SAFETY: it ends this process, without what the process that it is a copy of has left to do at its end.
        unsafe { libc::_exit(code) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_programs_are_known_by_their_words() {
        let of = |words: &[&str]| Own::of(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of(&["/proc/self/exe", "node-pack", "collect"]), Some(Own::Pack));
        assert_eq!(of(&["/proc/self/exe", "node-connect"]), Some(Own::Connect));
        for other in
            [&["/proc/self/exe"][..], &["node-pack"], &["netloom", "node-pack"], &["/proc/self/exe", "check"], &[]]
        {
            assert_eq!(of(other), None, "{other:?}");
        }
    }
}
