//! Commands of a shell that set up interfaces: what they set becomes part of the lab, so that it knows of the addresses. All
//! others stay commands.

use crate::inits;
use std::collections::BTreeMap;

/// What a command does to a network interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// An address with its prefix length.
    Address { interface: String, address: String },
    /// The one address of its family that `ifconfig` sets, in the place of the first that is there.
    First { interface: String, address: String },
    /// An address that is taken away.
    Remove { interface: String, address: String },
    /// All addresses are taken away, or those of IPv4 alone.
    Flush { interface: String, is_v4: bool },
    /// A hardware address.
    Mac { interface: String, mac: String },
    /// What Netloom does anyway.
    Nothing,
    /// A traffic control string of what leaves there: the words behind `netem` or `tbf`. `is_added`: not in the place of another.
    Shape { interface: String, dialect: &'static str, words: String, is_added: bool },
    /// What is described of what leaves there is taken away.
    Unshape { interface: String },
    /// It starts a service of the system, which a node does not have.
    Service { name: String },
    /// It asks something else of the init of a system.
    Init,
    /// Something else.
    Command,
}

/// What `line` does; `interfaces` are those that the lab makes.
pub(crate) fn effect<T>(line: &str, interfaces: &BTreeMap<String, T>) -> Effect {
    let is_simple = !line.contains(['|', '&', ';', '$', '`', '<', '>', '(', '"', '\'', '\\', '*']);
    if !is_simple {
        return Effect::Command;
    }
    let words: Vec<&str> = line.split_whitespace().filter(|word| *word != "sudo").collect();
    let known = |name: &str| interfaces.contains_key(name);
    let found = match words.first() {
        Some(&"ip") => {
            let without: Vec<&str> = words[1..].iter().copied().filter(|word| !["-4", "-6"].contains(word)).collect();
            ip(&without, words.contains(&"-4"), known)
        }
        Some(&"ifconfig") => ifconfig(&words[1..], known),
        Some(&"tc") => tc(&words[1..], known),
        Some(_) if inits::asks_plainly(&words.join(" ")) => Some(service(&words).unwrap_or(Effect::Init)),
        _ => None,
    };
    found.unwrap_or(Effect::Command)
}

/// `ip addr add ADDRESS dev NAME`, `ip link set [dev] NAME up`, `ip link set [dev] NAME address MAC`.
fn ip(words: &[&str], is_v4: bool, known: impl Fn(&str) -> bool) -> Option<Effect> {
    let (object, verb, rest) = match *words {
        [object, verb, ref rest @ ..] => (object, verb, rest),
        _ => return None,
    };
    if "address".starts_with(object) {
        return ip_address(verb, rest, is_v4, known);
    }
    if "link".starts_with(object) && verb == "set" {
        let (interface, what) = match *rest {
            ["dev", name, ref what @ ..] => (name, what),
            [up @ "up", "dev", name] | [up @ "up", name] => (name, &[up][..]),
            [name, ref what @ ..] => (name, what),
            [] => return None,
        };
        return match *what {
            _ if interface == "lo" && what == ["up"] => Some(Effect::Nothing),
            ["up"] if known(interface) => Some(Effect::Nothing),
            ["address", mac] if known(interface) && is_mac(mac) => {
                Some(Effect::Mac { interface: interface.to_owned(), mac: mac.to_lowercase() })
            }
            _ => None,
        };
    }
    None
}

/// `ip addr add ADDRESS dev NAME`, `ip addr del ADDRESS dev NAME`, `ip addr flush dev NAME`.
fn ip_address(verb: &str, rest: &[&str], is_v4: bool, known: impl Fn(&str) -> bool) -> Option<Effect> {
    let of_device = |behind: &[&str]| {
        let name = match *behind {
            ["dev", name] | ["dev", name, "broadcast" | "brd", _] | ["broadcast" | "brd", _, "dev", name] => name,
            _ => return None,
        };
        known(name).then(|| name.to_owned())
    };
    match verb {
        "add" | "a" | "replace" => {
            let address = address(rest.first()?)?;
            Some(Effect::Address { interface: of_device(&rest[1..])?, address })
        }
        "del" | "delete" | "d" => {
            let address = address(rest.first()?)?;
            Some(Effect::Remove { interface: of_device(&rest[1..])?, address })
        }
        "flush" | "f" => {
            let name = match *rest {
                ["dev", name] | [name] => name,
                _ => return None,
            };
            known(name).then(|| Effect::Flush { interface: name.to_owned(), is_v4 })
        }
        _ => None,
    }
}

/// `ifconfig NAME ADDRESS [netmask MASK] [up]`, `ifconfig NAME up`.
fn ifconfig(words: &[&str], known: impl Fn(&str) -> bool) -> Option<Effect> {
    let interface = words.first().filter(|name| known(name))?;
    let rest = words[1..].strip_suffix(&["up"]).unwrap_or(&words[1..]);
    let address = match *rest {
        [] => return Some(Effect::Nothing),
        ["hw", "ether", mac] if is_mac(mac) => {
            return Some(Effect::Mac { interface: (*interface).to_owned(), mac: mac.to_lowercase() });
        }
        ["0" | "0.0.0.0" | "0.0.0.0/0"] => {
            return Some(Effect::Flush { interface: (*interface).to_owned(), is_v4: true });
        }
        [one] | [one, "broadcast", _] => classful(one)?,
        [one, "netmask", mask] | [one, "netmask", mask, "broadcast", _] => {
            address(&format!("{one}/{}", prefix_length(mask)?))?
        }
        _ => return None,
    };
    Some(Effect::First { interface: (*interface).to_owned(), address })
}

/// An IPv4 address, which without a prefix length has that of its class (`inet_abc_len` of Linux).
fn classful(text: &str) -> Option<String> {
    let Ok(plain) = text.parse::<std::net::Ipv4Addr>() else { return address(text) };
    let length = match plain.octets()[0] {
        0..128 => 8,
        128..192 => 16,
        192..224 => 24,
        _ => return None,
    };
    Some(format!("{plain}/{length}"))
}

/// `tc qdisc add dev NAME root netem ...`.
fn tc(words: &[&str], known: impl Fn(&str) -> bool) -> Option<Effect> {
    let (verb, interface, rest) = match *words {
        ["qdisc", "del" | "delete", "dev", interface, "root", ..] if known(interface) => {
            return Some(Effect::Unshape { interface: interface.to_owned() });
        }
        ["qdisc", verb @ ("add" | "replace" | "change"), "dev", interface, "root", ref rest @ ..] => {
            (verb, interface, rest)
        }
        _ => return None,
    };
    let rest = match *rest {
        ["handle", _, ref behind @ ..] => behind,
        _ => rest,
    };
    let (dialect, key) = match rest.first() {
        Some(&"netem") => ("netem", netloom_lab::Dialect::Netem),
        Some(&"tbf") => ("tbf", netloom_lab::Dialect::Tbf),
        _ => return None,
    };
    let said = rest[1..].join(" ");
    let is_read = netloom_lab::translate(key, &said).is_ok();
    (known(interface) && is_read).then(|| Effect::Shape {
        interface: interface.to_owned(),
        dialect,
        words: said,
        is_added: verb == "add",
    })
}

/// `systemctl start NAME`, `service NAME start`, `/etc/init.d/NAME start`.
fn service(words: &[&str]) -> Option<Effect> {
    let name = match *words {
        [path, "start" | "restart"] if path.contains("/init.d/") => path.rsplit('/').next()?,
        [_, "start" | "restart", name] | [_, name, "start" | "restart"] => name,
        _ => return None,
    };
    Some(Effect::Service { name: name.trim_end_matches(".service").to_owned() })
}

/// An address with a prefix length; one without is that of a single machine.
pub(crate) fn address(text: &str) -> Option<String> {
    let (address, length) = text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
    let address: std::net::IpAddr = address.parse().ok()?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let length = length.map_or(Some(most), |length| length.parse::<u8>().ok())?;
    (length <= most).then(|| format!("{address}/{length}"))
}

/// The length of the prefix that a mask like 255.255.255.0 has.
pub(crate) fn prefix_length(mask: &str) -> Option<u32> {
    let bits = u32::from(mask.parse::<std::net::Ipv4Addr>().ok()?);
    (bits.leading_ones() == bits.count_ones()).then(|| bits.leading_ones())
}

/// Whether a text is the hardware address of an interface.
pub(crate) fn is_mac(text: &str) -> bool {
    let parts: Vec<&str> = text.split(':').collect();
    let bytes: Option<Vec<u8>> =
        parts.iter().map(|part| u8::from_str_radix(part, 16).ok().filter(|_| part.len() == 2)).collect();
    bytes.is_some_and(|bytes| bytes.len() == 6 && bytes[0] & 1 == 0 && bytes.iter().any(|byte| *byte != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sets_up_interfaces_is_understood() {
        let interfaces: BTreeMap<String, ()> = [("eth0".to_owned(), ()), ("eth1".to_owned(), ())].into();
        let of = |line: &str| effect(line, &interfaces);
        let address = |given: &str| Effect::Address { interface: "eth0".into(), address: given.into() };
        assert_eq!(of("ip address add 10.0.0.1/24 dev eth0"), address("10.0.0.1/24"));
        assert_eq!(of("ip -6 a add fd00::1/64 dev eth0"), address("fd00::1/64"));
        assert_eq!(of("ip addr add 10.0.0.1/24 brd + dev eth0"), address("10.0.0.1/24"));
        let first = |given: &str| Effect::First { interface: "eth0".into(), address: given.into() };
        assert_eq!(of("ifconfig eth0 10.0.0.1/24 up"), first("10.0.0.1/24"));
        assert_eq!(of("ifconfig eth0 10.0.0.1 netmask 255.255.255.252 up"), first("10.0.0.1/30"));
        assert_eq!(of("ifconfig eth0 192.168.1.1 up"), first("192.168.1.1/24"));
        assert_eq!(of("ip addr flush dev eth0"), Effect::Flush { interface: "eth0".into(), is_v4: false });
        assert_eq!(of("ip -4 a f eth0"), Effect::Flush { interface: "eth0".into(), is_v4: true });
        assert_eq!(of("ifconfig eth0 0.0.0.0"), Effect::Flush { interface: "eth0".into(), is_v4: true });
        let gone = Effect::Remove { interface: "eth0".into(), address: "10.0.0.1/24".into() };
        assert_eq!(of("ip addr del 10.0.0.1/24 dev eth0"), gone);
        assert_eq!(of("tc qdisc del dev eth1 root"), Effect::Unshape { interface: "eth1".into() });
        assert_eq!(of("systemctl enable frr"), Effect::Init);
        assert_eq!(of("ip link set dev eth1 up"), Effect::Nothing);
        assert_eq!(of("ip link set up dev eth1"), Effect::Nothing);
        let mac = Effect::Mac { interface: "eth0".into(), mac: "02:00:00:00:00:0a".into() };
        assert_eq!(of("ip link set eth0 address 02:00:00:00:00:0A"), mac);
        assert_eq!(of("systemctl start frr"), Effect::Service { name: "frr".into() });
        assert_eq!(of("/etc/init.d/zebra start"), Effect::Service { name: "zebra".into() });
        let shape = Effect::Shape {
            interface: "eth0".into(),
            dialect: "netem",
            words: "delay 10ms loss 1%".into(),
            is_added: true,
        };
        assert_eq!(of("tc qdisc add dev eth0 root netem delay 10ms loss 1%"), shape);
        for other in [
            "ip address add 10.0.0.1/24 dev br0",
            "ip route add default via 10.0.0.1",
            "ip address add 10.0.0.1/24 dev eth0 && ping x",
            "ip link set eth0 address 01:00:00:00:00:00",
            "ifconfig",
            "ip",
            "echo ifconfig eth0 up",
            "tc qdisc add dev eth0 root netem nonsense",
            "",
        ] {
            assert_eq!(of(other), Effect::Command, "{other}");
        }
    }
}
