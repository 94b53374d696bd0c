//! Virtual time for different users in different places: the same programs and the same kernel give the same bytes.

use crate::fixture::{Fixture, User};
use crate::virtual_time::{TWIN, assert_same, results};

/// What programs can see of the place where a lab runs, beside a transfer with losses. Only `PWD`, the folder in which
/// netloom was started, is another one, and `NETLOOM_FILL` as much shorter as that is longer.
pub(crate) const CURIOUS: &str = "
  - {on: client, as: environment, run: 'env | grep -v -e ^PWD= -e ^NETLOOM_FILL= | sort; umask; ulimit -a; id; nproc; hostname; date'}
  - {on: client, as: kernel, run: 'cat /proc/cmdline; grep MemTotal /proc/meminfo; ls -l /proc/1/exe; tr \"\\0\" \" \" < /proc/1/cmdline'}
  - {on: client, as: stack, run: [cat, /proc/self/stat, /proc/self/maps]}
  - {on: client, as: variables, run: 'cat /proc/self/environ | tr \"\\0\" \"\\n\" | grep -v -e ^PWD= -e ^NETLOOM_FILL='}
  - {on: client, as: inherited, run: 'echo $SHOWN $HIDDEN'}
";

/// Everything that a user's login, shell or folder may change, but for what the lab file has programs inherit.
const ELSEWHERE: &str = "
mkdir -p a/very/long/and/quite/another/place/with/results
cp \"$1\" a/very/long/and/quite/another/netloom-of-mine
cd a/very/long/and/quite/another/place
umask 027
ulimit -n 700
ulimit -s 4096
exec env -i SHOWN=yes HIDDEN=no LANG=de_DE.UTF-8 TZ=Asia/Tokyo HOME=/usr OLDPWD=/var/lib TERM=vt100 \\
    LONG=$(head -c 5000 /dev/zero | tr '\\0' x) PATH=/usr/bin:/bin XDG_RUNTIME_DIR=\"$XDG_RUNTIME_DIR\" \\
    nice -n 5 ../netloom-of-mine run ../../../../../../../lab.yaml -q --kernel \"$NETLOOM_KERNEL\" --results ../../../../../../../results
";

#[test]
fn another_place_and_another_environment_give_the_same_bytes() {
    for user in User::some() {
        let lab = TWIN.replace("SEED", "7").replace("expect:", &format!("{}inherit: [SHOWN]\nexpect:", &CURIOUS[1..]));
        let play = |wrapper: &[&str], arguments: &[&str]| {
            let fixture = Fixture::with_kernel(user);
            fixture.write("lab.yaml", &lab);
            fixture.wrapped(wrapper, arguments).expect_code(0);
            let provenance = fixture.json("twin", "provenance.json");
            assert_eq!(
                (&provenance["inherited"]["SHOWN"], &provenance["environment"]["TZ"]),
                (&"yes".into(), &"UTC0".into())
            );
            results(&fixture, "twin")
        };
        let here = play(&["env", "SHOWN=yes"], &["run", "lab.yaml", "-q"]);
        let printed = |name: &str| {
            let (_, bytes) = here.iter().find(|(path, _)| path.ends_with(&format!("-client-{name}.stdout"))).unwrap();
            String::from_utf8_lossy(bytes).into_owned()
        };
        assert_eq!(printed("inherited").trim(), "yes");
        assert!(printed("kernel").contains("init=/sys/init "), "{}", printed("kernel"));
        assert!(printed("environment").contains("HOME=/root\nLANG=C.UTF-8\n"), "{}", printed("environment"));
        assert_same(&here, &play(&["/bin/sh", "-c", ELSEWHERE, "sh"], &[]));
    }
}

/// Two kernels and many calls. Where each has a processor of its own, kernels and programs poll for each other on two; on one they take turns.
const CALLS: &str = "
name: calls
clock: virtual
nodes: {client: {}, server: {}}
links:
  far: {ends: [client, server], rate: 20 Mbit/s, delay: 10 ms, loss: 1 %, queue: 50 packets}
capture: [far]
timeline:
  - {on: server, run: iperf3 -s -1, as: sink, ready: {tcp: 5201}}
  - {on: client, run: iperf3 -c server -t 1 --json, as: transfer, save: transfer.json}
  - {on: client, run: 'dd if=/dev/zero of=/tmp/file bs=64 count=40000; cksum /tmp/file; cat /proc/uptime; sleep 0.1; kill -9 $$', as: blocks, may_fail: true}
  - {at: 300 ms, on: server, run: 'for n in 1 2 3 4 5 6 7 8 9; do sleep 0.01 & done; wait; cat /proc/uptime', as: children}
";

#[test]
fn a_kernel_that_has_one_processor_with_its_programs_computes_the_same() {
    for user in User::some() {
        let play = |wrapper: &[&str]| {
            let fixture = Fixture::with_kernel(user);
            fixture.write("lab.yaml", CALLS);
            fixture.wrapped(wrapper, &["run", "lab.yaml", "-q"]).expect_code(0);
            results(&fixture, "calls")
        };
        let apart = play(&["env"]);
        let together =
            play(&["sh", "-c", "exec taskset -c \"$(taskset -pc $$ | sed 's/.*: //; s/[^0-9].*//')\" \"$0\" \"$@\""]);
        assert!(apart["captures/far.pcapng"].len() > 1_000_000);
        assert_same(&apart, &together);
    }
}
