//! What the exit codes mean, for help and for `netloom exit-codes`.

use netloom_judge::ExitCode;

/// All exit codes, one per line.
pub(crate) fn table() -> String {
    let lines: Vec<String> =
        ExitCode::ALL.iter().map(|code| format!("{:>4}  {}", code.number(), code.meaning())).collect();
    lines.join("\n")
}
