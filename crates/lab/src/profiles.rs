//! Profiles: what typical links are, by name, from public measurements.
//!
//! A profile is keys of both directions as a lab file has them; what the user says comes before them. Each figure has its source in the
//! manual, `docs/models/profiles.md`, whose table a test compares with this one. What no source says is left out, and so has the default of
//! a link.

use crate::diagnostics::nearest;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::models;
use netloom_link::{PipeChange, PipeConfig};

/// A typical link: the first end is the user's, so that forward is the uplink.
#[derive(Debug, PartialEq, Eq)]
pub struct Profile {
    /// The name in lab files and on the command line.
    pub name: &'static str,
    /// The link that it describes, in a few words.
    pub about: &'static str,
    /// The keys of the uplink and of the downlink, with their values.
    pub ways: [&'static [(&'static str, &'static str)]; 2],
}

/// All profiles.
pub const PROFILES: &[Profile] = &[
    Profile {
        name: "dial-up",
        about: "a modem of 56 kbit/s",
        ways: [&[("rate", "30 kbit/s"), ("delay", "60 ms")], &[("rate", "49 kbit/s"), ("delay", "60 ms")]],
    },
    Profile {
        name: "2g",
        about: "a mobile network of the second generation, GPRS",
        ways: [&[("rate", "32 kbit/s"), ("delay", "650 ms")], &[("rate", "35 kbit/s"), ("delay", "650 ms")]],
    },
    Profile {
        name: "edge",
        about: "a mobile network of the second generation with EDGE",
        ways: [&[("rate", "200 kbit/s"), ("delay", "420 ms")], &[("rate", "240 kbit/s"), ("delay", "420 ms")]],
    },
    Profile {
        name: "3g-slow",
        about: "a slow mobile network of the third generation",
        ways: [&[("rate", "330 kbit/s"), ("delay", "100 ms")], &[("rate", "780 kbit/s"), ("delay", "100 ms")]],
    },
    Profile {
        name: "3g",
        about: "a mobile network of the third generation",
        ways: [&[("rate", "768 kbit/s"), ("delay", "150 ms")], &[("rate", "1.6 Mbit/s"), ("delay", "150 ms")]],
    },
    Profile {
        name: "3g-fast",
        about: "a mobile network of the third generation with a short way",
        ways: [&[("rate", "768 kbit/s"), ("delay", "75 ms")], &[("rate", "1.6 Mbit/s"), ("delay", "75 ms")]],
    },
    Profile {
        name: "lte",
        about: "a phone in a mobile network of 2020",
        ways: [&[("rate", "5.74 Mbit/s"), ("delay", "16.5 ms")], &[("rate", "29 Mbit/s"), ("delay", "16.5 ms")]],
    },
    Profile {
        name: "lte-walking",
        about: "a phone that is carried about in an LTE network",
        ways: [&[("rate", "5.96 Mbit/s"), ("delay", "16.5 ms")], &[("rate", "5.04 Mbit/s"), ("delay", "16.5 ms")]],
    },
    Profile {
        name: "lte-driving",
        about: "a phone in a moving car in an LTE network",
        ways: [&[("rate", "836 kbit/s"), ("delay", "17.5 ms")], &[("rate", "5.19 Mbit/s"), ("delay", "17.5 ms")]],
    },
    Profile {
        name: "5g",
        about: "a phone in a 5G network",
        ways: [&[("rate", "21.08 Mbit/s"), ("delay", "25.5 ms")], &[("rate", "166.13 Mbit/s"), ("delay", "25.5 ms")]],
    },
    Profile {
        name: "dsl",
        about: "a home at a telephone line",
        ways: [&[("rate", "384 kbit/s"), ("delay", "25 ms")], &[("rate", "1.5 Mbit/s"), ("delay", "25 ms")]],
    },
    Profile {
        name: "cable",
        about: "a home at a television cable",
        ways: [&[("rate", "1 Mbit/s"), ("delay", "14 ms")], &[("rate", "5 Mbit/s"), ("delay", "14 ms")]],
    },
    Profile {
        name: "fibre",
        about: "a home at a fibre",
        ways: [&[("rate", "5 Mbit/s"), ("delay", "2 ms")], &[("rate", "20 Mbit/s"), ("delay", "2 ms")]],
    },
    Profile {
        name: "wifi-home",
        about: "a station and its access point, 802.11n with one stream of 20 MHz",
        ways: [
            &[("rate", "59.55 Mbit/s")],
            &[("rate", "59.55 Mbit/s"), ("delay", "{kind: gamma, shape: 0.5, scale: 13.2 ms}")],
        ],
    },
    Profile {
        name: "starlink",
        about: "a home at a satellite in a low orbit",
        ways: [
            &[("rate", "13.54 Mbit/s"), ("delay", "22 ms")],
            &[("rate", "87.25 Mbit/s"), ("delay", "{kind: normal, mean: 22 ms, deviation: 3.9 ms}")],
        ],
    },
    Profile {
        name: "geo",
        about: "a home at a geostationary satellite",
        ways: [&[("rate", "2.96 Mbit/s"), ("delay", "314.5 ms")], &[("rate", "18.75 Mbit/s"), ("delay", "314.5 ms")]],
    },
];

/// The names of all profiles.
pub(crate) const PROFILE_NAMES: [&str; PROFILES.len()] = {
    let mut names = [""; PROFILES.len()];
    let mut place = 0;
    while place < PROFILES.len() {
        names[place] = PROFILES[place].name;
        place += 1;
    }
    names
};

impl Profile {
    /// Returns the profile of this name.
    ///
    /// # Errors
    /// That there is none, the nearest name, and all names.
    ///
    /// ```
    /// let profile = netloom_lab::Profile::named("geo")?;
    /// assert_eq!(profile.ways[0], [("rate", "2.96 Mbit/s"), ("delay", "314.5 ms")]);
    /// assert!(netloom_lab::Profile::named("starlnk").unwrap_err().contains("did you mean `starlink`?"));
    /// # Ok::<(), String>(())
    /// ```
    pub fn named(name: &str) -> Result<&'static Self, String> {
        PROFILES.iter().find(|profile| profile.name == name).ok_or_else(|| {
            crate::diagnostics::allow_suggestions();
            let near = nearest(name, PROFILE_NAMES.into_iter());
            let hint = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
            format!("there is no profile `{name}`: {hint}known are {}", PROFILE_NAMES.join(", "))
        })
    }

    /// Returns the keys of the uplink and of the downlink with their values.
    pub fn keys(&self) -> [Vec<(String, String)>; 2] {
        self.ways.map(|way| way.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    }

    /// Returns the uplink and the downlink.
    pub(crate) fn pipes(&self) -> [PipeConfig; 2] {
        self.keys().map(|keys| models::parse_pipe(&keys).expect("a test reads every profile"))
    }
}

/// The pipes forward and backward to which the keys of a map are added, and whether they are those of a profile.
pub(crate) struct Base {
    pipes: [PipeConfig; 2],
    is_profile: bool,
}

impl Base {
    /// Reads the key `profile`; without it, all is the default.
    pub(crate) fn read(fields: &Fields<'_>, errors: &mut Errors) -> Self {
        let named = |node: &crate::yaml::Node| {
            let name = crate::scalar::text(node)?;
            Profile::named(&name).map_err(|wrong| node.error(wrong))
        };
        match fields.read("profile", named, errors) {
            Some(profile) => Self { pipes: profile.pipes(), is_profile: true },
            None => Self { pipes: Default::default(), is_profile: false },
        }
    }

    /// The pipe forward (0) or backward (1) with what the keys of both directions say, and then those of this one.
    pub(crate) fn with(&self, way: usize, both: &PipeChange, own: &PipeChange) -> PipeConfig {
        own.applied_to(&both.applied_to(&self.pipes[way]))
    }

    /// What the keys of a map say, in place of what the profile says.
    pub(crate) fn change(&self, fields: &Fields<'_>, errors: &mut Errors) -> PipeChange {
        let mut change = models::decode(fields, errors);
        if self.is_profile {
            models::complete(fields, &mut change);
        }
        change
    }
}

#[cfg(test)]
mod tests;
