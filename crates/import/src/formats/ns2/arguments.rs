//! How many words of a command are read. What stands behind them is noted, so that no option is left out in silence: a command that
//! is not listed here is read up to its name.

use super::network::Network;
use crate::source::Place;

/// All words are read, or noted where they are.
const ALL: usize = usize::MAX;
/// Words of commands of the simulator, with the name of the object.
const OF_SIMULATOR: [(&str, usize); 35] = [
    ("node", 3),
    ("node-config", ALL),
    ("delay_parse", 3),
    ("bw_parse", 3),
    ("duplex-intserv-link", ALL),
    ("duplex-link", ALL),
    ("simplex-link", ALL),
    ("make-lan", ALL),
    ("newLan", ALL),
    ("multihome-lan", ALL),
    ("queue-limit", 5),
    ("bandwidth", 6),
    ("delay", 6),
    ("cost", 5),
    ("lossmodel", 5),
    ("link-lossmodel", 5),
    ("at", 4),
    ("after", 4),
    ("cancel", 3),
    ("duplex-link-op", 6),
    ("rtmodel-at", 6),
    ("rtproto", 3),
    ("attach-agent", 4),
    ("attach", 4),
    ("detach-agent", 4),
    ("connect", 4),
    ("create-connection", 7),
    ("create-highspeed-connection", 7),
    ("create-connection-listen", 7),
    ("create-connection-list", 7),
    ("create-tcp-connection", 7),
    ("link", 4),
    ("event-sequence", ALL),
    ("event-timeline", ALL),
    ("event-group", ALL),
];
/// Words of commands of everything else.
const OF_OBJECTS: [(&str, usize); 30] = [
    ("set", 4),
    ("setdest", 5),
    ("random-motion", 3),
    ("program-agent", ALL),
    ("cost", 3),
    ("modify", ALL),
    ("errormodule", 3),
    ("install-error", 3),
    ("insert-linkloss", 3),
    ("attach-agent", 3),
    ("attach", 3),
    ("attach-app", 3),
    ("attach-source", 3),
    ("attach-traffic", 3),
    ("unit", 3),
    ("ranvar", 3),
    ("drop-target", 3),
    ("produce", 3),
    ("producemore", 3),
    ("send", 3),
    ("sendmsg", 3),
    ("advance", 3),
    ("advanceby", 3),
    ("uniform", 4),
    ("integer", 3),
    // The mean is read; that the numbers are others is noted.
    ("exponential", ALL),
    ("normal", ALL),
    ("lognormal", ALL),
    ("pareto", ALL),
    ("paretoII", ALL),
];
/// Words of Emulab's commands.
const OF_TESTBEDS: [(&str, usize); 15] = [
    ("tb-set-ip", 3),
    ("tb-set-ip-link", 4),
    ("tb-set-ip-lan", 4),
    ("tb-set-ip-interface", 4),
    ("tb-set-netmask", 3),
    ("tb-set-link-loss", 4),
    ("tb-set-lan-loss", 3),
    ("tb-set-node-lan-delay", 4),
    ("tb-set-node-lan-bandwidth", 4),
    ("tb-set-node-lan-loss", 4),
    ("tb-set-node-lan-params", 6),
    ("tb-set-link-simplex-params", 6),
    ("tb-set-lan-simplex-params", 9),
    ("tb-set-node-startcmd", 3),
    ("tb-set-node-startup", 3),
];

/// Whose command it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Simulator,
    Object,
    Testbed,
}

/// The words of a command, for a note.
pub(super) fn shortened(words: &[String]) -> String {
    words.join(" ").chars().take(60).collect()
}

impl Network<'_, '_> {
    /// Notes the words of a command that nobody reads. What only watches is noted as a whole.
    pub(super) fn note_words(&mut self, of: Of, words: &[String], place: Place) {
        let at = usize::from(of != Of::Testbed);
        let name = words.get(at).map_or("", String::as_str);
        let table: &[(&str, usize)] = match of {
            Of::Simulator => &OF_SIMULATOR,
            Of::Object => &OF_OBJECTS,
            Of::Testbed => &OF_TESTBEDS,
        };
        let most = table.iter().find(|(known, _)| *known == name).map_or(at + 1, |(_, most)| *most);
        let left = words.iter().skip(most).filter(|word| !word.trim().is_empty());
        let said: Vec<&str> = left.map(String::as_str).collect();
        if !said.is_empty() {
            let whole = if of == Of::Simulator { format!("$ns {name}") } else { name.to_owned() };
            self.notes.add(place, format!("`{}` behind `{whole}` is not read", said.join(" ")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_each_command_once() {
        for table in [&OF_SIMULATOR[..], &OF_OBJECTS, &OF_TESTBEDS] {
            for (number, (name, _)) in table.iter().enumerate() {
                assert!(table[..number].iter().all(|(before, _)| before != name), "{name}");
            }
        }
    }
}
