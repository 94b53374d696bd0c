use super::*;
use crate::keyed::{Keyed, WrittenKeys};
use crate::models;
use crate::section::{Key, Section};
use std::collections::BTreeMap;

fn validator() -> jsonschema::Validator {
    jsonschema::draft202012::new(&schema()).expect("the schema is one")
}

/// The text as an editor's YAML reader would give it.
fn value(text: &str) -> Value {
    crate::yaml::parse(text).expect("it is YAML");
    yaml_value(text)
}

/// A lab with a hunt in which a pair stands in a section.
fn lab_with_hunt(section: &str, pair: &str, whole: &str) -> String {
    let inner = match section.trim_start_matches("hunt").trim_start_matches('_') {
        "" => pair.to_owned(),
        "faults" => format!("faults: {{{pair}}}"),
        "nodes" => format!("faults: {{kill: {{{pair}}}}}"),
        "checker" => format!("always: [{{{pair}}}]"),
        kind => format!("faults: {{{kind}: {whole}}}"),
    };
    format!("{HUNTED}hunt: {{{inner}}}\n")
}

/// A key with its example, and with what entries of the timeline need beside it.
fn pair_of(section: &Section, key: &Key) -> String {
    let with = match key.name {
        "every" => ", times: 2",
        "on_restart" => ", service: true",
        "times" | "until" if section.keys().any(|other| other.name == "every") => ", every: 5 s",
        _ => "",
    };
    format!("{}: {}{with}", key.name, key.example)
}

/// A map with a key, with `others` and with the examples of the required keys that neither brings along.
fn beside_of(section: &Section, key: &Key, others: &[(&str, &str)]) -> String {
    let is_new = |name: &str| name != key.name && others.iter().all(|(other, _)| *other != name);
    let required = section.keys().filter(|own| own.required && is_new(own.name)).map(|own| (own.name, own.example));
    let others = others.iter().copied().filter(|(name, _)| *name != key.name).chain(required);
    others.fold(format!("{{{}", pair_of(section, key)), |text, (name, value)| format!("{text}, {name}: {value}")) + "}"
}

/// A lab in which `key` of `section` stands with its example as the value.
fn lab_with(section: &Section, key: &Key) -> String {
    let pair = pair_of(section, key);
    let beside = |others: &[(&str, &str)]| beside_of(section, key, others);
    let whole = beside(&[]);
    let link = |text: &str| format!("nodes: {{client: {{}}, r1: {{kind: router}}}}\nlinks: {{access: {text}}}\n");
    let pipe = |filter: &str| link(&format!("{{ends: [client, r1], pipes: {{far: {{match: {filter}}}}}}}"));
    let port = |text: &str| {
        format!("nodes: {{client: {{}}, s1: {{kind: switch}}}}\nlinks: {{access: {{ends: [client, s1], {text}}}}}\n")
    };
    let network = NETWORK;
    match section.name {
        "lab" => whole_lab(key.name, &pair, network),
        "multicast" => format!("{LAN}multicast: [{whole}]\n"),
        "convergence" => format!("nodes: {{r1: {{kind: router, daemons: [ospf]}}}}\nready: {{{pair}}}\n"),
        "node" if SWITCH_KEYS.contains(&key.name) => switch(key.name, &pair),
        "node" if EXTERNAL_KEYS.contains(&key.name) => external(key.name, &pair),
        "node" if ["nat", "dhcp", "addresses"].contains(&key.name) => lab_with_service(section, key),
        "node" => node_lab(key.name, &pair),
        "node_clock" => node_lab("clock", &format!("clock: {{{pair}}}")),
        "node_measure" => node_lab("measure", &format!("measure: {{{pair}}}")),
        "rule" => {
            let rule = beside(&[("from", "10.0.0.1")]);
            let way = if ["via", "link", "table"].contains(&key.name) { "" } else { ", link: uplink" };
            node_lab("rules", &format!("rules: [{}{way}}}]", rule.trim_end_matches('}')))
        }
        "route" => node_lab("routes", &format!("routes: [{whole}]")),
        "far_interface" => format!("elsewhere: {{db: {{eth0: {{{pair}}}}}}}\nnodes: {{client: {{}}}}\n"),
        "tunnel_key" => external("key", &format!("key: {{{pair}}}")),
        "far_end" => external("beyond", &format!("beyond: [{whole}]")),
        "snooping" => switch("snooping", &format!("snooping: {{{pair}}}")),
        "querier" => switch("snooping", &format!("snooping: {{querier: {{{pair}}}}}")),
        "stp" => format!("nodes: {{s1: {{kind: switch, stp: {{{pair}}}}}}}\n"),
        "configuration" => format!("nodes: {{r1: {{kind: router, daemons: [ospf], frr: {{{pair}}}}}}}\n"),
        "file" => format!("nodes: {{client: {{files: {{/etc/frr: {{{pair}}}}}}}}}\n"),
        "cpu" if key.name == "count" => {
            format!("clock: virtual\nnodes: {{client: {{cpu: {{branch: 1 ns, {pair}}}}}}}\n")
        }
        "cpu" => format!("clock: virtual\nnodes: {{client: {{cpu: {{{pair}}}}}}}\n"),
        "journal" if key.name == "attempts" => {
            format!(
                "nodes: [a, b]\nlinks: {{wifi: {{ends: [a, b], medium: {{kind: wifi, standard: a}}}}}}\njournal: {{{pair}}}\n"
            )
        }
        "clock" | "bounds" | "addresses" | "measure" | "journal" => format!("{network}{}: {{{pair}}}\n", section.name),
        "link" if key.name == "vlans" => port(&pair),
        "link" => link(&beside(&[("ends", "[client, r1]")])),
        "vlans" => port(&format!("vlans: {}", beside(&[("trunk", "all")]))),
        "disk" => format!("clock: virtual\nnodes: {{client: {{stack: kernel, disk: {whole}}}}}\n"),
        "direction" => link(&format!("{{ends: [client, r1], forward: {{{pair}}}}}")),
        "pipe" => link(&format!("{{ends: [client, r1], pipes: {{far: {whole}}}}}")),
        "match" if key.name.ends_with("port") => pipe(&format!("{{{pair}, protocol: udp}}")),
        "match" => pipe(&format!("{{{pair}}}")),
        "end" => link(&format!("{{ends: [client, {whole}]}}")),
        name if name.starts_with("hunt") => lab_with_hunt(name, &pair, &whole),
        "capture" if key.name == "headers" => format!("{AIR}capture: [{}]\n", beside(&[("link", "air")])),
        "capture" => format!("{network}capture: [{}]\n", beside(&[("link", "backbone")])),
        _ => lab_with_entry(section, key),
    }
}

/// A lab in which nodes can have all faults that a hunt draws.
const HUNTED: &str = "clock: virtual\nduration: 40 s\n\
                      nodes: {client: {disk: {at: /srv}, collect: [/srv/sdk.jsonl]}, r1: {}, server: {disk: {at: /srv}}}\n\
                      links: {backbone: {ends: [client, r1]}}\n";
const AIR: &str = "nodes: [client, r1]\nlinks: {air: {ends: [client, r1], medium: {kind: wifi, standard: a}}}\n";
const NETWORK: &str = "nodes: [client, r1, server]\nlinks: {backbone: {ends: [client, r1]}}\n";

/// A lab with a partition of this shape over nodes of one LAN.
fn lab_with_shape(key: &Key, pair: &str) -> String {
    let more = match key.name {
        "of" => ", isolate: client",
        "leader" => ", on: client",
        "on" => ", leader: hostname",
        _ => "",
    };
    format!(
        "nodes: [client, r1, server, n1, n2, n3, n4]\nlinks: {{lan: {{ends: [client, r1, server, n1, n2, n3, n4]}}}}\n\
         timeline: [{{partition: {{{pair}{more}}}}}]\n"
    )
}

/// A lab in which a key of the timeline's entries stands, or of what they have.
fn lab_with_entry(section: &Section, key: &Key) -> String {
    let pair = pair_of(section, key);
    let beside = |others: &[(&str, &str)]| beside_of(section, key, others);
    let whole = beside(&[]);
    let network = match key.name {
        // The only link has a further pipe of this name.
        "pipe" => NETWORK.replace("r1]}", "r1], pipes: {far: {match: {dscp: 7}}}}"),
        _ => NETWORK.to_owned(),
    };
    let entry = |text: &str| format!("{network}timeline: [{text}]\n");
    match section.name {
        "setup" => format!("{network}setup: [{whole}]\n"),
        "run" if ["after", "delay"].contains(&key.name) => {
            entry(&format!("{{on: client, run: migrate, as: migration}}, {}", beside(&[("after", "migration")])))
        }
        "change" => entry(&format!("{{link: backbone, set: {{{pair}}}}}")),
        "partition" => entry(&beside(&[("partition", "[[client], [r1]]")])),
        "partition_shape" => lab_with_shape(key, &pair),
        "heal" => entry(&format!("{{partition: [[client], [r1]], every: 5 s, times: 20}}, {whole}")),
        "ramp_entry" => entry(&beside(&[("ramp", "{loss: [0, 1 %], over: 1 s}")])),
        "ramp" => entry(&format!("{{link: backbone, ramp: {}}}", beside(&[("delay", "[1 ms, 2 ms]")]))),
        "drawn" => entry(&format!("{{at: {{{pair}}}, on: client, run: nc}}")),
        "ready" if key.name == "timeout" => entry(&format!("{{on: client, run: nc, ready: {{{pair}, tcp: 80}}}}")),
        "ready" => entry(&format!("{{on: client, run: nc, ready: {{{pair}}}}}")),
        "packet" => entry(&format!("{{link: backbone, packet: {{{pair}}}, do: drop}}")),
        "packet_treatment" => entry(&format!("{{link: backbone, packet: {{nth: 3}}, do: {{{pair}}}}}")),
        "start_entry" => {
            // What is repeated starts what was stopped again.
            let again = ["every", "times", "until"].contains(&key.name);
            let stop = format!("{{{}, stop: client}}", if again { pair.as_str() } else { "at: 0 s" });
            entry(&format!("{stop}, {}", beside(&[("at", "2 s")])))
        }
        "run" | "set" | "down" | "up" | "log" | "packet_entry" | "reset_entry" | "kill" | "pause" | "continue"
        | "signal" | "restart" | "reboot" | "stop_entry" | "flap_entry" => entry(&whole),
        _ => lab_with_kernels(section, key),
    }
}

/// A lab in which a key of an entry about kernels of nodes stands.
fn lab_with_kernels(section: &Section, key: &Key) -> String {
    let pair = pair_of(section, key);
    let beside = |others: &[(&str, &str)]| beside_of(section, key, others);
    let virtually = |text: &str| {
        let nodes = "{client: {disk: {at: /var/lib/etcd}}, r1: , server: }";
        format!("clock: virtual\n{}timeline: [{text}]\n", NETWORK.replacen("[client, r1, server]", nodes, 1))
    };
    match section.name {
        "clock_change" => virtually(&format!("{{on: client, clock: {{{pair}}}}}")),
        "limit_entry" if ["memory", "pids", "fds"].contains(&key.name) => virtually(&beside(&[])),
        "limit_entry" => virtually(&beside(&[("fds", "9")])),
        "disk_entry" => virtually(&beside(match key.name {
            "calls" => &[("slow", "20 ms")],
            "hang" => &[("for", "1 s")],
            "path" | "disk" | "nth" | "count" | "sectors" | "for" | "at" | "every" | "times" | "until" => {
                &[("error", "read")]
            }
            _ => &[],
        })),
        "fail" => virtually(&format!(
            "{{on: client, fail: {}}}",
            beside(match key.name {
                "call" | "most" => &[("call", "read"), ("most", "1 B")],
                _ => &[("call", "read"), ("error", "EIO")],
            })
        )),
        "starve" => {
            let others: &[(&str, &str)] = if key.name == "spans" { &[("share", "10 %")] } else { &[] };
            virtually(&format!("{{on: client, starve: {}, for: 1 s}}", beside(others)))
        }
        "turns" => virtually(&format!("{{on: client, schedule: {{{pair}}}}}")),
        "freeze" => virtually(&beside(&[("for", "2 s")])),
        "clock_entry" | "crash" | "fail_entry" | "starve_entry" | "schedule_entry" | "oom_entry" => {
            virtually(&beside(&[]))
        }
        _ => lab_with_service(section, key),
    }
}

/// The same of the services of networks, and of moves between them.
fn lab_with_service(section: &Section, key: &Key) -> String {
    let (pair, whole) = (pair_of(section, key), beside_of(section, key, &[]));
    let lan = |text: &str| {
        let links = "{lan: {ends: [server, r1]}, access: {ends: [r1, isp]}}";
        format!("nodes: {{server: {{}}, r1: {{kind: router, {text}}}, isp: {{}}}}\nlinks: {links}\n")
    };
    let dhcp = "links: {lan: {ends: [client, r1]}}\n";
    match (section.name, key.name) {
        ("move", _) => {
            let links = "{lan1: {ends: [mobile, a]}, lan2: {ends: [mobile, b]}}";
            format!("nodes: [mobile, a, b]\nlinks: {links}\ntimeline: [{whole}]\n")
        }
        ("node", "addresses") => format!("nodes: {{client: {{{pair}}}, r1: {{dhcp: true}}}}\n{dhcp}"),
        ("node", "dhcp") => format!("nodes: {{client: {{addresses: dhcp}}, r1: {{{pair}}}}}\n{dhcp}"),
        ("dhcp", "range") => {
            format!("nodes: {{client: {{}}, r1: {{dhcp: {{{pair}}}}}}}\nlinks: {{lan: {{ends: [client, r1, x]}}}}\n")
                .replace("r1:", "x: {}, r1:")
        }
        ("dhcp", _) => {
            format!("nodes: {{client: {{addresses: dhcp}}, r1: {{kind: router, dhcp: {{{pair}}}}}}}\n{dhcp}")
        }
        ("dns", _) => format!("nodes: {{client: {{dns: {{{pair}}}}}}}\n"),
        ("node", _) => lan(&pair),
        ("nat", _) => lan(&format!("nat: {whole}")),
        ("forward", _) => lan(&format!("nat: {{outside: access, forward: [{whole}]}}")),
        ("iptables", _) => format!("nodes: {{client: {{firewall: {{{pair}}}}}}}\n"),
        (other, _) => panic!("no lab is known for a key of {other}"),
    }
}

const LAN: &str = "nodes: [server, a, b]\nlinks: {lan: {ends: [server, a, b]}}\n";

/// A lab in which a key of a node stands.
fn node_lab(key: &str, pair: &str) -> String {
    match key {
        "daemons" => format!("nodes: {{r1: {{kind: router, {pair}}}}}\n"),
        "disk" | "cores" => format!("nodes: {{client: {{stack: kernel, {pair}}}}}\n"),
        "as" | "frr" | "bird" => format!("nodes: {{r1: {{kind: router, daemons: [ospf], {pair}}}}}\n"),
        "entrypoint" | "command" | "user" | "volumes" | "ready" => {
            format!("nodes: {{client: {{image: debian, {pair}}}}}\n")
        }
        "machine" => format!("machines: {{a: {{}}, b: {{}}}}\nnodes: {{client: {{{pair}}}}}\n"),
        "clock" => format!("nodes: {{client: {{stack: kernel, {pair}}}}}\n"),
        "routes" => {
            format!("nodes: {{client: {{{pair}}}, r1: {{kind: router}}}}\nlinks: {{uplink: {{ends: [client, r1]}}}}\n")
        }
        "names" => format!("elsewhere: {{db: {{eth0: {{}}, eth1: {{}}}}}}\nnodes: {{client: {{{pair}}}}}\n"),
        "rules" | "multihomed" => format!(
            "nodes: {{client: {{{pair}}}, r1: {{kind: router}}}}\nlinks: {{uplink: {{ends: [client, r1]}}, lan: {{ends: [client, r1]}}}}\n"
        ),
        _ => format!("nodes: {{client: {{{pair}}}}}\n"),
    }
}

/// A lab in which a key of the whole file stands.
fn whole_lab(key: &str, pair: &str, network: &str) -> String {
    match key {
        "layout" => format!("nodes: [client, r1]\n{pair}\n"),
        "nodes" => format!("{pair}\n"),
        "links" => format!("nodes: [client, r1]\n{pair}\n"),
        "multicast" => format!("{LAN}{pair}\n"),
        "expect" | "figures" => format!("{network}timeline: [{{on: client, run: ping, as: ping}}]\n{pair}"),
        // Only kernels of nodes have a day of their own.
        "start" => format!("{network}clock: virtual\n{pair}\n"),
        "ready" => format!("nodes: {{r1: {{kind: router, daemons: [ospf]}}}}\n{pair}\n"),
        _ => format!("{network}{pair}\n"),
    }
}

const EXTERNAL_KEYS: [&str; 11] =
    ["interface", "mode", "vlan", "promiscuous", "force", "remote", "port", "vni", "wait", "key", "beyond"];

/// A lab with an external interface or a tunnel that has this.
fn external(key: &str, pair: &str) -> String {
    if key == "beyond" {
        return format!(
            "elsewhere: {{db: {{eth0: {{address: 10.0.0.2/30, mac: '02:00:00:00:00:02'}}}}}}\n\
             nodes: {{t1: {{kind: tunnel, remote: 192.0.2.7, {pair}}}, c0: {{}}}}\n\
             links: {{uplink: {{ends: [{{node: c0, address: 10.0.0.1/30}}, t1]}}}}\n"
        );
    }
    if ["remote", "port", "vni", "wait", "key"].contains(&key) {
        let remote = if key == "remote" { "" } else { "remote: 192.0.2.7, " };
        return format!(
            "nodes: {{t1: {{kind: tunnel, {remote}{pair}}}, c0: {{}}}}\nlinks: {{uplink: {{ends: [c0, t1]}}}}\n"
        );
    }
    let interface = if key == "interface" { "" } else { "interface: eth1, " };
    format!("nodes: {{e1: {{kind: external, {interface}{pair}}}, c0: {{}}}}\nlinks: {{uplink: {{ends: [c0, e1]}}}}\n")
}

/// What switches and OpenFlow switches have.
const SWITCH_KEYS: [&str; 7] = ["ageing", "table", "static", "stp", "snooping", "controller", "fail_mode"];

/// A lab with a switch that has this.
fn switch(key: &str, pair: &str) -> String {
    let kind = if ["controller", "fail_mode"].contains(&key) { "openflow" } else { "switch" };
    format!("nodes: {{s1: {{kind: {kind}, {pair}}}, c0: {{}}}}\nlinks: {{uplink: {{ends: [c0, s1]}}}}\n")
}

/// The sections whose examples are tried: all but those of models, which have examples of their own, and of generated networks.
const EXAMPLES: &str = "lab node link direction pipe match end route far_interface tunnel_key far_end vlans stp snooping querier bounds multicast rule capture journal addresses \
                        clock cpu file configuration convergence iptables measure node_measure nat forward dhcp setup drawn run ramp_entry \
                        ramp log set change down up partition partition_shape heal move ready kill pause continue signal restart reboot stop_entry start_entry flap_entry \
                         hunt hunt_faults hunt_partition hunt_packet hunt_packets hunt_dns hunt_nodes hunt_clock hunt_limit hunt_disk hunt_crash hunt_signal hunt_checker node_clock clock_entry clock_change freeze \
                         packet_entry packet packet_treatment reset_entry crash disk limit_entry \
                         fail_entry fail starve_entry starve schedule_entry turns oom_entry";

/// The section and all that its keys refer to, by name.
fn gather(section: &'static Section, found: &mut BTreeMap<&'static str, &'static Section>) {
    match found.insert(section.name, section) {
        None => section.keys().for_each(|key| of_kind(&key.kind, found)),
        Some(known) => assert!(std::ptr::eq(known, section), "two sections are called `{}`", section.name),
    }
}

fn of_kind(kind: &'static Kind, found: &mut BTreeMap<&'static str, &'static Section>) {
    match kind {
        Kind::Section(inner) | Kind::Optional(inner) => gather(inner, found),
        Kind::Sections(all) => all.iter().for_each(|inner| gather(inner, found)),
        Kind::Map { values: inner, .. } | Kind::List { items: inner, .. } => of_kind(inner, found),
        Kind::OneOf(kinds) => kinds.iter().for_each(|inner| of_kind(inner, found)),
        _ => {}
    }
}

/// What the tables show as an example is accepted by both that are made of them.
#[test]
fn every_example_is_decoded_and_valid() {
    let validator = validator();
    let mut sections = BTreeMap::new();
    gather(&TOP, &mut sections);
    for name in EXAMPLES.split_whitespace() {
        let section = sections[name];
        for key in section.keys() {
            let text = lab_with(section, key);
            if let Err(diagnostics) = crate::parse(&text, "test.yaml") {
                panic!("{}.{}\n{text}\n{diagnostics}", section.name, key.name);
            }
            if let Err(error) = validator.validate(&value(&text)) {
                panic!("{}.{}\n{text}\n{error} at {}", section.name, key.name, error.instance_path());
            }
        }
    }
}

/// Every form of every model's key is accepted by both, and comes back from what is written of it.
#[test]
fn every_form_of_a_model_is_decoded_valid_and_written() {
    let validator = validator();
    for (key, examples) in models::EXAMPLES {
        assert!(!examples.is_empty(), "{key} has no examples");
        for example in *examples {
            let text = format!("nodes: [a, b]\nlinks: {{l: {{ends: [a, b], forward: {{{key}: {example}}}}}}}\n");
            let decoded = crate::parse(&text, "test.yaml").unwrap_or_else(|wrong| panic!("{key}: {example}\n{wrong}"));
            if let Err(error) = validator.validate(&value(&text)) {
                panic!("{key}: {example}\n{error} at {}", error.instance_path());
            }
            let config = &decoded.plan.links[0].pipes[0];
            let written = models::written(config);
            let again = written.iter().fold(netloom_link::PipeConfig::default(), |so_far, (name, said)| {
                let change = crate::parse_change(name, said).unwrap_or_else(|error| panic!("{name}: {said}: {error}"));
                change.applied_to(&so_far)
            });
            assert_eq!(again, *config, "{key}: {example} is written as {written:?}");
        }
    }
}

/// Each of these is refused by both.
#[test]
fn what_the_decoder_refuses_is_invalid() {
    let validator = validator();
    let network = "nodes: [a, b]\n";
    let link = |text: &str| format!("{network}links: {{l: {{ends: [a, b], {text}}}}}\n");
    let wrong = [
        "links: {}\n".to_owned(),
        "nodes: 7\n".into(),
        "nodes: {a b: {}}\n".into(),
        "nodes: {a: {knd: router}}\n".into(),
        "nodes: {a: {cpus: 0}}\n".into(),
        "nodes: {a: {kind: bridge}}\n".into(),
        "nodes: {a: {kind: switch, table: 0}}\n".into(),
        "nodes: {a: {kind: switch, static: {\"02:00\": l}}}\n".into(),
        format!("{network}loops: true\n"),
        format!("{network}arp: 1\n"),
        "nodes: {a: {cpus: 50 %}}\n".into(),
        "nodes: {a: {sysctl: {kernel.hostname: x}}}\n".into(),
        format!("{network}seed: -1\n"),
        format!("{network}seed: one\n"),
        format!("{network}name: Upper\n"),
        format!("{network}clock: dilated\n"),
        format!("{network}clock: 10\n"),
        format!("{network}clock: {{}}\n"),
        format!("{network}clock: {{dilation: 0.5}}\n"),
        format!("{network}clock: {{dilation: 10001}}\n"),
        format!("{network}clock: {{dilation: \"10\"}}\n"),
        "nodes: {a: {stack: vm}}\n".into(),
        "nodes: {a: {pin: []}}\n".into(),
        "nodes: {a: {pin: 1-x}}\n".into(),
        "nodes: {a: {vm: {disk: d, access: ssh}}}\n".into(),
        "nodes: {a: {vm: {kernel: k, initrd: i, cpus: 0}}}\n".into(),
        "nodes: {a: {vm: {kernel: k, initrd: i, passthrough: [01:00.0]}}}\n".into(),
        "nodes: {a: {vm: {kernel: k, initrd: i, disk: d, format: vdi}}}\n".into(),
        "nodes: {a: {root: own}}\n".into(),
        "nodes: {a: {image: \" \"}}\n".into(),
        "nodes: {a: {image: debian, entrypoint: []}}\n".into(),
        "nodes: {a: {image: debian, user: -x}}\n".into(),
        "nodes: {a: {image: debian, volumes: [\"/etc\"]}}\n".into(),
        "nodes: {a: {image: debian, ready: {tcp: 0}}}\n".into(),
        "nodes: {a: {files: [/etc/frr]}}\n".into(),
        "nodes: {a: {files: {etc: empty}}}\n".into(),
        "nodes: {a: {files: {/etc/frr: {mode: 9}}}}\n".into(),
        "nodes: {a: {files: {/etc/frr: {owner: -x}}}}\n".into(),
        "nodes: {a: {collect: var/*}}\n".into(),
        "nodes: {a: {stack: kernel, memory: 64}}\n".into(),
        "nodes: {a: {congestion: New Reno}}\n".into(),
        "nodes: {a: {cpu: 0.5}}\n".into(),
        "nodes: {a: {cpu: {}}}\n".into(),
        "nodes: {a: {cpu: {packet: 2}}}\n".into(),
        format!("{network}duration: 10\n"),
        format!("{network}bounds: {{rate: 1}}\n"),
        format!("{network}links: {{l: {{ends: [a]}}}}\n"),
        link("rate: 100"),
        link("rate: 100 Mbps"),
        link("delay: 5"),
        link("delay: -5 ms"),
        link("loss: 0.1"),
        link("queue: 100"),
        link("queue: {kind: blue}"),
        link("queue: {kind: red, ecn: 1}"),
        link("mtu: 67"),
        link("cost: 0"),
        link("vlans: 0"),
        link("vlans: 4095"),
        link("vlans: {native: 1}"),
        link("vlans: {trunk: 10}"),
        link("pipes: {far: {delay: 1 ms}}"),
        link("pipes: {far: {match: {to: []}}}"),
        link("pipes: {far: {match: {dscp: 64}}}"),
        link("pipes: {far: {match: {port: 0}}}"),
        link("pipes: {far: {match: {protocol: upd}}}"),
        format!("{network}timeline: [{{partition: [a, b]}}]\n"),
        format!("{network}timeline: [{{partition: []}}]\n"),
        format!("{network}timeline: [{{heal: false}}]\n"),
        format!("{network}timeline: [{{link: l, set: {{pipes: {{}}}}}}]\n"),
        link("up: {rate: 1 Mbit/s}"),
        format!("{network}timeline: [{{on: a}}]\n"),
        format!("{network}timeline: [{{on: a, run: [] }}]\n"),
        format!("{network}timeline: [{{on: a, run: x, for: 5}}]\n"),
        format!("{network}timeline: [{{on: a, run: x, every: 0, times: 2}}]\n"),
        format!("{network}timeline: [{{on: a, run: x, at: {{uniform: [1 s]}}}}]\n"),
        format!("{network}timeline: [{{on: [], run: x}}]\n"),
        format!("{network}timeline: [{{on: a, run: x, save: ../x}}]\n"),
        format!("{network}timeline: [{{on: a, run: x, ready: {{tcp: 1, file: x}}}}]\n"),
        format!("{network}timeline: [{{on: a, run: x, ready: {{tcp: 0}}}}]\n"),
    ];
    for text in wrong {
        assert!(crate::parse(&text, "test.yaml").is_err(), "decoded:\n{text}");
        assert!(!validator.is_valid(&value(&text)), "valid:\n{text}");
    }
}

#[test]
fn the_examples_of_the_repository_are_valid_labs() {
    let validator = validator();
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = |folder: std::path::PathBuf| {
        let entries = std::fs::read_dir(folder).expect("the examples are there");
        entries.map(|entry| entry.expect("the folder can be read").path())
    };
    let mut count = 0;
    let folders = ["", "sweeps", "workloads", "papers/gine", "papers/time-warp", "papers/vimage"];
    for path in folders.iter().flat_map(|folder| files(examples.join(folder))) {
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("the example can be read");
        let lab = crate::load(&path).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        // Two networks side by side, and that is meant there.
        let apart = path.ends_with("time-warp/beyond.yaml");
        assert_eq!(lab.warnings.is_empty(), !apart, "{}: {}", path.display(), lab.warnings);
        if let Err(error) = validator.validate(&value(&text)) {
            panic!("{}: {error} at {}", path.display(), error.instance_path());
        }
        count += 1;
    }
    assert!(count >= 3, "{count} examples");
}

/// What the documentation of a key says to be its default is what a model has without it.
#[test]
fn defaults_are_as_documented() {
    fn check<T: Keyed + WrittenKeys + Default>() {
        let usual = T::default().written_keys();
        for key in T::SECTION.keys().filter(|key| key.name != "kind") {
            let said = key.doc.split("Default: ").nth(1).map(|said| said.trim_end_matches('.')).unwrap();
            let text = format!("{{kind: {}, {}: {said}}}", T::SECTION.kind(), key.name);
            let read = T::open(&crate::yaml::parse(&text).unwrap(), &mut crate::errors::Errors::default()).unwrap();
            assert_eq!(read.written_keys(), usual, "{text}");
        }
    }
    check::<netloom_link::RedConfig>();
    check::<netloom_link::PieConfig>();
    check::<netloom_link::DualPi2Config>();
}
