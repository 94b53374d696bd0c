use super::*;

/// What the dynamic symbol table of Linux 7.3.4 for User-Mode Linux asks for, built with our configuration and, beyond
/// it, the vector network driver: `nm -D --undefined-only linux`.
const LINUX_7_3: &str = "
    __errno_location __getdelim __gmon_start__ __libc_current_sigrtmin __libc_start_main _exit accept access bind
    cfmakeraw chmod chown clock_gettime clone close closedir connect dup dup2 epoll_create epoll_ctl epoll_wait eventfd
    execv execve execvp exit fallocate64 fchmod fchown fclose fcntl64 fdatasync fflush fopen64 fork free freeaddrinfo
    fstat64 fsync ftruncate64 futimes fwrite gai_strerror getaddrinfo getenv getpgrp getpid getppid getrandom getrlimit64
    gettid grantpt ioctl isatty kill link lseek64 madvise malloc memfd_create mkdir mknod mkstemp64 mmap64 mprotect
    mremap munmap open64 opendir openpty pause perror personality poll prctl pread64 printf pthread_cancel pthread_create
    pthread_join pthread_sigmask ptrace putenv pwrite64 rand read readdir64 readlink readv recvfrom recvmmsg recvmsg
    rename rmdir sbrk seekdir sendmmsg sendmsg sendto setrlimit64 setsid setsockopt shutdown sigaction sigaddset
    sigaltstack sigdelset sigemptyset sigfillset sigismember signal signalfd sigprocmask sigsuspend sleep socket
    socketpair srand stat64 statfs64 statx strdup strerror strtol strtoul symlink syscall tcgetattr tcgetpgrp tcsetattr
    tcsetpgrp timer_create timer_settime truncate64 uname unlink unlockpt utimes vfprintf waitpid write writev";

/// What Debian's `/usr/bin/linux.uml` (Linux 6.1.176, package user-mode-linux 6.1um4) asks for beyond these.
const DEBIAN_6_1: &str = "
    __fxstat64 __isoc99_sscanf __lxstat __lxstat64 __snprintf_chk __stack_chk_fail __xmknod __xstat cfsetispeed
    cfsetospeed chdir fcntl ffs getcwd getline gettimeofday getuid gnu_dev_major gnu_dev_makedev gnu_dev_minor listen
    lseek lstat64 open ptsname readdir recv send statfs telldir timer_gettime truncate utime";

fn refused(imports: &str) -> Vec<Uncovered> {
    uncovered(imports.split_whitespace())
}

fn named(function: &str, known: bool) -> Uncovered {
    Uncovered { function: function.to_owned(), known }
}

#[test]
fn every_import_of_real_kernels_is_known() {
    assert_eq!(refused(LINUX_7_3), []);
    assert_eq!(refused(DEBIAN_6_1), []);
}

#[test]
fn what_tells_the_time_must_be_covered() {
    for function in ["clock_gettime", "timer_settime", "nanosleep", "select", "setitimer", "getrandom", "sleep"] {
        assert_eq!(treatment(function), Some(Treatment::Scaled), "{function}");
        assert!(covered_by_shim().any(|covered| covered == function), "{function}");
    }
    assert_eq!(refused("read timerfd_settime write"), [named("timerfd_settime", true)]);
    assert_eq!(refused("pthread_cond_timedwait"), [named("pthread_cond_timedwait", true)]);
}

/// Any program calls hundreds of functions, and what somebody made up has names of any length.
#[test]
fn what_is_no_kernel_is_refused_in_a_short_message() {
    let functions: Vec<Uncovered> =
        (0..500).map(|number| named(&format!("{number}{}", "x".repeat(9_999)), false)).collect();
    let text = SurfaceError::Uncovered { path: "/k/linux".into(), functions }.to_string();
    assert!(text.len() < 1_000 && text.contains(" and 495 more like these: it is hardly a kernel"), "{text}");
}

#[test]
fn what_nobody_knows_is_refused_by_name() {
    let functions = refused("read sleep_until_tomorrow alarm");
    assert_eq!(functions, [named("sleep_until_tomorrow", false), named("alarm", true)]);
    let error = SurfaceError::Uncovered { path: "/k/linux".into(), functions };
    assert_eq!(
        error.to_string(),
        "the kernel /k/linux calls `sleep_until_tomorrow` (which netloom does not know), `alarm` (which deals with \
         time): its clock would not be slowed"
    );
}

#[test]
fn no_function_is_judged_twice() {
    let mut all: Vec<&str> = table::TABLE.iter().flat_map(|(_, functions)| functions.iter().copied()).collect();
    all.sort_unstable();
    let mut once = all.clone();
    once.dedup();
    assert_eq!(all, once);
}

/// An ELF program, as far as it can be checked: header, one segment, the sections of a dynamic symbol table.
pub(crate) fn program(interpreter: bool, imports: &[&str]) -> Vec<u8> {
    let mut text = vec![0u8];
    let mut symbols = vec![0u8; 24];
    for import in imports {
        let name = u32::try_from(text.len()).expect("the names are short");
        text.extend(import.bytes().chain([0]));
        symbols.extend(name.to_le_bytes());
        // A global function (0x12) of no section.
        symbols.extend([0x12, 0, 0, 0]);
        symbols.extend([0; 16]);
    }
    let texts_at = 64 + 56 + symbols.len() as u64;
    let sections_at = texts_at + text.len() as u64;
    let mut file = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x3e\0\x01\0\0\0".to_vec();
    let word = |to: &mut Vec<u8>, value: u64| to.extend(value.to_le_bytes());
    for value in [0x40_0000, 64, sections_at] {
        word(&mut file, value);
    }
    file.extend([0; 4]);
    for half in [64u16, 56, 1, 64, 3, 2] {
        file.extend(half.to_le_bytes());
    }
    // PT_INTERP is 3, PT_NULL 0.
    file.extend([if interpreter { 3 } else { 0 }, 0, 0, 0, 4, 0, 0, 0]);
    file.extend([0; 48]);
    file.extend(&symbols);
    file.extend(&text);
    file.extend([0; 64]);
    // SHT_DYNSYM is 11 with its strings in section 2; SHT_STRTAB is 3.
    for (kind, at, size, link, each) in
        [(11u32, 64 + 56, symbols.len() as u64, 2u32, 24), (3, texts_at, text.len() as u64, 0, 0)]
    {
        file.extend([0; 4]);
        file.extend(kind.to_le_bytes());
        for value in [0, 0, at, size] {
            word(&mut file, value);
        }
        file.extend(link.to_le_bytes());
        file.extend(1u32.to_le_bytes());
        word(&mut file, 8);
        word(&mut file, each);
    }
    file
}

fn check(data: &[u8]) -> Result<(), SurfaceError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("linux");
    fs::write(&path, data).unwrap();
    check_time_surface(&path)
}

#[test]
fn the_symbol_table_of_a_program_is_what_counts() {
    check(&program(true, &["clock_gettime", "poll", "read"])).unwrap();
    match check(&program(true, &["clock_gettime", "timerfd_create", "warp"])) {
        Err(SurfaceError::Uncovered { functions, .. }) => {
            assert_eq!(functions, [named("timerfd_create", true), named("warp", false)]);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn programs_that_nothing_can_be_preloaded_into_are_refused() {
    assert!(matches!(check(&program(false, &["read"])), Err(SurfaceError::Static { .. })));
    assert!(matches!(check(b"#!/bin/sh\nexit 0\n"), Err(SurfaceError::NoProgram { .. })));
    assert!(matches!(check(b""), Err(SurfaceError::NoProgram { .. })));
    assert!(matches!(check_time_surface(Path::new("/nowhere/linux")), Err(SurfaceError::Unreadable { .. })));
}

#[test]
fn damaged_programs_are_refused_and_never_crash_the_check() {
    let whole = program(true, &["clock_gettime", "poll"]);
    for length in 0..whole.len() {
        drop(check(&whole[..length]));
    }
}
