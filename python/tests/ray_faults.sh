# Faults of runs over two machines, which are network namespaces that a wire joins: `faults` has a line for each, "KIND SECONDS", where SECONDS pass
# from the start of the run to its fault. What became of each is a line of `fates`, and faults that have one are not played again. The cluster is made once; nothing
# outlives the script.
set -e
mount -t tmpfs tmpfs /run
mkdir /run/b && mount -t tmpfs -o size=200M tmpfs /run/b
for n in a b; do ip netns add $n; ip -n $n link set lo up; done
ip link add va netns a type veth peer name vb netns b
ip -n a addr add 10.99.0.1/24 dev va; ip -n a link set va up
ip -n b addr add 10.99.0.2/24 dev vb; ip -n b link set vb up
start="$RAY start --num-cpus 1 --disable-usage-stats"
# Ray itself waits 30 s for a node, and a busy machine may take longer.
begun() {
    local n=$1 _
    shift
    for _ in 1 2 3 4 5; do
        if ip netns exec "$n" $start "$@" >>"ray-$n.log" 2>&1; then return 0; fi
        [ "$n" = a ] && kill -9 $(pgrep gcs_server) $(pgrep raylet) || kill -9 $(there raylet) || true
        sleep 1
    done
    return 1
}
join() { TMPDIR=/run/b begun b --address 10.99.0.1:6399 --node-ip-address 10.99.0.2; }
# The processes of this name on b; their names are those of threads as well.
there() { for pid in $(pgrep -x "$1" || pgrep "$1"); do [ "$(ip netns identify "$pid")" != b ] || echo "$pid"; done; }
# All processes of b: those in its network namespace, and what these have started, as labs, which have others.
all_of_b() {
    ps -e -o pid=,ppid= | awk -v own="$(ip netns pids b | tr '\n' ' ')" '
        BEGIN { split(own, pids, " "); for (place in pids) is_of_b[pids[place]] = 1 }
        { parent[$1] = $2 }
        END {
            do { more = 0; for (pid in parent) if (is_of_b[parent[pid]] && !is_of_b[pid]) { is_of_b[pid] = 1; more = 1 } } while (more)
            for (pid in is_of_b) if (is_of_b[pid] && pid in parent) print pid
        }'
}
nodes() { ip netns exec a "$RAY" status --address 10.99.0.1:6399 2>/dev/null | sed '/Pending/,$d' | grep -c '1 node_'; }
is_there() { kill -0 "$run" 2>/dev/null; }
since() { echo "$(date +%s.%N) - $1" | bc; }

fault() {
    case $1 in
    head) kill -9 $(pgrep gcs_server) ;;
    agent) kill -9 $(there ray::Player) ;;
    stopped) kill -STOP $(there ray::Player) && (sleep 5; kill -CONT $(there ray::Player)) & ;;
    suspended) all=$(all_of_b); kill -STOP $all && (sleep 5; kill -CONT $all) & ;;
    node) kill -9 $(there raylet) ;;
    cut) ip -n b link set vb down ;;
    asker) kill -9 "$run" ;;
    interrupt) kill -TERM "$run" ;;
    disk) head -c 1G /dev/zero >/run/b/full ;;
    esac 2>/dev/null || true
}

# Makes the cluster; it is there when both machines are in it.
cluster() {
    begun a --head --include-dashboard=false --node-ip-address 10.99.0.1 --port 6399 --temp-dir /run/ray
    join
}

# Mends what the fault has broken, and waits until nothing is left of the run.
mend() {
    ip -n b link set vb up
    rm -f /run/b/full
    # Without its head, a cluster ends after a minute.
    [ "$1" != head ] || { kill -9 $(pgrep raylet) || true; sleep 1; cluster; }
    # Ray takes a machine that was cut off to be gone some time later: it joins anew.
    [ "$1" != cut ] || kill -9 $(there raylet) || true
    [ "$1" != cut ] && [ "$1" != node ] || join
    # A machine that was suspended is there again after five seconds; Ray may have given it up by then.
    [ "$1" != suspended ] || { sleep 6; [ "$(nodes)" = 2 ] || { kill -9 $(there raylet) || true; join; }; }
    until [ "$(nodes)" = 2 ]; do sleep 0.2; done
    for _ in $(seq 300); do pgrep -f -- '[-]-gate' >gates || break; sleep 0.1; done
    for _ in $(seq 100); do
        # What was killed leaves its runtime folder to the next command.
        ls -d "$TMPDIR"/netloom* /run/b/netloom* $([ "$1" = asker ] || echo "$XDG_RUNTIME_DIR"/netloom/far) >left 2>/dev/null || true
        [ -s left ] || break
        sleep 0.1
    done
    cat gates >>left
}

cluster
until [ "$(nodes)" = 2 ]; do sleep 0.2; done
while read -r kind after; do
    rm -rf results told shown said
    ip netns exec a "$PROGRAM" run far.yaml $MORE --on 10.99.0.1:6399 >shown 2>said &
    run=$!
    sleep "$after"
    began=0; ! grep -q 'time zero' said || began=1
    at=$(date +%s.%N)
    # A machine that is lost before the command knows of the cluster can be told from then on.
    known=$at; grep -q 'Connected to Ray' said || known=
    fault "$kind"
    while is_there; do
        [ -n "$known" ] || ! grep -q 'Connected to Ray' said || known=$(date +%s.%N)
        if [ ! -e told ] && grep -q 'is lost' said; then since "${known:-$at}" >told; fi
        [ "$(since "$at" | cut -d. -f1)" != 60 ] || kill -9 "$run"
        sleep 0.05
    done
    code=0; wait "$run" || code=$?
    [ -e told ] || ! grep -q 'is lost' said || since "${known:-$at}" >told
    took=$(since "$at")
    mend "$kind"
    results=$(ls -d results/far/2*/report.json 2>/dev/null | wc -l)
    echo "$kind $after $began $code ${took/#./0.} $(cat told 2>/dev/null || echo -) $(wc -l <left) $results" >>fates
    cat said left >"said-$(wc -l <fates)"
done < <(tail -n "+$((1 + $(cat fates 2>/dev/null | wc -l)))" faults)
