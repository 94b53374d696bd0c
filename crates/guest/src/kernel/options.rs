//! A configuration of a kernel as its options.

use std::collections::BTreeMap;

/// The options that are on, without `CONFIG_`, and their values without quotation marks.
pub(crate) fn options_of(config: &str) -> BTreeMap<String, String> {
    let lines = config.lines().filter_map(|line| line.strip_prefix("CONFIG_")?.split_once('='));
    lines.map(|(name, value)| (name.to_owned(), value.trim_matches('"').to_owned())).collect()
}
