//! Programs that tests write and then execute.

use std::path::Path;
use std::process::Command;

/// Makes a file executable, whoever may still have it open for writing.
///
/// Linux does not execute a file that some process can write to (`ETXTBSY`, "Text file busy"). A test that has written a file and closed it
/// is not yet alone with it: a process that another thread forks in between holds a copy of the descriptor until it executes its program. So
/// the file is replaced by a copy that only a program of its own, which has ended, ever had open.
///
/// # Panics
/// If there is no such file, or nothing can be written beside it.
#[track_caller]
pub fn make_executable(path: &Path) {
    const SCRIPT: &str = "cp \"$0\" \"$0.copy\" && chmod 755 \"$0.copy\" && mv -f \"$0.copy\" \"$0\"";
    let output = Command::new("sh").args(["-c", SCRIPT]).arg(path).output().expect("every system has sh");
    assert!(output.status.success(), "{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_that_is_open_for_writing_can_be_executed_afterwards() {
        let path = std::env::temp_dir().join(format!("netloom-testing-{}", std::process::id()));
        fs::write(&path, "#!/bin/sh\nexit 3\n").expect("write a script");
        // It stands for the copy that a fork makes.
        let open = fs::OpenOptions::new().append(true).open(&path).expect("it is there");
        make_executable(&path);
        let ended = Command::new(&path).status().expect("nobody can write to it");
        assert_eq!(ended.code(), Some(3));
        drop(open);
        fs::remove_file(&path).expect("it is there");
    }
}
