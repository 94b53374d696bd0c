//! Interfaces as Debian describes them, in `etc/network/interfaces` of a device (interfaces(5)): the service `networking` and `ifup`
//! set them up.

use crate::files::Input;
use crate::inits;
use crate::notes::Notes;
use crate::scripts::Script;
use crate::shell;
use crate::source::{Lines, Place};
use std::collections::BTreeSet;

/// The service that sets all of them up.
pub(super) const SERVICE: &str = "networking";

/// What sets an interface up.
#[derive(Debug, Default)]
struct Stanza {
    interface: String,
    is_static: bool,
    address: Option<(String, Place)>,
    /// A prefix length, or a mask.
    mask: Option<String>,
    gateway: Option<(String, Place)>,
    commands: Vec<(String, Place)>,
}

/// The scripts of a device, with the commands of its description where they set interfaces up by it.
pub(super) fn expand(input: &mut Input<'_>, name: &str, scripts: Vec<Script>, notes: &mut Notes) -> Vec<Script> {
    let Some(file) = input.open(&format!("{name}/etc/network/interfaces")) else { return scripts };
    let (stanzas, automatic) = read(input.source(file), file, notes);
    let commands = |asked: &str| -> Vec<(String, Place)> {
        let chosen = stanzas.iter().filter(|one| match asked {
            "" => automatic.contains(&one.interface),
            asked => one.interface == asked,
        });
        chosen.flat_map(Stanza::commands).collect()
    };
    let mut is_used = false;
    let mut made = Vec::new();
    for mut script in scripts {
        let mut lines = Vec::new();
        for (line, place) in std::mem::take(&mut script.lines) {
            let asked = asks(&line);
            is_used |= !asked.is_empty();
            let is_ifup = line.starts_with("ifup ");
            lines.extend(asked.iter().flat_map(|one| commands(one)));
            if !is_ifup {
                lines.push((line, place));
            }
        }
        script.lines = lines;
        if let Some((rest, _)) = &script.rest {
            let asked: Vec<String> = rest.lines().flat_map(|line| asks(line.trim())).collect();
            is_used |= !asked.is_empty();
            script.lines.extend(asked.iter().flat_map(|one| commands(one)));
        }
        made.push(script);
    }
    if !is_used {
        let place = Lines::of(input.source(file), file).line(1);
        notes.add(
            place,
            "no script sets interfaces up by this file (`ifup`, or the service `networking`): it has no effect",
        );
    }
    made
}

/// The interfaces that a command sets up by the file: empty for all.
fn asks(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        ["ifup", "-a" | "--all"] => vec![String::new()],
        ["ifup", ref names @ ..] => {
            names.iter().filter(|name| !name.starts_with('-')).map(|name| (*name).to_owned()).collect()
        }
        _ => {
            let is_start = |command: &String| {
                command.contains(SERVICE) && ["start", "restart", "reload"].iter().any(|verb| command.contains(verb))
            };
            inits::without(line).1.iter().filter(|command| is_start(command)).map(|_| String::new()).collect()
        }
    }
}

/// The stanzas of a file, and the interfaces that are set up by themselves.
fn read(text: &str, file: usize, notes: &mut Notes) -> (Vec<Stanza>, BTreeSet<String>) {
    let places = Lines::of(text, file);
    let (mut stanzas, mut automatic): (Vec<Stanza>, BTreeSet<String>) = (Vec::new(), BTreeSet::new());
    let mut is_open = false;
    for (number, line) in (1..).zip(text.lines()) {
        let place = places.line(number);
        let words: Vec<&str> = line.split_whitespace().collect();
        let rest = || words[1..].join(" ");
        match (&words[..], stanzas.last_mut().filter(|_| is_open)) {
            ([], _) => {}
            ([first, ..], _) if first.starts_with('#') => {}
            (["auto" | "allow-hotplug" | "allow-auto", names @ ..], _) => {
                automatic.extend(names.iter().map(|name| (*name).to_owned()));
                is_open = false;
            }
            (["iface", interface, "inet" | "inet6", method, ..], _) => {
                if !["static", "manual", "loopback"].contains(method) {
                    notes.add(
                        place,
                        format!("`{method}` for interfaces is not read: {interface} gets no address by it"),
                    );
                }
                let is_static = *method == "static";
                stanzas.push(Stanza { interface: (*interface).to_owned(), is_static, ..Stanza::default() });
                is_open = true;
            }
            (["address", address], Some(open)) => open.address = Some(((*address).to_owned(), place)),
            (["netmask", mask], Some(open)) => open.mask = Some((*mask).to_owned()),
            (["gateway", gateway], Some(open)) => open.gateway = Some(((*gateway).to_owned(), place)),
            (["up" | "post-up" | "pre-up", _, ..], Some(open)) => open.commands.push((rest(), place)),
            (["hwaddress", .., mac], Some(open)) => {
                open.commands.insert(0, (format!("ip link set {} address {mac}", open.interface), place));
            }
            (["network" | "broadcast" | "down" | "pre-down" | "post-down", ..], Some(_)) => {}
            ([first, ..], _) => notes.add(place, format!("`{first}` of interfaces(5) is not read")),
        }
    }
    (stanzas, automatic)
}

impl Stanza {
    /// The commands that set it up.
    fn commands(&self) -> Vec<(String, Place)> {
        let mut made = Vec::new();
        if let Some((address, place)) = self.address.as_ref().filter(|_| self.is_static) {
            let length = self
                .mask
                .as_ref()
                .map(|mask| shell::prefix_length(mask).map_or(mask.clone(), |length| length.to_string()));
            let whole = match length {
                Some(length) if !address.contains('/') => format!("{address}/{length}"),
                _ => address.clone(),
            };
            made.push((format!("ip addr add {whole} dev {}", self.interface), *place));
        }
        if let Some((gateway, place)) = &self.gateway {
            let family = if gateway.contains(':') { " -6" } else { "" };
            made.push((format!("ip{family} route add default via {gateway} dev {}", self.interface), *place));
        }
        made.extend(self.commands.iter().cloned());
        made
    }
}
