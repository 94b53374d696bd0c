//! What a machine that boots its own disk finds of the lab: a disk for cloud-init, as its data source NoCloud reads it.

use crate::iso;
use crate::trial::Acceleration;
use netloom_host::guest::vm;
use serde_json::json;

/// By this label cloud-init finds the disk.
const LABEL: &str = "cidata";

/// The clock of a machine whose processor has none that is right: see [`crate::command`].
fn clock(acceleration: &Acceleration) -> Option<&'static str> {
    acceleration.counts_by_timer().then_some("hpet")
}

/// What a shell of the machine is to do so that the agent runs; `who` asks for it.
pub(crate) fn start(who: &str, acceleration: &Acceleration) -> String {
    vm::start(who, clock(acceleration))
}

/// The disk of the machine with this name. These keys may log in by SSH, as the system's usual user.
pub(crate) fn seed(name: &str, keys: &[String], acceleration: &Acceleration) -> Vec<u8> {
    let mut user_data = json!({
        "hostname": name,
        // The disk is gone with the lab: to fit its file systems to it would be in vain.
        "growpart": {"mode": "off"},
        "resize_rootfs": false,
        "bootcmd": [["/bin/sh", "-c", start("cloud-init", acceleration)]],
    });
    if !keys.is_empty() {
        user_data["ssh_authorized_keys"] = json!(keys);
    }
    let meta_data = json!({"instance-id": format!("netloom-{name}"), "local-hostname": name});
    let file =
        |file: &str, begin: &str, value: &serde_json::Value| (file.to_owned(), format!("{begin}{value}\n").into());
    // JSON is YAML, which is what it reads. The agent gives addresses.
    let files = [
        file("meta-data", "", &meta_data),
        file("network-config", "", &json!({"config": "disabled"})),
        file("user-data", "#cloud-config\n", &user_data),
    ];
    iso::image(LABEL, &files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_as_cloud_init_reads_it() {
        let text =
            |acceleration| String::from_utf8_lossy(&seed("v", &["ssh-ed25519 A x".into()], &acceleration)).into_owned();
        let translated = text(Acceleration::Tcg(String::new()));
        assert!(translated.contains(r#"{"config":"disabled"}"#) && translated.contains(r#""local-hostname":"v""#));
        let begin = translated.find("#cloud-config\n").unwrap();
        let data = translated[begin..].lines().nth(1).unwrap();
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!((&data["hostname"], &data["ssh_authorized_keys"][0]), (&json!("v"), &json!("ssh-ed25519 A x")));
        let script = data["bootcmd"][0][2].as_str().unwrap();
        assert!(script.contains("echo hpet >") && script.contains("cloud-init starts the agent"), "{script}");
        assert!(!text(Acceleration::Kvm).contains("hpet"));
    }
}
