//! `netloom workload`

use super::{DONE, Failure, Outcome};
use crate::args::WorkloadArgs;
use crate::talk;
use netloom_hunt::{Course, Workload};
use netloom_judge::ExitCode;
use std::fs::File;
use std::io::Read;
use std::path::absolute;

pub(super) fn workload(args: &WorkloadArgs) -> Outcome {
    let usage = |message: String| Failure::new(ExitCode::Usage, message);
    let seed = match args.seed {
        Some(seed) => seed,
        None => random().map_err(|error| Failure::new(ExitCode::Machine, format!("/dev/urandom: {error}")))?,
    };
    let (workload, folder) = Workload::read(&args.folder, seed).map_err(usage)?;
    talk::say(&format!("{} with seed {seed}", folder.display()));
    workload.notes.iter().for_each(|note| talk::warning(note));
    let file = args.assertions.as_ref().map(absolute).transpose().map_err(|error| usage(error.to_string()))?;
    let course = Course {
        lasts: args.lasts,
        grace: args.grace,
        most: args.parallel.get(),
        seed,
        env: file.map(|file| ("ANTITHESIS_SDK_LOCAL_OUTPUT".to_owned(), file)).into_iter().collect(),
    };
    let wrong = workload.play(&course, &mut talk::say).map_err(|error| Failure::new(ExitCode::Machine, error))?;
    match wrong.first() {
        None => DONE,
        // The last line is what a hunt tells failures apart by.
        Some(first) => Err(Failure::new(ExitCode::Unmet, first.clone())),
    }
}

fn random() -> std::io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}
