//! What makes lab files of well-known networks.

use clap::Args;
use clap::builder::{PossibleValuesParser, StyledStr};
use std::fmt::Write;
use std::path::PathBuf;

/// `netloom generate`
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = kinds())]
pub(crate) struct GenerateArgs {
    /// The kind of network
    #[arg(value_parser = PossibleValuesParser::new(netloom_lab::generator_kinds()), hide_possible_values = true)]
    pub(crate) kind: String,
    /// A key of this kind and its value, as `generate` has them in a lab file
    #[arg(value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) keys: Vec<(String, String)>,
    /// The lab's name; default: the kind
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The file to write, which must not exist; default: standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  netloom generate ring n=5
  netloom generate tree depth=3 fanout=8 'link={rate: 100 Mbit/s}' -o tree.yaml
  netloom generate fat-tree k=4 'tiers={core: {rate: 10 Gbit/s}}' inner=router
  netloom generate waxman n=100 hosts=10 seed=7

`netloom generate --help` lists all kinds and their keys.";

fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write a key, = and its value, for example n=5")?;
    Ok((key.trim().to_owned(), value.to_owned()))
}

/// All kinds and their keys, as the lab file knows them.
fn kinds() -> StyledStr {
    let mut text = format!("{EXAMPLES}\n");
    for (kind, doc, keys) in netloom_lab::generator_keys() {
        let _ = if kind.is_empty() { write!(text, "\nAll kinds:") } else { write!(text, "\n{kind}: {doc}") };
        for key in keys {
            let example = format!("{}={}", key.name, key.example);
            let _ = write!(text, "\n  {example:<26} {}", key.doc);
        }
        text.push('\n');
    }
    text.into()
}
