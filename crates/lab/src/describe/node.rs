//! Nodes as JSON.

use crate::plan::{
    Argv, ContainerEngine, ContainerPlan, CpuPlan, Cpus, DiskPlan, FileContents, FilePlan, GroupPlan, ImagePlan,
    InterfacePlan, MeasurePlan, NodePlan, Plan, RulePlan, SnoopingPlan, SwitchPlan, TableRoutePlan, TreePlan, VmBegin,
    VmPlan, VolumePlan,
};
use netloom_units::{Bytes, CpuLevel, Duration, Rate};
use serde_json::{Map, Value, json};
use std::path::Path;

impl Plan {
    /// A node's part in a tree of multicast.
    fn group(&self, node: &NodePlan, group: &GroupPlan) -> Value {
        let name = |place: &usize| node.interfaces[*place].name.as_str();
        json!({
            "group": group.group,
            "source": self.nodes[group.source].name,
            "from": group.from.as_ref().map(name),
            "to": group.to.iter().map(name).collect::<Vec<_>>(),
        })
    }

    /// A node, but for its routes and names.
    pub(super) fn node_head(&self, node: &NodePlan) -> Value {
        json!({
            "name": node.name,
            "kind": node.kind.name(),
            "stack": node.stack.name(),
            "vm": node.vm.as_ref().map(vm),
            "memory_bytes": node.memory.map(Bytes::get),
            "cpus_thousandths": node.cpus.map(Cpus::thousandths),
            "cpu": node.cpu.map(cpu),
            "pin": node.pin.as_ref().map(|pin| &pin.processors),
            "clock": (!node.clock.is_right()).then(|| json!({
                "skew_ns": node.clock.skew.as_nanos(),
                "drift_ppt": node.clock.drift.as_ppt(),
            })),
            "disk": node.disk.as_ref().map(disk),
            "cores_bytes": node.cores.map(Bytes::get),
            "capabilities": node.capabilities,
            "sysctls": settings(&node.sysctls),
            "env": settings(&node.env),
            "inherit": node.inherit,
            "root": if node.overlay { "overlay" } else { "machine" },
            "image": node.image.as_ref().map(image),
            "container": node.container.as_ref().map(container),
            "files": node.files.iter().map(file).collect::<Vec<_>>(),
            "collect": node.collect,
            "measure": measured(&node.measure),
            "expose": node.expose.iter().map(|exposed| json!({ "port": exposed.port, "udp": exposed.udp, "to": exposed.to })).collect::<Vec<_>>(),
            "rules": node.rules.iter().map(|rule| rule_json(node, rule)).collect::<Vec<_>>(),
            "tables": node.tables.iter().map(|route| table_route(node, route)).collect::<Vec<_>>(),
            "groups": node.groups.iter().map(|group| self.group(node, group)).collect::<Vec<_>>(),
            "daemons": node.daemons.iter().map(|daemon| daemon.name()).collect::<Vec<_>>(),
            "external": node.external.as_ref().map(|external| json!({
                "interface": external.interface,
                "mode": external.mode.name(),
                "vlan": external.vlan,
                "only": external.only.map(mac),
            })),
            "tunnel": node.tunnel.as_ref().map(|tunnel| json!({
                "remote": tunnel.remote,
                "port": tunnel.port,
                "vni": tunnel.vni,
                "wait_ns": tunnel.wait.as_nanos(),
                "encrypted": tunnel.key.is_some(),
            })),
            "switch": node.switch.as_ref().map(|own| switch(node, own, self.is_bridge(node))),
            "interfaces": node.interfaces.iter().map(|interface| self.interface(interface)).collect::<Vec<_>>(),
            "routes": Value::Null,
            "names": Value::Null,
        })
    }

    fn interface(&self, interface: &InterfacePlan) -> Value {
        json!({
            "name": interface.name,
            "link": self.links[interface.end.link()].name,
            "end": interface.end.place(),
            "mac": mac(interface.mac),
            "mtu_bytes": interface.mtu,
            "addresses": interface.addresses.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "leased": interface.leased.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "neighbors": interface.neighbors.iter().map(|(address, at)| json!({
                "address": address.to_string(),
                "mac": mac(*at),
            })).collect::<Vec<_>>(),
        })
    }
}

fn cpu(cpu: CpuPlan) -> Value {
    let CpuPlan { cost, level } = cpu;
    json!({
        "packet_ns": cost.packet.as_nanos(),
        "byte_ps": cost.byte.as_picos(),
        "syscall_ns": cost.syscall.map(Duration::as_nanos),
        "switch_ns": cost.switch.map(Duration::as_nanos),
        "branch_ps": cost.computing.map(|cost| cost.branch.as_picos()),
        "count": cost.computing.map(|cost| cost.count.name()),
        "level": level.map(CpuLevel::name),
    })
}

fn disk(disk: &DiskPlan) -> Value {
    json!({
        "at": disk.at,
        "size_bytes": disk.size.get(),
        "filesystem": disk.filesystem.name(),
        "latency_ns": disk.latency.as_nanos(),
        "rate_bits_per_second": disk.rate.map(Rate::as_bits_per_second),
        "flush_ns": disk.flush.as_nanos(),
        "keep": disk.keep,
        "journal": disk.journal,
    })
}

/// A policy route. What it does not say is null: any.
fn rule_json(node: &NodePlan, rule: &RulePlan) -> Value {
    json!({
        "ipv6": rule.is_v6,
        "from": rule.from.map(|net| net.to_string()),
        "to": rule.to.map(|net| net.to_string()),
        "iif": rule.iif.map(|place| &node.interfaces[place].name),
        "mark": rule.mark,
        "table": rule.table,
    })
}

fn table_route(node: &NodePlan, route: &TableRoutePlan) -> Value {
    json!({
        "table": route.table,
        "destination": route.destination.to_string(),
        "interface": node.interfaces[route.interface].name,
        "via": route.via.map(|via| via.to_string()),
    })
}

fn file(file: &FilePlan) -> Value {
    let contents = match &file.contents {
        FileContents::Empty => json!("empty"),
        FileContents::Text(text) => json!({ "text": text }),
        FileContents::Copy(path) => json!({ "from": path }),
    };
    json!({
        "line": file.line,
        "path": file.target,
        "contents": contents,
        "keep": file.keep,
        "mode": file.mode.map(|mode| format!("{mode:04o}")),
        "owner": file.owner,
    })
}

fn measured(measure: &MeasurePlan) -> Value {
    json!({ "tcp_ns": measure.tcp.map(Duration::as_nanos), "node_ns": measure.node.map(Duration::as_nanos), "tls_keys": measure.tls_keys, "qlog": measure.qlog })
}

/// Names with their values.
pub(super) fn settings(settings: &[(String, String)]) -> Value {
    settings.iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>().into()
}

/// A command: a text for the shell, or a list of words.
pub(super) fn argv(command: &Argv) -> Value {
    match command {
        Argv::Shell(text) => json!(text),
        Argv::Exec(words) => json!(words),
    }
}

/// The usual notation of a hardware address.
pub fn mac(mac: [u8; 6]) -> String {
    mac.map(|byte| format!("{byte:02x}")).join(":")
}

/// The container that a node is.
fn container(container: &ContainerPlan) -> Value {
    json!({
        "line": container.line,
        "name": container.name,
        "engine": container.engine.map(ContainerEngine::name),
    })
}

/// The image of a node.
fn image(image: &ImagePlan) -> Value {
    json!({
        "line": image.line,
        "source": image.source.to_string(),
        "starts": image.starts,
        "entrypoint": image.entrypoint.as_ref().map(argv),
        "command": image.command.as_ref().map(argv),
        "user": image.user,
        "volumes": image.volumes.iter().map(volume).collect::<Vec<_>>(),
    })
}

fn volume(volume: &VolumePlan) -> Value {
    json!({
        "line": volume.line,
        "source": volume.source,
        "target": volume.target,
        "read_only": volume.is_read_only,
    })
}

/// What a virtual machine is. What belongs to the other way to boot is null.
fn vm(vm: &VmPlan) -> Value {
    let shown = |path: &Path| path.display().to_string();
    let mut about = json!({
        "kernel": null, "initrd": null, "append": null, "firmware": null, "access": null, "ssh_key": null,
        "disk": vm.disk.as_ref().map(|disk| json!({ "file": shown(disk), "format": vm.format.name() })),
        "memory_bytes": vm.memory.get(),
        "cpus": vm.cpus,
        "boot_within_ns": vm.boot_within.as_nanos(),
        "passthrough": vm.passthrough,
    });
    match &vm.begin {
        VmBegin::Kernel { kernel, initrd, append } => {
            about["kernel"] = shown(kernel).into();
            about["initrd"] = shown(initrd).into();
            about["append"] = append.as_str().into();
        }
        VmBegin::Disk { firmware, access, ssh_key } => {
            about["firmware"] = firmware.name().into();
            about["access"] = access.name().into();
            about["ssh_key"] = ssh_key.as_deref().map(shown).into();
        }
    }
    about
}

/// What a node does as a switch.
fn switch(node: &NodePlan, switch: &SwitchPlan, in_kernel: bool) -> Value {
    json!({
        "in_kernel": in_kernel,
        "ageing_ns": switch.ageing.as_nanos(),
        "table": switch.table,
        "vlans": switch.vlans.iter().zip(&node.interfaces).map(|(vlans, port)| json!({
            "interface": port.name,
            "untagged": vlans.untagged,
            "tagged": vlans.tagged,
        })).collect::<Vec<_>>(),
        "tree": switch.tree.as_ref().map(|tree| tree_of(node, tree)),
        "snooping": switch.snooping.as_ref().map(|snooping| snooping_of(node, snooping)),
        "static": switch.fixed.iter().map(|(address, port)| {
            (mac(*address), json!(node.interfaces[*port].name))
        }).collect::<Map<_, _>>(),
    })
}

/// Its spanning tree.
fn tree_of(node: &NodePlan, tree: &TreePlan) -> Value {
    json!({
        "priority": tree.settings.priority,
        "hello_ns": tree.settings.hello.as_nanos(),
        "max_age_ns": tree.settings.max_age.as_nanos(),
        "forward_delay_ns": tree.settings.forward_delay.as_nanos(),
        "ports": tree.ports.iter().zip(&node.interfaces).map(|(port, own)| json!({
            "interface": own.name,
            "cost": port.cost,
            "role": port.role.name(),
        })).collect::<Vec<_>>(),
    })
}

/// What it does with groups.
fn snooping_of(node: &NodePlan, snooping: &SnoopingPlan) -> Value {
    let settings = &snooping.settings;
    let ports = |places: &[usize]| places.iter().map(|place| node.interfaces[*place].name.as_str()).collect::<Vec<_>>();
    json!({
        "groups": settings.groups,
        "interval_ns": settings.interval.as_nanos(),
        "response_ns": settings.response.as_nanos(),
        "last_member_ns": settings.last_member.as_nanos(),
        "robustness": settings.robustness,
        "fast_leave": ports(&snooping.fast_leave),
        "routers": ports(&snooping.routers),
        "querier": settings.querier.map(|querier| json!({
            "address": querier.address.map(|address| address.to_string()),
            "igmp": querier.igmp,
            "mld": querier.mld,
        })),
    })
}
