//! Removing what interfaces and tables have, whoever put it there.

use netlink_packet_route::address::AddressMessage;
use netlink_packet_route::route::{RouteMessage, RouteProtocol, RouteType};
use netlink_packet_route::rule::{RuleAttribute, RuleMessage};
use netlink_packet_route::tc::{TcHandle, TcMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::{Netlink, Request};
use crate::error::KernelError;

/// The priorities of the rules that every namespace has.
const USUAL_RULES: [u32; 3] = [0, 32_766, 32_767];

impl Netlink {
    /// Removes all addresses of these interfaces.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn flush_addresses(&mut self, interfaces: &[u32]) -> Result<(), KernelError> {
        let mut found = Vec::new();
        self.dump(RouteNetlinkMessage::GetAddress(AddressMessage::default()), "list the addresses", |entry| {
            if let RouteNetlinkMessage::NewAddress(message) = entry
                && interfaces.contains(&message.header.index)
            {
                found.push(message);
            }
        })?;
        // With the first address of a subnet, the others of it go.
        found
            .into_iter()
            .try_for_each(|message| self.remove(RouteNetlinkMessage::DelAddress(message), "remove an address"))
    }

    /// Removes the rules of both families that not every namespace has. That for devices of VRFs, which the kernel makes once, stays.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn flush_rules(&mut self) -> Result<(), KernelError> {
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            let mut wanted = RuleMessage::default();
            wanted.header.family = family;
            let mut found = Vec::new();
            let listed = self.dump(RouteNetlinkMessage::GetRule(wanted), "list the rules", |entry| {
                if let RouteNetlinkMessage::NewRule(message) = entry
                    && message.attributes.iter().all(|attribute| !is_usual(attribute))
                    && message.attributes.iter().any(|attribute| matches!(attribute, RuleAttribute::Priority(_)))
                {
                    found.push(message);
                }
            });
            unless_unknown(listed)?;
            found
                .into_iter()
                .try_for_each(|message| self.remove(RouteNetlinkMessage::DelRule(message), "remove a rule"))?;
        }
        Ok(())
    }

    /// Removes the routes that lead nowhere, which do not go with an interface.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn flush_dead_ends(&mut self) -> Result<(), KernelError> {
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            let mut wanted = RouteMessage::default();
            wanted.header.address_family = family;
            let mut found = Vec::new();
            self.dump(RouteNetlinkMessage::GetRoute(wanted), "list the routes", |entry| {
                if let RouteNetlinkMessage::NewRoute(message) = entry
                    && message.header.protocol != RouteProtocol::Kernel
                    && leads_nowhere(message.header.kind)
                {
                    found.push(message);
                }
            })?;
            found
                .into_iter()
                .try_for_each(|message| self.remove(RouteNetlinkMessage::DelRoute(message), "remove a route"))?;
        }
        Ok(())
    }

    /// Removes the queueing disciplines and filters that programs gave an interface.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn flush_disciplines(&mut self, interface: u32) -> Result<(), KernelError> {
        for parent in [TcHandle::ROOT, TcHandle::CLSACT] {
            let mut message = TcMessage::default();
            message.header.index = interface.cast_signed();
            message.header.parent = parent;
            self.remove(RouteNetlinkMessage::DelQueueDiscipline(message), "remove a queueing discipline")?;
        }
        Ok(())
    }

    /// Removes what may have gone, or may never have been there.
    fn remove(&mut self, message: RouteNetlinkMessage, attempted: &str) -> Result<(), KernelError> {
        const GONE: [i32; 4] = [libc::ENOENT, libc::ESRCH, libc::EADDRNOTAVAIL, libc::EINVAL];
        match self.transact(vec![Request { message, flags: 0, attempted: attempted.to_owned() }]) {
            Err(error) if GONE.contains(&error.errno()) => Ok(()),
            other => unless_unknown(other),
        }
    }
}

/// A kernel without rules, or without a family, has none to be removed.
fn unless_unknown(outcome: Result<(), KernelError>) -> Result<(), KernelError> {
    match outcome {
        Err(error) if [libc::EOPNOTSUPP, libc::EAFNOSUPPORT].contains(&error.errno()) => Ok(()),
        other => other,
    }
}

fn is_usual(attribute: &RuleAttribute) -> bool {
    match attribute {
        RuleAttribute::Priority(priority) => USUAL_RULES.contains(priority),
        RuleAttribute::L3MDev(is_set) => *is_set,
        _ => false,
    }
}

fn leads_nowhere(kind: RouteType) -> bool {
    matches!(kind, RouteType::BlackHole | RouteType::Unreachable | RouteType::Prohibit | RouteType::Throw)
}
