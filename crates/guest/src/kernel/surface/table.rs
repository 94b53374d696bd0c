//! What is known of every function of the C library that a User-Mode Linux kernel imports.
//!
//! Sources: the man pages of the functions, and their callers in `arch/um` and `fs/hostfs` of Linux 6.1 and 7.3. A
//! function that is not here is unknown, and a kernel that imports it is refused: look at its callers before you add
//! it.

use Treatment::{Forbidden, Harmless, Scaled};

/// The treatment of a function of the C library that kernels import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// The function reports or measures time, or brings chance, and the shim stands in for it.
    Scaled,
    /// The function has nothing to do with time, for the given reason.
    Harmless(&'static str),
    /// The function reports or measures time, and the shim does not cover it: a kernel that imports it is refused.
    Forbidden,
}

/// Returns the treatment of a function, or `None` if the function is unknown.
pub fn treatment(function: &str) -> Option<Treatment> {
    TABLE.iter().find(|(_, functions)| functions.contains(&function)).map(|(treatment, _)| *treatment)
}

/// Lists the functions that the shim must stand in for.
pub fn covered_by_shim() -> impl Iterator<Item = &'static str> {
    TABLE.iter().filter(|(treatment, _)| *treatment == Scaled).flat_map(|(_, functions)| functions.iter().copied())
}

pub(super) const TABLE: &[(Treatment, &[&str])] = &[
    // Clocks.
    (Scaled, &["clock_gettime", "gettimeofday", "time"]),
    // Timers.
    (Scaled, &["timer_create", "timer_delete", "timer_settime", "timer_gettime", "setitimer", "getitimer"]),
    // Sleep, and waiting for files with a limit.
    (Scaled, &["clock_nanosleep", "nanosleep", "sleep", "usleep"]),
    (Scaled, &["epoll_pwait", "epoll_wait", "poll", "ppoll", "pselect", "select"]),
    // Chance, so that two runs with one seed are alike.
    (Scaled, &["getentropy", "getrandom", "rand", "random", "srand", "srandom"]),
    // Further clocks and timers of the library.
    (Forbidden, &["adjtime", "adjtimex", "clock", "clock_adjtime", "clock_getres", "clock_settime"]),
    (
        Forbidden,
        &["ftime", "getrusage", "ntp_adjtime", "ntp_gettime", "settimeofday", "stime", "times", "timespec_get"],
    ),
    (Forbidden, &["alarm", "timer_getoverrun", "timerfd_create", "timerfd_gettime", "timerfd_settime", "ualarm"]),
    // Waiting with a limit.
    (Forbidden, &["__ppoll_chk", "__poll_chk", "epoll_pwait2", "thrd_sleep", "cnd_timedwait", "mtx_timedlock"]),
    (Forbidden, &["aio_suspend", "mq_timedreceive", "mq_timedsend", "semtimedop", "sigtimedwait", "wait3", "wait4"]),
    (Forbidden, &["pthread_clockjoin_np", "pthread_cond_clockwait", "pthread_cond_timedwait", "pthread_timedjoin_np"]),
    (Forbidden, &["pthread_mutex_clocklock", "pthread_mutex_timedlock", "sem_clockwait", "sem_timedwait"]),
    (Forbidden, &["pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock"]),
    // Chance that the shim does not seed.
    (Forbidden, &["arc4random", "arc4random_buf", "arc4random_uniform", "drand48", "lrand48", "rand_r", "random_r"]),
    // What is not about time.
    (Harmless("the program's start and end"), &["__gmon_start__", "__libc_start_main", "_exit", "abort", "exit"]),
    (Harmless("the program's start and end"), &["_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable"]),
    (Harmless("the program's start and end"), &["__cxa_finalize", "atexit"]),
    (Harmless("objects of the library"), &["environ", "stderr", "stdin", "stdout", "__environ"]),
    (Harmless("memory"), &["calloc", "free", "malloc", "memalign", "realloc", "sbrk", "brk"]),
    (Harmless("memory"), &["madvise", "memfd_create", "mmap", "mmap64", "mprotect", "mremap", "munmap", "msync"]),
    (Harmless("text"), &["__ctype_b_loc", "__isoc23_sscanf", "__isoc23_strtol", "__isoc23_strtoul", "__isoc99_sscanf"]),
    (Harmless("text"), &["__isoc23_strtoull", "ffs", "memcpy", "memmove", "memset", "memcmp", "printf", "putchar"]),
    (Harmless("text"), &["__snprintf_chk", "__sprintf_chk", "__printf_chk", "__fprintf_chk", "__vfprintf_chk"]),
    (Harmless("text"), &["fprintf", "puts", "snprintf", "sprintf", "sscanf", "strcat", "strchr", "strcmp", "strcpy"]),
    (Harmless("text"), &["strdup", "strerror", "strlen", "strncmp", "strncpy", "strrchr", "strstr", "strtol"]),
    (Harmless("text"), &["strtoul", "strtoull", "vfprintf", "vsnprintf", "perror", "gai_strerror"]),
    (Harmless("guards of the compiler"), &["__errno_location", "__stack_chk_fail", "__memcpy_chk", "__strcpy_chk"]),
    (Harmless("files"), &["__getdelim", "access", "close", "closedir", "creat", "dup", "dup2", "dup3", "fallocate"]),
    (Harmless("files"), &["fallocate64", "fchdir", "chdir", "chmod", "chown", "fchmod", "fchown", "fclose", "fcntl"]),
    (Harmless("files"), &["fcntl64", "fdatasync", "fflush", "fgets", "fileno", "flock", "fopen", "fopen64", "fread"]),
    (Harmless("files"), &["fsync", "ftruncate", "ftruncate64", "fwrite", "getcwd", "getline", "ioctl", "isatty"]),
    (Harmless("files"), &["__fxstat", "__fxstat64", "__lxstat", "__lxstat64", "__xmknod", "__xstat", "__xstat64"]),
    (Harmless("files"), &["fstat", "fstat64", "lchown", "link", "lseek", "lseek64", "lstat", "lstat64", "mkdir"]),
    (Harmless("files"), &["mknod", "mkstemp", "mkstemp64", "open", "open64", "opendir", "__open_2", "__open64_2"]),
    (Harmless("files"), &["pipe", "pipe2", "pread", "pread64", "pwrite", "pwrite64", "read", "readdir", "readdir64"]),
    (Harmless("files"), &["readlink", "readv", "remove", "rename", "renameat2", "rewinddir", "rmdir", "seekdir"]),
    (Harmless("files"), &["stat", "stat64", "statfs", "statfs64", "fstatfs", "fstatfs64", "statx", "symlink"]),
    (Harmless("files"), &["telldir", "truncate", "truncate64", "unlink", "write", "writev", "syncfs"]),
    (Harmless("files"), &["__read_chk", "__pread64_chk", "__readlink_chk", "__getcwd_chk"]),
    (Harmless("sets the times of a file to what the guest says"), &["futimens", "futimes", "utime", "utimes"]),
    (Harmless("sets the times of a file to what the guest says"), &["utimensat", "lutimes"]),
    (Harmless("waits for no time of its own"), &["epoll_create", "epoll_create1", "epoll_ctl", "eventfd", "pause"]),
    (Harmless("waits for no time of its own"), &["sigsuspend", "sigwait", "sigwaitinfo", "waitpid", "wait"]),
    (Harmless("sockets"), &["accept", "accept4", "bind", "connect", "freeaddrinfo", "getaddrinfo", "getpeername"]),
    (Harmless("sockets"), &["getsockname", "getsockopt", "listen", "recv", "recvfrom", "recvmsg", "send", "sendmmsg"]),
    (Harmless("sockets"), &["sendmsg", "sendto", "setsockopt", "shutdown", "socket", "socketpair", "__recv_chk"]),
    (Harmless("the one caller in arch/um gives no limit of time"), &["recvmmsg"]),
    (Harmless("numbers of devices"), &["gnu_dev_major", "gnu_dev_makedev", "gnu_dev_minor"]),
    (Harmless("processes"), &["clone", "execv", "execve", "execvp", "fork", "vfork", "getenv", "getgid", "getegid"]),
    (Harmless("processes"), &["geteuid", "getpgrp", "getpid", "getppid", "getrlimit", "getrlimit64", "gettid"]),
    (Harmless("processes"), &["getuid", "kill", "personality", "prctl", "ptrace", "putenv", "setenv", "setpgid"]),
    (Harmless("processes"), &["setrlimit", "setrlimit64", "setsid", "tgkill", "uname", "unsetenv", "getauxval"]),
    (Harmless("processes"), &["sched_getaffinity", "sched_setaffinity", "sched_yield", "sysconf", "getpagesize"]),
    (
        Harmless(
            "arch/um calls close_range, execveat, exit, futex without a limit, getpid, seccomp, sendmsg and tgkill",
        ),
        &["syscall"],
    ),
    (Harmless("threads"), &["pthread_attr_init", "pthread_attr_setstack", "pthread_attr_destroy", "pthread_cancel"]),
    (Harmless("threads"), &["pthread_create", "pthread_join", "pthread_kill", "pthread_self", "pthread_sigmask"]),
    (Harmless("threads"), &["pthread_attr_setstacksize", "pthread_exit", "pthread_detach"]),
    (Harmless("signals"), &["__libc_current_sigrtmax", "__libc_current_sigrtmin", "raise", "sigaction", "sigaddset"]),
    (Harmless("signals"), &["sigaltstack", "sigdelset", "sigemptyset", "sigfillset", "sigismember", "signal"]),
    (Harmless("signals"), &["signalfd", "sigpending", "sigprocmask"]),
    (Harmless("jumps"), &["_setjmp", "longjmp", "setjmp", "siglongjmp", "__sigsetjmp", "__longjmp_chk"]),
    (Harmless("terminals"), &["cfmakeraw", "cfsetispeed", "cfsetospeed", "grantpt", "openpty", "posix_openpt"]),
    (Harmless("terminals"), &["ptsname", "ptsname_r", "tcgetattr", "tcgetpgrp", "tcsetattr", "tcsetpgrp", "unlockpt"]),
];
