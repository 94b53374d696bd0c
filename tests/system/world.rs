//! A machine of a test's own: a namespace with a server beyond it. Nothing touches the machine that tests run on.

use crate::fixture::{Finished, Fixture, User, is_root};
use std::fs;
use std::path::PathBuf;

/// Asks the server who asks.
pub(crate) const WHO: &str = "exec 3<>/dev/tcp/198.51.100.1/7; read -r address <&3; echo seen as $address";

/// Machines let their users have /dev/net/tun; not all where these tests run.
pub(crate) const OPEN: &str =
    "mknod tun c 10 200; chmod 666 tun; mount --bind tun /dev/net/tun; mkdir -m 700 run; chown 65534 run";
/// As an ordinary user of the machine.
pub(crate) const ORDINARY: &str = "env XDG_RUNTIME_DIR=$PWD/run setpriv --reuid 65534 --regid 65534 --clear-groups";

/// A fixture in a machine of its own. Other users are as ordinary ones there that may change its network.
pub(crate) struct World {
    pub(crate) fixture: Fixture,
    pub(crate) program: PathBuf,
}

impl World {
    pub(crate) fn new(user: User) -> Self {
        let fixture = Fixture::new(user).apart();
        fixture.write("world.sh", include_str!("world.sh"));
        fixture.write("world.py", include_str!("world.py"));
        let program = fixture.path().join("netloom");
        Self { fixture, program }
    }

    /// The words that run a script of bash in the machine, where `$NETLOOM` is the program.
    fn words(&self, script: &str) -> Vec<String> {
        let server = self.fixture.work().join("world.py");
        let namespaces = match self.fixture.user() {
            User::Own if is_root() => "unshare --net --mount",
            _ => "unshare --user --map-current-user --net --keep-caps",
        };
        let mut words: Vec<String> = namespaces.split(' ').map(str::to_owned).collect();
        words.push("env".into());
        words.push(format!("NETLOOM={}", self.program.display()));
        words.push(format!("WORLD_SERVER={}", server.display()));
        words.push("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin".into());
        words.extend(["bash", "world.sh", "bash", "-c"].map(str::to_owned));
        words.push(script.to_owned());
        words
    }

    pub(crate) fn run(&self, script: &str) -> Finished {
        let words = self.words(script);
        let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        self.fixture.run(&words[0], &arguments)
    }

    pub(crate) fn report(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(self.fixture.work().join(name)).unwrap()).unwrap()
    }
}
