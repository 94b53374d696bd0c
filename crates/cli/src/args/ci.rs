//! Reports for continuous integration.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Options of commands that judge.
#[derive(Debug, Args)]
pub(crate) struct Ci {
    /// Write what was judged as JUnit XML, too, whatever fails
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Write what was not met as SARIF, too, for code scanning
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Print what was not met as annotations, on standard error; auto: under GitHub Actions
    #[arg(long, value_enum, value_name = "WHERE", default_value_t = AnnotationsArg::Auto)]
    pub(crate) annotations: AnnotationsArg,
}

/// The format of annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnnotationsArg {
    /// For GitHub, if the variable GITHUB_ACTIONS is set
    Auto,
    /// For GitHub
    Github,
    /// None
    Never,
}
