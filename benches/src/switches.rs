//! Switches: a chain of them beside a single link, and a tree of them beside Mininet.

use crate::chains;
use crate::emulators;
use crate::lab::{Lab, output};
use crate::many::settled_memory;
use crate::plain;
use crate::random;
use crate::row::{Goal, Row, median, number};
use crate::settings::Settings;
use crate::streams::gbit;
use crate::transfer;
use std::fmt::Write;
use std::process::Command;
use std::time::Instant;

const SWITCHES: u32 = 10;
/// Of one link: a packet enters the engine and leaves it once in both.
const OF_ONE_LINK: f64 = 0.9;

/// Of a bridge that is made by iproute2: it is the same.
const OF_BRIDGE: f64 = 0.9;

/// Mininet's `--topo tree,3,8`: 73 switches and 512 hosts.
const TREE: Tree = Tree { depth: 3, fanout: 8 };
const QUICK_TREE: Tree = Tree { depth: 2, fanout: 4 };
/// Of what Mininet needs.
const OF_MININET: f64 = 1.0 / 15.0;

/// Of what the kernel alone needs.
const OF_BATCHES: f64 = 1.5;

/// A tree of switches with hosts for leaves.
#[derive(Clone, Copy)]
struct Tree {
    depth: u32,
    fanout: u32,
}

/// A chain of switches: each costs its share of the engine's time, and no crossing.
pub(crate) fn chain(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 1 } else { 4 };
    let (mut direct, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..settings.rounds(5) {
        for (switches, rates) in [(0, &mut direct), (SWITCHES, &mut ours)] {
            // One lab at a time, so that both engines have the same processor.
            let lab = Lab::up(settings, "switches", &chains::chain(switches, "switch"))?;
            lab.shell("b", transfer::START_SERVER)?;
            rates.push(gbit(&lab.shell("a", &transfer::pinned_tcp("b", seconds))?)?);
        }
    }
    let row = Row::number(format!("{SWITCHES} switches, one TCP stream"), "Gbit/s", ours)?;
    Ok(vec![row.against("one link", direct).goal(Goal::AtLeast(OF_ONE_LINK))])
}

/// A switch that is a bridge of the kernel, beside one made by iproute2; the engine's stands beside.
pub(crate) fn bridge(settings: &Settings) -> Result<Vec<Row>, String> {
    let seconds = if settings.quick { 1 } else { 4 };
    let yaml = chains::chain(1, "switch");
    let (mut plain, mut kernel, mut engine) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..settings.rounds(5) {
        plain.push(gbit(&plain::bridged(settings, &transfer::tcp(plain::SERVER, seconds))?)?);
        for (bypass, rates) in [("auto", &mut kernel), ("off", &mut engine)] {
            let lab = Lab::up(settings, "bridge", &format!("bypass: {bypass}\n{yaml}"))?;
            lab.shell("b", transfer::START_SERVER)?;
            rates.push(gbit(&lab.shell("a", &transfer::tcp("b", seconds))?)?);
        }
    }
    let engine = format!("the engine's switch in the same run: {} Gbit/s", number(median(&engine)?));
    let row = Row::number("one switch, bypass: auto, one TCP stream", "Gbit/s", kernel)?.against(plain::BRIDGE, plain);
    Ok(vec![row.goal(Goal::AtLeast(OF_BRIDGE)).remark(engine)])
}

/// A tree set up and removed, here and by Mininet with bridges of Linux; and what the kernel alone needs for its hosts.
pub(crate) fn tree(settings: &Settings) -> Result<Vec<Row>, String> {
    let tree = if settings.quick { QUICK_TREE } else { TREE };
    let yaml = tree.yaml();
    let file = random::written(settings, "tree.yaml", format!("name: bench-tree\n{yaml}").as_bytes())?;
    let (_, requests) = random::requests(settings, &file)?;
    let (mut up, mut down, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        let begin = Instant::now();
        let lab = Lab::up(settings, "tree", &yaml)?;
        up.push(begin.elapsed().as_secs_f64());
        lab.shell("h1", &format!("for try in 1 2 3; do ping -4 -c 1 -W 5 h{} && exit; done; exit 1", tree.hosts()))?;
        down.push(lab.down()?.as_secs_f64());
        settled_memory()?;
        bare.push(random::batches(&requests)?);
        settled_memory()?;
    }
    let what = |what: &str| format!("{} switches and {} hosts, {what}", tree.switches(), tree.hosts());
    let alone = Row::number(what("up, beside the kernel alone"), "s", up.clone())?
        .against("netlink batches for its hosts", bare)
        .goal(Goal::AtMost(OF_BATCHES));
    let both = up.iter().zip(&down).map(|(up, down)| up + down).collect();
    let both = Row::number(what("up and down"), "s", both)?;
    let rows = [both, Row::number(what("of this, up"), "s", up)?, Row::number(what("of this, down"), "s", down)?];
    let mut rows: Vec<Row> = match mininet(settings, tree) {
        // One round: it takes a minute.
        Ok([upward, downward]) => {
            let theirs = [(upward + downward, Some(Goal::AtMost(OF_MININET))), (upward, None), (downward, None)];
            let beside = |(row, (their, goal)): (Row, (f64, Option<Goal>))| {
                let row = row.against("Mininet", vec![their]);
                if let Some(goal) = goal { row.goal(goal) } else { row }
            };
            rows.into_iter().zip(theirs).map(beside).collect()
        }
        Err(reason) => rows.map(|row| row.remark(format!("no Mininet: {reason}"))).into(),
    };
    rows.push(alone);
    Ok(rows)
}

/// Seconds that Mininet needs to set the tree up and to remove it; an error says why it could not be asked.
fn mininet(settings: &Settings, tree: Tree) -> Result<[f64; 2], String> {
    emulators::mininet(settings)?;
    let asked = [tree.depth, tree.fanout].map(|number| number.to_string());
    let told = output(Command::new(&settings.peer).arg("mininet-tree").args(asked))?;
    seconds(&told).ok_or_else(|| format!("it told {told:?}"))
}

/// The two numbers that the script tells.
fn seconds(told: &str) -> Option<[f64; 2]> {
    let numbers: Result<Vec<f64>, _> = told.split_ascii_whitespace().map(str::parse).collect();
    numbers.ok()?.try_into().ok()
}

impl Tree {
    fn hosts(self) -> u32 {
        self.fanout.pow(self.depth)
    }

    fn switches(self) -> u32 {
        (0..self.depth).map(|level| self.fanout.pow(level)).sum()
    }

    /// Numbered level by level: below the switch i are the devices fanout × (i - 1) + 2 and those that follow.
    fn yaml(self) -> String {
        let (switches, hosts) = (self.switches(), self.hosts());
        let mut yaml = String::from("nodes:\n");
        let name = |device: u32| match device.checked_sub(switches) {
            Some(host) if host > 0 => format!("h{host}"),
            _ => format!("s{device}"),
        };
        for device in 1..=switches + hosts {
            let kind = if device > switches { "" } else { "kind: switch" };
            let _ = writeln!(yaml, "  {}: {{{kind}}}", name(device));
        }
        yaml.push_str("links:\n");
        for device in 2..=switches + hosts {
            let above = (device - 2) / self.fanout + 1;
            let _ = writeln!(yaml, "  l{device}: {{ends: [{}, {}]}}", name(device), name(above));
        }
        yaml
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_that_of_mininet() {
        assert_eq!((TREE.switches(), TREE.hosts()), (73, 512));
        let yaml = Tree { depth: 2, fanout: 2 }.yaml();
        let links: Vec<&str> = yaml.split_once("links:\n").unwrap().1.lines().collect();
        let pairs = ["s2, s1", "s3, s1", "h1, s2", "h2, s2", "h3, s3", "h4, s3"];
        for (link, pair) in links.iter().zip(pairs) {
            assert!(link.contains(&format!("[{pair}]")), "{link}");
        }
        assert_eq!(links.len(), pairs.len());
        assert!(yaml.contains("  s3: {kind: switch}\n  h1: {}\n"));
    }

    #[test]
    fn the_script_tells_two_numbers() {
        assert_eq!(seconds("25.5 11.25\n"), Some([25.5, 11.25]));
        assert_eq!(seconds("25.5\n"), None);
        assert_eq!(seconds("no route"), None);
    }
}
