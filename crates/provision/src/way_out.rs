//! The way out of a lab into this machine's network.
//!
//! The way out is made before the lab is forked, by the process that stays in the machine's network
//! (`netloom_host::uplink`). The lab inherits the descriptors. When its nodes are configured, it makes the interfaces
//! or names the namespace to lead out, and hands over the sockets at which the node takes questions for names. In the
//! plan the way out is a node that announces `0.0.0.0/0`. All nodes read one `/etc/resolv.conf`, which is mounted in
//! the lab before any node is made.

use crate::node::LabNode;
use crate::resource::{Ground, Making, Opening, Releasing, Resource, Site};
use crate::setup_error::SetupError;
use netloom_host::KernelError;
use netloom_host::netlink::Home;
use netloom_host::uplink::{Means, WayOut};
use netloom_judge::RunError;
use netloom_lab::{InternetPlan, Plan};
use nix::unistd::Pid;
use std::path::Path;

/// Describes by what the way out of a plan leads on this machine, in words; none if it has none. The error has file, line and key.
///
/// # Errors
/// Why there is none on this machine.
fn here(plan: &Plan, lab_file: &Path) -> Result<Option<String>, String> {
    let Some(internet) = &plan.internet else { return Ok(None) };
    let name = &plan.nodes[internet.node].name;
    let means = Means::find().map_err(|error| cannot_lead(internet, lab_file, &error))?;
    let by = match means {
        Means::Rules => "by rules of iptables or nftables that translate addresses".to_owned(),
        Means::Program(program) => format!("by {program}, which translates connections into this user's"),
    };
    Ok(Some(format!("{name} leads into this machine's network {by}")))
}

/// The way out of a lab, if it has one.
#[derive(Default)]
pub struct LabWayOut(Option<WayOut>);

impl LabWayOut {
    /// Leads out of a lab that was forked, by its process's number.
    ///
    /// # Errors
    /// When a program that leads out has died.
    pub fn lead_from(&mut self, lab: Pid) -> Result<(), RunError> {
        let led = self.0.as_mut().map_or(Ok(()), |way_out| way_out.lead_from(lab));
        led.map_err(|error| RunError::Machine(error.to_string()))
    }
}

impl Resource for LabWayOut {
    fn check(&self, plan: &Plan, lab_file: &Path) -> Result<Option<String>, Vec<String>> {
        here(plan, lab_file).map_err(|problem| vec![problem])
    }

    fn open(&mut self, opening: Opening, ground: &Ground<'_>) -> Result<(), RunError> {
        if opening == Opening::First {
            self.0 = prepare(ground.plan, ground.lab_file)?;
        }
        Ok(())
    }

    fn make(&mut self, making: Making, site: &mut Site<'_>) -> Result<(), SetupError> {
        let way_out = self.0.as_mut().filter(|_| making == Making::Configured);
        if let Some((way_out, internet)) = way_out.zip(site.plan.internet.as_ref()) {
            site.notes.push(lead(way_out, site.plan, internet, site.nodes)?);
        }
        Ok(())
    }

    fn release(&mut self, releasing: Releasing) -> Result<(), RunError> {
        let closed = self.0.take_if(|_| releasing == Releasing::Last).map_or(Ok(()), WayOut::close);
        closed.map_err(|error| RunError::Died(error.to_string()))
    }
}

/// Forks what stays in this machine's network, if the plan has a way out.
fn prepare(plan: &Plan, lab_file: &Path) -> Result<Option<WayOut>, RunError> {
    let Some(internet) = &plan.internet else { return Ok(None) };
    let refused = |error| RunError::Machine(cannot_lead(internet, lab_file, &error));
    WayOut::prepare().map(Some).map_err(refused)
}

/// Returns the text that nodes read as `/etc/resolv.conf`.
pub fn resolver(internet: &InternetPlan) -> String {
    format!("nameserver {}\n", internet.resolver)
}

/// Leads the node out, in the lab's process. What the verdict cannot say of it.
fn lead(
    way_out: &mut WayOut,
    plan: &Plan,
    internet: &InternetPlan,
    nodes: &[Option<Box<dyn LabNode>>],
) -> Result<String, SetupError> {
    let node = nodes[internet.node].as_ref().and_then(|node| match node.namespaces()? {
        Home::Process(init) => Some(init),
        Home::Descriptor(_) => None,
    });
    let node = node.ok_or_else(|| SetupError::Refused("the way out has no namespaces".into()))?;
    let interfaces = plan.nodes.iter().flat_map(|own| &own.interfaces);
    let used: Vec<_> = interfaces.flat_map(|interface| &interface.addresses).copied().collect();
    let led = way_out.lead(node, InternetPlan::INTERFACE, internet.resolver, &used);
    led.map_err(SetupError::Kernel)?;
    let name = &plan.nodes[internet.node].name;
    Ok(format!("what lies beyond {name}, in this machine's network and further: it keeps its own time"))
}

fn cannot_lead(internet: &InternetPlan, lab_file: &Path, error: &KernelError) -> String {
    format!("{}:{}: key `kind`: {error}", lab_file.display(), internet.line)
}
