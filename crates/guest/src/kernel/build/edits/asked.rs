//! System calls of programs without a signal.

use super::Edits;

/// A kernel hears of a system call when the machine's kernel sends the calling process a signal (`SECCOMP_RET_TRAP`), whose handler
/// wakes the kernel by a futex and sleeps on it. For calls that need nothing of the program but their arguments, there is a shorter way:
/// a notification (`SECCOMP_RET_USER_NOTIF`, seccomp_unotify(2), Linux 5.19 or later for `SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV`). The
/// process waits within its call, the kernel reads number and arguments from the filter's descriptor, and answers there with the
/// result. That spares the signal, what it saves and restores, and two of the four calls of the futex.
///
/// The registers stay with the process meanwhile. Where the kernel needs them, or the process for something else, it sends the
/// process SIGALRM before it answers: that is reported behind the call, with all registers (`netloom_surface`). This happens before a
/// signal of the program is handled, where somebody traces it or it has a filter of its own, where another thread is to run, and where
/// memory has been mapped meanwhile. All other calls, faults and signals are reported by the handler as before, which then waits by a
/// notification, too.
///
/// Programs, results and the time that passes in a lab are the same in either way. Where this machine does not let a kernel listen
/// (an older one; Yama's `ptrace_scope` of 2 or 3), and where branches are counted, the futex remains.
pub(super) const ASKED: [Edits; 9] = [
    Edits {
        file: "arch/um/include/shared/skas/mm_id.h",
        edits: &[
            (
                "#define STUB_MAX_FDS 4\n",
                "#define STUB_MAX_FDS 4\n\
                 \n\
                 struct uml_pt_regs;\n\
                 \n\
                 /* What a program asks of its kernel, and waits for, without a signal. */\n\
                 struct netloom_call {\n\
                 \tint nr; /* -1: nothing; its process reports a signal */\n\
                 \tunsigned long ip;\n\
                 \tunsigned long args[6];\n\
                 };\n",
            ),
            (
                "\tint syscall_fd_map[STUB_MAX_FDS];\n",
                "\tint syscall_fd_map[STUB_MAX_FDS];\n\
                 \n\
                 \t/* How it asks: by this descriptor, or, if that is 0, by a futex. */\n\
                 \tint netloom_asks;\n\
                 \tint netloom_heard;\n\
                 \tunsigned long long netloom_id;\n\
                 \tstruct netloom_call netloom_call;\n\
                 \t/* Where the registers of who asked belong; until the answer they are with the process. */\n\
                 \tstruct uml_pt_regs *netloom_asker;\n",
            ),
            (
                "struct mutex *__get_turnstile",
                "void netloom_surface(struct mm_id *mm_idp);\n\
                 \n\
                 struct mutex *__get_turnstile",
            ),
        ],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/include/shared/skas/stub-data.h",
        edits: &[
            (
                "\tunsigned long event;\n\
                 \tint seccomp;\n",
                "\tunsigned long event;\n\
                 \tint seccomp;\n\
                 \tint netloom_asks;\n",
            ),
            (
                "\tstruct stub_data_arch arch_data;\n",
                "\tstruct stub_data_arch arch_data;\n\
                 \n\
                 \t/* The process asks by a notification, not by a futex. */\n\
                 \tint netloom_asks;\n",
            ),
        ],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/kernel/skas/stub.c",
        edits: &[
            (
                "restart_wait:\n\
                 \td->futex = FUTEX_IN_KERN;\n\
                 \tdo {\n",
                "restart_wait:\n\
                 \tif (d->netloom_asks) {\n\
                 \t\tres = stub_syscall0(__NR_getppid);\n\
                 \t\tgoto netloom_answered;\n\
                 \t}\n\
                 \td->futex = FUTEX_IN_KERN;\n\
                 \tdo {\n",
            ),
            (
                "\tif (res < 0 && res != -EAGAIN)\n\
                 \t\tstub_syscall1(__NR_exit_group, 1);\n\
                 \n\
                 \tif (d->syscall_data_len) {",
                "netloom_answered:\n\
                 \tif (res < 0 && res != -EAGAIN)\n\
                 \t\tstub_syscall1(__NR_exit_group, 1);\n\
                 \n\
                 \tif (d->syscall_data_len) {",
            ),
        ],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/kernel/skas/stub_exe.c",
        edits: &[
            (
                "\t\tif (stub_syscall3(__NR_seccomp, SECCOMP_SET_MODE_FILTER,\n\
                 \t\t\t\t  SECCOMP_FILTER_FLAG_TSYNC,\n",
                concat!(
                    include_str!("../../../../kernel/asked/stub_exe.c"),
                    "\t\tif (stub_syscall3(__NR_seccomp, SECCOMP_SET_MODE_FILTER,\n\
                     \t\t\t\t  SECCOMP_FILTER_FLAG_TSYNC,\n"
                ),
            ),
            (
                "\t\t.sa_flags = SA_ONSTACK | SA_NODEFER | SA_SIGINFO | 0x04000000,\n",
                "\t\t.sa_flags = SA_ONSTACK | SA_NODEFER | SA_SIGINFO | SA_RESTART | 0x04000000,\n",
            ),
        ],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/kernel/skas/mmu.c",
        edits: &[(
            "\t\tos_close_file(mmu->id.sock);\n",
            "\t\tos_close_file(mmu->id.sock);\n\
                 \tif (using_seccomp && mmu->id.netloom_asks)\n\
                 \t\tos_close_file(mmu->id.netloom_asks);\n",
        )],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/kernel/time.c",
        edits: &[(
            "\t    get_current()->mm)\n\
                 \t\tos_alarm_process(",
            "\t    get_current()->mm && !get_current()->mm->context.id.netloom_asker)\n\
                 \t\tos_alarm_process(",
        )],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/kernel/process.c",
        edits: &[(
            "\t\tif (thread_flags & (_TIF_SIGPENDING | _TIF_NOTIFY_SIGNAL))\n\
                 \t\t\tdo_signal(regs);\n",
            "\t\tif ((thread_flags & (_TIF_SIGPENDING | _TIF_NOTIFY_SIGNAL | _TIF_NOTIFY_RESUME)) &&\n\
                 \t\t    current->mm && current->mm->context.id.netloom_asker == &regs->regs)\n\
                 \t\t\tnetloom_surface(&current->mm->context.id);\n\
                 \t\tif (thread_flags & (_TIF_SIGPENDING | _TIF_NOTIFY_SIGNAL))\n\
                 \t\t\tdo_signal(regs);\n",
        )],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/kernel/skas/syscall.c",
        edits: &[(
            "\tif (syscall_trace_enter(regs))\n",
            "\t/* Whoever traces it, or ends it here, finds its registers. */\n\
                 \tif (current->mm && current->mm->context.id.netloom_asker == r &&\n\
                 \t    (test_thread_flag(TIF_SYSCALL_TRACE) || test_thread_flag(TIF_SYSCALL_TRACEPOINT) ||\n\
                 \t     test_thread_flag(TIF_SINGLESTEP) || test_thread_flag(TIF_SECCOMP)))\n\
                 \t\tnetloom_surface(&current->mm->context.id);\n\
                 \n\
                 \tif (syscall_trace_enter(regs))\n",
        )],
        without: WITHOUT,
    },
    Edits {
        file: "arch/um/os-Linux/skas/process.c",
        edits: &[
            (
                "#include <linux/futex.h>\n",
                "#include <linux/futex.h>\n\
                 #include <linux/seccomp.h>\n\
                 #include <sys/ioctl.h>\n",
            ),
            (
                "void wait_stub_done_seccomp(struct mm_id *mm_idp, int running, int wait_sigsys)\n\
                 {\n",
                concat!(
                    include_str!("../../../../kernel/asked/process.c"),
                    "void wait_stub_done_seccomp(struct mm_id *mm_idp, int running, int wait_sigsys)\n\
                     {\n"
                ),
            ),
            (
                "\tstruct stub_data *data = (void *)mm_idp->stack;\n\
                 \tint ret;\n\
                 \n\
                 \tdo {\n",
                "\tstruct stub_data *data = (void *)mm_idp->stack;\n\
                 \tint ret;\n\
                 \n\
                 \tif (!running && mm_idp->netloom_asker)\n\
                 \t\tnetloom_surface(mm_idp);\n\
                 \n\
                 \tdo {\n",
            ),
            (
                "\t\t\tdata->signal = 0;\n\
                 \t\t\tdata->futex = FUTEX_IN_CHILD;\n\
                 \t\t\tCATCH_EINTR(syscall(__NR_futex, &data->futex,\n\
                 \t\t\t\t\t    FUTEX_WAKE, 1, NULL, NULL, 0));\n\
                 \t\t}\n\
                 \n\
                 \t\tdo {\n",
                "\t\t\tdata->signal = 0;\n\
                 \t\t\tif (mm_idp->netloom_heard) {\n\
                 \t\t\t\tnetloom_answer(mm_idp, 0);\n\
                 \t\t\t} else {\n\
                 \t\t\t\tdata->futex = FUTEX_IN_CHILD;\n\
                 \t\t\t\tCATCH_EINTR(syscall(__NR_futex, &data->futex,\n\
                 \t\t\t\t\t\t    FUTEX_WAKE, 1, NULL, NULL, 0));\n\
                 \t\t\t}\n\
                 \t\t}\n\
                 \n\
                 \t\tif (mm_idp->netloom_asks && netloom_hear(mm_idp))\n\
                 \t\t\tgoto out_kill;\n\
                 \n\
                 \t\twhile (!mm_idp->netloom_asks) {\n",
            ),
            (
                "\t\t} while (data->futex == FUTEX_IN_CHILD);\n",
                "\t\t\tif (data->futex != FUTEX_IN_CHILD)\n\
                 \t\t\t\tbreak;\n\
                 \t\t}\n",
            ),
            (
                "\t\t.seccomp = using_seccomp,\n",
                "\t\t.seccomp = using_seccomp,\n\
                 \t\t.netloom_asks = using_seccomp && !netloom_futex,\n",
            ),
            (
                "netloom_counts(&init_data.event_type, &init_data.event))\n\
                 \t\tinit_data.signal_handler =",
                "netloom_counts(&init_data.event_type, &init_data.event))\n\
                 \t\tnetloom_futex = true, init_data.netloom_asks = 0,\n\
                 \t\tinit_data.signal_handler =",
            ),
            (
                "\tif (using_seccomp)\n\
                 \t\tproc_data->futex = FUTEX_IN_CHILD;\n",
                "\tmm_id->netloom_asks = 0;\n\
                 \tmm_id->netloom_heard = 0;\n\
                 \tmm_id->netloom_call.nr = -1;\n\
                 \tmm_id->netloom_asker = NULL;\n\
                 \tproc_data->netloom_asks = 0;\n\
                 \tif (using_seccomp)\n\
                 \t\tproc_data->futex = FUTEX_IN_CHILD;\n",
            ),
            (
                "\tclose(tramp_data.sockpair[0]);\n\
                 \tif (using_seccomp)\n\
                 \t\tmm_id->sock",
                "\tif (using_seccomp && !netloom_listen(mm_id)) {\n\
                 \t\tnetloom_futex = true;\n\
                 \t\tos_kill_ptraced_process(mm_id->pid, 1);\n\
                 \t\tclose(tramp_data.sockpair[0]);\n\
                 \t\tclose(tramp_data.sockpair[1]);\n\
                 \t\treturn start_userspace(mm_id);\n\
                 \t}\n\
                 \n\
                 \tclose(tramp_data.sockpair[0]);\n\
                 \tif (using_seccomp)\n\
                 \t\tmm_id->sock",
            ),
            (
                "\t\t\terr = set_stub_state(regs, proc_data, singlestepping());\n",
                "\t\t\tif (mm_id->netloom_asker &&\n\
                 \t\t\t    (mm_id->netloom_asker != regs || mm_id->syscall_data_len || mm_id->syscall_fd_num ||\n\
                 \t\t\t     singlestepping()))\n\
                 \t\t\t\tnetloom_surface(mm_id);\n\
                 \n\
                 \t\t\terr = mm_id->netloom_asker ? 0 : set_stub_state(regs, proc_data, singlestepping());\n",
            ),
            (
                "\t\t\twait_stub_done_seccomp(mm_id, 0, 0);\n\
                 \n\
                 \t\t\tsig = proc_data->signal;\n",
                "\t\t\tif (mm_id->netloom_asker) {\n\
                 \t\t\t\tmm_id->netloom_asker = NULL;\n\
                 \t\t\t\tnetloom_answer(mm_id, regs->gp[HOST_AX]);\n\
                 \t\t\t\twait_stub_done_seccomp(mm_id, 1, 0);\n\
                 \t\t\t} else {\n\
                 \t\t\t\twait_stub_done_seccomp(mm_id, 0, 0);\n\
                 \t\t\t}\n\
                 \n\
                 \t\t\tsig = mm_id->netloom_call.nr < 0 ? proc_data->signal : SIGSYS;\n",
            ),
            (
                "\t\t\terr = get_stub_state(regs, proc_data, NULL);\n",
                "\t\t\terr = mm_id->netloom_call.nr < 0 ? get_stub_state(regs, proc_data, NULL) :\n\
                 \t\t\t\tnetloom_take(regs, mm_id);\n",
            ),
            (
                "\t\t\tPT_SYSCALL_NR(regs->gp) = si->si_syscall;\n",
                "\t\t\tif (mm_id->netloom_call.nr < 0)\n\
                 \t\t\t\tPT_SYSCALL_NR(regs->gp) = si->si_syscall;\n",
            ),
        ],
        without: WITHOUT,
    },
];

const WITHOUT: &str = "system calls of programs take half as long again with this kernel";
