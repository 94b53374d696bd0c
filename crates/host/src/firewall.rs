//! Rules of a network namespace's firewall that divert traffic into a queue of netfilter, and their removal, from whichever network
//! namespace this process is in by then.
//!
//! With iptables the rules of a name are in a chain of their own in the table `mangle`, and bear its name in a comment; with nftables,
//! which is asked where no iptables can write them, they are in a table of their own. A packet that this machine makes
//! meets them in `OUTPUT`, one that it receives in `PREROUTING`, unless it comes from the loopback interface: so each packet
//! meets them once. Those that bear a mark of ours have been diverted before.
//!
//! Who made a packet is known in `OUTPUT` only. So what certain users make marks its connection there, which the kernel tracks, and
//! packets of connections with that mark are diverted, the answers among them.

mod nft;

use crate::error::KernelError;
use crate::tables::{self, NFT, VARIANTS, is_there};
use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::io;
use std::num::NonZeroU16;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::Output;

const FAMILIES: [&str; 2] = ["iptables", "ip6tables"];
/// Chains have names of 28 bytes at most (`XT_EXTENSION_MAXNAMELEN`).
const CHAIN: &str = "netloom-";
/// With what comments of rules begin.
const COMMENT: &str = "netloom:";
/// How long the name of rules may be.
pub const LONGEST_NAME: usize = 20;
/// For how many seconds they wait for others of their kind.
const PATIENCE: &str = "30";
/// Packets that were diverted bear marks with this prefix: "ne".
const MARKS: u32 = 0x6e65_0000;
/// The bits of the prefix. Marks of connections have what is behind the prefix in these bits: many a program uses the lower ones.
const PREFIX: u32 = 0xffff_0000;
/// The firewall of a network namespace, and the name of rules in it.
#[derive(Debug)]
pub struct Firewall {
    home: File,
    name: String,
}

/// A set of rules of the firewall: the packets that they divert, and the queue that takes these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diversion {
    /// The number of the queue.
    pub queue: u16,
    /// The last 16 bits of the marks of these rules, which distinguish them from other rules.
    pub tag: NonZeroU16,
    /// The conditions of each rule, as `iptables` takes them: for IPv4, and for IPv6.
    pub tables: [Vec<String>; 2],
    /// The conditions of each rule, as `nft` takes them, for both IPv4 and IPv6.
    pub nft: Vec<String>,
    /// Whose packets are meant, if not everybody's.
    pub made: Option<Made>,
}

/// The packets that somebody makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    /// The conditions that they meet, as `iptables` takes them: for IPv4, and for IPv6.
    pub tables: [Vec<String>; 2],
    /// The conditions that they meet, as `nft` takes them, for both IPv4 and IPv6.
    pub nft: Vec<String>,
    /// Whether they are diverted and nothing else; else, what meets the conditions of the diversion and belongs to a connection in
    /// which they made one.
    pub alone: bool,
}

impl Diversion {
    /// Returns the mark that a packet carries when it is sent again, so that it is not diverted once more.
    pub fn mark(&self) -> u32 {
        MARKS | u32::from(self.tag.get())
    }

    fn mark_of_connections(&self) -> u32 {
        u32::from(self.tag.get()) << 16
    }
}

impl Firewall {
    /// Returns the firewall of this process's network namespace, for rules of this name.
    ///
    /// # Errors
    /// The kernel's refusal, or that the name is too long.
    pub fn here(name: &str) -> Result<Self, KernelError> {
        if name.len() > LONGEST_NAME {
            let message = format!("\"{name}\" is too long: rules have names of {LONGEST_NAME} characters at most");
            return Err(KernelError::new("name rules of the firewall", 0).with_detail(message));
        }
        let home = File::open("/proc/self/ns/net")
            .map_err(|error| KernelError::from_io("open this process's network namespace", &error))?;
        Ok(Self { home, name: name.to_owned() })
    }

    /// Writes the rules, after removing those that the name has.
    ///
    /// # Errors
    /// What the firewall's program said, and what may be missing. Nothing is left of the rules then.
    pub fn divert(&self, diversion: &Diversion) -> Result<(), KernelError> {
        self.remove()?;
        let by_tables = FAMILIES.iter().enumerate().try_for_each(|(place, family)| {
            let is_nothing = diversion.tables[place].is_empty();
            if is_nothing { Ok(()) } else { self.write(family, &self.text(diversion, place)) }
        });
        let Err(tables) = by_tables else { return Ok(()) };
        // One family may have been written. The error that is reported is the first.
        let _ = self.remove();
        if !is_there(NFT) {
            return Err(self.refused("write", &tables));
        }
        let by_nft = self.told(NFT, &["-f", "-"], &nft::table(&self.chain(), diversion));
        by_nft.map_err(|nft| self.refused("write", &format!("{tables}; {nft}")))
    }

    /// Removes the rules of the name, if there are any.
    ///
    /// # Errors
    /// What the firewall's program said.
    pub fn remove(&self) -> Result<(), KernelError> {
        for program in FAMILIES.iter().flat_map(|family| variants(family)) {
            let Some(listed) = self.listed(&program, &["-w", PATIENCE, "-t", "mangle", "-S"]) else { continue };
            let text = removal(&listed, &self.name);
            if !text.is_empty() {
                self.restore(&program, &text).map_err(|why| self.refused("remove", &why))?;
            }
        }
        tables::tidy(|arguments, input| self.output(NFT, arguments, input));
        let removal = self.listed(NFT, &["list", "tables"]).and_then(|listed| nft::removal(&listed, &self.chain()));
        removal.map_or(Ok(()), |text| self.told(NFT, &["-f", "-"], &text).map_err(|why| self.refused("remove", &why)))
    }

    /// The numbers of the queues that rules name, whoever's they are, in the tables where such rules usually are.
    pub fn queues_of_rules(&self) -> Vec<std::ops::RangeInclusive<u16>> {
        let programs = FAMILIES.iter().flat_map(|family| variants(family));
        let listings = programs.flat_map(|program| ["mangle", "filter"].map(|table| (program.clone(), table)));
        let listed =
            listings.filter_map(|(program, table)| self.listed(&program, &["-w", PATIENCE, "-t", table, "-S"]));
        let by_nft = self.listed(NFT, &["list", "ruleset"]).map(|ruleset| nft::queues(&ruleset));
        listed.flat_map(|rules| queues(&rules)).chain(by_nft.into_iter().flatten()).collect()
    }

    fn chain(&self) -> String {
        format!("{CHAIN}{}", self.name)
    }

    /// The rules for a family.
    fn text(&self, diversion: &Diversion, family: usize) -> String {
        let (chain, comment) = (self.chain(), format!("-m comment --comment {}{}", COMMENT, self.name));
        let to_queue = format!("{comment} -j NFQUEUE --queue-num {} --queue-bypass", diversion.queue);
        let mut lines = vec!["*mangle".to_owned(), format!(":{chain} - [0:0]")];
        lines.push(format!("-A {chain} -m mark --mark {MARKS:#x}/{PREFIX:#x} -j RETURN"));
        let connections = match &diversion.made {
            Some(made) if made.alone => {
                let made = made.tables[family].iter().map(|condition| format!("-A {chain} {condition} {to_queue}"));
                lines.extend(made.chain([format!("-A OUTPUT {comment} -j {chain}"), "COMMIT\n".to_owned()]));
                return lines.join("\n");
            }
            Some(made) => {
                let (mark, own) = (diversion.mark(), diversion.mark_of_connections());
                let marks = format!("{comment} -j CONNMARK --set-xmark {own:#x}/{PREFIX:#x}");
                // The kernel forgets a connection whose first packet is taken out: what is sent in its place marks it again.
                lines.push(format!("-A OUTPUT -m mark --mark {mark:#x} {marks}"));
                let other = format!("-A OUTPUT -m mark ! --mark {MARKS:#x}/{PREFIX:#x}");
                lines.extend(made.tables[family].iter().map(|condition| format!("{other} {condition} {marks}")));
                format!(" -m connmark --mark {own:#x}/{PREFIX:#x}")
            }
            None => String::new(),
        };
        for condition in &diversion.tables[family] {
            let space = if condition.is_empty() { "" } else { " " };
            lines.push(format!("-A {chain}{connections}{space}{condition} {to_queue}"));
        }
        lines.push(format!("-A OUTPUT {comment} -j {chain}"));
        lines.push(format!("-A PREROUTING ! -i lo {comment} -j {chain}"));
        lines.push("COMMIT\n".to_owned());
        lines.join("\n")
    }

    /// Has the first program write the rules that the kernel takes them from.
    fn write(&self, family: &str, text: &str) -> Result<(), String> {
        let mut first = None;
        for program in variants(family) {
            match self.restore(&program, text) {
                Ok(()) => return Ok(()),
                Err(why) => drop(first.get_or_insert(why)),
            }
        }
        let missing = || format!("the program `{family}` is not installed: install the package iptables, or nftables");
        Err(first.unwrap_or_else(missing))
    }

    fn refused(&self, what: &str, why: &str) -> KernelError {
        KernelError::new(format!("{what} the firewall's rules for {}", self.name), 0).with_detail(with_advice(why))
    }

    fn restore(&self, program: &str, text: &str) -> Result<(), String> {
        self.told(&format!("{program}-restore"), &["-w", PATIENCE, "--noflush"], text)
    }

    /// What a program lists; none if there is no such program.
    fn listed(&self, program: &str, arguments: &[&str]) -> Option<String> {
        self.output(program, arguments, "")
    }

    fn output(&self, program: &str, arguments: &[&str], input: &str) -> Option<String> {
        let output = self.run(program, arguments, input).ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Has a program carry out a text; the first line of what it says against it.
    fn told(&self, program: &str, arguments: &[&str], text: &str) -> Result<(), String> {
        let output = self.run(program, arguments, text).map_err(|error| format!("{program}: {error}"))?;
        tables::objection(&output).map_or(Ok(()), |why| Err(format!("{program}: {why}")))
    }

    /// Runs a program in the namespace of the rules.
    fn run(&self, program: &str, arguments: &[&str], input: &str) -> io::Result<Output> {
        let home = self.home.as_raw_fd();
        let mut command = tables::command(program, arguments);
        let enter = move || {
            // SAFETY: the parent keeps the descriptor open while it waits for this process.
            setns(unsafe { BorrowedFd::borrow_raw(home) }, CloneFlags::CLONE_NEWNET).map_err(io::Error::from)
        };
        // SAFETY: between fork and exec this makes one system call, and allocates nothing.
        unsafe { command.pre_exec(enter) };
        tables::run(command, input)
    }
}

/// The programs of a family that this machine has.
fn variants(family: &str) -> Vec<String> {
    VARIANTS.iter().map(|variant| format!("{family}{variant}")).filter(|program| is_there(program)).collect()
}

/// What removes all that `listed` has of a name; nothing if it has nothing.
fn removal(listed: &str, name: &str) -> String {
    let chain = format!("{CHAIN}{name}");
    let declared = format!("-N {chain}");
    let within = format!("-A {chain} ");
    let is_there = listed.lines().any(|line| line == declared);
    let outside = listed.lines().filter(|line| !line.starts_with(&within) && is_named(line, name));
    let mut lines: Vec<String> =
        outside.filter_map(|line| line.strip_prefix("-A ")).map(|rule| format!("-D {rule}")).collect();
    if is_there {
        lines.extend([format!("-F {chain}"), format!("-X {chain}")]);
    }
    if lines.is_empty() { String::new() } else { format!("*mangle\n{}\nCOMMIT\n", lines.join("\n")) }
}

/// Whether a rule bears the name in its comment. Some programs put it in quotes.
fn is_named(rule: &str, name: &str) -> bool {
    let mut words = rule.split_ascii_whitespace().skip_while(|word| *word != "--comment").skip(1);
    words.next().and_then(|word| word.trim_matches('"').strip_prefix(COMMENT)) == Some(name)
}

/// The queues that rules name.
fn queues(listed: &str) -> Vec<std::ops::RangeInclusive<u16>> {
    let mut found = Vec::new();
    for line in listed.lines() {
        let mut words = line.split_ascii_whitespace();
        while let Some(word) = words.next() {
            let value = match word {
                "--queue-num" | "--queue-balance" => words.next().unwrap_or_default(),
                _ => continue,
            };
            let (first, last) = value.split_once(':').unwrap_or((value, value));
            if let (Ok(first), Ok(last)) = (first.parse(), last.parse()) {
                found.push(first..=last);
            }
        }
    }
    found
}

fn with_advice(why: &str) -> String {
    let advice = if ["owner", "connmark", "CONNMARK"].iter().any(|part| why.contains(part)) {
        ": this kernel lacks a part for `user` and `group`: try `modprobe -a xt_owner xt_connmark nf_conntrack`, or leave them out"
    } else if why.contains("NFQUEUE") || why.contains("No such file") || why.contains("No chain/target/match") {
        ": this kernel lacks a part: try `modprobe -a nfnetlink_queue nft_queue xt_NFQUEUE xt_mark xt_comment xt_multiport xt_dscp`"
    } else if why.contains("Permission denied") || why.contains("Operation not permitted") {
        ": this takes the right to administer the network (CAP_NET_ADMIN): run it as root, or in a network namespace of your own"
    } else {
        ""
    };
    format!("{why}{advice}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diversion(conditions: Vec<String>) -> Diversion {
        let tag = NonZeroU16::new(0x4e4c).expect("it is not zero");
        Diversion { queue: 7, tag, tables: [conditions, Vec::new()], nft: Vec::new(), made: None }
    }

    #[test]
    fn rules_divert_each_packet_once() {
        let firewall = Firewall::here("web").expect("a namespace");
        let conditions = vec!["-d 10.0.0.0/8 -p 6".to_owned(), String::new()];
        let mut diversion = diversion(conditions);
        assert_eq!(
            firewall.text(&diversion, 0),
            "*mangle\n:netloom-web - [0:0]\n-A netloom-web -m mark --mark 0x6e650000/0xffff0000 -j RETURN\n\
             -A netloom-web -d 10.0.0.0/8 -p 6 -m comment --comment netloom:web -j NFQUEUE --queue-num 7 --queue-bypass\n\
             -A netloom-web -m comment --comment netloom:web -j NFQUEUE --queue-num 7 --queue-bypass\n\
             -A OUTPUT -m comment --comment netloom:web -j netloom-web\n\
             -A PREROUTING ! -i lo -m comment --comment netloom:web -j netloom-web\nCOMMIT\n"
        );
        let made = |alone| Made { tables: [vec!["-m owner --uid-owner 7".into()], Vec::new()], nft: Vec::new(), alone };
        diversion.made = Some(made(false));
        assert_eq!(
            firewall.text(&diversion, 0),
            "*mangle\n:netloom-web - [0:0]\n-A netloom-web -m mark --mark 0x6e650000/0xffff0000 -j RETURN\n\
             -A OUTPUT -m mark --mark 0x6e654e4c -m comment --comment netloom:web -j CONNMARK --set-xmark 0x4e4c0000/0xffff0000\n\
             -A OUTPUT -m mark ! --mark 0x6e650000/0xffff0000 -m owner --uid-owner 7 -m comment --comment netloom:web \
             -j CONNMARK --set-xmark 0x4e4c0000/0xffff0000\n\
             -A netloom-web -m connmark --mark 0x4e4c0000/0xffff0000 -d 10.0.0.0/8 -p 6 -m comment --comment netloom:web \
             -j NFQUEUE --queue-num 7 --queue-bypass\n\
             -A netloom-web -m connmark --mark 0x4e4c0000/0xffff0000 -m comment --comment netloom:web \
             -j NFQUEUE --queue-num 7 --queue-bypass\n\
             -A OUTPUT -m comment --comment netloom:web -j netloom-web\n\
             -A PREROUTING ! -i lo -m comment --comment netloom:web -j netloom-web\nCOMMIT\n"
        );
        diversion.made = Some(made(true));
        assert_eq!(
            firewall.text(&diversion, 0),
            "*mangle\n:netloom-web - [0:0]\n-A netloom-web -m mark --mark 0x6e650000/0xffff0000 -j RETURN\n\
             -A netloom-web -m owner --uid-owner 7 -m comment --comment netloom:web -j NFQUEUE --queue-num 7 --queue-bypass\n\
             -A OUTPUT -m comment --comment netloom:web -j netloom-web\nCOMMIT\n"
        );
        let wrong = Firewall::here("a-name-of-more-than-twenty").expect_err("it is too long").to_string();
        assert!(wrong.ends_with("rules have names of 20 characters at most"), "{wrong}");
    }

    #[test]
    fn removal_takes_what_is_there_and_nothing_else() {
        let listed = "-P OUTPUT ACCEPT\n-N netloom-web\n-N netloom-web2\n-A OUTPUT -m comment --comment \"netloom:web\" -j netloom-web\n\
                      -A OUTPUT -m comment --comment netloom:web -j CONNMARK --set-xmark 0x70000/0xffff0000\n\
                      -A OUTPUT -m comment --comment \"netloom:web2\" -j netloom-web2\n-A OUTPUT -m comment --comment \"mine netloom:web\" -j DROP\n\
                      -A netloom-web -m comment --comment \"netloom:web\" -j NFQUEUE --queue-num 7 --queue-bypass\n";
        assert_eq!(
            removal(listed, "web"),
            "*mangle\n-D OUTPUT -m comment --comment \"netloom:web\" -j netloom-web\n\
             -D OUTPUT -m comment --comment netloom:web -j CONNMARK --set-xmark 0x70000/0xffff0000\n\
             -F netloom-web\n-X netloom-web\nCOMMIT\n"
        );
        assert_eq!(removal("-P OUTPUT ACCEPT\n-N netloom-web2\n", "web"), "");
    }

    #[test]
    fn queues_of_others_are_seen() {
        let listed = "-A OUTPUT -j NFQUEUE --queue-num 5 --queue-bypass\n-A INPUT -j NFQUEUE --queue-balance 7:9\n-A x --queue-num y\n";
        assert_eq!(queues(listed), [5..=5, 7..=9]);
    }

    #[test]
    fn what_may_be_missing_is_named() {
        assert!(with_advice("iptables-restore: Couldn't load target `NFQUEUE'").contains("modprobe"));
        assert!(with_advice("Couldn't load match `owner':No such file").contains("xt_owner"));
        assert!(with_advice("Fatal: can't open lock file: Permission denied").contains("CAP_NET_ADMIN"));
        assert_eq!(with_advice("else"), "else");
    }
}
