//! The plan as text, for people.

use crate::plan::{Action, Direction, Event, LinkPlan, Plan, ReadyWhen, RunCommand};
use netloom_link::{LossConfig, PipeChange, QueueConfig};
use netloom_units::{Duration, Rate};
use std::net::IpAddr;

impl Plan {
    /// The plan as tables: what `netloom check` prints.
    pub fn to_text(&self) -> String {
        let mut parts = vec![self.headline(), table(&self.node_rows())];
        for (title, rows) in [
            ("Links", self.link_rows()),
            ("Routes", self.route_rows()),
            ("Timeline", self.timeline.iter().map(|event| self.event_row(event)).collect()),
        ] {
            if !rows.is_empty() {
                parts.push(format!("{title}\n{}", table(&rows)));
            }
        }
        if !self.expect.is_empty() {
            let lines: Vec<String> =
                self.expect.iter().map(|expectation| format!("  {}\n", expectation.text)).collect();
            parts.push(format!("Expected\n{}", lines.concat()));
        }
        parts.join("\n")
    }

    fn headline(&self) -> String {
        let until = self.duration.map_or_else(String::new, |duration| format!(", at most {duration}"));
        let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let (nodes, links) = (counted(self.nodes.len(), "node"), counted(self.links.len(), "link"));
        format!("Lab {}: {nodes}, {links}, seed {}, {}{until}\n\nNodes", self.name, self.seed, self.precision.name())
    }

    fn node_rows(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for node in &self.nodes {
            let cpus = node.cpus.map_or_else(String::new, |cpus| format!("{cpus} cores"));
            let mut head = vec![node.name.clone(), node.kind.name().to_owned(), cpus];
            for interface in &node.interfaces {
                let of_family = |v6: bool| {
                    let nets = interface.addresses.iter().filter(|net| net.addr().is_ipv6() == v6);
                    nets.map(ToString::to_string).collect::<Vec<_>>().join(" ")
                };
                let mut row = std::mem::replace(&mut head, vec![String::new(); 3]);
                let link = self.links[interface.link].name.clone();
                row.extend([interface.name.clone(), link, of_family(false), of_family(true)]);
                rows.push(row);
            }
            if node.interfaces.is_empty() {
                rows.push(head);
            }
        }
        rows
    }

    fn link_rows(&self) -> Vec<Vec<String>> {
        self.links.iter().flat_map(|link| Direction::BOTH.map(|direction| self.pipe_row(link, direction))).collect()
    }

    fn pipe_row(&self, link: &LinkPlan, direction: Direction) -> Vec<String> {
        let node = |end: usize| self.nodes[link.ends[end].node].name.as_str();
        let pipe = &link.pipes[direction.index()];
        let name = if direction == Direction::Forward { link.name.clone() } else { String::new() };
        let from = direction.index();
        vec![
            name,
            direction.to_string(),
            format!("{} to {}", node(from), node(1 - from)),
            rate(pipe.rate),
            span(pipe.delay),
            // Without a rate nothing ever waits.
            pipe.rate.map_or_else(String::new, |_| format!("queue {}", queue(&pipe.queue))),
            loss(&pipe.loss),
        ]
    }

    fn route_rows(&self) -> Vec<Vec<String>> {
        let mut rows = Vec::new();
        for node in &self.nodes {
            let mut name = node.name.clone();
            for route in &node.routes {
                let destination = match (route.destination.prefix_len(), route.destination.addr()) {
                    (0, IpAddr::V4(_)) => "default".to_owned(),
                    (0, IpAddr::V6(_)) => "default (IPv6)".to_owned(),
                    _ => route.destination.to_string(),
                };
                let interface = &node.interfaces[route.interface].name;
                rows.push(vec![std::mem::take(&mut name), destination, format!("via {} ({interface})", route.via)]);
            }
        }
        rows
    }

    fn event_row(&self, event: &Event) -> Vec<String> {
        let (place, what) = match &event.action {
            Action::Run(run) => (self.nodes[run.node].name.clone(), run_text(run)),
            Action::Set { link, direction, change } => {
                let direction = direction.map_or_else(String::new, |direction| format!(".{direction}"));
                (format!("{}{direction}", self.links[*link].name), change_text(change))
            }
            Action::Down { link, duration } => {
                let lasting = duration.map_or_else(String::new, |duration| format!(" for {duration}"));
                (self.links[*link].name.clone(), format!("down{lasting}"))
            }
            Action::Up { link } => (self.links[*link].name.clone(), "up".into()),
        };
        let starts_first = matches!(&event.action, Action::Run(run) if run.service);
        let at = match event.at {
            None if starts_first => "before".into(),
            at => span(at.unwrap_or_default()),
        };
        vec![at, place, what]
    }
}

fn run_text(run: &RunCommand) -> String {
    let command: Vec<String> = run.command.to_string().split_whitespace().map(str::to_owned).collect();
    let mut text = format!("{}: {}", run.name, command.join(" "));
    let ready = run.ready.as_ref().map(|ready| match &ready.when {
        ReadyWhen::Tcp(port) => format!("ready when TCP port {port} listens"),
        ReadyWhen::File(path) => format!("ready when {path} exists"),
        ReadyWhen::Command(probe) => format!("ready when `{probe}` succeeds"),
        ReadyWhen::Pause(span) => format!("ready after {span}"),
    });
    let notes = [
        run.service.then(|| "service".to_owned()),
        ready,
        run.stop_after.map(|span| format!("stopped after {span}")),
        run.save.as_ref().map(|file| format!("saved as {file}")),
        run.may_fail.then(|| "may fail".to_owned()),
    ];
    let notes: Vec<String> = notes.into_iter().flatten().collect();
    if !notes.is_empty() {
        text.push_str(&format!("  ({})", notes.join(", ")));
    }
    text
}

fn change_text(change: &PipeChange) -> String {
    let parts = [
        change.rate.map(|changed| format!("rate {}", rate(changed))),
        change.delay.map(|delay| format!("delay {}", span(delay))),
        change.queue.as_ref().map(|changed| format!("queue {}", queue(changed))),
        change.loss.as_ref().map(|changed| match changed {
            LossConfig::None => "loss 0 %".to_owned(),
            LossConfig::Independent(_) => loss(changed),
        }),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn rate(rate: Option<Rate>) -> String {
    rate.map_or_else(|| "unlimited".to_owned(), |rate| rate.to_string())
}

/// Zero is zero in every unit, and seconds are the least surprising one.
fn span(span: Duration) -> String {
    if span.is_zero() { "0 s".into() } else { span.to_string() }
}

fn queue(queue: &QueueConfig) -> String {
    let QueueConfig::DropTail(limit) = queue;
    limit.to_string()
}

fn loss(loss: &LossConfig) -> String {
    match loss {
        LossConfig::None => String::new(),
        LossConfig::Independent(share) => format!("loss {share}"),
    }
}

/// Rows with aligned columns, indented by two blanks.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .filter(|(_, wide)| **wide > 0)
            .map(|(cell, wide)| format!("{cell:wide$}"))
            .collect();
        text.push_str(format!("  {}", cells.join("  ")).trim_end());
        text.push('\n');
    }
    text
}
