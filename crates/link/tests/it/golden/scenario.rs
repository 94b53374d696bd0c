//! The input half of a golden file.

use netloom_link::{PipeChange, PipeConfig};
use netloom_testing::loads::{Load, Transport};
use netloom_units::{Duration, Instant, Seed};
use std::{fmt::Display, str::FromStr};

/// What a file describes.
#[derive(Debug, Default)]
pub(crate) struct Scenario {
    pub(crate) config: PipeConfig,
    pub(crate) coalesce: Duration,
    pub(crate) seed: Seed,
    pub(crate) inputs: Vec<(Instant, Input)>,
}

#[derive(Debug)]
pub(crate) enum Input {
    /// A load, its bits of congestion notification, and its source port unless that is zero.
    Send(Load, u8, u16),
    Change(Box<PipeChange>),
    Up(bool),
}

impl Scenario {
    /// Reads the lines above the separator; an error names the line.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut scenario = Self::default();
        for (index, raw) in text.lines().enumerate() {
            let line = raw.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                scenario.line(line).map_err(|error| format!("line {}: {error}", index + 1))?;
            }
        }
        Ok(scenario)
    }

    fn line(&mut self, line: &str) -> Result<(), String> {
        match split(line) {
            ("at", rest) => self.input(rest),
            ("seed", value) => parse(value).map(|seed| self.seed = seed),
            ("coalesce", value) => parse(value).map(|coalesce| self.coalesce = coalesce),
            (key, value) => change(key, value).map(|change| self.config = change.applied_to(&self.config)),
        }
    }

    /// `5 ms send 1500 * 3`, `5 ms set rate 1 Mbit/s`, `5 ms down`, `5 ms up`.
    fn input(&mut self, text: &str) -> Result<(), String> {
        let (number, behind_number) = split(text);
        let (unit, event) = split(behind_number);
        let at = Instant::ZERO + parse::<Duration>(&format!("{number} {unit}"))?;
        if self.inputs.last().is_some_and(|(before, _)| *before > at) {
            return Err("goes back in time".to_owned());
        }
        match split(event) {
            ("send", what) => {
                let (load, times) = what.split_once('*').unwrap_or((what, "1"));
                let (plain, ecn) = split_ecn(load.trim());
                let (plain, flow) = plain.split_once(" flow ").unwrap_or((plain, "0"));
                let (parsed, port) = (parse_load(plain)?, parse(flow)?);
                let count: usize = parse(times.trim())?;
                self.inputs.extend((0..count).map(|_| (at, Input::Send(parsed, ecn, port))));
            }
            ("set", what) => {
                let (key, value) = split(what);
                self.inputs.push((at, Input::Change(Box::new(change(key, value)?))));
            }
            ("down", "") => self.inputs.push((at, Input::Up(false))),
            ("up", "") => self.inputs.push((at, Input::Up(true))),
            (other, _) => return Err(format!("unknown input \"{other}\"")),
        }
        Ok(())
    }
}

/// A key of the configuration, which is also what `set` can change: as a lab file would have it.
fn change(key: &str, value: &str) -> Result<PipeChange, String> {
    netloom_lab::parse_change(key, value).map_err(|error| error.to_string())
}

/// Takes `ect0`, `ect1` or `ce` off the end (RFC 3168, section 5); without them the sender is not capable of ECN.
fn split_ecn(text: &str) -> (&str, u8) {
    let words = [(" ect1", 0b01), (" ect0", 0b10), (" ce", 0b11)];
    let found = words.iter().find_map(|(word, ecn)| text.strip_suffix(word).map(|load| (load, *ecn)));
    found.unwrap_or((text, 0))
}

/// `1500`: one packet of that IP length; `44x1448 tcp`, `3x1472+100 udp`: a train of segments with that much payload.
fn parse_load(text: &str) -> Result<Load, String> {
    let (size, kind) = split(text);
    let transport = match kind {
        "" => return parse(size).map(Load::Plain),
        "tcp" => Transport::Tcp,
        "udp" => Transport::Udp,
        other => return Err(format!("unknown transport \"{other}\"")),
    };
    let (full, payloads) = size.split_once('x').ok_or_else(|| format!("\"{size}\" is not like 44x1448"))?;
    let (payload, last) = payloads.split_once('+').unwrap_or((payloads, "0"));
    Ok(Load::Train { transport, full: parse(full)?, payload: parse(payload)?, last: parse(last)? })
}

/// The first word and what follows it.
fn split(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    (word, rest.trim())
}

fn parse<T: FromStr<Err: Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|error: T::Err| format!("\"{text}\": {error}"))
}
