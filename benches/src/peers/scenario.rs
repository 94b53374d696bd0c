//! Hosts with programs, on one wire or around a switch: as a lab file, and as a file for Shadow.

use std::fmt::Write;
use std::thread;

/// A network and what runs in it.
pub(super) struct Scenario {
    pub(super) hosts: Vec<Host>,
    pub(super) shape: Shape,
    /// Further keys of the lab file, a line each.
    pub(super) keys: &'static str,
    /// When Shadow stops, in seconds: it has no end of its own.
    pub(super) stop: u32,
    /// A further line of Shadow's `general`.
    pub(super) general: &'static str,
}

/// How hosts are joined.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shape {
    /// Two hosts, on one wire.
    Wire,
    /// All hosts, each by a link to a switch.
    Switch,
    /// Two hosts with two transit routers between them, whose link has this delay in milliseconds.
    Path { middle_ms: u32 },
}

/// A host and its link.
pub(super) struct Host {
    pub(super) name: String,
    /// As a lab file has them.
    pub(super) keys: &'static str,
    pub(super) mbit: u32,
    pub(super) delay_ms: u32,
    /// The packets that its link's queue holds.
    pub(super) queue: u32,
    pub(super) programs: Vec<Program>,
}

/// A program of a host.
pub(super) struct Program {
    pub(super) words: Vec<String>,
    /// What Shadow is to run instead, where that has to differ.
    pub(super) words_in_shadow: Option<Vec<String>>,
    pub(super) at_ms: u32,
    /// Whether others need it, and it runs until the end.
    pub(super) is_service: bool,
}

impl Program {
    pub(super) fn new(words: Vec<String>, at_ms: u32) -> Self {
        Self { words, words_in_shadow: None, at_ms, is_service: false }
    }

    pub(super) fn service(words: Vec<String>, at_ms: u32) -> Self {
        Self { is_service: true, ..Self::new(words, at_ms) }
    }

    pub(super) fn in_shadow(self, words: Vec<String>) -> Self {
        Self { words_in_shadow: Some(words), ..self }
    }
}

/// The words of a command line.
pub(super) fn words(program: &str, arguments: &str) -> Vec<String> {
    std::iter::once(program).chain(arguments.split_whitespace()).map(str::to_owned).collect()
}

impl Scenario {
    /// The lab file, which plays once, or `repeat` times with different seeds.
    pub(super) fn lab(&self, name: &str, repeat: u32) -> String {
        let again = if repeat > 1 { format!("repeat: {repeat}\n") } else { String::new() };
        let head = format!("name: {name}\nclock: virtual\nseed: 1\naddresses: {{ipv6: none}}\n{again}{}", self.keys);
        let mut text = head + "nodes:\n";
        let middle = match self.shape {
            Shape::Wire => "",
            Shape::Switch => "  s: {kind: switch}\n",
            Shape::Path { .. } => "  r: {kind: transit}\n  s: {kind: transit}\n",
        };
        text.push_str(middle);
        for host in &self.hosts {
            let _ = writeln!(text, "  {}: {}", host.name, host.keys);
        }
        text.push_str("links:\n");
        if let Shape::Path { middle_ms } = self.shape {
            let _ = writeln!(text, "  middle: {{ends: [r, s], delay: {middle_ms} ms}}");
        }
        let links = if self.shape == Shape::Wire { 1 } else { self.hosts.len() };
        for (place, host) in self.hosts.iter().take(links).enumerate() {
            let Host { name: own, mbit, delay_ms, queue, .. } = host;
            let other = match self.shape {
                Shape::Wire => &self.hosts[1].name,
                Shape::Path { .. } if place == 0 => "r",
                Shape::Switch | Shape::Path { .. } => "s",
            };
            let _ = writeln!(
                text,
                "  l-{own}: {{ends: [{own}, {other}], rate: {mbit} Mbit/s, delay: {delay_ms} ms, queue: {queue} packets}}"
            );
        }
        text.push_str("timeline:\n");
        self.hosts.iter().for_each(|host| host.write_timeline(&mut text));
        text
    }

    /// The file for Shadow, whose graph has edges with the delay from host to host. Both ends of a wire have a place of their own in it;
    /// around a switch, hosts with the same rate share one.
    pub(super) fn shadow(&self) -> String {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let mut rates: Vec<u32> = self.hosts.iter().map(|host| host.mbit).collect();
        if self.shape == Shape::Switch {
            rates.sort_unstable();
            rates.dedup();
        }
        let mut text = format!(
            "general:\n  stop_time: {} s\n  seed: 1\n  parallelism: {processors}\n  log_level: warning\n  \
             heartbeat_interval: null\n{}network:\n  graph:\n    type: gml\n    inline: |\n      graph [\n        directed 0\n",
            self.stop, self.general
        );
        for (place, mbit) in rates.iter().enumerate() {
            let both = ["host_bandwidth_down", "host_bandwidth_up"].map(|key| format!("{key} \"{mbit} Mbit\""));
            write_element(&mut text, "node", &[&[format!("id {place}")], &both[..]].concat());
        }
        for one in 0..rates.len() {
            for other in one..rates.len() {
                let ends = [format!("source {one}"), format!("target {other}")];
                let latency = format!("latency \"{} ms\"", self.delay_between_ms());
                write_element(&mut text, "edge", &[&ends[..], &[latency, "packet_loss 0.0".into()]].concat());
            }
        }
        text.push_str("      ]\nhosts:\n");
        for (number, host) in self.hosts.iter().enumerate() {
            let shared = rates.iter().position(|mbit| *mbit == host.mbit).filter(|_| self.shape == Shape::Switch);
            let place = shared.unwrap_or(number);
            let _ = writeln!(text, "  {}:\n    network_node_id: {place}\n    processes:", host.name);
            host.programs.iter().for_each(|program| program.write_for_shadow(&mut text));
        }
        text
    }

    fn delay_between_ms(&self) -> u32 {
        let own = self.hosts[0].delay_ms;
        match self.shape {
            Shape::Wire => own,
            Shape::Switch => 2 * own,
            Shape::Path { middle_ms } => 2 * own + middle_ms,
        }
    }
}

/// Writes an element of a graph: Shadow reads each pair on a line of its own.
fn write_element(text: &mut String, name: &str, pairs: &[String]) {
    let _ = writeln!(text, "        {name} [");
    for pair in pairs {
        let _ = writeln!(text, "          {pair}");
    }
    text.push_str("        ]\n");
}

impl Host {
    fn write_timeline(&self, text: &mut String) {
        for (place, Program { words, at_ms, is_service, .. }) in self.programs.iter().enumerate() {
            let name = &self.name;
            let run = quoted(words);
            let when = if *at_ms > 0 { format!(", at: {at_ms} ms") } else { String::new() };
            let until = if *is_service { ", service: true" } else { "" };
            let _ = writeln!(text, "  - {{on: {name}, as: {name}-{place}, run: {run}{when}{until}}}");
        }
    }
}

impl Program {
    fn write_for_shadow(&self, text: &mut String) {
        let words = self.words_in_shadow.as_ref().unwrap_or(&self.words);
        let _ = writeln!(
            text,
            "    - path: {}\n      args: {}\n      start_time: {} ms",
            words[0],
            quoted(&words[1..]),
            self.at_ms
        );
        if self.is_service {
            text.push_str("      expected_final_state: running\n");
        }
    }
}

/// A list in YAML, of which JSON is a part.
fn quoted(words: &[String]) -> String {
    serde_json::Value::from(words).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario(shape: Shape) -> Scenario {
        let host = |name: &str, mbit, programs| Host {
            name: name.to_owned(),
            keys: "{}",
            mbit,
            delay_ms: 5,
            queue: 100,
            programs,
        };
        let hosts = vec![
            host("a", 10, vec![Program::new(words("/bin/send", "b 1"), 1_000)]),
            host("b", 1_000, vec![Program::service(words("/bin/take", ""), 0)]),
        ];
        Scenario { hosts, shape, keys: "arp: false\n", stop: 9, general: "" }
    }

    #[test]
    fn a_lab_has_a_link_per_host_or_one_wire() {
        let lab = scenario(Shape::Switch).lab("x", 4);
        for line in [
            "repeat: 4\narp: false\nnodes:\n  s: {kind: switch}\n  a: {}\n",
            "  l-b: {ends: [b, s], rate: 1000 Mbit/s, delay: 5 ms, queue: 100 packets}\n",
            "  - {on: a, as: a-0, run: [\"/bin/send\",\"b\",\"1\"], at: 1000 ms}\n",
            "  - {on: b, as: b-0, run: [\"/bin/take\"], service: true}\n",
        ] {
            assert!(lab.contains(line), "{line}\n{lab}");
        }
        let wire = scenario(Shape::Wire).lab("x", 1);
        assert!(wire.contains("  l-a: {ends: [a, b]") && !wire.contains("  l-b:"), "{wire}");
        let path = scenario(Shape::Path { middle_ms: 3 }).lab("x", 1);
        assert!(
            path.contains("{ends: [a, r]") && path.contains("{ends: [b, s]") && path.contains("[r, s], delay: 3 ms")
        );
    }

    #[test]
    fn in_shadow_the_ends_of_a_wire_are_apart() {
        let mut scenario = scenario(Shape::Wire);
        scenario.hosts[1].mbit = 10;
        let text = scenario.shadow();
        assert!(
            text.contains("source 0\n          target 1\n          latency \"5 ms\"")
                && text.contains("b:\n    network_node_id: 1"),
            "{text}"
        );
    }

    #[test]
    fn shadow_has_a_place_for_each_rate_and_the_delay_of_the_whole_way() {
        let text = scenario(Shape::Switch).shadow();
        for part in [
            "node [\n          id 1\n          host_bandwidth_down \"1000 Mbit\"\n",
            "edge [\n          source 0\n          target 1\n          latency \"10 ms\"\n",
            "  b:\n    network_node_id: 1\n    processes:\n    - path: /bin/take\n      args: []\n      start_time: 0 ms\n      \
             expected_final_state: running\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
