//! What a program may be able to do in a container that netloom has not made.

use std::io;

use rustix::thread::{CapabilitySet, set_no_new_privs};

use crate::capabilities::{bound_to, pass_nothing_on, withheld_mask};

/// What programs of a container may be able to do, whoever starts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// The capabilities that they can have, by number.
    bounding: u64,
    no_new_privileges: bool,
}

impl Limits {
    /// Those of a process, from its file `status` (proc(5)); what it does not say is not allowed, nor what acts on the whole machine.
    pub(super) fn of(status: &str) -> Self {
        let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
        let bounding = value("CapBnd:").and_then(|digits| u64::from_str_radix(digits, 16).ok()).unwrap_or_default();
        let bounding = bounding & !withheld_mask();
        Self { bounding, no_new_privileges: value("NoNewPrivs:") == Some("1") }
    }

    /// Takes from this process what the container does not have. As root, the program that it executes has the rest.
    pub(crate) fn apply(self) -> io::Result<()> {
        bound_to(CapabilitySet::from_bits_retain(self.bounding))?;
        pass_nothing_on()?;
        if self.no_new_privileges { Ok(set_no_new_privs(true)?) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_from_a_process() {
        let text = "Name:\tsh\nCapBnd:\t00000000800405fb\nNoNewPrivs:\t1\n";
        assert_eq!(Limits::of(text), Limits { bounding: 0x8004_05fb, no_new_privileges: true });
        // A privileged container has the clock and others of the machine's things, which its programs in a lab have not.
        let privileged = Limits::of("CapBnd:\t000001ffffffffff\n");
        assert_eq!(privileged.bounding, 0x1ff_ffff_ffff & !withheld_mask());
        assert_eq!(Limits::of(""), Limits { bounding: 0, no_new_privileges: false });
    }
}
