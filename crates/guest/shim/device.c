/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Network devices of a kernel in virtual time: vhost-user back-ends without a process of their own.
 *
 * The messages are those of the vhost-user protocol (QEMU, docs/interop/vhost-user.rst), the rings those of VIRTIO 1.2,
 * section 2.7 (split virtqueues). A frame that the kernel sends is copied to the mailbox at the instant of its kick, and its
 * buffer is free again at once; a frame for the kernel is copied into buffers that the kernel has provided, several if
 * need be (VIRTIO_NET_F_MRG_RXBUF).
 */
#include "shim.h"
#include "backend.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECEIVE 0
#define TRANSMIT 1
#define VIRTIO_HEADER 12
#define LONGEST_FRAME (66u * 1024)

/* vhost-user requests */
enum {
	GET_FEATURES = 1, SET_FEATURES, SET_OWNER, RESET_OWNER, SET_MEM_TABLE, SET_LOG_BASE, SET_LOG_FD, SET_VRING_NUM,
	SET_VRING_ADDR, SET_VRING_BASE, GET_VRING_BASE, SET_VRING_KICK, SET_VRING_CALL, SET_VRING_ERR,
	GET_PROTOCOL_FEATURES, SET_PROTOCOL_FEATURES, GET_QUEUE_NUM, SET_VRING_ENABLE,
	SET_BACKEND_REQ_FD = 21, GET_CONFIG = 24, VRING_KICK = 35,
};
#define FLAGS_VERSION 1u
#define FLAG_REPLY 4u
#define FLAG_NEED_REPLY 8u

/* Feature bits: VIRTIO 1.2, sections 5.1.3 and 6; bit 30 is vhost-user's own. */
#define BIT(n) (1ull << (n))
#define FEATURES (BIT(32) /* VERSION_1 */ | BIT(30) /* protocol features */ | BIT(15) /* MRG_RXBUF */ | BIT(0) /* CSUM */ | \
		  BIT(1) /* GUEST_CSUM */ | BIT(7) /* GUEST_TSO4 */ | BIT(8) /* GUEST_TSO6 */ | BIT(9) /* GUEST_ECN */ | \
		  BIT(11) /* HOST_TSO4 */ | BIT(12) /* HOST_TSO6 */ | BIT(13) /* HOST_ECN */ | BIT(54) /* GUEST_USO4 */ | \
		  BIT(55) /* GUEST_USO6 */ | BIT(56) /* HOST_USO */)
/* Not of the agent's device, the first: its driver would learn a moment after the agent has begun to send that there is a carrier. */
#define INTERFACE_FEATURES (FEATURES | BIT(16) /* STATUS */)
#define PROTOCOL_FEATURES (BIT(3) /* REPLY_ACK */ | BIT(5) /* BACKEND_REQ */ | BIT(9) /* CONFIG */ | BIT(14) /* INBAND_NOTIFICATIONS */)


struct descriptor {
	uint64_t address;
	uint32_t length;
	uint16_t flags;
	uint16_t next;
};
#define NEXT 1
#define WRITE 2

struct available {
	uint16_t flags;
	uint16_t index;
	uint16_t ring[];
};
#define NO_INTERRUPT 1

struct used {
	uint16_t flags;
	uint16_t index;
	struct {
		uint32_t id;
		uint32_t length;
	} ring[];
};

struct queue {
	uint32_t size;
	uint16_t last;              /* the next entry of `available` that we take */
	int enabled;
	int interrupt;              /* the kernel is to be told */
	struct descriptor *descriptors;
	struct available *available;
	struct used *used;
};

struct device {
	int fd;                     /* the kernel's end; 0: there is no such device */
	uint8_t *memory;            /* the kernel's memory, as its file has it */
	uint64_t base, size;        /* which addresses of the kernel that is */
	struct queue queues[QUEUES];
	bool unplugged;             /* its link has no carrier */
	uint8_t answer[CONFIG_ANSWER];
	unsigned from, to;          /* what of `answer` has not been read */
};

static struct device devices[MOST_DEVICES];
static unsigned device_count;

static struct device *device_of(int fd)
{
	unsigned i;

	for (i = 0; i < device_count; i++)
		if (devices[i].fd == fd)
			return &devices[i];
	return NULL;
}

int device_owns(int fd)
{
	return fd > 0 && device_of(fd) != NULL;
}

int device_connect(int fd, unsigned place)
{
	if (place >= MOST_DEVICES)
		return -ENODEV;
	if (place >= device_count)
		device_count = place + 1;
	devices[place] = (struct device){ .fd = fd };
	return 0;
}

/* The kernel's memory at this address; what lies outside ends the run. */
static uint8_t *at(const struct device *device, uint64_t address, uint64_t length)
{
	uint64_t offset = address - device->base;

	if (address < device->base || offset > device->size || length > device->size - offset)
		mailbox_broken(address);
	return device->memory + offset;
}

static void reply(struct device *device, uint32_t request, uint64_t value)
{
	struct __attribute__((packed)) {
		uint32_t request, flags, size;
		uint64_t value;
	} message = { request, FLAGS_VERSION | FLAG_REPLY, sizeof(uint64_t), value };

	memcpy(device->answer, &message, sizeof(message));
	device->from = 0;
	device->to = sizeof(message);
}

/* The part of a file that is the kernel's memory. */
static void *map_file(uint64_t size, uint64_t offset, int fd)
{
	struct stat file;
	void *memory;

	/* What a file does not have cannot be touched. */
	if (fstat(fd, &file) || offset > (uint64_t)file.st_size || size > (uint64_t)file.st_size - offset)
		mailbox_broken(size);
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	if (memory == MAP_FAILED)
		mailbox_broken(offset);
	return memory;
}

static void map_memory(struct device *device, const uint64_t *table, int fd)
{
	/* Words: number of regions, then address, size, user address, offset in the file of each; there is one. */
	uint64_t size = table[2], offset = table[4];
	/* The kernel's own view of it, if it has told where that is. */
	uint8_t *memory = checkpoint_memory(table[1], size);

	device->memory = memory ? memory : map_file(size, offset, fd);
	device->base = table[1];
	device->size = size;
}

static void set_addresses(struct device *device, struct queue *queue, const uint64_t *words)
{
	uint32_t size = queue->size;

	if (!size || size > 32768 || (size & (size - 1)))
		mailbox_broken(size);
	queue->descriptors = (struct descriptor *)at(device, words[1], sizeof(struct descriptor) * size);
	queue->used = (struct used *)at(device, words[2], sizeof(struct used) + 8ull * size);
	queue->available = (struct available *)at(device, words[3], sizeof(struct available) + 2ull * size);
	/* VIRTIO 1.2, section 2.7: alignment of the three parts. */
	if ((uintptr_t)queue->descriptors % 16 || (uintptr_t)queue->used % 4 || (uintptr_t)queue->available % 2)
		mailbox_broken(words[1] | words[2] | words[3]);
}

/* The next chain of buffers that the kernel offers; -1: there is none. */
static int take(struct queue *queue)
{
	int head;

	if (queue->last == __atomic_load_n(&queue->available->index, __ATOMIC_ACQUIRE))
		return -1;
	head = queue->available->ring[queue->last % queue->size];
	if ((uint32_t)head >= queue->size)
		mailbox_broken((uint64_t)head);
	queue->last++;
	return head;
}

static void give_back(struct queue *queue, int head, uint32_t length)
{
	uint16_t index = queue->used->index;

	queue->used->ring[index % queue->size].id = (uint32_t)head;
	queue->used->ring[index % queue->size].length = length;
	__atomic_store_n(&queue->used->index, (uint16_t)(index + 1), __ATOMIC_RELEASE);
	if (!(queue->available->flags & NO_INTERRUPT))
		queue->interrupt = 1;
}

/* Bytes of a chain; what is longer than any frame, or goes in circles, ends the run. */
static uint32_t chain_length(const struct queue *queue, int head)
{
	uint64_t length = 0;
	unsigned steps = 0;
	const struct descriptor *entry = &queue->descriptors[head];

	for (;; entry = &queue->descriptors[entry->next]) {
		length += entry->length;
		if (++steps > queue->size || length > LONGEST_FRAME)
			mailbox_broken(length);
		if (!(entry->flags & NEXT))
			return (uint32_t)length;
		if (entry->next >= queue->size)
			mailbox_broken(entry->next);
	}
}

/* Copies a chain of the kernel's: the first bytes to `header`, the rest to `bytes`. */
static void copy_out(const struct device *device, const struct queue *queue, int head, uint8_t *header, uint8_t *bytes)
{
	const struct descriptor *entry = &queue->descriptors[head];
	uint32_t done = 0;

	for (;; entry = &queue->descriptors[entry->next]) {
		const uint8_t *from = at(device, entry->address, entry->length);
		uint32_t left = entry->length;

		if (done < VIRTIO_HEADER) {
			uint32_t part = left < VIRTIO_HEADER - done ? left : VIRTIO_HEADER - done;

			memcpy(header + done, from, part);
			done += part;
			from += part;
			left -= part;
		}
		memcpy(bytes, from, left);
		bytes += left;
		if (!(entry->flags & NEXT))
			return;
	}
}

static void send_all(unsigned place)
{
	struct device *device = &devices[place];
	struct queue *queue = &device->queues[TRANSMIT];
	int head;

	while ((head = take(queue)) >= 0) {
		uint32_t length = chain_length(queue, head);
		struct mailbox_frame *frame;

		if (length < VIRTIO_HEADER)
			mailbox_broken(length);
		frame = mailbox_room(length - VIRTIO_HEADER);
		frame->length = length - VIRTIO_HEADER;
		frame->device = (uint16_t)place;
		copy_out(device, queue, head, frame->virtio, (uint8_t *)(frame + 1));
		mailbox_sent(frame);
		give_back(queue, head, 0);
	}
}

struct __attribute__((packed)) message {
	uint32_t request, flags, size;
	uint64_t words[12];
};

/* A message about one of the queues; whether it was answered. */
static bool queue_message(struct device *device, const struct message *message)
{
	uint64_t words[4];
	struct queue *queue;

	memcpy(words, message->words, sizeof(words));
	queue = &device->queues[(words[0] & 0xff) % QUEUES];
	switch (message->request) {
	case SET_VRING_NUM:
		queue->size = (uint32_t)(words[0] >> 32);
		/* The rings were those of the size before. */
		queue->available = NULL;
		return false;
	case SET_VRING_BASE:
		queue->last = (uint16_t)(words[0] >> 32);
		return false;
	case SET_VRING_ADDR:
		set_addresses(device, queue, words);
		return false;
	case GET_VRING_BASE:
		reply(device, message->request, (words[0] & 0xff) | (uint64_t)queue->last << 32);
		return true;
	case SET_VRING_ENABLE:
		queue->enabled = words[0] >> 32 != 0;
		return false;
	case VRING_KICK:
		if (queue == &device->queues[TRANSMIT] && queue->available)
			send_all((unsigned)(device - devices));
		return false;
	default:
		mailbox_broken(message->request);
	}
}

/* The kernel listens to this device on the other end of `fd`. */
static void listen_on(const struct device *device, int fd)
{
	interrupt_open((unsigned)(device - devices), fd);
	/*
	 * The kernel closes its copy, and would see the end of a channel without any other. Far above what the
	 * kernel opens, so that its numbers stay the same.
	 */
	if (fcntl(fd, F_DUPFD_CLOEXEC, 500) < 0)
		mailbox_broken((uint64_t)errno);
}

long device_message(int fd, const void *bytes, size_t length, const int *fds, unsigned count)
{
	struct device *device = device_of(fd);
	struct message message = { 0 };
	bool answered = false;

	if (length < 12 || length > sizeof(message))
		mailbox_broken(length);
	memcpy(&message, bytes, length);
	switch (message.request) {
	case GET_FEATURES:
		reply(device, message.request, device == devices ? FEATURES : INTERFACE_FEATURES);
		answered = true;
		break;
	case GET_PROTOCOL_FEATURES:
		reply(device, message.request, PROTOCOL_FEATURES);
		answered = true;
		break;
	case SET_FEATURES:
	case SET_PROTOCOL_FEATURES:
	case SET_OWNER:
	case SET_VRING_KICK:
	case SET_VRING_CALL:
	case SET_VRING_ERR:
		break;
	case SET_MEM_TABLE: {
		uint64_t table[5];

		memcpy(table, message.words, sizeof(table));
		if (count != 1 || (uint32_t)table[0] != 1)
			mailbox_broken(table[0]);
		map_memory(device, table, fds[0]);
		break;
	}
	case GET_CONFIG:
		device->from = 0;
		device->to = config_answer(device->answer, &message, device->unplugged);
		answered = true;
		break;
	case SET_BACKEND_REQ_FD:
		if (!count)
			mailbox_broken(message.request);
		listen_on(device, fds[0]);
		break;
	default:
		answered = queue_message(device, &message);
	}
	if (!answered && message.flags & FLAG_NEED_REPLY)
		reply(device, message.request, 0);
	return (long)length;
}

int device_has_answer(int fd)
{
	const struct device *device = device_of(fd);

	return device->to > device->from;
}

long device_answer(int fd, void *bytes, size_t length)
{
	struct device *device = device_of(fd);
	size_t there = device->to - device->from;

	if (!there)
		return -EAGAIN;
	if (length > there)
		length = there;
	memcpy(bytes, device->answer + device->from, length);
	device->from += (unsigned)length;
	return (long)length;
}

/* Whether the kernel offers so many bytes of room, in chains that need not be one. */
static int has_room(const struct queue *queue, uint32_t needed)
{
	uint16_t index = __atomic_load_n(&queue->available->index, __ATOMIC_ACQUIRE), at_entry = queue->last;
	uint64_t room = 0;

	for (; at_entry != index && room < needed; at_entry++) {
		uint16_t head = queue->available->ring[at_entry % queue->size];

		if (head >= queue->size)
			mailbox_broken(head);
		room += chain_length(queue, head);
	}
	return room >= needed;
}

enum delivery device_deliver(unsigned place, const struct mailbox_frame *frame, const uint8_t *bytes)
{
	struct device *device;
	struct queue *queue;
	uint8_t header[VIRTIO_HEADER];
	uint8_t *count_at = NULL;
	uint32_t done = 0, total = frame->length + VIRTIO_HEADER;
	uint16_t buffers = 0;

	if (place >= device_count)
		return NO_DEVICE;
	device = &devices[place];
	queue = &device->queues[RECEIVE];
	if (!device->fd || !queue->enabled || !queue->available)
		return NO_DEVICE;
	if (!has_room(queue, total))
		return NO_ROOM;
	memcpy(header, frame->virtio, 10);
	header[10] = header[11] = 0;
	while (done < total) {
		int head = take(queue);
		const struct descriptor *entry = &queue->descriptors[head];
		uint32_t put = 0;

		for (;; entry = &queue->descriptors[entry->next]) {
			uint8_t *to = at(device, entry->address, entry->length);
			uint32_t room = entry->length;

			if (!(entry->flags & WRITE))
				mailbox_broken(entry->flags);
			if (!done && !put) {
				if (room < VIRTIO_HEADER)
					mailbox_broken(room);
				memcpy(to, header, VIRTIO_HEADER);
				count_at = to + 10;
				to += VIRTIO_HEADER;
				room -= VIRTIO_HEADER;
				put += VIRTIO_HEADER;
			}
			if (room > total - done - put)
				room = total - done - put;
			memcpy(to, bytes, room);
			bytes += room;
			put += room;
			if (done + put == total || !(entry->flags & NEXT))
				break;
		}
		done += put;
		buffers++;
		give_back(queue, head, put);
	}
	memcpy(count_at, &buffers, sizeof(buffers));
	return DELIVERED;
}

bool device_set_carrier(unsigned place, bool on)
{
	if (place >= device_count || !devices[place].fd || devices[place].unplugged == !on)
		return false;
	devices[place].unplugged = !on;
	if (!interrupt_config(place))
		return false;
	interrupt_raise();
	return true;
}

unsigned device_interrupt(void)
{
	unsigned place, number, raised = 0;

	for (place = 0; place < device_count; place++)
		for (number = 0; number < QUEUES; number++) {
			struct queue *queue = &devices[place].queues[number];

			if (queue->interrupt && interrupt_call(place, number)) {
				queue->interrupt = 0;
				raised++;
			}
		}
	if (raised)
		interrupt_raise();
	return raised;
}
