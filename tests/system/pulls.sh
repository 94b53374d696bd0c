# Registries on the loopback of a network namespace, for tests: Debian's own at port 5000, with passwords at 5001 and with TLS at 5002, and
# one that misbehaves at 5003. `pull` says how an attempt has ended.
set -e
ip link set lo up
started=
trap 'for pid in $started; do kill $pid 2> /dev/null || true; done' EXIT
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE 2> /dev/null
# The password is `secret`.
echo 'tester:$2y$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a' > htpasswd
serve() {
    cat > registry-$1.yml <<-END
	version: 0.1
	log: {level: error, accesslog: {disabled: true}}
	storage: {filesystem: {rootdirectory: $PWD/registry-$1}}
	http: {addr: 127.0.0.1:$1, secret: x$2}
	$3
	END
    docker-registry serve registry-$1.yml > registry-$1.log 2>&1 &
    started="$started $!"
}
serve 5000
serve 5001 "" "auth: {htpasswd: {realm: own, path: $PWD/htpasswd}}"
serve 5002 ", tls: {certificate: $PWD/cert.pem, key: $PWD/key.pem}"
python3 $TESTS/registry.py serve tools 5003 &
started="$started $!"
for port in 5000 5001 5002 5003; do
    tries=0
    until (: < /dev/tcp/127.0.0.1/$port) 2> /dev/null; do
        sleep 0.05
        tries=$((tries + 1))
        if [ $tries = 1000 ]; then cat registry-*.log; exit 9; fi
    done
done
pull() {
    code=0
    $NETLOOM image pull "$@" > out 2> err || code=$?
    echo "$1: $code: $(tr '\n' '|' < err)"
}
