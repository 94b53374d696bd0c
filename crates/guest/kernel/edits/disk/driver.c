/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
static bool netloom_record(struct netloom_disk *disk, u64 at, u32 kind, u64 number, u64 sector, u32 sectors)
{
	struct netloom_record record = {
		.magic = NETLOOM_LOG_MAGIC, .log = disk->log, .number = number, .at = at,
		.sector = sector, .sectors = sectors, .kind = kind,
	};

	if (!netloom_write(disk->file, &record, sizeof(record), disk->end))
		return false;
	disk->end += sizeof(record);
	return true;
}

static bool netloom_begin_log(struct netloom_disk *disk, u64 at)
{
	disk->log++;
	disk->end = 0;
	return netloom_record(disk, at, NETLOOM_BEGIN, disk->log, 0, 0);
}

/* Keeps what a write replaces: first the bytes, then the record that says that they are there. */
static bool netloom_keep(struct netloom_disk *disk, u64 sector, u32 bytes, u64 now, u64 number)
{
	u64 from = sector << SECTOR_SHIFT, to = disk->end + sizeof(struct netloom_record);
	u32 left = bytes;

	while (left) {
		int part = min_t(u32, left, NETLOOM_COPY);

		if (!netloom_read(disk->medium, disk->copy, part, from) ||
		    !netloom_write(disk->file, disk->copy, part, to))
			return false;
		from += part;
		to += part;
		left -= part;
	}
	if (!netloom_record(disk, now, NETLOOM_WRITE, number, sector, bytes >> SECTOR_SHIFT))
		return false;
	disk->end = to;
	return true;
}

/* Moves the bytes of a request, as far as its faults let them, from or to the place that they choose. */
static bool netloom_transfer(struct netloom_disk *disk, struct request *rq, u64 now, const struct netloom_aim *aim)
{
	bool writes = op_is_write(req_op(rq));
	u64 place = aim->sector << SECTOR_SHIFT, at = 0;
	struct netloom_io *io = blk_mq_rq_to_pdu(rq);
	struct req_iterator step;
	struct bio_vec part;

	if (writes && aim->bytes && !netloom_keep(disk, aim->sector, aim->bytes, now, io->number))
		return false;
	rq_for_each_bvec(part, rq, step) {
		u32 length = min_t(u64, part.bv_len, aim->bytes - at);
		u8 *bytes = bvec_virt(&part);
		bool flips = aim->flips && aim->flip >> 3 >= at && aim->flip >> 3 < at + length;
		u8 *byte = bytes + ((aim->flip >> 3) - at), bit = 1 << (aim->flip & 7);

		if (!length)
			break;
		/* What is written stays as it is in the memory of whoever has written it. */
		if (writes && flips)
			*byte ^= bit;
		if (!(writes ? netloom_write(disk->medium, bytes, length, place) :
			       netloom_read(disk->medium, bytes, length, place)))
			return false;
		if (flips)
			*byte ^= bit;
		place += length;
		at += length;
	}
	return true;
}

/* When a request is done that comes now, and takes so much longer than others. */
static u64 netloom_due(struct netloom_disk *disk, struct request *rq, u64 now, u64 late)
{
	u64 begin;

	if (req_op(rq) == REQ_OP_FLUSH) {
		disk->done_at = max(now, disk->done_at) + disk->flush + late;
		disk->free_at = disk->done_at;
		return disk->done_at;
	}
	begin = max(now, disk->free_at);
	if (disk->rate)
		begin += div64_u64((u64)blk_rq_bytes(rq) * BITS_PER_BYTE * NSEC_PER_SEC, disk->rate);
	disk->free_at = begin;
	disk->done_at = max(begin + disk->latency + late, disk->done_at);
	if (rq->cmd_flags & REQ_FUA) {
		disk->done_at += disk->flush;
		disk->free_at = disk->done_at;
	}
	return disk->done_at;
}

/* What has become durable with the end of a request is noted. */
static void netloom_ended(struct netloom_disk *disk, struct netloom_io *io)
{
	struct request *rq = blk_mq_rq_from_pdu(io);
	bool fine = true;

	netloom_enter(disk, rq);
	if (io->status || io->suffers & NETLOOM_FLUSH_LOST)
		return;
	if (req_op(rq) == REQ_OP_FLUSH)
		fine = io->covers == disk->end ? netloom_begin_log(disk, io->due) :
			netloom_record(disk, io->due, NETLOOM_FLUSHED, 0, io->covers, 0);
	else if (op_is_write(req_op(rq)) && rq->cmd_flags & REQ_FUA)
		fine = netloom_record(disk, io->due, NETLOOM_DURABLE, io->number, 0, 0);
	if (!fine)
		io->status = BLK_STS_IOERR;
}

static enum hrtimer_restart netloom_timer(struct hrtimer *timer)
{
	struct netloom_disk *disk = container_of(timer, struct netloom_disk, timer);
	struct netloom_io *io, *next;
	LIST_HEAD(done);
	unsigned long flags;
	u64 now;

	spin_lock_irqsave(&disk->lock, flags);
	now = ktime_get_ns();
	list_for_each_entry_safe(io, next, &disk->waiting, list) {
		if (io->due > now)
			break;
		netloom_ended(disk, io);
		list_move_tail(&io->list, &done);
	}
	/* A request that comes from now on starts the timer if it finds the list empty. */
	io = list_first_entry_or_null(&disk->waiting, struct netloom_io, list);
	if (io)
		hrtimer_set_expires(timer, ns_to_ktime(io->due));
	spin_unlock_irqrestore(&disk->lock, flags);
	while ((next = list_first_entry_or_null(&done, struct netloom_io, list))) {
		list_del(&next->list);
		blk_mq_complete_request(blk_mq_rq_from_pdu(next));
	}
	return io ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

static blk_status_t netloom_queue(struct blk_mq_hw_ctx *context, const struct blk_mq_queue_data *data)
{
	struct netloom_disk *disk = context->queue->queuedata;
	struct request *rq = data->rq;
	struct netloom_io *io = blk_mq_rq_to_pdu(rq);
	struct netloom_aim aim;
	unsigned long flags;
	bool idle;
	u64 now, late;

	switch (req_op(rq)) {
	case REQ_OP_READ:
	case REQ_OP_WRITE:
	case REQ_OP_FLUSH:
		break;
	default:
		return BLK_STS_NOTSUPP;
	}
	blk_mq_start_request(rq);
	spin_lock_irqsave(&disk->lock, flags);
	now = ktime_get_ns();
	io->came = ktime_get_raw_ns();
	io->status = BLK_STS_OK;
	io->covers = disk->end;
	io->number = op_is_write(req_op(rq)) && req_op(rq) != REQ_OP_FLUSH ? ++disk->writes : 0;
	late = netloom_suffer(disk, rq, now, &aim);
	if (io->suffers & NETLOOM_FAILED ||
	    (req_op(rq) != REQ_OP_FLUSH && !netloom_transfer(disk, rq, now, &aim)))
		io->status = BLK_STS_IOERR;
	io->due = netloom_due(disk, rq, now, late);
	idle = list_empty(&disk->waiting);
	list_add_tail(&io->list, &disk->waiting);
	if (idle)
		hrtimer_start(&disk->timer, ns_to_ktime(io->due), HRTIMER_MODE_ABS);
	spin_unlock_irqrestore(&disk->lock, flags);
	return BLK_STS_OK;
}

static void netloom_complete(struct request *rq)
{
	struct netloom_io *io = blk_mq_rq_to_pdu(rq);

	blk_mq_end_request(rq, io->status);
}

static const struct blk_mq_ops netloom_disk_calls = {
	.queue_rq = netloom_queue,
	.complete = netloom_complete,
};

static const struct block_device_operations netloom_disk_operations = {
	.owner = THIS_MODULE,
};

static int netloom_add_disk(struct netloom_disk *own, u64 sectors, int number)
{
	struct queue_limits limits = {
		.physical_block_size = PAGE_SIZE,
		.max_hw_sectors = 1024,
		.max_segments = 128,
		.features = BLK_FEAT_WRITE_CACHE | BLK_FEAT_FUA,
	};
	int error;

	spin_lock_init(&own->lock);
	INIT_LIST_HEAD(&own->waiting);
	INIT_LIST_HEAD(&own->faults);
	hrtimer_setup(&own->timer, netloom_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS);
	own->copy = kmalloc(NETLOOM_COPY, GFP_KERNEL);
	if (!own->copy || !netloom_begin_log(own, 0))
		return -EIO;
	own->tags.ops = &netloom_disk_calls;
	own->tags.nr_hw_queues = 1;
	own->tags.queue_depth = 32;
	own->tags.numa_node = NUMA_NO_NODE;
	own->tags.cmd_size = sizeof(struct netloom_io);
	error = blk_mq_alloc_tag_set(&own->tags);
	if (error)
		return error;
	own->disk = blk_mq_alloc_disk(&own->tags, &limits, own);
	if (IS_ERR(own->disk))
		return PTR_ERR(own->disk);
	own->disk->fops = &netloom_disk_operations;
	own->disk->private_data = own;
	own->disk->flags |= GENHD_FL_NO_PART;
	snprintf(own->disk->disk_name, sizeof(own->disk->disk_name), "disk%d", number);
	set_capacity(own->disk, sectors);
	return add_disk(own->disk);
}

static int netloom_disk_set(const char *text, const struct kernel_param *param)
{
	static int disks;
	struct netloom_disk *own = kzalloc(sizeof(*own), GFP_KERNEL);
	u64 sectors;

	if (!own)
		return -ENOMEM;
	if (disks == NETLOOM_DISKS ||
	    sscanf(text, "%d,%d,%d,%llu,%llu,%llu,%llu", &own->medium, &own->file, &own->journal, &sectors, &own->latency,
		   &own->rate, &own->flush) != 7)
		return -EINVAL;
	netloom_disks[disks] = own;
	/* What is left of a disk that could not be made stays: its node does not come up. */
	return netloom_add_disk(own, sectors, disks++);
}

static const struct kernel_param_ops netloom_disk_param = {
	.set = netloom_disk_set,
};

#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "netloom."
device_param_cb(disk, &netloom_disk_param, NULL, 0);
module_param_cb(disk_fault, &netloom_disk_fault_param, NULL, 0200);
