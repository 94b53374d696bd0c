//! What the kernel says of processes.

use std::fs;

/// Returns the children of a process with one thread.
pub fn children(pid: i32) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|word| word.parse().ok()).collect()
}

/// Returns the child of a process that has this name.
pub fn child_named(pid: i32, name: &str) -> Option<i32> {
    let is_called = |child: &i32| name_of(*child).is_some_and(|own| own == name);
    children(pid).into_iter().find(is_called)
}

/// Returns the name of a process, as `ps` shows it.
pub fn name_of(pid: i32) -> Option<String> {
    Some(fs::read_to_string(format!("/proc/{pid}/comm")).ok()?.trim_end().to_owned())
}

/// Returns the parent of a process.
pub fn parent(pid: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:")?.trim().parse().ok())
}

/// Returns the lab process of a guard, if it is there yet. For a moment, the guard has other children: those that say what a kernel can do.
pub fn lab_of(guard: i32) -> Option<i32> {
    child_named(guard, "netloom-lab")
}

/// Returns the names of the interfaces of this network namespace that are called like a lab's ports.
pub fn ports_here() -> Vec<String> {
    let names = fs::read_dir("/sys/class/net").into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let is_port = |name: &String| name.strip_prefix('p').is_some_and(|rest| rest.parse::<u32>().is_ok());
    let mut ports: Vec<String> = names.filter(is_port).collect();
    ports.sort_unstable();
    ports
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_child_has_a_name_and_a_parent() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().expect("every system has cat");
        let (own, pid) = (std::process::id().cast_signed(), child.id().cast_signed());
        assert_eq!(parent(pid), Some(own));
        crate::wait::wait_until("the program", std::time::Duration::from_secs(60), || {
            name_of(pid).as_deref() == Some("cat")
        });
        // Its end: the standard input is closed.
        drop(child.stdin.take());
        child.wait().expect("it is a child");
        assert_eq!((parent(pid), lab_of(own)), (None, None));
    }
}
