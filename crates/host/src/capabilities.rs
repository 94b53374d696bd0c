//! The capabilities by which root of a node would act on the whole machine, outside the namespaces of the node.
//!
//! Nodes do not have them, whoever starts the lab: a program that sets the clock, loads a module or reboots is refused by the kernel
//! (capabilities(7)) and not served at the machine's expense. What a node's own namespaces confine, its root keeps.

use std::io;

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities,
};

use crate::error::{Attempted, KernelError};

/// The capabilities that nodes do not have unless they ask for them, with their names in capabilities(7), in lower case and without
/// `CAP_`.
const WITHHELD: [(&str, CapabilitySet); 13] = [
    ("audit_control", CapabilitySet::AUDIT_CONTROL),
    ("audit_read", CapabilitySet::AUDIT_READ),
    ("block_suspend", CapabilitySet::BLOCK_SUSPEND),
    ("mac_admin", CapabilitySet::MAC_ADMIN),
    ("mac_override", CapabilitySet::MAC_OVERRIDE),
    ("mknod", CapabilitySet::MKNOD),
    ("sys_boot", CapabilitySet::SYS_BOOT),
    ("sys_module", CapabilitySet::SYS_MODULE),
    ("sys_rawio", CapabilitySet::SYS_RAWIO),
    ("sys_time", CapabilitySet::SYS_TIME),
    ("sys_tty_config", CapabilitySet::SYS_TTY_CONFIG),
    ("syslog", CapabilitySet::SYSLOG),
    ("wake_alarm", CapabilitySet::WAKE_ALARM),
];

/// Lists the names of the capabilities that nodes do not have unless they ask for them.
pub fn withheld() -> impl Iterator<Item = &'static str> {
    WITHHELD.iter().map(|(name, _)| *name)
}

/// Gives up, for this process and all that it starts, the withheld capabilities but those that are `kept`.
pub(crate) fn give_up(kept: &[String]) -> Result<(), KernelError> {
    let lost = WITHHELD.iter().filter(|(name, _)| !kept.iter().any(|kept| kept == name));
    let lost = lost.fold(CapabilitySet::empty(), |all, (_, one)| all | *one);
    lose(lost).attempted(|| "give up the capabilities that act on the whole machine")
}

/// Gives up all of them. It makes nothing but system calls, as a process must that was forked beside threads.
pub(crate) fn give_up_all() -> io::Result<()> {
    lose(CapabilitySet::from_bits_retain(withheld_mask()))
}

/// Gives up all of them for this process. What it executes gains none, if it may not gain privileges (`PR_SET_NO_NEW_PRIVS`).
pub(crate) fn lower_all() -> io::Result<()> {
    lower(CapabilitySet::from_bits_retain(withheld_mask()))
}

fn lose(lost: CapabilitySet) -> io::Result<()> {
    lost.iter().try_for_each(unbind)?;
    lower(lost)
}

fn lower(lost: CapabilitySet) -> io::Result<()> {
    let own = capabilities(None)?;
    let rest = CapabilitySets {
        effective: own.effective - lost,
        permitted: own.permitted - lost,
        inheritable: own.inheritable - lost,
    };
    Ok(set_capabilities(None, rest)?)
}

/// Lets what this process executes have no other capabilities than these.
pub(crate) fn bound_to(allowed: CapabilitySet) -> io::Result<()> {
    (CapabilitySet::all() - allowed).iter().try_for_each(unbind)
}

fn unbind(capability: CapabilitySet) -> io::Result<()> {
    match remove_capability_from_bounding_set(capability) {
        // A kernel that is older than the capability.
        Err(Errno::INVAL) => Ok(()),
        other => Ok(other?),
    }
}

/// Takes from this process what it would pass on to programs without being root.
pub(crate) fn pass_nothing_on() -> io::Result<()> {
    let own = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: CapabilitySet::empty(), ..own })?;
    Ok(clear_ambient_capability_set()?)
}

/// Returns the withheld capabilities as bits of a mask.
pub(crate) fn withheld_mask() -> u64 {
    WITHHELD.iter().fold(0, |mask, (_, one)| mask | one.bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_labs_need_is_not_withheld() {
        let mask = withheld_mask();
        assert_eq!(mask.count_ones() as usize, withheld().count());
        // linux/capability.h: CAP_NET_ADMIN, CAP_NET_RAW, CAP_SYS_ADMIN; CAP_SYS_TIME.
        assert_eq!(mask & (1 << 12 | 1 << 13 | 1 << 21), 0);
        assert_ne!(mask & 1 << 25, 0);
    }
}
