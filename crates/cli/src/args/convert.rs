//! How files of other network tools are read and converted.

use clap::builder::{PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use netloom_import::{Format, Options, Role, Target};
use std::ffi::OsString;
use std::path::PathBuf;

/// `netloom convert`
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  netloom convert Abilene.graphml
  netloom convert Abilene.graphml -o abilene.yaml
  netloom convert Abilene.gml --nodes routers -o abilene.yaml
  netloom convert topology.xml --from graphml
  netloom convert lab.clab.yml
  netloom convert kathara-lab/
  netloom convert dumbbell.tcl --args '10 RED'
  netloom convert lab.yaml --to graphml -o lab.graphml
  netloom convert lab.yaml --to containerlab -o lab.clab.yml
  netloom convert lab.yaml --to mininet -o lab.py
  netloom convert lab.yaml --to json
  netloom convert lab.yaml --to dot | dot -Tsvg > lab.svg

The lab file that is written says beside each value from which line of FILE it comes, and at its top what FILE says that a
lab does not have. `netloom run`, `up`, `check` and `sim` read FILE directly, as if it were converted before.")]
pub(crate) struct ConvertArgs {
    /// The file or folder to convert
    #[arg(value_parser = lab_path())]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) foreign: Foreign,
    /// The format to write; default: yaml, a lab file; json is a lab file, too
    #[arg(long, value_name = "FORMAT", value_parser = target(), default_value = "yaml", hide_default_value = true)]
    pub(crate) to: To,
    /// Write to this file, which must not exist; default: standard output
    #[arg(short, long, value_name = "OUT")]
    pub(crate) out: Option<PathBuf>,
}

/// What is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum To {
    LabFile,
    Json,
    Other(Target),
}

/// How a file of another network tool is read.
#[derive(Clone, Debug, Args)]
pub(crate) struct Foreign {
    /// The format of a file of another network tool; default: by its name and contents
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    pub(crate) from: Option<Format>,
    /// What the nodes of a graph are where the file does not say
    #[arg(long, value_enum, value_name = "KIND", default_value = "transit", hide_default_value = true)]
    pub(crate) nodes: RoleArg,
    /// Give nodes this machine's files and programs where a file names container images
    #[arg(long)]
    pub(crate) no_images: bool,
    /// The arguments of a script of ns-2, its `argv`, as one text: "10 RED"; several are put together
    #[arg(long = "args", value_name = "WORDS", allow_hyphen_values = true)]
    pub(crate) script_arguments: Vec<String>,
    /// The text in place of that file's, from whose folder the names of files go on to count
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) as_played: Option<PathBuf>,
}

impl Foreign {
    /// The same for the reader.
    pub(crate) fn options(&self) -> Options {
        let role = match self.nodes {
            RoleArg::Transit => Role::Transit,
            RoleArg::Routers => Role::Router,
            RoleArg::Hosts => Role::Host,
        };
        Options {
            role,
            environment: std::env::vars_os().filter_map(text).collect(),
            no_images: self.no_images,
            arguments: self.script_arguments.iter().flat_map(|text| netloom_import::words(text)).collect(),
        }
    }
}

/// What the nodes of a graph are.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RoleArg {
    /// Transit routers, which forward and run no programs (default)
    Transit,
    /// Routers, which forward and run programs
    Routers,
    /// Hosts, which run programs and do not forward
    Hosts,
}

/// A variable, if both its name and its value are texts.
fn text((name, value): (OsString, OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}

/// A file that describes a lab; of a folder, the file in it that does.
pub(super) fn lab_path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| match path.join("lab.conf") {
        inner if path.is_dir() && inner.is_file() => inner,
        _ => path,
    })
}

fn target() -> impl TypedValueParser<Value = To> {
    let names = ["yaml", "json"].into_iter().chain(Target::ALL.map(Target::name));
    PossibleValuesParser::new(names).map(|name| match Target::ALL.into_iter().find(|target| target.name() == name) {
        Some(target) => To::Other(target),
        None if name == "json" => To::Json,
        None => To::LabFile,
    })
}

fn format() -> impl TypedValueParser<Value = Format> {
    let names = Format::ALL.map(|format| PossibleValue::new(format.name()).help(format.title()));
    PossibleValuesParser::new(names).map(|name| Format::named(&name).expect("it is one of these names"))
}
