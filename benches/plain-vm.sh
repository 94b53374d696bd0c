#!/bin/sh
# The machine to compare with: QEMU with a tap device of this machine's kernel, without Netloom.
# Usage: plain-vm.sh FOLDER COMMAND: COMMAND runs in the shell of a virtual machine that boots `vmlinuz` and `root.cpio.gz` of FOLDER,
# and what it prints is printed. 10.77.0.1, this machine's end, serves iperf3 on port 5201. The folder is made by scripts/ensure-vm-root.
# Everything is made inside namespaces of this script's own and vanishes with it; root is not needed.
set -eu
if [ "${PLAIN_VM_INSIDE:-}" != yes ]; then
    export PLAIN_VM_INSIDE=yes
    if [ "$(id -u)" = 0 ]; then
        exec unshare --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
    fi
    exec unshare --user --map-root-user --net --mount --pid --fork --kill-child --mount-proc "$0" "$@"
fi
folder=$(realpath "$1")
mount -t tmpfs none /run
mkdir /run/root
cd /run/root
cat >netloom-bench <<END
#!/bin/sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t tmpfs tmp /tmp
for module in \$(cat /lib/modules/order); do insmod /lib/modules/\$module; done
ip link set lo up
ip addr add 10.77.0.2/24 dev eth0
ip link set eth0 up
ping -q -c 2 10.77.0.1 >/dev/null
( $2 ) >/tmp/told 2>&1
echo >/dev/ttyS0
echo BEGIN >/dev/ttyS0
cat /tmp/told >/dev/ttyS0
echo END >/dev/ttyS0
/bin/busybox poweroff -f
END
chmod +x netloom-bench
cp "$folder/root.cpio.gz" ../initrd
# The kernel finds what is appended at a multiple of four bytes.
truncate -s %4 ../initrd
echo netloom-bench | busybox cpio -o -H newc 2>/dev/null >>../initrd
ip link set lo up
ip tuntap add dev tap0 mode tap vnet_hdr
ip addr add 10.77.0.1/24 dev tap0
ip link set tap0 up
iperf3 --server --daemon --json >/dev/null
# As Netloom has it, but for the network. -accel is what works here: KVM if it runs a machine at all, else TCG.
machine="-nodefaults -no-user-config -no-reboot -display none -vga none -machine q35 -smp 2 -m 512M"
words="quiet console=ttyS0 net.ifnames=0 panic=-1 no_timer_check virtio_net.napi_tx=0 rdinit=/netloom-bench"
net="-netdev tap,id=n,ifname=tap0,script=no,downscript=no,vhost=off"
# shellcheck disable=SC2086
boot() {
    timeout 120 qemu-system-x86_64 $machine $1 $net -device "virtio-net-pci,netdev=n,romfile=$2" -kernel "$folder/vmlinuz" \
        -initrd ../initrd -append "$words $3" -serial stdio </dev/null
}
boot "-accel kvm -cpu host" "" "" >../out 2>../error ||
    boot "-accel tcg,thread=multi -cpu max" ",vectors=0" "clocksource=hpet tsc=unstable" >../out
tr -d '\r' <../out | sed -n '/^BEGIN$/,/^END$/p' | sed '1d;$d'
