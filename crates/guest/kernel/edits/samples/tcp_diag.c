/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include <linux/cred.h>
#include <linux/fdtable.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <linux/sched/signal.h>
#include <linux/time-internal.h>
#include <linux/timekeeping.h>
#include <linux/user_namespace.h>
#include <os.h>

/* What the device backend gets: the same kinds as in shim/mailbox.h. */
enum { NETLOOM_CONNECTION = 1, NETLOOM_OWNER = 2 };

typedef void netloom_put(unsigned int kind, const void *bytes, unsigned int length);

/* Like the agent's own request: crates/host/src/netlink/diag.rs. */
#define NETLOOM_STATES (TCPF_ESTABLISHED | TCPF_SYN_SENT | TCPF_FIN_WAIT1 | TCPF_FIN_WAIT2 | \
			TCPF_CLOSE_WAIT | TCPF_LAST_ACK | TCPF_CLOSING)
#define NETLOOM_MOST_FILES 4096

/* Made in every kernel, so that what memory is taken does not depend on whether samples are. */
static struct sk_buff *netloom_message;

/* On whose behalf it is asked: a socket of nobody's, in the first user namespace. */
static const struct cred netloom_cred = { .user_ns = &init_user_ns };
static struct file netloom_file = { .f_cred = &netloom_cred };
static struct socket netloom_socket = { .file = &netloom_file };
static struct sock netloom_asker = { .sk_socket = &netloom_socket };

static void netloom_put_connection(struct sock *sk, netloom_put *put)
{
	static struct inet_diag_dump_data data;
	static const struct nlmsghdr request = { .nlmsg_type = TCPDIAG_GETSOCK };
	struct netlink_callback callback = { .skb = netloom_message, .nlh = &request, .data = &data };
	const struct inet_diag_req_v2 wanted = {
		.sdiag_protocol = IPPROTO_TCP,
		.idiag_ext = 1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_VEGASINFO - 1) |
			     1 << (INET_DIAG_CONG - 1),
	};
	int owned = sk->sk_lock.owned;

	NETLINK_CB(netloom_message).sk = &netloom_asker;
	NETLINK_CB(netloom_message).portid = 0;
	/* Whoever has it stands still meanwhile. */
	sk->sk_lock.owned = 0;
	if (!inet_sk_diag_fill(sk, inet_csk(sk), netloom_message, &callback, &wanted, 0, false))
		put(NETLOOM_CONNECTION, nlmsg_data(nlmsg_hdr(netloom_message)),
		    nlmsg_len(nlmsg_hdr(netloom_message)));
	sk->sk_lock.owned = owned;
	skb_trim(netloom_message, 0);
}

static void netloom_put_owners(netloom_put *put)
{
	struct task_struct *task;

	for_each_process(task) {
		struct files_struct *files = task->files;
		struct fdtable *table = files ? files_fdtable(files) : NULL;
		unsigned int fd;

		for (fd = 0; table && fd < min(table->max_fds, NETLOOM_MOST_FILES); fd++) {
			struct file *file = rcu_dereference_raw(table->fd[fd]);
			struct socket *sock = file ? sock_from_file(file) : NULL;
			u32 owner[2];

			if (!sock || !sock->sk || sock->sk->sk_protocol != IPPROTO_TCP ||
			    !(1 << sock->sk->sk_state & NETLOOM_STATES))
				continue;
			owner[0] = sock_i_ino(sock->sk);
			owner[1] = task_session_nr_ns(task, &init_pid_ns);
			put(NETLOOM_OWNER, owner, sizeof(owner));
		}
	}
}

/*
 * Called by the device backend when no time passes, at the end of all that happens at an instant: hands over the state of all
 * connections, `ahead` nanoseconds later. Nothing happens until then, and nothing is changed here: no process wakes up, no
 * timer is set, no clock advances. The kernel has one processor and does not preempt itself, so that nobody can be in the
 * middle of changing a list.
 */
static void netloom_connections(unsigned long long ahead, int owners, netloom_put *put)
{
	struct inet_hashinfo *hashinfo = init_net.ipv4.tcp_death_row.hashinfo;
	u64 now = ktime_get();
	u64 ticks = div_u64(now + ahead, TICK_NSEC) - div_u64(now, TICK_NSEC);
	bool any = false;
	unsigned int slot;

	/* No softirq runs at the end of functions that had held them back, and nobody is scheduled. */
	preempt_count_add(SOFTIRQ_DISABLE_OFFSET);
	rcu_read_lock();
	/* Times are counted in these, as of the last interrupt. */
	jiffies_64 += ticks;
	for (slot = 0; slot <= hashinfo->ehash_mask; slot++) {
		struct hlist_nulls_node *node;
		struct sock *sk;

		sk_nulls_for_each(sk, node, &hashinfo->ehash[slot].chain) {
			if (!(1 << sk->sk_state & NETLOOM_STATES) || !net_eq(sock_net(sk), &init_net))
				continue;
			netloom_put_connection(sk, put);
			any = true;
		}
	}
	jiffies_64 -= ticks;
	if (any && owners)
		netloom_put_owners(put);
	rcu_read_unlock();
	preempt_count_sub(SOFTIRQ_DISABLE_OFFSET);
}

static int __init netloom_samples(void)
{
	void (*connections)(unsigned long long ahead, int owners, netloom_put *put) = netloom_connections;
	int fd;

	netloom_message = alloc_skb(4096, GFP_KERNEL);
	if (!netloom_message || time_travel_mode != TT_MODE_EXTERNAL)
		return 0;
	fd = os_connect_socket("/netloom/samples");
	if (fd >= 0)
		os_write_file(fd, &connections, sizeof(connections));
	return 0;
}
late_initcall(netloom_samples);

