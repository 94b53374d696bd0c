/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Faults of a disk, as the node's first process writes them into /sys/module/netloom/parameters/disk_fault. */

/* What a fault does to the requests that it is about. */
enum { NETLOOM_ERROR, NETLOOM_SLOW, NETLOOM_FLIP, NETLOOM_MISDIRECT, NETLOOM_TEAR, NETLOOM_LOSE };

/* Which requests a fault is about. */
enum { NETLOOM_READS = 1, NETLOOM_WRITES = 2, NETLOOM_FLUSHES = 4 };

/* What has become of a request, as the journal has it. */
enum {
	NETLOOM_FAILED = 1,
	NETLOOM_LATE = 2,
	NETLOOM_FLIPPED = 4,
	NETLOOM_MISDIRECTED = 8,
	NETLOOM_TORN = 16,
	NETLOOM_LOST = 32,
	NETLOOM_FLUSH_LOST = 64,
};

struct netloom_range {
	u64 from, to;
};

/* All instants are those of the kernel's monotonic clock, in nanoseconds; U64_MAX: never. */
struct netloom_fault {
	struct list_head list;
	u32 kind, calls;
	/* How many of its requests it lets pass, and how many it is still to meet after that. */
	u64 spares, left;
	u64 delay, until, chance;
	u32 count;
	struct netloom_range ranges[];
};

/* Where a request gets its bytes from or puts them to: its faults have changed what it asks for. */
struct netloom_aim {
	u64 sector;
	u32 bytes;
	/* The bit, from its beginning, that comes out wrong. */
	bool flips;
	u64 flip;
};

/* In the journal: 32 bytes for each request that has ended. Instants are those of the clock that nobody sets or lets drift. */
struct netloom_entry {
	u64 came, ended, sector;
	u32 sectors;
	u16 calls, suffers;
};

static struct netloom_disk *netloom_disks[NETLOOM_DISKS];

/* The next number that chance draws, below a bound (SplitMix64; Steele, Lea, Flood 2014). */
static u64 netloom_draw(u64 *chance, u64 below)
{
	u64 drawn = *chance += 0x9e3779b97f4a7c15ull;

	drawn = (drawn ^ drawn >> 30) * 0xbf58476d1ce4e5b9ull;
	drawn = (drawn ^ drawn >> 27) * 0x94d049bb133111ebull;
	drawn ^= drawn >> 31;
	return below ? drawn % below : 0;
}

static u32 netloom_calls(struct request *rq)
{
	if (req_op(rq) == REQ_OP_FLUSH)
		return NETLOOM_FLUSHES;
	return op_is_write(req_op(rq)) ? NETLOOM_WRITES : NETLOOM_READS;
}

/* One that has ended is noted, if there is a journal. */
static void netloom_enter(struct netloom_disk *disk, struct request *rq)
{
	struct netloom_io *io = blk_mq_rq_to_pdu(rq);
	bool places = req_op(rq) != REQ_OP_FLUSH;
	struct netloom_entry entry = {
		.came = io->came, .ended = ktime_get_raw_ns(), .sector = places ? blk_rq_pos(rq) : 0,
		.sectors = places ? blk_rq_sectors(rq) : 0,
		.calls = netloom_calls(rq) | (rq->cmd_flags & REQ_FUA ? NETLOOM_FLUSHES : 0), .suffers = io->suffers,
	};

	if (disk->journal >= 0)
		os_pwrite_file(disk->journal, &entry, sizeof(entry), disk->entries++ * sizeof(entry));
}

/* Whether a fault is about a request: by what that asks for, by its place, and by how many there were before it. */
static bool netloom_meets(struct netloom_fault *fault, struct request *rq)
{
	u32 calls = netloom_calls(rq), range;

	/* A write with FUA flushes itself, which can be lost like a flush. */
	if (fault->kind == NETLOOM_LOSE && rq->cmd_flags & REQ_FUA)
		calls |= NETLOOM_FLUSHES;
	if (!(fault->calls & calls) || !fault->left)
		return false;
	if (fault->count && req_op(rq) != REQ_OP_FLUSH) {
		u64 from = blk_rq_pos(rq), to = from + blk_rq_sectors(rq);

		for (range = 0; range < fault->count; range++)
			if (from < fault->ranges[range].to && fault->ranges[range].from < to)
				break;
		if (range == fault->count)
			return false;
	}
	if (fault->spares) {
		fault->spares--;
		return false;
	}
	if (fault->left != U64_MAX)
		fault->left--;
	return true;
}

/* Another place on the disk, some blocks of 4 KiB away, at which there is room. */
static u64 netloom_astray(struct netloom_disk *disk, struct netloom_fault *fault, struct request *rq)
{
	u64 sectors = get_capacity(disk->disk), own = blk_rq_pos(rq), length = blk_rq_sectors(rq);
	u64 distance = (1 + netloom_draw(&fault->chance, 1024)) << 3;
	bool back = netloom_draw(&fault->chance, 2);

	if (own >= distance && (back || own + distance + length > sectors))
		return own - distance;
	return own + distance + length <= sectors ? own + distance : own;
}

static void netloom_strike(struct netloom_disk *disk, struct netloom_fault *fault, struct request *rq,
			   struct netloom_aim *aim, u64 *late)
{
	struct netloom_io *io = blk_mq_rq_to_pdu(rq);

	switch (fault->kind) {
	case NETLOOM_ERROR:
		io->suffers |= NETLOOM_FAILED;
		break;
	case NETLOOM_SLOW:
		*late += fault->delay;
		io->suffers |= NETLOOM_LATE;
		break;
	case NETLOOM_FLIP:
		aim->flips = true;
		aim->flip = netloom_draw(&fault->chance, (u64)blk_rq_bytes(rq) * BITS_PER_BYTE);
		io->suffers |= NETLOOM_FLIPPED;
		break;
	case NETLOOM_MISDIRECT:
		aim->sector = netloom_astray(disk, fault, rq);
		io->suffers |= NETLOOM_MISDIRECTED;
		break;
	case NETLOOM_TEAR:
		aim->bytes = netloom_draw(&fault->chance, blk_rq_sectors(rq)) << SECTOR_SHIFT;
		io->suffers |= NETLOOM_TORN;
		break;
	case NETLOOM_LOSE:
		if (fault->calls & NETLOOM_WRITES && req_op(rq) == REQ_OP_WRITE) {
			aim->bytes = 0;
			io->suffers |= NETLOOM_LOST;
		}
		if (fault->calls & NETLOOM_FLUSHES)
			io->suffers |= NETLOOM_FLUSH_LOST;
		break;
	}
}

/* All faults do what they do to a request. Returns how much longer it takes. */
static u64 netloom_suffer(struct netloom_disk *disk, struct request *rq, u64 now, struct netloom_aim *aim)
{
	struct netloom_io *io = blk_mq_rq_to_pdu(rq);
	struct netloom_fault *fault, *next;
	u64 late = 0;

	io->suffers = now < disk->hangs_until ? NETLOOM_LATE : 0;
	*aim = (struct netloom_aim) { .sector = blk_rq_pos(rq), .bytes = blk_rq_bytes(rq) };
	list_for_each_entry_safe(fault, next, &disk->faults, list) {
		if (fault->until > now && netloom_meets(fault, rq))
			netloom_strike(disk, fault, rq, aim, &late);
		if (fault->until <= now || !fault->left) {
			list_del(&fault->list);
			kfree(fault);
		}
	}
	return late;
}

/* Bits of the medium come out wrong from now on, at places that chance draws from those of the fault. */
static bool netloom_rot(struct netloom_disk *disk, struct netloom_fault *fault)
{
	u64 sectors = 0, bit, byte;
	u32 range;
	u8 value;

	for (range = 0; range < fault->count; range++)
		sectors += fault->ranges[range].to - fault->ranges[range].from;
	while (sectors && fault->left--) {
		bit = netloom_draw(&fault->chance, sectors << SECTOR_SHIFT << 3);
		byte = bit >> 3;
		for (range = 0; byte >= (fault->ranges[range].to - fault->ranges[range].from) << SECTOR_SHIFT; range++)
			byte -= (fault->ranges[range].to - fault->ranges[range].from) << SECTOR_SHIFT;
		byte += fault->ranges[range].from << SECTOR_SHIFT;
		if (!netloom_read(disk->medium, &value, 1, byte))
			return false;
		value ^= 1 << (bit & 7);
		if (!netloom_write(disk->medium, &value, 1, byte))
			return false;
	}
	return true;
}

/* Time stands still for the disk: what it does, it does so much later. */
static void netloom_hang(struct netloom_disk *disk, u64 now, u64 span)
{
	struct netloom_io *io;

	disk->hangs_until = now + span;
	disk->free_at = max(now, disk->free_at) + span;
	disk->done_at = max(now, disk->done_at) + span;
	list_for_each_entry(io, &disk->waiting, list) {
		io->due += span;
		io->suffers |= NETLOOM_LATE;
	}
	io = list_first_entry_or_null(&disk->waiting, struct netloom_io, list);
	if (io)
		hrtimer_start(&disk->timer, ns_to_ktime(io->due), HRTIMER_MODE_ABS);
}

/* From now on all requests are as they should be. */
static void netloom_mend(struct netloom_disk *disk)
{
	struct netloom_fault *fault, *next;

	list_for_each_entry_safe(fault, next, &disk->faults, list) {
		list_del(&fault->list);
		kfree(fault);
	}
}

/* Reads the places of a fault, each "FROM-TO" in sectors. Returns how many there are; with `fault`, keeps them. */
static int netloom_ranges(const char *text, u64 sectors, struct netloom_fault *fault)
{
	struct netloom_range range;
	int count = 0, length;

	while (sscanf(text, " %llu-%llu%n", &range.from, &range.to, &length) == 2) {
		if (range.from >= range.to || range.to > sectors)
			return -EINVAL;
		if (fault)
			fault->ranges[count] = range;
		count++;
		text += length;
	}
	return count;
}

/* "KIND CALLS SPARES LEFT DELAY LASTS CHANCE FROM-TO...": a fault that is there from now on for LASTS, 0 for ever. */
static int netloom_add_fault(struct netloom_disk *disk, const char *text)
{
	u64 spares, left, delay, lasts, chance, sectors = get_capacity(disk->disk), now;
	struct netloom_fault *fault;
	int kind, count, length;
	unsigned long flags;
	bool fine = true;
	u32 calls;

	if (sscanf(text, "%d %u %llu %llu %llu %llu %llu%n", &kind, &calls, &spares, &left, &delay, &lasts, &chance,
		   &length) != 7 || kind < NETLOOM_ERROR || kind > NETLOOM_LOSE)
		return -EINVAL;
	text += length;
	count = netloom_ranges(text, sectors, NULL);
	fault = count < 0 ? NULL : kzalloc(struct_size(fault, ranges, count), GFP_KERNEL);
	if (!fault)
		return count < 0 ? count : -ENOMEM;
	netloom_ranges(text, sectors, fault);
	spin_lock_irqsave(&disk->lock, flags);
	now = ktime_get_ns();
	fault->kind = kind;
	fault->calls = calls;
	fault->spares = spares;
	fault->left = left;
	fault->delay = delay;
	fault->until = lasts ? now + lasts : U64_MAX;
	fault->chance = chance;
	fault->count = count;
	if (calls) {
		list_add_tail(&fault->list, &disk->faults);
	} else {
		fine = netloom_rot(disk, fault);
		kfree(fault);
	}
	spin_unlock_irqrestore(&disk->lock, flags);
	return fine ? 0 : -EIO;
}

/* "DISK add ...", "DISK hang SPAN", "DISK mend", "DISK freeze": the last makes all file systems on disks read-only. */
static int netloom_disk_fault_set(const char *text, const struct kernel_param *param)
{
	struct netloom_disk *disk;
	unsigned long flags;
	unsigned int number;
	char word[8];
	int length;
	u64 span;

	if (sscanf(text, "%u %7s%n", &number, word, &length) != 2 || number >= NETLOOM_DISKS || !netloom_disks[number])
		return -EINVAL;
	disk = netloom_disks[number];
	text += length;
	if (!strcmp(word, "add"))
		return netloom_add_fault(disk, text);
	if (!strcmp(word, "freeze")) {
		emergency_remount();
		return 0;
	}
	if (strcmp(word, "mend") && (strcmp(word, "hang") || sscanf(text, "%llu", &span) != 1))
		return -EINVAL;
	spin_lock_irqsave(&disk->lock, flags);
	if (!strcmp(word, "mend"))
		netloom_mend(disk);
	else
		netloom_hang(disk, ktime_get_ns(), span);
	spin_unlock_irqrestore(&disk->lock, flags);
	return 0;
}

static const struct kernel_param_ops netloom_disk_fault_param = {
	.set = netloom_disk_fault_set,
};
