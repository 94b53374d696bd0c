//! Results that could not be written: the run is judged all the same, and says that they are missing.

use netloom_judge::{Report, RunError};

/// The first of the files that could not be written, and why.
#[derive(Debug, Default)]
pub(super) struct WriteErrors {
    first: Option<RunError>,
    is_reported: bool,
}

impl WriteErrors {
    /// What was made, or none if it could not be written. Other errors end the run.
    pub(super) fn keep<T>(&mut self, made: Result<T, impl Into<RunError>>) -> Result<Option<T>, RunError> {
        let made: Result<T, RunError> = made.map_err(Into::into);
        match made {
            Err(error @ RunError::Results { .. }) => {
                self.first.get_or_insert(error);
                Ok(None)
            }
            // What could not be written whole cannot be read back either.
            Err(RunError::Lab(_)) if self.first.is_some() => Ok(None),
            other => other.map(Some),
        }
    }

    /// Writes into the report what is missing, and with what code the command then ends; whether there is something new to say.
    pub(super) fn report(&mut self, report: &mut Report) -> bool {
        let Some(error) = self.first.as_ref().filter(|_| !self.is_reported) else { return false };
        self.is_reported = true;
        if report.error.is_none() {
            report.error = Some(error.to_string());
            report.exit_code = error.exit_code().number();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_judge::ExitCode;
    use std::io;

    #[test]
    fn a_full_disk_is_told_and_ends_nothing() {
        let full =
            |path: &str| RunError::Results { path: path.into(), source: io::Error::from_raw_os_error(libc::ENOSPC) };
        let mut write_errors = WriteErrors::default();
        let mut report = Report::default();
        assert!(matches!(write_errors.keep(Ok::<_, RunError>(1)), Ok(Some(1))) && !write_errors.report(&mut report));
        assert!(matches!(write_errors.keep::<u8>(Err(full("pipes.csv"))), Ok(None)));
        assert!(matches!(write_errors.keep::<u8>(Err(full("page.html"))), Ok(None)));
        assert!(write_errors.report(&mut report) && !write_errors.report(&mut report));
        assert!(report.error.as_ref().is_some_and(|error| error.contains("pipes.csv")), "{:?}", report.error);
        assert_eq!(report.exit_code, ExitCode::Results.number());
        assert!(write_errors.keep::<u8>(Err(RunError::Died("it".into()))).is_err());
        let cut = || Err(RunError::Lab("samples.csv: line 1: there is no column `time_s`".into()));
        assert!(
            matches!(write_errors.keep::<u8>(cut()), Ok(None)) && WriteErrors::default().keep::<u8>(cut()).is_err()
        );
        // Why a run failed is not hidden by that.
        let mut failed = Report { error: Some("killed".into()), exit_code: 8, ..Report::default() };
        assert!(WriteErrors { first: Some(full("a")), is_reported: false }.report(&mut failed));
        assert_eq!((failed.error.as_deref(), failed.exit_code), (Some("killed"), 8));
    }
}
