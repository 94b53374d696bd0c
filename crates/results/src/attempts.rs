//! All runs of a search for a dilation, side by side.

use crate::Folder;
use crate::ReadError;
use netloom_judge::Report;
use netloom_judge::attempts::side_by_side;

/// Puts `earlier` runs beside the last one into the last one's report and into its files.
///
/// # Errors
/// When the files cannot be written.
pub fn put_side_by_side(earlier: &[Report], last: &mut Report) -> Result<(), ReadError> {
    last.attempts = side_by_side(earlier, last);
    let folder = Folder::existing(last.results.clone())?;
    folder.write_report(last)?;
    if last.page.is_some() {
        crate::page::write(folder.path())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_judge::{ExitCode, PipeRow};

    #[test]
    fn runs_are_put_side_by_side() {
        let folder = tempfile::tempdir().unwrap();
        let row = PipeRow {
            rate_bits_per_second: Some(100),
            achieved_bits_per_second: Some(90.0),
            rate_judged: true,
            lateness_p99_ns: Some(7),
            ..PipeRow::default()
        };
        let missed = || Report { exit_code: ExitCode::NotAsDescribed.number(), ..Report::default() };
        let first = Report { pipes: vec![row], ..missed() };
        let mut last = Report { results: folder.path().to_owned(), ..missed() };
        last.verdict.judgement = netloom_judge::Judgement::AsDescribed;
        put_side_by_side(&[first], &mut last).unwrap();
        assert_eq!(last.attempts.len(), 2);
        assert_eq!(last.attempts[0].lateness_p99_ns, Some(7));
        assert!((last.attempts[0].worst_rate_error.unwrap() - 0.1).abs() < 1e-9);
        let text = std::fs::read_to_string(folder.path().join("summary.txt")).unwrap();
        assert!(text.contains("all runs"), "{text}");
        let json = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
        assert!(json.contains("\"attempts\""), "{json}");
    }
}
