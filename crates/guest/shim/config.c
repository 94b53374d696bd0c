/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What a network device of a kernel in virtual time says of itself: `struct virtio_net_config` of VIRTIO 1.2, section 5.1.4, as the kernel
 * reads it by VHOST_USER_GET_CONFIG. The device offers VIRTIO_NET_F_STATUS alone of the features that need it, so that only the status means
 * something; all else is zero.
 */
#include "backend.h"

#include <string.h>

#define STATUS_AT 6
#define LINK_UP 1

#define FLAGS_VERSION 1u
#define FLAG_REPLY 4u

struct __attribute__((packed)) message {
	uint32_t request, flags, length, offset, size, config_flags;
	uint8_t bytes[CONFIG_SIZE];
};
_Static_assert(sizeof(struct message) == CONFIG_ANSWER, "room for the longest answer");
/* Bytes of a message before its payload, and of that before the configuration. */
#define HEADER 12u
#define PAYLOAD_HEADER 12u

unsigned config_answer(uint8_t answer[CONFIG_ANSWER], const void *asked, bool unplugged)
{
	struct message message = { 0 };
	uint8_t config[CONFIG_SIZE] = { [STATUS_AT] = unplugged ? 0 : LINK_UP };

	memcpy(&message, asked, HEADER + PAYLOAD_HEADER);
	if (message.size > CONFIG_SIZE || message.offset > CONFIG_SIZE - message.size ||
	    message.length != PAYLOAD_HEADER + message.size)
		mailbox_broken(message.size);
	message.flags = FLAGS_VERSION | FLAG_REPLY;
	memcpy(message.bytes, config + message.offset, message.size);
	memcpy(answer, &message, HEADER + message.length);
	return HEADER + message.length;
}
