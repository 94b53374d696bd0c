//! Tests of command lines.

use super::*;
use crate::disk::Format;

fn image() -> Image {
    let begin = Begin::Kernel { kernel: "/k".into(), initrd: "/i".into(), append: "quiet".into() };
    Image { begin, disk: None }
}

fn machine(image: Image) -> Vm {
    Vm {
        name: "v".into(),
        memory_mib: 256,
        processors: 2,
        image,
        devices: vec![Nic { socket: "../c".into(), mac: None }, Nic { socket: "../0".into(), mac: Some([2; 6]) }],
        cards: vec!["0000:01:00.0".into()],
    }
}

fn words(image: Image) -> Result<String, VmError> {
    let vm = machine(image);
    let (program, acceleration) = ("qemu".into(), Acceleration::Kvm);
    let qemu = Qemu { program, version: "7.2".into(), acceleration };
    let [initrd, seed, agent, monitor, guest_agent] =
        ["initrd", "seed", "../agent", "q", "g"].map(|name| Path::new("..").join(name));
    let words =
        vm.arguments(&qemu, &Made { initrd, seed, agent, monitor, guest_agent, disk: Some("../d".into()) }, false)?;
    Ok(words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
}

#[test]
fn the_disk_of_the_lab_has_a_name_and_reports_errors() {
    let line = words(image()).unwrap();
    let disk = " -blockdev driver=nbd,node-name=lab,server.type=unix,server.path=../d -device virtio-blk-pci,drive=lab,serial=netloom-disk,\
                werror=report,rerror=report,";
    assert!(line.contains(disk), "{line}");
}

#[test]
fn the_kernel_begins_with_the_agent() {
    let line = words(image()).unwrap();
    assert!(
        line.contains(" rdinit=/netloom/ld quiet -- --library-path /netloom /netloom/netloom vm-agent stays"),
        "{line}"
    );
    let with = |append: &str| {
        let begin = Begin::Kernel { kernel: "/k".into(), initrd: "/i".into(), append: append.into() };
        words(Image { begin, disk: None })
    };
    assert!(with("ro root=/dev/vda1").unwrap().contains(" vm-agent switches"));
    let long = with(&"x".repeat(3000)).unwrap_err().to_string();
    assert!(long.starts_with("`append` is too long for a kernel's command line: 1"), "{long}");
}

#[test]
fn a_machine_that_is_slowed_has_no_clock_of_kvm() {
    let slowed = Acceleration::SlowedKvm { tsc_khz: 250_000 };
    assert!(command_line("", &slowed).unwrap().contains(" clocksource=hpet tsc=unstable "));
    assert_eq!(slowed.processor(), "host,kvm=off,tsc-freq=250000000");
    assert_eq!(slowed.board(), ",kernel-irqchip=off");
    assert!(!command_line("", &Acceleration::Kvm).unwrap().contains("hpet"));
}

#[test]
fn a_slowed_system_that_chooses_its_clock_finds_only_slowed_ones() {
    let disk = || Some(Disk { path: "/d".into(), format: Format::Raw });
    let own = machine(Image { begin: Begin::Disk(Firmware::Bios, Access::None), disk: disk() });
    let translated = Acceleration::Tcg(String::new());
    assert_eq!(own.processor(&translated, true), "max,-tsc");
    assert_eq!(own.processor(&translated, false), "max");
    assert_eq!(machine(image()).processor(&translated, true), "max");
    let slowed = Acceleration::SlowedKvm { tsc_khz: 250_000 };
    assert_eq!(own.processor(&slowed, true), "host,kvm=off,tsc-freq=250000000");
}

#[test]
fn commas_in_paths_stay_in_them() {
    let disk = Some(Disk { path: "/a,b.img".into(), format: Format::Qcow2 });
    let all = words(Image { disk, ..image() }).unwrap();
    for part in [
        "-drive file=/a,,b.img,format=qcow2,if=none,id=disk,snapshot=on",
        "-chardev socket,id=c0,path=../c -netdev vhost-user,id=n0,chardev=c0",
        "netdev=n0,mac=0e:6e:6c:00:00:01,",
        "netdev=n1,mac=02:02:02:02:02:02,",
        "-device vfio-pci,host=0000:01:00.0",
        "-m 256M -object memory-backend-memfd,id=ram,size=256M,share=on",
    ] {
        assert!(all.contains(part), "{part} in {all}");
    }
}

#[test]
fn a_disk_that_boots_by_itself_finds_the_agent_on_others() {
    let disk = || Some(Disk { path: "/d".into(), format: Format::Raw });
    let begin = Begin::Disk(Firmware::Bios, Access::Agent { ssh_keys: Vec::new() });
    let all = words(Image { begin, disk: disk() }).unwrap();
    for part in [
        "-drive file=../seed,format=raw,if=none,id=seed,readonly=on",
        "-device virtio-blk-pci,drive=agent,serial=netloom-agent",
        "-device virtserialport,chardev=guest-agent,name=org.qemu.guest_agent.0,id=guest-agent",
    ] {
        assert!(all.contains(part), "{part} in {all}");
    }
    assert!(!all.contains("-kernel") && !all.contains("pflash"), "{all}");
    let uefi = Firmware::Uefi { code: "/c,d".into(), variables: "/v".into() };
    let closed = words(Image { begin: Begin::Disk(uefi, Access::None), disk: disk() }).unwrap();
    assert!(closed.contains("if=pflash,format=raw,file=/c,,d,unit=0,readonly=on"), "{closed}");
    assert!(!closed.contains("seed") && !closed.contains("virtserialport"), "{closed}");
}
