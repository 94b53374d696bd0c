# A server of NATS with JetStream on the disk at /srv/data; SYNC is how often it flushes its files, `always`, or nothing for its default.
cat > /tmp/nats.conf <<END
server_name: $NETLOOM_NODE
port: 4222
jetstream { store_dir: /srv/data${SYNC:+, sync_interval: $SYNC} }
cluster { name: lab, listen: 0.0.0.0:6222, routes: [nats://n1:6222, nats://n2:6222, nats://n3:6222] }
END
exec "$NATS_SERVER" --config /tmp/nats.conf
