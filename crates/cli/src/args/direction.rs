//! The keys of a link as options, for both of its directions and for each: `--delay 40ms`, `--uplink-rate 5Mbit/s`.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, value_parser};
use netloom_lab::{PROFILES, Profile, check_together, direction_keys, parse_change, parse_pipe};
use std::marker::PhantomData;
use std::sync::LazyLock;

/// What the directions of a link are, as options say it. The defaults are those of a lab file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DirectionKeys<W> {
    /// The typical link to which the others are added.
    profile: Option<String>,
    both: Vec<(String, String)>,
    ways: [Vec<(String, String)>; 2],
    /// Whose rate was said as a trace.
    traced: [bool; 2],
    names: PhantomData<W>,
}

/// Those of a link that is the way out.
pub(crate) type LinkKeys = DirectionKeys<OutAndIn>;
/// Those of a link that has no such end.
pub(crate) type PipeKeys = DirectionKeys<ForwardAndBackward>;

/// What both directions of a link are called.
pub(crate) trait Ways {
    /// What options for one direction begin with.
    const NAMES: [&'static str; 2];
    /// The options that are short for a rate of `kind: delivery-trace`, way by way.
    const TRACES: [Option<(&'static str, &'static str)>; 2];
    /// What stands above the keys in the help.
    const HEADING: &'static str;
}

/// The first is the way out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OutAndIn;

impl Ways for OutAndIn {
    const NAMES: [&'static str; 2] = ["uplink", "downlink"];
    const TRACES: [Option<(&'static str, &'static str)>; 2] = [
        Some(("uplink-trace", "Send outgoing packets at the times of a mahimahi trace")),
        Some(("downlink-trace", "Send incoming packets at the times of a mahimahi trace")),
    ];
    const HEADING: &'static str = "The link, both ways";
}

/// As in lab files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ForwardAndBackward;

impl Ways for ForwardAndBackward {
    const NAMES: [&'static str; 2] = ["forward", "backward"];
    const TRACES: [Option<(&'static str, &'static str)>; 2] = [None, None];
    const HEADING: &'static str = "The pipes, both ways; also --forward-KEY and --backward-KEY with each of these keys";
}

/// The names of profiles, each with what it is.
pub(super) fn profiles() -> PossibleValuesParser {
    PossibleValuesParser::new(PROFILES.iter().map(|profile| PossibleValue::new(profile.name).help(profile.about)))
}

/// All options for one way: clap wants names that live for ever.
static OF_ONE_WAY: LazyLock<Vec<String>> = LazyLock::new(|| {
    let ways = [OutAndIn::NAMES, ForwardAndBackward::NAMES].into_iter().flatten();
    ways.flat_map(|way| direction_keys().map(move |(key, ..)| format!("{way}-{key}"))).collect()
});

impl<W: Ways> DirectionKeys<W> {
    /// The keys and values of both directions: what is said of both first, so that what is said of one counts.
    ///
    /// # Errors
    /// The option whose value is none of its kind, and what would be right.
    pub(crate) fn directions(&self) -> Result<[Vec<(String, String)>; 2], String> {
        let wrong = |prefix: &str, error: &dyn std::fmt::Display| format!("--{prefix}{error}");
        for (key, value) in &self.both {
            parse_change(key, value).map_err(|error| wrong("", &error))?;
        }
        for ((way, keys), is_traced) in W::NAMES.iter().zip(&self.ways).zip(self.traced) {
            for (key, value) in keys {
                parse_change(key, value).map_err(|error| match error.to_string().strip_prefix("rate") {
                    Some(why) if is_traced => format!("--{way}-trace{why}"),
                    _ => wrong(&format!("{way}-"), &error),
                })?;
            }
        }
        // Each for itself is right; together, a string of another tool may contradict a key.
        check_together(&self.both).map_err(|error| format!("of both ways: {error}"))?;
        for (way, keys) in W::NAMES.iter().zip(&self.ways) {
            check_together(keys).map_err(|error| format!("{way}: {error}"))?;
        }
        let base = self
            .profile
            .as_deref()
            .map_or_else(|| Ok(Default::default()), |name| Profile::named(name).map(Profile::keys));
        let mut all = base.map_err(|unknown| format!("--profile: {unknown}"))?;
        for (keys, own) in all.iter_mut().zip(&self.ways) {
            keys.extend(self.both.iter().chain(own).cloned());
        }
        all.iter()
            .zip(W::NAMES)
            .try_for_each(|(keys, way)| parse_pipe(keys).map(drop).map_err(|error| format!("{way}: {error}")))?;
        Ok(all)
    }

    /// What is said, in few words: `delay 40ms rate 12Mbit/s`.
    pub(crate) fn label(&self) -> String {
        let said =
            |keys: &[(String, String)]| keys.iter().map(|(key, value)| format!("{key} {value}")).collect::<Vec<_>>();
        let ways = W::NAMES.iter().zip(&self.ways).filter(|(_, keys)| !keys.is_empty());
        let ways = ways.map(|(way, keys)| format!("{}: {}", way.trim_end_matches("link"), said(keys).join(" ")));
        let profile = self.profile.iter().map(|name| format!("profile {name}"));
        let parts: Vec<String> = profile.chain(said(&self.both)).chain(ways).collect();
        if parts.is_empty() { "link".into() } else { parts.join(" ") }
    }
}

impl<W: Ways + Default> FromArgMatches for DirectionKeys<W> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut keys = Self::default();
        keys.update_from_arg_matches(matches)?;
        Ok(keys)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        let said = |prefix: &str| {
            let named = direction_keys().map(|(key, ..)| (key, format!("{prefix}{key}")));
            let values = named.filter_map(|(key, id)| Some((key.to_owned(), matches.get_one::<String>(&id)?.clone())));
            values.collect::<Vec<_>>()
        };
        self.both = said("");
        self.profile = matches.get_one::<String>("profile").cloned();
        let ways = self.ways.iter_mut().zip(&mut self.traced);
        for ((way, trace), (keys, is_traced)) in W::NAMES.iter().zip(W::TRACES).zip(ways) {
            *keys = said(&format!("{way}-"));
            let Some((trace, _)) = trace else { continue };
            if let Some(file) = matches.get_one::<String>(trace) {
                if keys.iter().any(|(key, _)| key == "rate") {
                    let message = format!("--{trace} and --{way}-rate say the same thing: write one of them\n");
                    return Err(Error::raw(ErrorKind::ArgumentConflict, message));
                }
                // Every JSON string is one of YAML.
                let file = serde_json::to_string(file).expect("a string is JSON");
                keys.push(("rate".into(), format!("{{kind: delivery-trace, file: {file}}}")));
                *is_traced = true;
            }
        }
        Ok(())
    }
}

impl<W: Ways + Default> Args for DirectionKeys<W> {
    fn augment_args(command: Command) -> Command {
        let option = |id: &'static str, value: &'static str| {
            Arg::new(id).long(id).value_name(value).value_parser(value_parser!(String)).allow_hyphen_values(true)
        };
        let both = direction_keys().map(|(key, example, doc)| {
            let help = format!("{} Example: '{example}'", doc.split_inclusive(". ").next().unwrap_or(doc).trim());
            option(key, "VALUE").help(help).help_heading(W::HEADING)
        });
        let is_own = |id: &&String| W::NAMES.iter().any(|way| id.starts_with(way));
        let each = OF_ONE_WAY.iter().filter(is_own).map(|id| option(id, "VALUE").hide(true));
        let traces = W::TRACES.into_iter().flatten().map(|(id, help)| {
            let heading = "One way; also --uplink-KEY and --downlink-KEY with each key above";
            option(id, "FILE").help(help).help_heading(heading)
        });
        let profile = Arg::new("profile").long("profile").value_name("NAME").value_parser(profiles());
        let help = format!("A typical link, which the other keys change; {} is the uplink", W::NAMES[0]);
        let profile = profile.help(help).help_heading(W::HEADING);
        command.arg(profile).args(both.chain(each).chain(traces))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[&str]) -> Result<LinkKeys, Error> {
        let command = LinkKeys::augment_args(Command::new("test"));
        LinkKeys::from_arg_matches(&command.try_get_matches_from([&["test"], words].concat())?)
    }

    fn pairs(keys: &[(&str, &str)]) -> Vec<(String, String)> {
        keys.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_is_said_of_one_direction_counts_there() {
        let keys = read(&["--delay", "40ms", "--uplink-delay=1 ms", "--downlink-rate", "5 Mbit/s"]).unwrap();
        let [out, back] = keys.directions().unwrap();
        assert_eq!(out, pairs(&[("delay", "40ms"), ("delay", "1 ms")]));
        assert_eq!(back, pairs(&[("delay", "40ms"), ("rate", "5 Mbit/s")]));
        assert_eq!(keys.label(), "delay 40ms up: delay 1 ms down: rate 5 Mbit/s");
        assert_eq!(read(&[]).unwrap().label(), "link");
    }

    #[test]
    fn a_trace_is_a_rate() {
        let keys = read(&["--uplink-trace", "a \"b.trace"]).unwrap();
        let rate = r#"{kind: delivery-trace, file: "a \"b.trace"}"#;
        assert_eq!(keys.ways, [pairs(&[("rate", rate)]), Vec::new()]);
        assert!(read(&["--uplink-trace", "a", "--uplink-rate", "1 Mbit/s"]).is_err());
        let wrong = read(&["--downlink-trace", "no-such-file"]).unwrap().directions().unwrap_err();
        assert!(wrong.starts_with("--downlink-trace: ") && wrong.contains("no-such-file"), "{wrong}");
    }

    #[test]
    fn a_profile_comes_before_all_other_keys() {
        let keys = read(&["--profile", "geo", "--loss", "1 %", "--downlink-rate", "5 Mbit/s"]).unwrap();
        let [out, back] = keys.directions().unwrap();
        assert_eq!(out, pairs(&[("rate", "2.96 Mbit/s"), ("delay", "314.5 ms"), ("loss", "1 %")]));
        let down = [("rate", "18.75 Mbit/s"), ("delay", "314.5 ms"), ("loss", "1 %"), ("rate", "5 Mbit/s")];
        assert_eq!(back, pairs(&down));
        assert_eq!(keys.label(), "profile geo loss 1 % down: rate 5 Mbit/s");
        let unknown = read(&["--profile", "starlnk"]).unwrap_err().to_string();
        assert!(unknown.contains("dial-up, 2g, edge") && unknown.contains("'starlink'"), "{unknown}");
    }

    #[test]
    fn errors_name_the_option() {
        let error = read(&["--loss", "170 %"]).unwrap().directions().unwrap_err();
        assert!(error.starts_with("--loss: \"170 %\" is more than 100 %"), "{error}");
        let twice = ["--uplink-delay", "1ms", "--uplink-netem", "delay 5ms"];
        let contradiction = read(&twice).unwrap().directions().unwrap_err();
        assert_eq!(contradiction, "uplink: this string sets `delay`, and so does another key: leave one out");
        assert!(read(&["--delay", "1ms", "--uplink-netem", "delay 5ms"]).unwrap().directions().is_ok());
        let of_one = read(&["--downlink-delay", "4"]).unwrap().directions().unwrap_err();
        assert!(of_one.starts_with("--downlink-delay: "), "{of_one}");
    }
}
