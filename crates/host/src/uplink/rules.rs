//! The kernel's rules that translate addresses, made with the programs that are there: which of them works is tried.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use crate::error::KernelError;
use crate::netlink::named_rules::remove_rules_naming;
use crate::tables::{self, NFT, VARIANTS, is_there};

/// Translates addresses at an interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Rules {
    pub(super) interface: String,
    /// What comes over it from this address goes on with the address of whichever interface it leaves by, and answers come
    /// back, whatever else is forwarded here. Without one, what leaves by it has its address.
    pub(super) inside: Option<Ipv4Addr>,
}

/// When no program makes rules.
pub(super) const NEITHER: &str =
    "neither iptables nor nft is on this machine: install the package iptables or nftables";

/// Whether a program that makes rules is on this machine.
pub(super) fn exist() -> bool {
    Tool::ALL.iter().any(|tool| is_there(&tool.program()))
}

/// A program that makes rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Tool {
    /// What the machine's administrator has chosen as iptables.
    Iptables,
    /// iptables with the kernel's old tables.
    Legacy,
    /// iptables with nf_tables.
    OverNft,
    /// nftables.
    Nft,
}

impl Tool {
    /// In the order in which they are tried. With iptables first, a FORWARD chain that drops (as Docker's) is dealt with.
    const ALL: [Self; 4] = [Self::Iptables, Self::OverNft, Self::Legacy, Self::Nft];

    fn program(self) -> String {
        let variant = match self {
            Self::Iptables => 0,
            Self::OverNft => 1,
            Self::Legacy => 2,
            Self::Nft => return NFT.to_owned(),
        };
        format!("iptables{}-restore", VARIANTS[variant])
    }
}

impl Rules {
    /// Makes the rules, and tells with what.
    pub(super) fn add(&self) -> Result<Tool, KernelError> {
        let mut refusals = Vec::new();
        for tool in Tool::ALL {
            match self.run(tool, true) {
                Ok(()) => return Ok(tool),
                Err(why) => {
                    // One table may have been changed before another could not.
                    let _ = self.run(tool, false);
                    refusals.extend(why.map(|why| format!("{}: {why}", tool.program())));
                }
            }
        }
        let error = KernelError::new(format!("translate the addresses of {}", self.interface), 0);
        Err(error.with_detail(match refusals.is_empty() {
            true => NEITHER.to_owned(),
            false => refusals.join("; "),
        }))
    }

    /// Removes them.
    pub(super) fn remove(&self, tool: Tool) -> Result<(), KernelError> {
        let failed = |why: Option<String>| {
            let error = KernelError::new(format!("remove the rules of {} with {}", self.interface, tool.program()), 0);
            error.with_detail(why.unwrap_or_else(|| "it is not there any more".into()))
        };
        // Without programs that is done much sooner. They do it where nftables does not have the rules.
        if tool != Tool::Nft && remove_rules_naming(&self.interface, self.count()) {
            return Ok(());
        }
        self.run(tool, false).map_err(failed)?;
        tidy();
        Ok(())
    }

    /// Removes them, with whatever they were made.
    pub(super) fn remove_with_any(&self) {
        for tool in Tool::ALL {
            // All but one have nothing to remove.
            let _ = self.run(tool, false);
        }
        tidy();
    }

    fn text(&self, tool: Tool, add: bool) -> String {
        let Self { interface, inside } = self;
        if tool == Tool::Nft {
            let which = match inside {
                Some(inside) => format!("ip saddr {inside} oifname != \"{interface}\""),
                None => format!("oifname \"{interface}\""),
            };
            return match add {
                true => format!(
                    "table ip {interface} {{\nchain out {{\ntype nat hook postrouting priority 100\n{which} masquerade\n}}\n}}\n"
                ),
                false => format!("delete table ip {interface}\n"),
            };
        }
        let (append, insert) = if add { ("-A", "-I") } else { ("-D", "-D") };
        match inside {
            Some(inside) => format!(
                "*nat\n{append} POSTROUTING -s {inside}/32 ! -o {interface} -j MASQUERADE\nCOMMIT\n\
                 *filter\n{insert} FORWARD -i {interface} -j ACCEPT\n{insert} FORWARD -o {interface} -j ACCEPT\nCOMMIT\n"
            ),
            None => format!("*nat\n{append} POSTROUTING -o {interface} -j MASQUERADE\nCOMMIT\n"),
        }
    }

    /// How many rules iptables makes of it.
    fn count(&self) -> usize {
        if self.inside.is_some() { 3 } else { 1 }
    }

    /// Hands the rules to the program; the reason if it refuses them, none if it is not there.
    fn run(&self, tool: Tool, add: bool) -> Result<(), Option<String>> {
        let arguments = if tool == Tool::Nft { ["-f", "-"] } else { ["--noflush", "--wait"] };
        match tables::run(tables::command(&tool.program(), &arguments), &self.text(tool, add)) {
            Ok(output) => tables::objection(&output).map_or(Ok(()), |why| Err(Some(why))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Err(None),
            Err(error) => Err(Some(error.to_string())),
        }
    }
}

fn tidy() {
    tables::tidy(|arguments, input| {
        let output = tables::run(tables::command(NFT, arguments), input);
        output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).ok()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_is_what_is_removed() {
        let inside = Ipv4Addr::new(100, 64, 0, 2);
        let rules = Rules { interface: "netloom0".into(), inside: Some(inside) };
        let added = rules.text(Tool::Legacy, true);
        assert_eq!(
            added,
            "*nat\n-A POSTROUTING -s 100.64.0.2/32 ! -o netloom0 -j MASQUERADE\nCOMMIT\n\
             *filter\n-I FORWARD -i netloom0 -j ACCEPT\n-I FORWARD -o netloom0 -j ACCEPT\nCOMMIT\n"
        );
        assert_eq!(added.matches(" -j ").count(), rules.count());
        assert_eq!(rules.text(Tool::Legacy, false), added.replace("-A", "-D").replace("-I", "-D"));
        assert!(rules.text(Tool::Nft, true).starts_with("table ip netloom0 {\n"));
        assert_eq!(rules.text(Tool::Nft, false), "delete table ip netloom0\n");
    }
}
