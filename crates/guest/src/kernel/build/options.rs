//! Our configuration of a kernel, and what became of it.

use super::edits::JIFFIES;
use super::{BUILDER_VERSION, BuildError, edits, make};
use crate::kernel::options::options_of;
use netloom_units::Date;
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// The options that differ from `make allnoconfig`.
pub(super) const FRAGMENT: &str = include_str!("../../../kernel/config");

/// What no kernel node, or no virtual time, works without. All other options are ones that some kernels do not have.
const ESSENTIAL: [&str; 19] = [
    "BINFMT_ELF",
    "EPOLL",
    "FUTEX",
    "HIGH_RES_TIMERS",
    "HOSTFS",
    "INET",
    "IPV6",
    "NET",
    "NET_NS",
    "OVERLAY_FS",
    "PACKET",
    "PROC_FS",
    "SYSFS",
    "TMPFS",
    "TTY",
    "UML_TIME_TRAVEL_SUPPORT",
    "UNIX",
    "VIRTIO_NET",
    "VIRTIO_UML",
];

/// Stands for the configuration and the way of building: 16 hexadecimal digits.
///
/// It is FNV-1a (Fowler, Noll, Vo), which keeps its value over versions of Rust; a collision would do no harm.
pub fn config_hash() -> String {
    let edits = edits::text();
    let [compiler, headers] = make::texts();
    let texts = [FRAGMENT, edits.as_str(), compiler, headers];
    let numbers = [JIFFIES, BUILDER_VERSION].map(u32::to_le_bytes);
    let bytes = texts.iter().flat_map(|text| text.as_bytes()).chain(numbers.as_flattened());
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

/// What an own build says of itself in an option that has no other meaning for it, the salt of build identifiers. Nothing
/// in the kernel depends on it but what `--showconfig` prints.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::kernel) struct Mark {
    /// See [`config_hash`].
    pub(super) config_hash: String,
    /// The day on which it was built, UTC.
    pub(in crate::kernel) day: Date,
}

impl Mark {
    const OPTION: &str = "BUILD_SALT";

    /// Of a build with the present configuration.
    pub(super) fn of_today() -> Self {
        Self { config_hash: config_hash(), day: today() }
    }

    /// The one in a configuration; none if that is of no own build, or one of before there were marks.
    pub(in crate::kernel) fn of(options: &BTreeMap<String, String>) -> Option<Self> {
        let mut words = options.get(Self::OPTION)?.split(' ');
        let (netloom, hash, day, end) = (words.next()?, words.next()?, words.next()?, words.next());
        let mark = Self { config_hash: hash.to_owned(), day: day.parse().ok()? };
        (netloom == "netloom" && end.is_none()).then_some(mark)
    }

    /// The line of a configuration that says so.
    pub(super) fn line(&self) -> String {
        format!("CONFIG_{}=\"netloom {} {}\"\n", Self::OPTION, self.config_hash, self.day)
    }
}

fn today() -> Date {
    Date::of_unix_seconds(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

/// Compares the configuration that the kernel's build system made of the one here, and returns what is missing as
/// warnings.
///
/// # Errors
/// When an option is missing that no kernel node works without.
pub(super) fn check(config: &str) -> Result<Vec<String>, BuildError> {
    let got = options_of(config);
    let missing = missing(&got);
    let essential: Vec<String> = missing.iter().filter(|name| ESSENTIAL.contains(&name.as_str())).cloned().collect();
    if !essential.is_empty() {
        return Err(BuildError::Options { missing: essential });
    }
    let mut warnings = Vec::new();
    if !missing.is_empty() {
        let names = missing.join(", CONFIG_");
        warnings.push(format!("this kernel cannot have these options, and goes without: CONFIG_{names}"));
    }
    if got.get("HZ") != Some(&JIFFIES.to_string()) {
        let hz = got.get("HZ").map_or("an unknown number of", String::as_str);
        warnings.push(format!("this kernel has {hz} jiffies per second, not {JIFFIES}: TCP's timers are coarser"));
    }
    Ok(warnings)
}

/// Options that are not as our configuration has them, in its order.
fn missing(got: &BTreeMap<String, String>) -> Vec<String> {
    let differs = |wanted: &str, name: &str| match (wanted, got.get(name)) {
        ("n", got) => got.is_some(),
        (wanted, got) => got.map(String::as_str) != Some(wanted),
    };
    wanted().filter(|(name, value)| differs(value, name)).map(|(name, _)| name.to_owned()).collect()
}

/// Our options: name and value.
fn wanted() -> impl Iterator<Item = (&'static str, &'static str)> {
    let lines = FRAGMENT.lines().filter_map(|line| line.strip_prefix("CONFIG_")?.split_once('='));
    lines.map(|(name, value)| (name, value.trim_matches('"')))
}

/// What a configuration says of the compiler that it was made for.
pub(super) fn compiler(config: &str) -> String {
    options_of(config).remove("CC_VERSION_TEXT").unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A configuration that gives all that we want.
    fn complete() -> String {
        let lines = FRAGMENT.lines().filter(|line| line.starts_with("CONFIG_") && !line.ends_with("=n"));
        format!("{}\nCONFIG_HZ={JIFFIES}\nCONFIG_CC_VERSION_TEXT=\"gcc 12\"\n", lines.collect::<Vec<_>>().join("\n"))
    }

    #[test]
    fn every_line_of_our_configuration_is_an_option_or_a_comment_and_stands_once() {
        for line in FRAGMENT.lines() {
            assert!(line.is_empty() || line.starts_with("# ") || line.starts_with("CONFIG_"), "{line}");
        }
        let mut names: Vec<&str> = wanted().map(|(name, _)| name).collect();
        assert!(ESSENTIAL.iter().all(|essential| names.contains(essential)));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn a_build_says_what_it_is() {
        let mark = Mark { config_hash: config_hash(), day: "2026-11-22".parse().unwrap() };
        assert_eq!(Mark::of(&options_of(&mark.line())), Some(mark));
        for other in ["", "CONFIG_BUILD_SALT=\"\"\n", "CONFIG_BUILD_SALT=\"6.1.0-42-amd64\"\n"] {
            assert_eq!(Mark::of(&options_of(other)), None, "{other}");
        }
    }

    #[test]
    fn a_kernel_that_gives_everything_has_no_warnings() {
        assert_eq!(check(&complete()).unwrap(), Vec::<String>::new());
        assert_eq!(compiler(&complete()), "gcc 12");
    }

    #[test]
    fn what_a_kernel_does_not_give_is_named() {
        let config = complete().replace("CONFIG_NET_SCH_DUALPI2=y", "# CONFIG_NET_SCH_DUALPI2 is not set");
        let config = config.replace("CONFIG_HZ=1000", "CONFIG_HZ=100") + "CONFIG_UML_RTC=y\n";
        let warnings = check(&config).unwrap();
        assert_eq!(warnings.len(), 2);
        assert!(warnings[0].ends_with("CONFIG_UML_RTC, CONFIG_NET_SCH_DUALPI2"), "{}", warnings[0]);
        assert!(warnings[1].contains("100 jiffies per second"), "{}", warnings[1]);
    }

    #[test]
    fn a_kernel_without_what_nodes_need_is_an_error() {
        let config = complete().replace("CONFIG_UML_TIME_TRAVEL_SUPPORT=y\n", "").replace("CONFIG_HOSTFS=y\n", "");
        match check(&config) {
            Err(BuildError::Options { missing }) => assert_eq!(missing, ["UML_TIME_TRAVEL_SUPPORT", "HOSTFS"]),
            other => panic!("{other:?}"),
        }
    }
}
