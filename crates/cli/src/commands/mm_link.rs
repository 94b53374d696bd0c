//! The options of mahimahi's `mm-link`, read as it reads them.

use std::ffi::OsString;

/// A queue of one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Queue {
    kind: Option<String>,
    arguments: String,
}

/// A direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Way {
    pub(super) trace: String,
    pub(super) log: Option<String>,
    pub(super) queue: Queue,
}

/// What is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MmLink {
    /// Out and in.
    pub(super) ways: [Way; 2],
    pub(super) once: bool,
    /// Whether live graphs are wanted.
    pub(super) meters: bool,
    pub(super) argv: Vec<OsString>,
}

const USAGE: &str = "write `mm-link UPLINK-TRACE DOWNLINK-TRACE [OPTION]... [--] [COMMAND]`; --help shows the options";

impl MmLink {
    /// Reads the words behind `mm-link`. Options come before the command; traces may come before options.
    pub(super) fn read(words: &[OsString]) -> Result<Self, String> {
        let mut read = Self::default();
        let mut traces = Vec::new();
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let text = word.to_str();
            match text {
                Some("--") => {
                    // What is not there yet comes behind the dashes, as for getopt(3).
                    while traces.len() < 2 {
                        traces.push(rest.next().ok_or(USAGE)?.clone());
                    }
                    read.argv = rest.cloned().collect();
                    break;
                }
                Some(option) if option.starts_with('-') && option.len() > 1 => {
                    read.option(option, || rest.next().and_then(|next| next.to_str()).map(str::to_owned))?;
                }
                _ if traces.len() < 2 => traces.push(word.clone()),
                _ => {
                    read.argv = std::iter::once(word).chain(rest).cloned().collect();
                    break;
                }
            }
        }
        let [up, down] = <[OsString; 2]>::try_from(traces).map_err(|_| USAGE)?;
        for (way, trace) in read.ways.iter_mut().zip([up, down]) {
            way.trace = trace.into_string().map_err(|trace| format!("{}: its name is not UTF-8", trace.display()))?;
        }
        Ok(read)
    }

    fn option(&mut self, option: &str, next: impl FnOnce() -> Option<String>) -> Result<(), String> {
        let (name, value) =
            option.split_once('=').map_or((option, None), |(name, value)| (name, Some(value.to_owned())));
        let flag = match name {
            "--once" => Some(&mut self.once),
            "--meter-uplink"
            | "--meter-uplink-delay"
            | "--meter-downlink"
            | "--meter-downlink-delay"
            | "--meter-all" => Some(&mut self.meters),
            _ => None,
        };
        if let Some(flag) = flag {
            *flag = true;
            return value.map_or(Ok(()), |_| Err(format!("{name} takes no value")));
        }
        let (way, what) = match name {
            "-u" => (0, "log"),
            "-d" => (1, "log"),
            _ => match (name.strip_prefix("--uplink-"), name.strip_prefix("--downlink-")) {
                (Some(what), _) => (0, what),
                (_, Some(what)) => (1, what),
                _ => return Err(format!("{name} is no option of mm-link: {USAGE}")),
            },
        };
        let value = || value.or_else(next).ok_or_else(|| format!("{name} needs a value"));
        let way = &mut self.ways[way];
        match what {
            "log" => way.log = Some(value()?),
            "queue" => way.queue.kind = Some(value()?),
            "queue-args" => way.queue.arguments = value()?,
            _ => return Err(format!("{name} is no option of mm-link: {USAGE}")),
        }
        Ok(())
    }
}

/// Packets that wait for a link without bound: more than memory holds.
const INFINITE: &str = "4000000000 packets";

impl Queue {
    /// The value of the key `queue` of a lab file.
    pub(super) fn key(&self) -> Result<String, String> {
        let kind = self.kind.as_deref().unwrap_or("infinite");
        if kind == "infinite" {
            return match self.arguments.is_empty() {
                true => Ok(INFINITE.into()),
                false => Err("an infinite queue has no arguments".into()),
            };
        }
        let limit = self.limit(kind)?;
        let both = |one: &str, other: &str| match (self.argument(one)?, self.argument(other)?) {
            (Some(one), Some(other)) => Ok((one, other)),
            _ => Err(format!("the queue {kind} needs `{one}` and `{other}`, in milliseconds")),
        };
        match kind {
            "droptail" => Ok(limit),
            "drophead" => Ok(format!("{{kind: fifo, limit: {limit}, drop: head}}")),
            "codel" => {
                let (target, interval) = both("target", "interval")?;
                Ok(format!("{{kind: codel, limit: {limit}, target: {target} ms, interval: {interval} ms}}"))
            }
            "pie" => {
                let (target, burst) = both("qdelay_ref", "max_burst")?;
                Ok(format!("{{kind: pie, limit: {limit}, target: {target} ms, update: 30 ms, burst: {burst} ms}}"))
            }
            other => Err(format!("there is no queue `{other}`: these are infinite, droptail, drophead, codel and pie")),
        }
    }

    /// What mahimahi calls it in its log.
    pub(super) fn title(&self) -> String {
        let limits = |name: &str| self.argument(name).ok().flatten().map(|value| format!("{name}={value}"));
        let limits: Vec<String> = ["bytes", "packets"].into_iter().filter_map(limits).collect();
        match self.kind.as_deref() {
            None | Some("infinite") => "infinite".into(),
            Some(kind) => format!("{kind} [{}]", limits.join(", ")),
        }
    }

    fn limit(&self, kind: &str) -> Result<String, String> {
        match (self.argument("packets")?, self.argument("bytes")?) {
            (Some(packets), None) => Ok(format!("{packets} packets")),
            (None, Some(bytes)) => Ok(format!("{bytes} B")),
            (None, None) => Err(format!("the queue {kind} needs a limit: `packets=60` or `bytes=90000`")),
            (Some(_), Some(_)) => Err(format!(
                "the queue {kind} has one limit here: write `packets` or `bytes`, whichever is reached first"
            )),
        }
    }

    /// The number behind `NAME=` among the arguments; zero counts as none, as for mahimahi.
    fn argument(&self, name: &str) -> Result<Option<u32>, String> {
        for part in self.arguments.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (known, value) = part.split_once('=').ok_or_else(|| format!("`{part}`: write NAME=NUMBER"))?;
            let names = ["bytes", "packets", "target", "interval", "qdelay_ref", "max_burst"];
            if !names.contains(&known.trim()) {
                return Err(format!("`{known}` is no argument of a queue: these are {}", names.join(", ")));
            }
            if known.trim() == name {
                let number: u32 = value.trim().parse().map_err(|_| format!("`{part}`: write a whole number"))?;
                return Ok((number > 0).then_some(number));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_lab::parse_change;

    fn read(line: &str) -> Result<MmLink, String> {
        MmLink::read(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn command_lines_are_read_as_mahimahi_does() {
        let link =
            read("up down --once --uplink-log=a.log --downlink-queue droptail -d b.log -- ls -l --once").unwrap();
        assert_eq!([&link.ways[0].trace[..], &link.ways[1].trace], ["up", "down"]);
        assert_eq!(link.ways.clone().map(|way| way.log), [Some("a.log".into()), Some("b.log".into())]);
        assert_eq!(link.ways[1].queue.kind.as_deref(), Some("droptail"));
        assert_eq!((link.once, link.meters, link.argv), (true, false, vec!["ls".into(), "-l".into(), "--once".into()]));
        assert_eq!(read("--meter-all up down ls -l").unwrap().argv, ["ls", "-l"]);
        assert_eq!(read("-- up down ls").unwrap().argv, ["ls"]);
        assert!(read("up down").unwrap().argv.is_empty());
        for wrong in ["up", "up down --downlink-delay=3", "up down --uplink-log", "up down --once=1 ls", "up --"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn queues_are_those_of_the_lab_file() {
        let key = |kind: &str, arguments: &str| {
            Queue { kind: (!kind.is_empty()).then(|| kind.to_owned()), arguments: arguments.to_owned() }.key()
        };
        assert_eq!(key("droptail", "packets=60").unwrap(), "60 packets");
        assert_eq!(key("drophead", "bytes=9000").unwrap(), "{kind: fifo, limit: 9000 B, drop: head}");
        for (kind, arguments) in [
            ("", ""),
            ("infinite", ""),
            ("droptail", "bytes=1"),
            ("drophead", "packets=60"),
            ("codel", "packets=60, target=5, interval=100"),
            ("pie", "packets=60, qdelay_ref=20, max_burst=75"),
        ] {
            let value = key(kind, arguments).unwrap();
            assert!(parse_change("queue", &value).is_ok(), "{value}");
        }
        for (kind, arguments) in [
            ("droptail", ""),
            ("droptail", "packets=0"),
            ("droptail", "packet=5"),
            ("droptail", "packets=x"),
            ("codel", "packets=5"),
            ("infinite", "packets=5"),
            ("red", "packets=5"),
        ] {
            assert!(key(kind, arguments).is_err(), "{kind} {arguments}");
        }
        let queue = Queue { kind: Some("pie".into()), arguments: "packets=5, bytes=7, qdelay_ref=20".into() };
        assert_eq!(queue.title(), "pie [bytes=7, packets=5]");
        assert_eq!(Queue::default().title(), "infinite");
    }
}
