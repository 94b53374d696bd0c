//! podman with a storage in the fixture's folder, and an image made of programs of this machine.

use crate::fixture::{Finished, Fixture};

const CONFIG: &str = r#"{"Env": ["A=image", "B=image", "PATH=/bin"], "Cmd": ["sh"], "WorkingDir": "/data"}"#;

/// Its containers end with it.
pub(crate) struct Podman<'a>(pub(crate) &'a Fixture);

impl<'a> Podman<'a> {
    /// With the image `tools`, whose layout is in the folder `tools` of the fixture.
    pub(crate) fn new(fixture: &'a Fixture, programs: &[&str]) -> Self {
        let at = |name: &str| fixture.work().join(name).display().to_string();
        let conf = format!(
            "[storage]\ndriver = \"vfs\"\ngraphroot = {:?}\nrunroot = {:?}\n[storage.options]\nignore_chown_errors = \"true\"\n\
             [storage.options.vfs]\nignore_chown_errors = \"true\"\n",
            at("graph"),
            at("run")
        );
        fixture.write("storage.conf", &conf);
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/system/image.py");
        let made = fixture.run("python3", &[&[script, "tools", CONFIG][..], programs].concat());
        made.expect_code(0);
        let podman = Self(fixture);
        podman.run(&["pull", "-q", "oci:tools"]);
        podman
    }

    /// Where podman finds its storage.
    pub(crate) fn setting(&self) -> String {
        format!("CONTAINERS_STORAGE_CONF={}", self.0.work().join("storage.conf").display())
    }

    pub(crate) fn output(&self, words: &[&str]) -> Finished {
        let output = self.0.run("env", &[&[self.setting().as_str(), "podman"], words].concat());
        assert_ne!(output.code, Some(127), "these tests need podman and runc (scripts/install-deps services)");
        output
    }

    pub(crate) fn run(&self, words: &[&str]) -> String {
        self.output(words).expect_code(0).stdout
    }
}

impl Drop for Podman<'_> {
    fn drop(&mut self) {
        let _ = self.output(&["rm", "-af", "-t", "0"]);
    }
}
