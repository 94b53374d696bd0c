//! The plan as text, for people.

use super::air;
use crate::keyed::WrittenKeys;
use crate::models;
use crate::plan::{
    Action, CapturePlan, Clock, CpuPlan, Direction, Disturbance, JournalPlan, Keep, LinkPart, NodePlan, OnRestart,
    Plan, ReadyWhen, RoutePlan, RunCommand, Shards, Stack, TableRoutePlan, TrafficPlan, Treatment,
};
use crate::{capture, journal, traffic};
use netloom_link::{PipeChange, PipeConfig};
use netloom_units::{Duration, TimePerByte};
use std::fmt::{self, Write};
use std::net::IpAddr;

/// How many such rows are shown: large graphs have hundreds of thousands, in which nobody looks for one.
const MOST_NAMES: usize = 100;

/// As many routes are shown, and those of the node that they end with.
const MOST_ROUTES: usize = 10_000;

/// The tables of a plan, which are formatted part by part as they are displayed: see [`Plan::text`].
#[derive(Clone, Copy, Debug)]
pub struct Text<'a>(&'a Plan);

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plan = self.0;
        write!(f, "{}\n{}", plan.headline(), aligned(&plan.node_rows()))?;
        part(f, "Ports of this machine that lead into nodes, not over links", plan.exposed_rows())?;
        part(f, "Links", plan.link_rows())?;
        part(f, "Not joined in the kernel", plan.hindrance_rows())?;
        plan.write_routes(f)?;
        part(f, "Policy routes", plan.rule_rows())?;
        part(f, "Multicast", plan.group_rows())?;
        part(f, "Names that mean another interface than the first", plan.name_rows())?;
        part(f, "No route between", plan.unreached_rows())?;
        part(f, "Traffic (for `netloom sim`)", plan.traffic_rows())?;
        part(f, "Captures", plan.capture_rows())?;
        part(f, "Journal", plan.journal_rows())?;
        part(f, "Timeline", plan.in_order().map(|number| plan.event_row(number)))?;
        part(f, "Expected", plan.expect.iter().map(|one| vec![one.text.clone()]))?;
        part(f, "Expected of all runs together", plan.over_runs.iter().map(|one| vec![one.text.clone()]))?;
        part(f, "Figures", plan.figures.iter().map(|one| vec![one.name.clone(), one.text.clone()]))?;
        let tasks = plan.exercise.iter().flat_map(|exercise| &exercise.tasks);
        let checks =
            tasks.flat_map(|task| task.checks.iter().map(|check| vec![task.title.clone(), check.text.clone()]));
        part(f, "Tasks", checks)
    }
}

/// A part that is left out if there is nothing in it.
fn part(f: &mut fmt::Formatter<'_>, title: &str, rows: impl IntoIterator<Item = Vec<String>>) -> fmt::Result {
    let table = aligned(&rows.into_iter().collect::<Vec<_>>());
    if table.is_empty() { Ok(()) } else { write!(f, "\n{title}\n{table}") }
}

impl Plan {
    /// Returns the plan as tables, as `netloom check` prints them. They are formatted as they are written, since those of a
    /// large lab have tens of megabytes.
    pub fn text(&self) -> Text<'_> {
        Text(self)
    }

    fn headline(&self) -> String {
        let until = self.duration.map_or_else(String::new, |duration| format!(", at most {duration}"));
        let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let (nodes, links) = (counted(self.nodes.len(), "node"), counted(self.links.len(), "link"));
        let clock = match self.clock {
            Clock::Real => self.engine(),
            Clock::Dilated(factor) => format!("dilation {factor}, {}", self.engine()),
            Clock::Virtual => "virtual time".to_owned(),
        };
        let start = self.start.map_or_else(String::new, |day| format!(", from {day}"));
        format!("Lab {}: {nodes}, {links}, seed {}, {clock}{start}{until}\n\nNodes", self.name, self.seed)
    }

    /// How the packet engine works, as far as that is said.
    fn engine(&self) -> String {
        let precision = self.precision.name();
        match self.shards {
            Shards::Auto => precision.to_owned(),
            Shards::Count(1) => format!("{precision}, 1 shard"),
            Shards::Count(count) => format!("{precision}, {count} shards"),
        }
    }

    fn node_rows(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for node in &self.nodes {
            let machine = if self.is_bridge(node) { "in the kernel".to_owned() } else { machine(node) };
            let mut head = vec![node.name.clone(), node.kind.name().to_owned(), machine];
            for (place, interface) in node.interfaces.iter().enumerate() {
                let of_family = |v6: bool| {
                    let nets = || interface.addresses.iter().filter(|net| net.addr().is_ipv6() == v6);
                    let subnets = interface.leased.iter().filter(|net| net.addr().is_ipv6() == v6);
                    let leased = subnets.map(|net| match nets().find(|own| net.contains(&own.addr())) {
                        Some(own) => format!("{own} (leased)"),
                        None => format!("one of {net}"),
                    });
                    let fixed = nets().filter(|net| !interface.is_leased(net.addr())).map(ToString::to_string);
                    fixed.chain(leased).collect::<Vec<_>>().join(" ")
                };
                let mut row = std::mem::replace(&mut head, vec![String::new(); 3]);
                let link = self.links[interface.end.link()].name.clone();
                row.extend([interface.name.clone(), link, of_family(false), of_family(true)]);
                row.extend(node.switch.as_ref().and_then(|switch| switch.port(place)));
                rows.push(row);
            }
            if node.interfaces.is_empty() {
                rows.push(head);
            }
        }
        rows
    }

    fn exposed_rows(&self) -> Vec<Vec<String>> {
        let each = self.nodes.iter().flat_map(|node| node.expose.iter().map(move |exposed| (node, exposed)));
        each.map(|(node, exposed)| vec![format!("localhost:{}", exposed.name()), exposed.way_to(&node.name)]).collect()
    }

    fn traffic_rows(&self) -> Vec<Vec<String>> {
        let ends =
            |source: &TrafficPlan| [source.from, source.to].map(|node| self.nodes[node].name.as_str()).join(" > ");
        let row = |source: &TrafficPlan| vec![source.name.clone(), ends(source), traffic::write(&source.sends)];
        self.traffic.iter().map(row).collect()
    }

    fn journal_rows(&self) -> Vec<Vec<String>> {
        let row = |journal: &JournalPlan| {
            let name = |(link, direction): &(usize, Option<Direction>)| {
                let direction = direction.map_or_else(String::new, |direction| format!(".{direction}"));
                format!("{}{direction}", self.links[*link].name)
            };
            let links = journal.links.as_ref().map(|links| links.iter().map(name).collect::<Vec<_>>().join(", "));
            vec![links.unwrap_or_else(|| "all links".into()), "journal.arrows".into(), journal::write(journal)]
        };
        self.journal.iter().map(row).collect()
    }

    fn capture_rows(&self) -> Vec<Vec<String>> {
        let row = |capture: &CapturePlan| {
            let ends = capture.link.map(|link| self.ends_of(link)).unwrap_or_default();
            let link = capture.link.map(|link| self.links[link].name.as_str());
            let node = capture.node.map(|node| self.nodes[node].name.as_str());
            let place = [node, link].into_iter().flatten().collect::<Vec<_>>().join(", ");
            vec![place, format!("captures/{}", capture.file), capture::write(capture, &ends)]
        };
        self.capture.iter().map(row).collect()
    }

    fn link_rows(&self) -> Vec<Vec<String>> {
        let each = self.links.iter().enumerate();
        let each =
            each.flat_map(|(place, link)| link.directions().iter().map(move |direction| (place, link, *direction)));
        each.flat_map(|(place, link, direction)| {
            let further = link.treatments[direction.index()].iter().map(treatment_row);
            [self.pipe_row(place, direction)].into_iter().chain(further)
        })
        .collect()
    }

    fn pipe_row(&self, place: usize, direction: Direction) -> Vec<String> {
        let link = &self.links[place];
        let pipe = &link.pipes[direction.index()];
        let name = if direction == Direction::Backward { String::new() } else { link.name.clone() };
        let mut row = vec![name, direction.to_string(), self.way_of(place, direction).join(" to ")];
        row.extend(pipe_cells(pipe));
        if link.bypass.is_joined() {
            row.push("joined in the kernel, not measured".into());
        }
        row
    }

    /// The links that were to be joined in the kernel if possible, and why they are not.
    fn hindrance_rows(&self) -> Vec<Vec<String>> {
        let hindered = self.links.iter().filter_map(|link| Some((link, link.bypass.hindrance()?)));
        hindered.map(|(link, why)| vec![link.name.clone(), format!("because {why}")]).collect()
    }

    /// A large lab has millions of routes: the first ones are shown, and their rows made when they are written.
    fn write_routes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = || self.nodes.iter().filter(|node| !node.routes.is_empty());
        let mut count = 0;
        let is_shown = |node: &&NodePlan| {
            let before = count;
            count += node.routes.len();
            before < MOST_ROUTES
        };
        let shown = all().take_while(is_shown).count();
        let routed = || all().take(shown);
        let more: usize = all().skip(shown).map(|node| node.routes.len()).sum();
        let names = routed().map(|node| node.name.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        let mut widest = 0;
        for route in routed().flat_map(|node| &node.routes) {
            write_destination(&mut text, route)?;
            widest = widest.max(text.len());
            text.clear();
        }
        f.write_str(if widest > 0 { "\nRoutes\n" } else { "" })?;
        for node in routed() {
            let mut name = node.name.as_str();
            for route in &node.routes {
                write_destination(&mut text, route)?;
                let interface = &node.interfaces[route.interface].name;
                writeln!(f, "  {name:names$}  {text:widest$}  via {} ({interface})", route.via)?;
                text.clear();
                name = "";
            }
        }
        if more > 0 {
            writeln!(f, "  and {more} more, of {} nodes: see --json", all().count() - shown)?;
        }
        Ok(())
    }

    fn rule_rows(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for node in &self.nodes {
            let mut name = node.name.clone();
            let interface = |place: usize| node.interfaces[place].name.as_str();
            for rule in &node.rules {
                let said = [
                    rule.from.map(|net| format!("from {net}")),
                    rule.to.map(|net| format!("to {net}")),
                    rule.iif.map(|place| format!("in by {}", interface(place))),
                    rule.mark.map(|mark| format!("mark {mark}")),
                ];
                let said = said.into_iter().flatten().collect::<Vec<_>>().join(", ");
                let is_way = |route: &&TableRoutePlan| {
                    route.table == rule.table && route.destination.addr().is_ipv6() == rule.is_v6
                };
                let way = node.tables.iter().filter(is_way).find_map(|route| Some((route.via?, route.interface)));
                let way = way.map_or_else(String::new, |(via, place)| format!(" via {via} ({})", interface(place)));
                let family = if rule.is_v6 { "IPv6" } else { "IPv4" };
                rows.push(vec![std::mem::take(&mut name), family.into(), said, format!("table {}{way}", rule.table)]);
            }
        }
        rows
    }

    fn group_rows(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for node in &self.nodes {
            let mut name = node.name.clone();
            let interface = |place: &usize| node.interfaces[*place].name.clone();
            for part in &node.groups {
                let from =
                    part.from.as_ref().map_or_else(|| "sends".into(), |place| format!("from {}", interface(place)));
                let to: Vec<String> = part.to.iter().map(interface).collect();
                let to = if to.is_empty() { "receives".into() } else { format!("to {}", to.join(", ")) };
                let source = format!("of {}", self.nodes[part.source].name);
                rows.push(vec![std::mem::take(&mut name), part.group.to_string(), source, from, to]);
            }
        }
        rows
    }

    fn name_rows(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        let more = self.nodes.iter().map(|node| node.names.len()).sum::<usize>().saturating_sub(MOST_NAMES);
        for node in &self.nodes {
            let mut from = format!("on {}", node.name);
            for seen in node.names.iter() {
                let Some((named, interface, addresses)) = self.meant(*seen) else { continue };
                let addresses: Vec<String> = addresses.iter().map(|net| net.addr().to_string()).collect();
                let addresses = addresses.join(" ");
                rows.push(vec![std::mem::take(&mut from), named.to_owned(), interface.to_owned(), addresses]);
                if rows.len() == MOST_NAMES {
                    rows.extend((more > 0).then(|| vec![format!("and {more} more: see --json")]));
                    return rows;
                }
            }
        }
        rows
    }

    fn unreached_rows(&self) -> Vec<Vec<String>> {
        let names = |(one, other): &(usize, usize)| {
            vec![self.nodes[*one].name.clone(), "and".to_owned(), self.nodes[*other].name.clone()]
        };
        let shown = self.unreached.first.iter().map(names);
        let more = self.unreached.pairs - self.unreached.first.len() as u64;
        shown.chain((more > 0).then(|| vec![format!("and {more} more pairs")])).collect()
    }

    /// `backbone`, `backbone.forward`, `backbone.forward.voip` or `backbone.voip`.
    fn part_name(&self, part: &LinkPart) -> String {
        let direction = part.direction.map_or_else(String::new, |direction| format!(".{direction}"));
        let pipe = part.pipe.as_ref().map_or_else(String::new, |pipe| format!(".{pipe}"));
        format!("{}{direction}{pipe}", self.links[part.link].name)
    }

    /// The entries of the timeline: what makes the lab ready, and the rest as the lab file has it.
    fn in_order(&self) -> impl Iterator<Item = usize> {
        let is_setup = |number: &usize| matches!(&self.timeline[*number].action, Action::Run(run) if run.setup);
        let (setups, rest): (Vec<usize>, Vec<usize>) = (0..self.timeline.len()).partition(is_setup);
        setups.into_iter().chain(rest)
    }

    fn event_row(&self, number: usize) -> Vec<String> {
        let event = &self.timeline[number];
        let (place, what) = match &event.action {
            Action::Run(run) => (self.nodes[run.node].name.clone(), run_text(self, run)),
            Action::Set { link, direction, pipe, change } => {
                let direction = direction.map_or_else(String::new, |direction| format!(".{direction}"));
                let pipe = pipe.as_ref().map_or_else(String::new, |pipe| format!(".{pipe}"));
                (format!("{}{direction}{pipe}", self.links[*link].name), change_text(change))
            }
            Action::Down { part, duration, carrier } => {
                let lasting = duration.map_or_else(String::new, |duration| format!(" for {duration}"));
                let seen = if *carrier { ", without carrier" } else { "" };
                (self.part_name(part), format!("down{lasting}{seen}"))
            }
            Action::Up { part } => (self.part_name(part), "up".into()),
            Action::Partition { in_force, links, .. } => {
                let names = || links.iter().map(|link| self.links[*link].name.as_str()).collect::<Vec<_>>().join(" ");
                let what =
                    if in_force.is_empty() { "healed".into() } else { format!("parted: {in_force} (at {})", names()) };
                (String::new(), what)
            }
            Action::Log(text) => (String::new(), format!("log: {text}")),
            Action::Disturb { how, whose, process, duration } => {
                let lasting = duration.map_or_else(String::new, |duration| format!(" for {duration}"));
                let part = if matches!(how, Disturbance::Disk(_)) { "file" } else { "process" };
                let only = process.as_ref().map_or_else(String::new, |process| format!(" ({part} `{process}`)"));
                (self.whose_name(*whose).to_owned(), format!("{how}{only}{lasting}{}", kept(*how)))
            }
        };
        let at = match event.at {
            None if matches!(&event.action, Action::Run(run) if run.setup) => "setup".into(),
            None if self.starts_before_zero(number) => "before".into(),
            None if self.starts_on_restart_only(number) => "restart".into(),
            at => span(at.unwrap_or_default()),
        };
        vec![at, place, what]
    }
}

fn write_destination(text: &mut String, route: &RoutePlan) -> fmt::Result {
    match (route.destination.prefix_len(), route.destination.addr()) {
        (0, IpAddr::V4(_)) => text.write_str("default"),
        (0, IpAddr::V6(_)) => text.write_str("default (IPv6)"),
        _ => write!(text, "{}", route.destination),
    }
}

/// What a node computes with, as far as it is not this machine as it is.
fn machine(node: &NodePlan) -> String {
    let CpuPlan { cost, level } = node.cpu.unwrap_or_default();
    let parts = [
        node.external.as_ref().map(|external| match external.vlan {
            Some(vlan) => format!("VLAN {vlan} of {}", external.interface),
            None => format!("wire of {}", external.interface),
        }),
        node.tunnel.as_ref().map(|tunnel| {
            let seal = if tunnel.key.is_some() { ", encrypted" } else { "" };
            format!("to {} port {}{seal}", tunnel.remote, tunnel.port)
        }),
        node.vm.as_ref().map(ToString::to_string),
        node.container.as_ref().map(ToString::to_string),
        (node.stack == Stack::Kernel).then(|| node.stack.name().to_owned()),
        node.memory.map(|memory| memory.to_string()),
        node.cpus.map(|cpus| format!("{cpus} cores")),
        node.pin.as_ref().map(|pin| format!("on processor {pin}")),
        node.disk
            .as_ref()
            .map(|disk| format!("{} disk of {} at {}", disk.filesystem.name(), disk.size, disk.at.display())),
        node.cores.map(|cores| format!("{cores} for core dumps")),
        (!cost.packet.is_zero()).then(|| format!("{} per packet", cost.packet)),
        (cost.byte > TimePerByte::ZERO).then(|| format!("{} per byte", cost.byte)),
        cost.syscall.map(|cost| format!("{cost} per system call")),
        cost.switch.map(|cost| format!("{cost} per switch")),
        cost.computing.map(|cost| format!("{} per branch", cost.branch)),
        level.map(|level| level.name().to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// The rule of a crash that is not the usual one.
fn kept(how: Disturbance) -> String {
    match how.keep() {
        Some(Keep::Flushed) | None => String::new(),
        Some(keep) => format!(", keep {}", keep.name()),
    }
}

fn treatment_row(treatment: &Treatment) -> Vec<String> {
    let filter = treatment.filter.write_map();
    let mut row = vec![String::new(), format!(".{}", treatment.name), format!("match {filter}")];
    row.extend(pipe_cells(&treatment.config));
    row
}

fn pipe_cells(pipe: &PipeConfig) -> [String; 4] {
    let others = models::written(pipe)
        .into_iter()
        .filter(|(key, _)| !["rate", "delay", "queue"].contains(key))
        .map(|(key, value)| format!("{key} {value}"));
    let others: Vec<String> = pipe.air.iter().map(|air| air::cell(air)).chain(others).collect();
    [
        pipe.air.as_ref().map_or_else(|| models::rate::write(&pipe.rate), |air| air::title(air)),
        models::delay::write(&pipe.delay),
        // Without a rate nothing ever waits.
        pipe.rate.nominal().map_or_else(String::new, |_| format!("queue {}", models::queue::write(&pipe.queue))),
        others.join(", "),
    ]
}

fn run_text(plan: &Plan, run: &RunCommand) -> String {
    let command: Vec<String> = run.command.to_string().split_whitespace().map(str::to_owned).collect();
    let mut text = format!("{}: {}", run.name, command.join(" "));
    let ready = run.ready.as_ref().map(|ready| match &ready.when {
        ReadyWhen::Tcp(port) => format!("ready when TCP port {port} listens"),
        ReadyWhen::Udp(port) => format!("ready when UDP port {port} is bound"),
        ReadyWhen::File(path) => format!("ready when {path} exists"),
        ReadyWhen::Command(probe) => format!("ready when `{probe}` succeeds"),
        ReadyWhen::Pause(span) => format!("ready after {span}"),
        ReadyWhen::Lease(_) => "ready when it has an address".to_owned(),
        ReadyWhen::Routes(prefixes) => format!("ready when its table has {} prefixes", prefixes.len()),
    });
    let after: Vec<&str> = run.after.iter().filter_map(|other| plan.command_name(*other)).collect();
    let later = if run.delay.is_zero() { String::new() } else { format!("{} ", run.delay) };
    let notes = [
        run.service.then(|| if run.once { "service, once" } else { "service" }.to_owned()),
        (run.on_restart != OnRestart::Also).then(|| match run.on_restart {
            OnRestart::Only => "when its node starts again".to_owned(),
            _ => "not when its node starts again".to_owned(),
        }),
        (!after.is_empty()).then(|| format!("{later}after {}", after.join(", "))),
        ready,
        run.stop_after.map(|span| format!("stopped after {span}")),
        (run.stop != plan.stop).then(|| format!("killed {} after SIGTERM", run.stop)),
        run.save.as_ref().map(|file| format!("saved as {file}")),
        run.may_fail.then(|| "may fail".to_owned()),
        run.user.as_ref().map(|user| format!("as user {user}")),
        run.folder.as_ref().map(|folder| format!("in {}", folder.display())),
        run.leads.as_ref().map(|leads| {
            let of: Vec<&str> = leads.of.iter().map(|node| plan.nodes[*node].name.as_str()).collect();
            let lasting = leads.duration.map_or_else(String::new, |duration| format!(" for {duration}"));
            format!("parts the node that it names from the others of {}{lasting}", of.join(" "))
        }),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    if !notes.is_empty() {
        text.push_str(&format!("  ({})", notes.join(", ")));
    }
    text
}

fn change_text(change: &PipeChange) -> String {
    let parts = models::written_change(change).into_iter().map(|(key, value)| format!("{key} {value}"));
    parts.collect::<Vec<_>>().join(", ")
}

/// Zero is zero in every unit, and seconds are the least surprising one.
fn span(span: Duration) -> String {
    if span.is_zero() { "0 s".into() } else { span.to_string() }
}

/// A column is not wider than this for the sake of one cell, which then pushes the rest of its row aside: a delay table
/// of a lab file may take as much room as it likes.
const WIDEST: usize = 120;

/// Rows with aligned columns, indented by two blanks.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let column_cells = |column: usize| rows.iter().filter_map(move |row| row.get(column));
    let widths = (0..columns).map(|column| column_cells(column).map(|cell| cell.chars().count().min(WIDEST)).max());
    let widths: Vec<usize> = widths.map(Option::unwrap_or_default).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .filter(|(_, wide)| **wide > 0)
            .map(|(cell, wide)| format!("{cell}{}", " ".repeat(wide.saturating_sub(cell.chars().count()))))
            .collect();
        text.push_str(format!("  {}", cells.join("  ")).trim_end());
        text.push('\n');
    }
    text
}
