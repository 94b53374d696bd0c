//! Emulab's and DETER's own commands.

use super::links::told;
use super::network::{CommandOf, Network};
use super::objects::{Object, Spell};
use super::units::{bandwidth, time};
use crate::quantity;
use crate::shell;
use crate::source::Place;
use crate::value::Value;
use netloom_units::Duration;

impl Network<'_, '_> {
    /// A command that begins with `tb-`.
    pub(super) fn testbed(&mut self, words: &[String], place: Place) -> Result<String, String> {
        let text = |at: usize| words.get(at).map_or("", String::as_str);
        match text(0) {
            "tb-set-ip" => {
                let node = self.node(words.get(1))?;
                self.address(node, None, text(2), place)?;
            }
            "tb-set-ip-link" | "tb-set-ip-lan" | "tb-set-ip-interface" => {
                let node = self.node(words.get(1))?;
                let link = self.at_node(words.get(2), node)?;
                self.address(node, Some(link), text(3), place)?;
            }
            "tb-set-netmask" => {
                let Some(length) = shell::prefix_length(text(2)) else {
                    return Err(format!("{:?} is no mask", text(2)));
                };
                for link in self.links_of(words.get(1))? {
                    self.links[link].prefix = length;
                }
            }
            "tb-set-link-loss" | "tb-set-lan-loss" => self.set_loss(words, place)?,
            "tb-set-node-lan-delay"
            | "tb-set-node-lan-bandwidth"
            | "tb-set-node-lan-loss"
            | "tb-set-node-lan-params" => {
                self.set_port(words, place)?;
            }
            "tb-set-link-simplex-params" => {
                let Some(Object::Link(link, _)) = self.object(text(1)) else {
                    return Err(format!("{:?} is no link", text(1)));
                };
                let link = *link;
                let node = self.node(words.get(2))?;
                let direction = usize::from(self.links[link].ends[0] != node);
                self.set_direction(link, direction, [text(3), text(4), text(5)], place);
            }
            "tb-set-lan-simplex-params" => {
                let node = self.node(words.get(2))?;
                let link = self.at_node(words.get(1), node)?;
                self.set_direction(link, 0, [text(3), text(4), text(5)], place);
                self.set_direction(link, 1, [text(6), text(7), text(8)], place);
            }
            "tb-set-node-startcmd" | "tb-set-node-startup" => {
                let node = self.node(words.get(1))?;
                if !text(2).trim().is_empty() {
                    let spells = vec![Spell { start: Duration::ZERO, stop: None }];
                    self.commands.push(CommandOf { node, run: text(2).to_owned(), spells, place });
                }
            }
            name => self.notes.add(place, format!("`{name}` has no counterpart in a lab")),
        }
        Ok(String::new())
    }

    fn address(&mut self, node: usize, link: Option<usize>, address: &str, place: Place) -> Result<(), String> {
        let address: std::net::IpAddr =
            address.parse().map_err(|_| format!("{address:?} is no address: write for example 10.1.1.1"))?;
        self.nodes[node].addresses.push((link, address.to_string(), place));
        Ok(())
    }

    /// The link of a handle that is at this node: a link, a port of a LAN, or the link to another node.
    fn at_node(&self, handle: Option<&String>, node: usize) -> Result<usize, String> {
        let unknown = || format!("{:?} is no link of this node", handle.map_or("", String::as_str));
        match handle.and_then(|handle| self.object(handle)) {
            Some(Object::Link(link, _)) => Ok(*link),
            Some(Object::Lan(other) | Object::Node(other)) => {
                self.between(node, *other).map(|(link, _)| link).ok_or_else(unknown)
            }
            _ => Err(unknown()),
        }
    }

    /// All links of a handle: the link itself, or all ports of a LAN.
    fn links_of(&self, handle: Option<&String>) -> Result<Vec<usize>, String> {
        match handle.and_then(|handle| self.object(handle)) {
            Some(Object::Link(link, _)) => Ok(vec![*link]),
            Some(Object::Lan(lan)) => {
                Ok((0..self.links.len()).filter(|link| self.links[*link].ends[1] == *lan).collect())
            }
            _ => Err(format!("{:?} is no link or LAN", handle.map_or("", String::as_str))),
        }
    }

    /// `tb-set-link-loss LINK LOSS`, `tb-set-link-loss A B LOSS`, `tb-set-lan-loss LAN LOSS`.
    fn set_loss(&mut self, words: &[String], place: Place) -> Result<(), String> {
        let share = words.last().and_then(|share| quantity::probability(share, 0));
        let share = share.ok_or("a loss is a share from 0 to 1, for example 0.05")?.value;
        if let [_, one, other, _] = words {
            let (one, other) = (self.node(Some(one))?, self.node(Some(other))?);
            let (link, _) = self.between(one, other).ok_or("there is no link between these nodes")?;
            self.set(link, None, "loss", share.into(), place);
            return Ok(());
        }
        let is_lan = matches!(words.get(1).and_then(|handle| self.object(handle)), Some(Object::Lan(_)));
        for link in self.links_of(words.get(1))? {
            // Of a LAN, what goes in is lost, so that a packet meets the loss once.
            self.set(link, is_lan.then_some(0), "loss", share.into(), place);
        }
        Ok(())
    }

    /// `tb-set-node-lan-params NODE LAN DELAY BANDWIDTH LOSS`, or one of the three.
    fn set_port(&mut self, words: &[String], place: Place) -> Result<(), String> {
        let text = |at: usize| words.get(at).map_or("", String::as_str);
        let node = self.node(words.get(1))?;
        let link = self.at_node(words.get(2), node)?;
        let values = match text(0) {
            "tb-set-node-lan-delay" => [text(3), "", ""],
            "tb-set-node-lan-bandwidth" => ["", text(3), ""],
            "tb-set-node-lan-loss" => ["", "", text(3)],
            _ => [text(3), text(4), text(5)],
        };
        for direction in 0..2 {
            self.set_direction(link, direction, values, place);
        }
        Ok(())
    }

    /// Delay, bandwidth and loss of a direction; what is empty stays.
    fn set_direction(&mut self, link: usize, direction: usize, [delay, rate, loss]: [&str; 3], place: Place) {
        let map = &mut self.links[link].settings[direction];
        let values: [(&str, Option<Value>, &str); 3] = [
            ("delay", time(delay).map(Value::from), delay),
            ("rate", bandwidth(rate).map(Value::from), rate),
            ("loss", quantity::probability(loss, 0).map(|share| share.value.into()), loss),
        ];
        let mut unread = Vec::new();
        for (key, value, said) in values {
            match value {
                Some(value) => told(map, key, value, place),
                None if said.is_empty() => {}
                None => unread.push(format!("{said:?} is no {key} that is known here")),
            }
        }
        for note in unread {
            self.notes.add(place, note);
        }
    }
}
