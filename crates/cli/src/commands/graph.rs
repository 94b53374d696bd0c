//! `netloom graph`

use super::{DONE, Failure, Outcome, lab_file, print_bit_by_bit};
use crate::args::{GraphArgs, GraphFormat};
use netloom_judge::ExitCode;
use netloom_results::graph;

const NO_MAP: &str = "no radio medium of this lab has positions: give it `access: radio`, or a cell `signals`";

pub(super) fn graph(args: &GraphArgs) -> Outcome {
    let lab_file::Loaded { lab, .. } = lab_file::load(&args.file, &args.foreign, None)?;
    let text = match args.format {
        GraphFormat::Svg => graph::picture(&lab.plan),
        GraphFormat::Map => graph::map(&lab.plan).ok_or_else(|| Failure::new(ExitCode::Usage, NO_MAP.to_owned()))?,
        GraphFormat::Layout => graph::layout_text(&lab.plan),
    };
    let Some(path) = &args.out else { return print_bit_by_bit(&text) };
    let failed = |error| Failure::new(ExitCode::Results, format!("writing {}: {error}", path.display()));
    std::fs::write(path, text).map_err(failed)?;
    DONE
}
