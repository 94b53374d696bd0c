#!/bin/bash
# What is tried on a whole machine (scripts/machines): an ordinary user, who may call sudo, installs the packages of a release and uses them. Each
# trial ends with a line "== NAME ok SECONDS" or "== NAME FAILED CODE"; what a failed one printed is above that.
folder=/trial
cd "$HOME" || exit
export PATH=$PATH:/usr/sbin:/sbin NETLOOM_TRIAL=$folder

# Trials for machines of one kind alone: kernel nodes are for x86-64.
x86() {
    [ "$(uname -m)" != x86_64 ] || "$@"
}
arm() {
    [ "$(uname -m)" != aarch64 ] || "$@"
}
export endless=dilated
arm export endless=endless
# Labs of the folder of examples: those that are simulated, and those whose programs run in real time.
simulated='sim-bottleneck constellation wifi cell walking'
played='dumbbell star spanning-tree vlans'
export simulated played

trial() {
    local name=$1 script=$2 begun=$SECONDS code=0
    echo "-- $name"
    # In a session of its own: a program that asks the terminal would be stopped, since it is not in the foreground.
    setsid -w timeout -k 5 "${3:-300}" bash -euo pipefail -c "$script" </dev/null >"$name.log" 2>&1 || code=$?
    if [ $code = 0 ]; then
        echo "== $name ok $((SECONDS - begun))"
    else
        tail -n 25 "$name.log"
        echo "== $name FAILED $code"
    fi
}

# Everything of the machine that Netloom could have changed.
state() {
    ip -o link | sed 's/ qdisc.*//'
    ip rule
    sudo nft list ruleset
    findmnt -rno TARGET
    find /sys/fs/cgroup -name '*netloom*'
    ps -eo comm= | grep -xE 'netloom.*|linux|pasta.*|slirp4netns' || true
    ls -d /usr/bin/netloom /usr/lib/netloom /usr/share/netloom /etc/apparmor.d/netloom 2>/dev/null || true
    sudo cat /sys/kernel/security/apparmor/profiles 2>/dev/null | grep netloom || true
}

# A machine beyond a wire, 10.9.0.2, which answers at port 8000.
sudo bash -euc "
    modprobe -a veth tun nf_tables || true
    ip netns add far
    ip link add wire type veth peer name wire netns far
    ip address add 10.9.0.1/24 dev wire
    ip link set wire up
    ip -n far address add 10.9.0.2/24 dev wire
    ip -n far link set wire up
    ip route add default via 10.9.0.2
    mkdir -p /tmp/far && echo the answer >/tmp/far/answer"
sudo ip netns exec far python3 -m http.server -d /tmp/far 8000 >/dev/null 2>&1 &
# Looking at the rules makes empty tables of them on some machines.
state >/dev/null
state >before

trial install 'RELEASE=file://$NETLOOM_TRIAL sh $NETLOOM_TRIAL/install'
trial version 'netloom --version'
trial doctor 'netloom doctor --quiet --json >doctor.json || true; grep -q "\"checks\"" doctor.json' 600
trial real 'netloom run -q $NETLOOM_TRIAL/real.yaml --results results'
x86 trial dilated 'netloom run -q $NETLOOM_TRIAL/dilated.yaml --results results'
# The image is made of this machine's programs where those of the other machine do not run.
arm trial make-image 'python3 $NETLOOM_TRIAL/image.py tools "{\"Cmd\": [\"sh\"], \"Env\": [\"PATH=/bin:/usr/bin\"]}" sh cat ls ping iperf3'
trial image '[ -d tools ] || cp -r $NETLOOM_TRIAL/tools .; netloom image import oci:tools --name tools:1
    netloom run -q $NETLOOM_TRIAL/imaged.yaml --results results'
trial sim 'for lab in $simulated; do netloom sim -q $NETLOOM_TRIAL/examples/$lab.yaml --results results; done'
# What the network did is not judged here, but whether the programs ran.
trial examples 'for lab in $played; do
        code=0; netloom run -q $NETLOOM_TRIAL/examples/$lab.yaml --results results || code=$?
        [ $code = 0 ] || [ $code = 1 ] || [ $code = 5 ]
        if grep "\"failed\": *true" results/$lab/latest/report.json; then exit 1; fi
    done' 900
arm trial refused 'for lab in dilated virtual; do
        netloom run $NETLOOM_TRIAL/$lab.yaml --results results >said 2>&1 && exit 1; cat said; grep -q "x86-64" said
    done'
x86 trial virtual 'netloom run -q $NETLOOM_TRIAL/virtual.yaml --results results'
trial up 'netloom up -q $NETLOOM_TRIAL/real.yaml --results results
    netloom exec real a -- ping -c 1 b
    netloom down real || [ $? = 5 ]'
trial page 'netloom ui --port 8123 >address & until grep -q http address; do sleep 0.5; done
    curl -fsSL -c cookies -b cookies -o page.html "$(sed -n "s|.*\(http://[^ ]*\).*|\1|p" address | head -1)"
    grep -qi "<title" page.html
    kill %1; wait %1 || true'
rtt='rtt() { ping -q -c 5 -i 0.2 10.9.0.2 | sed -n "s|^rtt[^=]*= \([0-9]*\).*|\1|p"; }; '
trial shape "$rtt"'trap "sudo netloom shape remove slow" ERR; sudo netloom shape add --name slow --match "to 10.9.0.2 icmp" --delay 200ms
    [ "$(rtt)" -ge 200 ]; sudo netloom shape remove slow || [ $? = 5 ]; [ "$(rtt)" -lt 150 ]'
trial internet 'netloom run -q $NETLOOM_TRIAL/out.yaml --results results'
trial machine 'netloom up $NETLOOM_TRIAL/machine.yaml >said 2>&1 && exit 1; cat said; grep -qE "qemu-system-x86|x86_64" said'
trial kill 'for victims in netloom-lab netloom "netloom netloom-lab"; do
        netloom run -q $NETLOOM_TRIAL/$endless.yaml --results results >/dev/null 2>&1 & sleep 4
        for victim in $victims; do pkill -9 -x "$victim" || true; done
        wait || true; netloom ps; for _ in $(seq 100); do pgrep "netloom|linux" || break; sleep 0.2; done
        if pgrep "netloom|linux"; then exit 1; fi
    done'
trial root 'sudo netloom image import oci:tools --name tools:1; [ $(uname -m) != x86_64 ] || virtual=virtual
    for lab in real imaged out ${virtual:-}; do
        sudo netloom run -q $NETLOOM_TRIAL/$lab.yaml --results of-root
    done' 600
trial uninstall 'sudo dpkg -P netloom $(dpkg -l netloom-kernel >/dev/null 2>&1 && echo netloom-kernel); ! command -v netloom'
state >after
trial clean 'diff before after'
# What the machine that emulates this one looks at.
sudo tar -cf /dev/vdb --ignore-failed-read ./*.log doctor.json results
