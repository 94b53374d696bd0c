//! Random labs: trees with a few cross-links, models from the examples of the lab crate, programs that use the network.

use netloom_testing::chance::Chance;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, io};

const MOST_NODES: usize = 12;
/// Each kernel node is a kernel that boots.
const MOST_KERNELS: usize = 4;
/// How likely each key of a link is, in percent.
const A_KEY: u64 = 13;
/// A rate is worth more: it is what makes packets wait.
const A_RATE: u64 = 50;
/// The name of every lab.
pub(crate) const NAME: &str = "soak";

/// A lab and what an action needs to know of it.
#[derive(Debug)]
pub(crate) struct Topology {
    pub(crate) text: String,
    pub(crate) nodes: Vec<String>,
    pub(crate) links: Vec<String>,
    pub(crate) clock: &'static str,
    pub(crate) kernels: bool,
    precision: &'static str,
    shards: &'static str,
}

impl Topology {
    pub(crate) fn summary(&self) -> String {
        let Self { clock, precision, shards, nodes, links, .. } = self;
        format!("{clock}/{precision}/{shards}, {} nodes, {} links", nodes.len(), links.len())
    }
}

/// Where the examples of the lab crate find the files that they name.
const SOURCES: [(&str, &str); 3] = [
    ("tests/files/", "../../crates/lab/tests/files"),
    ("tests/models/", "../../crates/lab/tests/models"),
    ("../../tests/golden/pcap/", "../golden/pcap"),
];
const STOCK: &str = "files/";

/// Copies the files that models name to `folder/files`.
pub(crate) fn fill_stock(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder.join(STOCK))?;
    for (_, source) in SOURCES {
        for entry in fs::read_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(source))? {
            let path = entry?.path();
            if let Some(name) = path.file_name().filter(|_| path.is_file()) {
                fs::copy(&path, folder.join(STOCK).join(name))?;
            }
        }
    }
    Ok(())
}

/// What `netloom set` may change of a link.
pub(crate) fn change(chance: &mut Chance) -> String {
    let (key, examples) = netloom_lab::EXAMPLES[chance.below(netloom_lab::EXAMPLES.len())];
    format!("{key}={}", with_stock(chance.pick(examples)))
}

fn with_stock(example: &str) -> String {
    SOURCES.iter().fold(example.to_owned(), |text, (place, _)| text.replace(place, STOCK))
}

/// A lab that `netloom check` accepts when its file is in `stock`.
pub(crate) fn draw(chance: &mut Chance, stock: &Path, kernels: bool) -> Topology {
    let clock = match chance.below(10) {
        _ if !kernels => "real",
        0 => "{dilation: 3}",
        1 => "virtual",
        _ => "real",
    };
    let own_kernels = clock != "real" || (kernels && chance.percent(8));
    let most = if own_kernels { MOST_KERNELS } else { MOST_NODES };
    let count = 2 + chance.below(most - 1);
    let pairs = pairs(chance, count);
    let precision = chance.pick(&["eco", "balanced", "exact"]);
    let shards = chance.pick(&["auto", "1", "2", "3"]);
    let links: Vec<String> = (0..pairs.len()).map(|number| format!("l{number}")).collect();
    let nodes: Vec<String> = (0..count).map(|number| format!("n{number}")).collect();
    let seed = chance.below(1_000);
    let mut head =
        format!("name: {NAME}\nseed: {seed}\nclock: {clock}\nprecision: {precision}\nshards: {shards}\nnodes:\n");
    for (number, node) in nodes.iter().enumerate() {
        let degree = pairs.iter().filter(|(a, b)| *a == number || *b == number).count();
        let kind = if degree > 1 { "kind: router" } else { "kind: host" };
        let stack = if own_kernels && clock == "real" && chance.percent(50) { ", stack: kernel" } else { "" };
        let _ = writeln!(head, "  {node}: {{{kind}{stack}}}");
    }
    head.push_str("links:\n");
    // In virtual time computing takes none: without a rate a TCP stream carries 80 GB in a second of the lab.
    let own: &[&str] = if clock == "virtual" { &["rate: 100 Mbit/s"] } else { &[] };
    for (link, (a, b)) in links.iter().zip(&pairs) {
        head.push_str(&link_line(chance, &head, link, &nodes[*a], &nodes[*b], stock, own));
    }
    let text = head + &programs(chance, &nodes, own_kernels);
    Topology { text, nodes, links, clock, kernels: own_kernels, precision, shards }
}

/// A tree, and sometimes a few links beside it.
fn pairs(chance: &mut Chance, count: usize) -> Vec<(usize, usize)> {
    let mut pairs: BTreeSet<(usize, usize)> = (1..count).map(|node| (chance.below(node), node)).collect();
    for _ in 0..chance.below(4) {
        let (a, b) = (chance.below(count), chance.below(count));
        if a != b {
            pairs.insert((a.min(b), a.max(b)));
        }
    }
    pairs.into_iter().collect()
}

/// A link with these keys of its own, and as many random models as can be with them.
fn link_line(chance: &mut Chance, before: &str, link: &str, a: &str, b: &str, stock: &Path, own: &[&str]) -> String {
    let line = |keys: &[String]| {
        let keys: String = keys.iter().map(|key| format!(", {key}")).collect();
        format!("  {link}: {{ends: [{a}, {b}]{keys}}}\n")
    };
    let mut keys: Vec<String> = own.iter().map(|key| (*key).to_owned()).collect();
    let mut used: BTreeSet<&str> = own.iter().filter_map(|key| Some(key.split_once(':')?.0)).collect();
    let file = stock.join("soak.yaml").display().to_string();
    for (key, examples) in netloom_lab::EXAMPLES {
        let share = if *key == "rate" { A_RATE } else { A_KEY };
        if !chance.percent(share) || !used.insert(*key) {
            continue;
        }
        keys.push(format!("{key}: {}", with_stock(chance.pick(examples))));
        // Not every model goes with every other; what the lab file refuses is left out.
        if netloom_lab::parse(&format!("{before}{}", line(&keys)), &file).is_err() {
            keys.pop();
        }
    }
    line(&keys)
}

/// A service and some that use it. `for` ends those that a link keeps from ending.
fn programs(chance: &mut Chance, nodes: &[String], kernels: bool) -> String {
    let seconds = if kernels { 1 } else { 1 + chance.below(4) };
    let (server, mut text) = (&nodes[chance.below(nodes.len())], "timeline:\n".to_owned());
    let _ = writeln!(text, "  - {{on: {server}, run: iperf3 -s, as: server, service: true, ready: {{tcp: 5201}}}}");
    let options = ["", " -u -b 3M", " -R", " -P 3", " -u -b 40M -l 200"];
    for number in 0..=chance.below(4) {
        let from = &nodes[chance.below(nodes.len())];
        let to = &nodes[chance.below(nodes.len())];
        let at = chance.below(1_000);
        let run = match chance.below(3) {
            0 => format!("ping -c {} -i 0.02 -W 1 {to}", 5 + chance.below(40)),
            1 => format!("ping -s 1400 -c 20 -i 0.05 -W 1 {to}"),
            _ => format!("iperf3 -c {server} -t {seconds}{}", chance.pick(&options)),
        };
        let span = seconds + 2;
        let _ = writeln!(text, "  - {{at: {at} ms, on: {from}, run: {run}, as: p{number}, for: {span} s}}");
    }
    let link = chance.below(nodes.len() - 1);
    if chance.percent(30) {
        let _ = writeln!(text, "  - {{at: {} ms, link: l{link}, down: 300 ms}}", chance.below(1_500));
    }
    if chance.percent(20) {
        let _ = writeln!(text, "capture: [l{link}]");
    }
    text
}
