/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of `netloom-bench peers`: the same binary runs in Netloom's kernels and under Shadow.
 *
 * IPv4 only, one thread, few system calls, and nothing that waits by computing. Each program prints one line of JSON. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL
#define MOST_FILES 65536

static char buffer[128 << 10];
static volatile sig_atomic_t is_stopped;

static void stop(int signal)
{
	(void)signal;
	is_stopped = 1;
}

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static int checked(int result, const char *what)
{
	if (result < 0)
		fail(what);
	return result;
}

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * SECOND + time.tv_nsec;
}

static void sleep_until(int64_t at)
{
	for (int64_t left = at - now(); left > 0; left = at - now()) {
		struct timespec span = {left / SECOND, left % SECOND};
		nanosleep(&span, NULL);
	}
}

static struct sockaddr_in address_of(const char *host, int port)
{
	struct addrinfo wanted = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
	int error = getaddrinfo(host, NULL, &wanted, &found);
	if (error) {
		fprintf(stderr, "%s: %s\n", host, gai_strerror(error));
		exit(1);
	}
	struct sockaddr_in address = *(struct sockaddr_in *)found->ai_addr;
	address.sin_port = htons(port);
	freeaddrinfo(found);
	return address;
}

static int connected(const struct sockaddr_in *address)
{
	int own = checked(socket(AF_INET, SOCK_STREAM, 0), "socket");
	checked(connect(own, (const struct sockaddr *)address, sizeof *address), "connect");
	return own;
}

static int bound(int type, int port)
{
	int own = checked(socket(AF_INET, type, 0), "socket"), yes = 1;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	if (type == SOCK_STREAM)
		checked(setsockopt(own, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes), "SO_REUSEADDR");
	checked(bind(own, (struct sockaddr *)&address, sizeof address), "bind");
	if (type == SOCK_STREAM)
		checked(listen(own, 128), "listen");
	return own;
}

static int taken(int port, int flags)
{
	int client = checked(accept(bound(SOCK_STREAM, port), NULL, NULL), "accept");
	int64_t bytes = 0, first = 0, reads = 0;
	ssize_t count;
	while ((count = checked(recv(client, buffer, sizeof buffer, flags), "recv")) > 0) {
		if (!first)
			first = now();
		bytes += count;
		reads++;
	}
	double seconds = (double)(now() - first) / SECOND;
	printf("{\"bytes\": %lld, \"goodput_mbit\": %.3f, \"reads\": %lld}\n", (long long)bytes, bytes * 8 / seconds / 1e6,
	       (long long)reads);
	return 0;
}

/* sink PORT: takes one connection until its end. */
static int sink(char **words)
{
	return taken(atoi(words[0]), 0);
}

/* blocks PORT: the same in whole blocks, so that hardly a packet wakes it. */
static int blocks(char **words)
{
	return taken(atoi(words[0]), MSG_WAITALL);
}

/* bulk HOST PORT BYTES: sends, and waits until the sink has closed. */
static int bulk(char **words)
{
	struct sockaddr_in address = address_of(words[0], atoi(words[1]));
	int64_t left = atoll(words[2]);
	int server = connected(&address);
	while (left > 0) {
		size_t most = left < (int64_t)sizeof buffer ? (size_t)left : sizeof buffer;
		left -= checked(write(server, buffer, most), "write");
	}
	shutdown(server, SHUT_WR);
	while (read(server, buffer, sizeof buffer) > 0)
		;
	struct tcp_info info = {0};
	socklen_t length = sizeof info;
	checked(getsockopt(server, IPPROTO_TCP, TCP_INFO, &info, &length), "TCP_INFO");
	printf("{\"retransmits\": %u}\n", info.tcpi_total_retrans);
	return 0;
}

struct file {
	int asked;
	int64_t left;
};

static void watch(int epoll, int how, int what, int socket)
{
	struct epoll_event event = {.events = what, .data.fd = socket};
	checked(epoll_ctl(epoll, how, socket, &event), "epoll_ctl");
}

/* Reads the request of eight bytes, and then writes as much of the file as there is room for; whether the connection is over. */
static int serve(int epoll, int client, struct file *file)
{
	if (file->asked < 8) {
		ssize_t count = read(client, buffer, 8 - file->asked);
		if (count < 0 && errno == EAGAIN)
			return 0;
		if (count <= 0)
			return 1;
		file->asked += count;
		if (file->asked < 8)
			return 0;
		watch(epoll, EPOLL_CTL_MOD, EPOLLOUT, client);
	}
	while (file->left > 0) {
		size_t most = file->left < (int64_t)sizeof buffer ? (size_t)file->left : sizeof buffer;
		ssize_t count = write(client, buffer, most);
		if (count < 0)
			return errno != EAGAIN;
		file->left -= count;
	}
	return 1;
}

/* files PORT BYTES: answers each request with a file of that length, until SIGTERM. */
static int files(char **words)
{
	static struct file open[MOST_FILES];
	int listener = bound(SOCK_STREAM, atoi(words[0])), epoll = checked(epoll_create1(0), "epoll_create1");
	struct epoll_event events[64];
	watch(epoll, EPOLL_CTL_ADD, EPOLLIN, listener);
	while (!is_stopped) {
		int count = epoll_wait(epoll, events, 64, -1);
		for (int i = 0; i < count; i++) {
			int client = events[i].data.fd;
			if (client == listener) {
				client = accept4(listener, NULL, NULL, SOCK_NONBLOCK);
				if (client < 0 || client >= MOST_FILES)
					continue;
				open[client] = (struct file){.left = atoll(words[1])};
				watch(epoll, EPOLL_CTL_ADD, EPOLLIN, client);
			} else if (serve(epoll, client, &open[client])) {
				close(client);
			}
		}
	}
	return 0;
}

/* fetch HOST PORT COUNT BYTES: fetches files one after the other. */
static int fetch(char **words)
{
	struct sockaddr_in address = address_of(words[0], atoi(words[1]));
	int count = atoi(words[2]), good = 0;
	int64_t start = now();
	for (int i = 0; i < count; i++) {
		int server = connected(&address);
		int64_t bytes = 0;
		ssize_t part;
		if (write(server, "GET file", 8) != 8)
			fail("write");
		while ((part = checked(read(server, buffer, sizeof buffer), "read")) > 0)
			bytes += part;
		close(server);
		good += bytes == atoll(words[3]);
	}
	printf("{\"good\": %d, \"mean_s\": %.6f}\n", good, (double)(now() - start) / SECOND / count);
	return good != count;
}

/* echo PORT: sends datagrams back, until SIGTERM. */
static int echo(char **words)
{
	int own = bound(SOCK_DGRAM, atoi(words[0]));
	while (!is_stopped) {
		struct sockaddr_in from;
		socklen_t length = sizeof from;
		ssize_t count = recvfrom(own, buffer, sizeof buffer, 0, (struct sockaddr *)&from, &length);
		if (count >= 0)
			sendto(own, buffer, count, 0, (struct sockaddr *)&from, length);
	}
	return 0;
}

/* ping HOST PORT COUNT INTERVAL_MS: sends datagrams of 56 bytes at fixed instants, and waits for each until the next. */
static int ping(char **words)
{
	struct sockaddr_in address = address_of(words[0], atoi(words[1]));
	int own = bound(SOCK_DGRAM, 0), count = atoi(words[2]), interval = atoi(words[3]), lost = 0;
	int64_t start = now(), sum = 0;
	for (int i = 0; i < count; i++) {
		sleep_until(start + (int64_t)i * interval * 1000000);
		int64_t sent = now();
		memcpy(buffer, &i, sizeof i);
		sendto(own, buffer, 56, 0, (struct sockaddr *)&address, sizeof address);
		struct pollfd wanted = {own, POLLIN, 0};
		int back = -1;
		if (poll(&wanted, 1, interval) == 1 && recv(own, buffer, sizeof buffer, 0) == 56)
			memcpy(&back, buffer, sizeof back);
		if (back == i)
			sum += now() - sent;
		else
			lost++;
	}
	int good = count > lost ? count - lost : 1;
	printf("{\"pings\": %d, \"lost\": %d, \"mean_us\": %.1f}\n", count, lost, sum / 1e3 / good);
	return lost != 0;
}

/* packets HOST PORT COUNT BYTES BURST GAP_US: sends BURST datagrams at once, every GAP_US. */
static int packets(char **words)
{
	struct sockaddr_in address = address_of(words[0], atoi(words[1]));
	int own = bound(SOCK_DGRAM, 0), count = atoi(words[2]), size = atoi(words[3]), burst = atoi(words[4]);
	int64_t start = now(), gap = atoll(words[5]) * 1000;
	int failed = 0;
	for (int sent = 0; sent < count; sent++) {
		if (sent % burst == 0)
			sleep_until(start + sent / burst * gap);
		failed += sendto(own, buffer, size, 0, (struct sockaddr *)&address, sizeof address) != size;
	}
	printf("{\"sent\": %d, \"failed\": %d}\n", count, failed);
	return failed != 0;
}

/* count PORT COUNT: takes datagrams until so many have come, or none for two seconds after the first. */
static int count(char **words)
{
	int own = bound(SOCK_DGRAM, atoi(words[0])), wanted = atoi(words[1]), room = 4 << 20, got = 0;
	checked(setsockopt(own, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), "SO_RCVBUF");
	while (!is_stopped && got < wanted) {
		struct pollfd next = {own, POLLIN, 0};
		if (poll(&next, 1, got ? 2000 : -1) != 1)
			break;
		while (got < wanted && recv(own, buffer, sizeof buffer, MSG_DONTWAIT) >= 0)
			got++;
	}
	printf("{\"received\": %d}\n", got);
	return 0;
}

/* Reads one answer of HTTP; whether it is complete and good. */
static int answered(int server)
{
	size_t have = 0;
	for (;;) {
		ssize_t part = read(server, buffer + have, sizeof buffer - 1 - have);
		if (part <= 0)
			return 0;
		have += part;
		buffer[have] = 0;
		char *end = strstr(buffer, "\r\n\r\n"), *length = strcasestr(buffer, "content-length:");
		if (!end)
			continue;
		int is_whole = length && length < end ? have >= (size_t)(end + 4 - buffer) + strtoul(length + 15, NULL, 10)
						      : strstr(end, "\r\n0\r\n\r\n") != NULL;
		if (is_whole)
			return strncmp(buffer, "HTTP/1.1 200", 12) == 0;
	}
}

/* keys HOST PORT COUNT INTERVAL_MS: puts keys at fixed instants by etcd's HTTP gateway, over one connection. */
static int keys(char **words)
{
	struct sockaddr_in address = address_of(words[0], atoi(words[1]));
	int server = connected(&address), wanted = atoi(words[2]), good = 0, yes = 1;
	struct timeval patience = {3, 0};
	setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	setsockopt(server, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
	int64_t start = now(), sum = 0;
	for (int i = 0; i < wanted; i++) {
		sleep_until(start + (int64_t)i * atoi(words[3]) * 1000000);
		/* Keys and values are base64: four letters of its alphabet for three bytes. */
		char request[512], body[64];
		int length = snprintf(body, sizeof body, "{\"key\":\"a2V5%04d\",\"value\":\"dmFs%04d\"}", i % 10000, i % 10000);
		int all = snprintf(request, sizeof request,
				   "POST /v3/kv/put HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
				   "Content-Length: %d\r\n\r\n%s", words[0], length, body);
		int64_t begun = now();
		if (write(server, request, all) != all)
			fail("write");
		if (!answered(server))
			break;
		good++;
		sum += now() - begun;
	}
	printf("{\"puts\": %d, \"mean_ms\": %.3f}\n", good, sum / 1e6 / (good ? good : 1));
	return good != wanted;
}

/* calls COUNT: makes system calls that do nothing, of those that Netloom's kernels hear of by a notification, as of most. */
static int calls(char **words)
{
	int wanted = atoi(words[0]);
	for (int i = 0; i < wanted; i++)
		syscall(SYS_getpid);
	printf("{\"received\": %d}\n", wanted);
	return 0;
}

/* What the child of `notified` does: it has its calls of getppid(2) handed to its parent, which shares its descriptors. */
static void asking(int wanted, int tell)
{
	struct sock_filter asked[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof asked / sizeof *asked, asked};
	checked(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
	int fd = checked(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter), "seccomp");
	if (write(tell, &fd, sizeof fd) != sizeof fd)
		fail("write");
	for (int i = 0; i < wanted; i++)
		syscall(SYS_getppid);
	_exit(0);
}

/* notified COUNT: answers as many calls of a child, both on one processor: the least that a call costs which another process answers. */
static int notified(char **words)
{
	int wanted = atoi(words[0]), done = 0, fd, ends[2];
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(checked(sched_getcpu(), "sched_getcpu"), &one);
	checked(sched_setaffinity(0, sizeof one, &one), "sched_setaffinity");
	checked(pipe(ends), "pipe");
	if (!checked(syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0), "clone"))
		asking(wanted, ends[1]);
	if (read(ends[0], &fd, sizeof fd) != sizeof fd)
		fail("read");
	/* Kernels before 6.6 do not know it. */
	ioctl(fd, SECCOMP_IOW(4, uint64_t), 1 /* SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP */);
	while (done < wanted) {
		struct seccomp_notif call = {0};
		checked(ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &call), "SECCOMP_IOCTL_NOTIF_RECV");
		struct seccomp_notif_resp answer = {.id = call.id, .val = 1};
		checked(ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &answer), "SECCOMP_IOCTL_NOTIF_SEND");
		done++;
	}
	wait(NULL);
	printf("{\"received\": %d}\n", done);
	return 0;
}

static const struct {
	const char *name;
	int words;
	int (*run)(char **words);
} programs[] = {
	{"sink", 1, sink}, {"blocks", 1, blocks}, {"bulk", 3, bulk}, {"files", 2, files}, {"fetch", 4, fetch}, {"echo", 1, echo},
	{"ping", 4, ping}, {"packets", 6, packets}, {"count", 2, count}, {"keys", 4, keys},
	{"calls", 1, calls}, {"notified", 1, notified},
};

int main(int count_of_words, char **words)
{
	struct sigaction action = {.sa_handler = stop};
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
		if (count_of_words == programs[i].words + 2 && !strcmp(words[1], programs[i].name))
			return programs[i].run(words + 2);
	fprintf(stderr, "usage: %s PROGRAM [WORD]...\n", words[0]);
	return 2;
}
