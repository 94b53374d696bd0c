//! What docker and podman say of a container.

use netloom_lab::ContainerEngine;
use nix::sys::memfd::{MFdFlags, memfd_create};
use serde_json::Value;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long an engine may take to answer. It takes a tenth of a second.
const PATIENCE: Duration = Duration::from_secs(30);

/// So many containers are named when one is missing.
const MOST_NAMED: usize = 12;

/// What an engine answers.
pub(super) enum Answer {
    /// It has such a container.
    Found(Box<Described>),
    /// It has none, or cannot be asked: why, in words.
    Nothing(String),
}

/// What an engine says of a container.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Described {
    pub(super) is_running: bool,
    pub(super) is_paused: bool,
    /// For people.
    pub(super) status: String,
    /// Its first process.
    pub(super) pid: i32,
    /// How it is connected: `host`, `none`, `bridge`.
    pub(super) network: String,
    pub(super) folder: String,
    pub(super) env: Vec<(String, String)>,
    pub(super) image: Option<String>,
}

/// Asks an engine for a container.
pub(super) fn inspect(engine: ContainerEngine, name: &str) -> Answer {
    let program = engine.name();
    if let Some(far) = far(engine) {
        return Answer::Nothing(format!(
            "{far} directs {program} to an engine on another machine, whose containers cannot be used"
        ));
    }
    let said = match ask(program, &["container", "inspect", name]) {
        Ok(said) => said,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Answer::Nothing(format!("{program} is not installed"));
        }
        Err(error) => return Answer::Nothing(format!("asking {program}: {error}")),
    };
    if said.status.success() {
        return match serde_json::from_str(&said.output).ok().as_ref().and_then(read) {
            Some(described) => Answer::Found(Box::new(described)),
            None => Answer::Nothing(format!("{program} describes {name} in a form that netloom does not know")),
        };
    }
    let complaint = said.errors.trim().lines().last().unwrap_or_default().to_owned();
    let small = complaint.to_lowercase();
    if small.contains("no such container") {
        return Answer::Nothing(format!("{program} has no container {name}: {}", running(program)));
    }
    if small.contains("permission denied") && engine == ContainerEngine::Docker {
        return Answer::Nothing(
            "only root and the group docker may use docker, and only root can join its containers: run netloom as root"
                .to_owned(),
        );
    }
    Answer::Nothing(format!("{program} does not answer: {complaint}"))
}

/// What leads the engine's program to another machine, if something does.
fn far(engine: ContainerEngine) -> Option<String> {
    let key = match engine {
        ContainerEngine::Docker => "DOCKER_HOST",
        ContainerEngine::Podman => "CONTAINER_HOST",
    };
    let value = std::env::var(key).ok().filter(|value| !value.is_empty() && !value.starts_with("unix:"))?;
    Some(format!("{key}={value}"))
}

/// The containers that run, for people.
fn running(program: &str) -> String {
    let names = match ask(program, &["ps", "--format", "{{.Names}}"]) {
        Ok(said) if said.status.success() => said.output,
        _ => return format!("`{program} ps` shows which run"),
    };
    let names: Vec<&str> = names.split_whitespace().collect();
    let more = names.len().saturating_sub(MOST_NAMED);
    match names.get(..MOST_NAMED).unwrap_or(&names) {
        [] => "none of its containers runs".to_owned(),
        shown if more > 0 => format!("these run: {} and {more} more", shown.join(", ")),
        shown => format!("these run: {}", shown.join(", ")),
    }
}

/// What a program has said.
struct Said {
    status: ExitStatus,
    output: String,
    errors: String,
}

fn ask(program: &str, words: &[&str]) -> io::Result<Said> {
    let made = || memfd_create("answer", MFdFlags::MFD_CLOEXEC).map(File::from);
    let (mut output, mut errors) = (made()?, made()?);
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(errors.try_clone()?)
        .spawn()?;
    let until = Instant::now() + PATIENCE;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > until {
            let _ = child.kill();
            let _ = child.wait();
            return Err(io::Error::other(format!("it said nothing for {} s", PATIENCE.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let text = |file: &mut File| {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok::<_, io::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    Ok(Said { status, output: text(&mut output)?, errors: text(&mut errors)? })
}

/// Reads the only item of a list of containers, as `docker container inspect` and `podman container inspect` write it.
fn read(list: &Value) -> Option<Described> {
    let one = list.as_array()?.first()?;
    let state = &one["State"];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let env = one["Config"]["Env"].as_array().into_iter().flatten();
    let env = env.filter_map(|pair| pair.as_str()?.split_once('='));
    Some(Described {
        is_running: state["Running"].as_bool()?,
        is_paused: state["Paused"].as_bool().unwrap_or_default(),
        status: text(&state["Status"]),
        pid: i32::try_from(state["Pid"].as_i64()?).ok()?,
        network: text(&one["HostConfig"]["NetworkMode"]),
        folder: text(&one["Config"]["WorkingDir"]),
        env: env.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
        image: one["Image"].as_str().map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_engines_say_is_read() {
        let said = json!([{
            "State": {"Running": true, "Paused": false, "Status": "running", "Pid": 17},
            "HostConfig": {"NetworkMode": "none"}, "Image": "sha256:00",
            "Config": {"WorkingDir": "/srv", "Env": ["A=1=2", "odd"]},
        }]);
        let read_well = read(&said).unwrap();
        assert_eq!((read_well.pid, read_well.is_running, read_well.folder.as_str()), (17, true, "/srv"));
        assert_eq!(read_well.env, [("A".to_owned(), "1=2".to_owned())]);
        assert_eq!(read_well.image.as_deref(), Some("sha256:00"));
        for other in [json!([]), json!({}), json!([{"State": {"Running": true}}])] {
            assert_eq!(read(&other), None, "{other}");
        }
    }

    #[test]
    fn an_engine_that_is_not_there_is_told_from_one_that_fails() {
        assert_eq!(ask("/no/such/engine", &[]).map(|_| ()).unwrap_err().kind(), io::ErrorKind::NotFound);
        let said = ask("sh", &["-c", "echo out; echo no such container >&2; exit 3"]).unwrap();
        assert_eq!(
            (said.status.code(), said.output.as_str(), said.errors.as_str()),
            (Some(3), "out\n", "no such container\n")
        );
    }
}
