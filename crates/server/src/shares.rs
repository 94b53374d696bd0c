//! How much of the server each visitor may take: all of it together, and less by role, by address and by token. What only the role `edit` may take stays for
//! whoever shares the page, however many others there are and whatever they do.

use crate::answer::Refusal;
use crate::token::Role;
use crate::visitors::Visitor;
use axum::http::StatusCode;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many of something there may be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Of all visitors together.
    pub(crate) all: usize,
    /// Of those of one role, other than `edit`.
    pub(crate) role: usize,
    /// Of those at one address of the network, other than `edit`.
    pub(crate) address: usize,
    /// Of one token, other than those of the role `edit`.
    pub(crate) one: usize,
}

/// Something of which each visitor has a share.
#[derive(Debug)]
pub(crate) struct Shares {
    /// What it is, in the plural.
    what: &'static str,
    limits: Limits,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    roles: BTreeMap<Role, usize>,
    addresses: BTreeMap<IpAddr, usize>,
    ones: BTreeMap<u64, usize>,
}

/// One of them, until it is dropped.
#[derive(Debug)]
pub(crate) struct Share {
    of: Arc<Shares>,
    role: Role,
    address: IpAddr,
    one: u64,
}

impl Shares {
    pub(crate) fn new(what: &'static str, limits: Limits) -> Arc<Self> {
        Arc::new(Self { what, limits, taken: Mutex::default() })
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One more for this visitor, who asks from this address.
    pub(crate) fn take(self: &Arc<Self>, visitor: &Visitor, address: IpAddr) -> Result<Share, Refusal> {
        let (role, address) = (visitor.role, place(address));
        let mut taken = self.taken();
        let Limits { all, role: of_role, address: of_address, one } = self.limits;
        let full = |whose: &str, most: usize| {
            let message = format!("too many {} are open {whose}, {most} at most: close some", self.what);
            Err(Refusal::new(StatusCode::TOO_MANY_REQUESTS, message))
        };
        let count = |of: Option<&usize>| of.copied().unwrap_or(0);
        if taken.all >= all {
            return full("on this server", all);
        }
        if role < Role::Edit {
            if count(taken.ones.get(&visitor.id)) >= one {
                return full("by you", one);
            }
            // Behind a proxy of this machine are many.
            if !address.is_loopback() && count(taken.addresses.get(&address)) >= of_address {
                return full("from your address", of_address);
            }
            if count(taken.roles.get(&role)) >= of_role {
                return full(&format!("by those who `{}`", role.name()), of_role);
            }
        }
        taken.all += 1;
        *taken.roles.entry(role).or_default() += 1;
        *taken.addresses.entry(address).or_default() += usize::from(role < Role::Edit);
        *taken.ones.entry(visitor.id).or_default() += 1;
        Ok(Share { of: Arc::clone(self), role, address, one: visitor.id })
    }

    /// How many a visitor has.
    pub(crate) fn of(&self, visitor: u64) -> usize {
        self.taken().ones.get(&visitor).copied().unwrap_or(0)
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut taken = self.of.taken();
        taken.all -= 1;
        less(&mut taken.roles, &self.role, 1);
        less(&mut taken.addresses, &self.address, usize::from(self.role < Role::Edit));
        less(&mut taken.ones, &self.one, 1);
    }
}

fn less<K: Ord>(counts: &mut BTreeMap<K, usize>, key: &K, by: usize) {
    if let Some(count) = counts.get_mut(key) {
        *count -= by;
        if *count == 0 {
            counts.remove(key);
        }
    }
}

/// The address as it is counted: of IPv6 the network, of which each machine has as many addresses as it likes.
pub(crate) fn place(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let mut parts = address.segments();
            parts[4..].fill(0);
            Ipv6Addr::from(parts).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor(id: u64, role: Role) -> Visitor {
        Visitor::new(id, role, None, IpAddr::from([192, 0, 2, 1]))
    }

    #[test]
    fn nobody_takes_what_is_kept_for_whoever_shares_the_page() {
        let shares = Shares::new("terminals", Limits { all: 10, role: 4, address: 3, one: 2 });
        let mut held = Vec::new();
        for id in 1..100 {
            for role in [Role::Look, Role::Use] {
                let visitor = visitor(2 * id + u64::from(role == Role::Use), role);
                let address = IpAddr::from([10, 0, 0, u8::try_from(id).unwrap()]);
                held.extend((0..5).filter_map(|_| shares.take(&visitor, address).ok()));
            }
        }
        assert_eq!(held.len(), 8, "four of each role");
        let teacher = visitor(1, Role::Edit);
        let address = IpAddr::from([10, 0, 0, 1]);
        held.extend((0..2).map(|_| shares.take(&teacher, address).unwrap()));
        assert!(shares.take(&teacher, address).unwrap_err().message().contains("10 at most"));
        held.clear();
        assert_eq!(shares.taken().all, 0);
        assert!(shares.taken().ones.is_empty() && shares.taken().addresses.is_empty());
    }

    #[test]
    fn one_token_and_one_address_have_bounds_of_their_own() {
        let shares = Shares::new("terminals", Limits { all: 100, role: 50, address: 3, one: 2 });
        let address = IpAddr::from([10, 0, 0, 1]);
        let mut held: Vec<Share> = (0..2).map(|_| shares.take(&visitor(2, Role::Use), address).unwrap()).collect();
        assert!(shares.take(&visitor(2, Role::Use), address).unwrap_err().message().contains("by you"));
        held.push(shares.take(&visitor(3, Role::Use), address).unwrap());
        assert!(shares.take(&visitor(4, Role::Use), address).unwrap_err().message().contains("from your address"));
        held.push(shares.take(&visitor(1, Role::Edit), address).unwrap());
        // Those who come through a proxy of this machine have one address.
        let own = IpAddr::from([127, 0, 0, 1]);
        held.extend((10..20).map(|id| shares.take(&visitor(id, Role::Use), own).unwrap()));
    }

    #[test]
    fn a_machine_with_many_addresses_is_one_place() {
        let place = |text: &str| place(text.parse().unwrap());
        assert_eq!(place("2001:db8:1:2::5"), place("2001:db8:1:2:ffff::1"));
        assert_ne!(place("2001:db8:1:2::5"), place("2001:db8:1:3::5"));
        assert_eq!(place("::ffff:192.0.2.1"), place("192.0.2.1"));
        assert!(place("::1").is_loopback());
    }
}
