//! Routing daemons: what files of other tools say of FRR, Quagga and their services becomes `daemons` of routers.

use crate::inits;
use crate::machine::{self, EndOf, Interfaces};
use crate::notes::Notes;
use crate::shell::{self, Effect};
use crate::source::Place;
use crate::topology::Topology;
use crate::value::{Origin, Value, entry, put};
use std::collections::{BTreeMap, BTreeSet};

/// The daemons that a lab knows: their programs, their words there, and how a configuration begins that is theirs.
const KNOWN: [(&str, &str, &str); 10] = [
    ("ospfd", "ospf", "router ospf"),
    ("ospf6d", "ospf6", "router ospf6"),
    ("ripd", "rip", "router rip"),
    ("ripngd", "ripng", "router ripng"),
    ("bgpd", "bgp", "router bgp"),
    ("isisd", "isis", "router isis"),
    ("pimd", "pim", "ip pim"),
    ("ldpd", "ldp", "mpls ldp"),
    ("bfdd", "bfd", "bfd"),
    ("staticd", "static", "ip route"),
];
/// Services of the system that start the daemons.
pub(crate) const SERVICES: [&str; 3] = ["frr", "quagga", "zebra"];
/// Where their configuration is.
pub(crate) const FOLDERS: [&str; 3] = ["/etc/frr", "/etc/quagga", "/etc/zebra"];
/// Lines of a configuration that mean a machine of its own.
const LOCAL: [&str; 6] = ["log ", "password ", "enable password ", "hostname ", "service ", "line vty"];

/// The daemons of a router.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Routing {
    /// Their words in a lab file, in the order of the table.
    words: Vec<&'static str>,
    /// The number of the autonomous system.
    pub(crate) number: Option<u32>,
    /// Their configuration; without one Netloom makes it.
    configuration: Option<String>,
}

impl Routing {
    /// Adds the daemon of this word; false if there is none.
    pub(crate) fn add(&mut self, word: &str) -> bool {
        let Some((_, known, _)) = KNOWN.iter().find(|(_, known, _)| *known == word) else { return false };
        if !self.words.contains(known) {
            self.words.push(known);
        }
        true
    }

    /// Whether this program is one of its daemons.
    pub(crate) fn runs(&self, program: &str) -> bool {
        KNOWN.iter().any(|(known, word, _)| *known == program && self.words.contains(word))
    }

    /// Adds what a file `daemons` starts: `ospfd=yes`.
    pub(crate) fn start(&mut self, text: &str, place: Place, notes: &mut Notes) {
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (program, said) =
                line.split_once('=').map_or((line, ""), |(program, said)| (program.trim(), said.trim()));
            if said == "no" {
                continue;
            }
            if said != "yes" {
                notes.add(place, format!("`{program}` of routing daemons is not read"));
                continue;
            }
            match KNOWN.iter().find(|(known, ..)| *known == program) {
                Some((_, word, _)) => drop(self.add(word)),
                None if ["zebra", "vtysh_enable", "watchfrr_enable", "mgmtd"].contains(&program) => {}
                None => notes.add(place, format!("the daemon `{program}` is not run: a lab does not know it")),
            }
        }
    }

    /// Adds a configuration. One for Quagga gets what Quagga does anyway.
    pub(crate) fn configure(&mut self, text: &str, is_quagga: bool, place: Place, notes: &mut Notes) {
        let mut all = self.configuration.take().unwrap_or_default();
        for line in text.lines().map(str::trim_end) {
            let words = line.trim_start();
            if LOCAL.iter().any(|local| words.starts_with(local) || words == local.trim_end()) {
                notes.add(place, "names, passwords and logs of routing daemons are not read: logs are in the results");
                continue;
            }
            let speaks =
                |begin: &str| words.strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
            // FRR runs the daemon of static routes whatever the file says, and Quagga has it in another one.
            if speaks("ip route") || speaks("ipv6 route") {
                self.add("static");
            }
            all.push_str(line);
            all.push('\n');
            if is_quagga && speaks("router bgp") {
                notes.add(place, "as in Quagga, BGP needs no policies, and announces networks that are not there");
                all.push_str(" no bgp ebgp-requires-policy\n no bgp network import-check\n");
            }
        }
        self.configuration = Some(all).filter(|made| !made.trim().is_empty());
    }

    /// The daemons that a configuration without a list of them speaks of.
    pub(crate) fn spoken(text: &str) -> Vec<&'static str> {
        let begins = |line: &str, begin: &str| {
            line.trim_start().strip_prefix(begin).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\r']))
        };
        let is_begun = |begin: &str| text.lines().any(|line| begins(line, begin));
        let known = KNOWN.iter().filter(|(_, _, begin)| is_begun(begin));
        known.map(|(_, word, _)| *word).collect()
    }

    /// Makes a router with these daemons of the node. The addresses in their configuration belong to its interfaces. Returns
    /// whether it gives any.
    pub(crate) fn settle(
        mut self,
        topology: &mut Topology,
        node: usize,
        interfaces: &Interfaces,
        place: Place,
    ) -> bool {
        if self.words.is_empty() && self.configuration.is_some() {
            // Zebra alone, which runs beside any of the others.
            self.add("static");
        }
        if self.words.is_empty() {
            return false;
        }
        let found = addresses(self.configuration.as_deref().unwrap_or_default());
        let known: Vec<(EndOf, String)> =
            found.into_iter().filter_map(|(name, address)| Some((*interfaces.get(name)?, address))).collect();
        let is_addressed = !known.is_empty();
        // Scripts may have set the same ones.
        let ends: BTreeSet<EndOf> = known.iter().map(|(end, _)| *end).collect();
        let mut given: BTreeSet<(EndOf, String)> = ends
            .into_iter()
            .flat_map(|end| machine::addresses(topology, end).map(move |address| (end, address.to_owned())))
            .collect();
        for (end, address) in known {
            if given.insert((end, address.clone())) {
                machine::add_address(topology, end, &address, place);
            }
        }
        let settings = &mut topology.nodes[node].settings;
        put(settings, "kind", Value::plain("router"));
        let words = Value::list(self.words.iter().map(Value::plain));
        settings.push(entry("daemons", words.because(Origin::at(place))));
        settings.extend(self.number.map(|number| entry("as", Value::plain(number))));
        let text = self.configuration.map(|text| Value::map(vec![entry("text", Value::text(text))]));
        settings.extend(text.map(|text| entry("frr", text)));
        is_addressed
    }
}

/// Whether a command starts the service of routing daemons.
pub(crate) fn is_start(text: &str) -> bool {
    let none: BTreeMap<String, ()> = BTreeMap::new();
    let is_theirs = |command: &String| matches!(shell::effect(command, &none), Effect::Service { name } if SERVICES.contains(&name.as_str()));
    inits::without(text).1.iter().any(is_theirs)
}

/// Addresses that a configuration gives to interfaces.
fn addresses(text: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut current = None;
    for line in text.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["interface", name, ..] => current = Some(name),
            ["ip" | "ipv6", "address", address] => {
                found.extend(current.and_then(|name| Some((name, shell::address(address)?))));
            }
            ["router" | "exit" | "!", ..] => current = None,
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn daemons_are_those_that_the_file_starts() {
        let mut routing = Routing::default();
        let mut notes = Notes::default();
        routing.start("zebra=yes\nospfd=yes\nripd=no\n#bgpd=yes\neigrpd=yes\n", Place::default(), &mut notes);
        routing.configure(
            "hostname r1\nlog file /var/log/x\nrouter ospf\n!\nrouter rip\nip route 10.0.0.0/8 blackhole\n",
            false,
            Place::default(),
            &mut notes,
        );
        assert_eq!(routing.words, ["ospf", "static"]);
        assert_eq!(
            routing.configuration.as_deref(),
            Some("router ospf\n!\nrouter rip\nip route 10.0.0.0/8 blackhole\n")
        );
        let notes: Vec<String> = notes.sorted().0.into_iter().map(|note| note.message).collect();
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes[1].contains("`eigrpd`"), "{notes:?}");
    }

    #[test]
    fn quagga_needs_no_policies() {
        let mut routing = Routing::default();
        assert!(routing.add("bgp") && !routing.add("eigrp"));
        routing.configure(
            "router bgp 10\n neighbor 10.0.0.1 remote-as 20\n",
            true,
            Place::default(),
            &mut Notes::default(),
        );
        let text = routing.configuration.expect("a configuration");
        assert!(
            text.starts_with("router bgp 10\n no bgp ebgp-requires-policy\n no bgp network import-check\n"),
            "{text}"
        );
    }

    #[test]
    fn starts_and_addresses_are_found() {
        for start in ["systemctl start frr", "/etc/init.d/zebra start", "service quagga restart"] {
            assert!(is_start(start), "{start}");
        }
        assert!(!is_start("systemctl start apache2") && !is_start("echo systemctl start frr"));
        let text = "interface eth1\n ip address 10.0.0.1/24\n!\nrouter ospf\ninterface lo\n ipv6 address fd00::1/64\n";
        assert_eq!(addresses(text), [("eth1", "10.0.0.1/24".to_owned()), ("lo", "fd00::1/64".to_owned())]);
        assert_eq!(Routing::spoken("x\n router bgp 1\nip pim\nrouter ospf6\n"), ["ospf6", "bgp", "pim"]);
    }
}
