/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#include <linux/fs.h>
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <os.h>

#define NETLOOM_LOG_MAGIC 0x4e65744c6f672031ull
#define NETLOOM_COPY (64 << 10)
#define NETLOOM_DISKS 4

enum { NETLOOM_BEGIN, NETLOOM_WRITE, NETLOOM_FLUSHED, NETLOOM_DURABLE };

/* In the log. All instants are those of the kernel's monotonic clock, in nanoseconds. */
struct netloom_record {
	u64 magic;
	u64 log;
	u64 number;
	u64 at;
	u64 sector;
	u32 sectors;
	u32 kind;
};

struct netloom_disk {
	spinlock_t lock;
	struct blk_mq_tag_set tags;
	struct gendisk *disk;
	struct hrtimer timer;
	struct list_head waiting, faults;
	int medium, file, journal;
	u64 latency, rate, flush;
	u64 free_at, done_at, hangs_until;
	u64 log, end, writes, entries;
	void *copy;
};

/* A request until it is done. */
struct netloom_io {
	struct list_head list;
	u64 came;
	u64 due;
	u64 number;
	u64 covers;
	u32 suffers;
	blk_status_t status;
};

static bool netloom_read(int file, void *to, int length, u64 from)
{
	int got = os_pread_file(file, to, length, from);

	/* Behind its end, a file is zero. */
	if (got >= 0 && got < length)
		memset(to + got, 0, length - got);
	return got >= 0;
}

static bool netloom_write(int file, const void *from, int length, u64 to)
{
	return os_pwrite_file(file, from, length, to) == length;
}
