/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * On other machines a module is loaded when a program asks `tunl0` or `gre0` for a tunnel, and brings that device along.
 * Here everything is built in, and a node has no interfaces that nobody described. So it is made when it is asked.
 */

/* netloom: file net/core/dev_ioctl.c */
/* netloom: instead of */
void dev_load(struct net *net, const char *name)
{
/* netloom: put */
void netloom_first_tunnel(struct net *net, const char *name);

void dev_load(struct net *net, const char *name)
{
/* netloom: end */
/* netloom: instead of */
	no_module = !dev;
/* netloom: put */
	no_module = !dev;
	if (no_module && ns_capable(net->user_ns, CAP_NET_ADMIN))
		netloom_first_tunnel(net, name);
/* netloom: end */

/* netloom: file net/core/rtnetlink.c */
/* netloom: instead of */
static int rtnl_newlink_create(struct sk_buff *skb, struct ifinfomsg *ifm,
/* netloom: put */
void netloom_first_tunnel(struct net *net, const char *name);
void netloom_first_tunnel(struct net *net, const char *name)
{
	static const char *const first[][2] = {
		{ "tunl0", "ipip" }, { "gre0", "gre" }, { "sit0", "sit" }, { "ip_vti0", "vti" },
		{ "ip6tnl0", "ip6tnl" }, { "ip6gre0", "ip6gre" }, { "ip6_vti0", "vti6" },
	};
	struct nlattr *tb[IFLA_MAX + 1] = {}, *data[RTNL_MAX_TYPE + 1] = {};
	struct rtnl_newlink_params params = { .src_net = net, .tb = tb, .data = data };
	struct rtnl_link_ops *ops;
	struct net_device *dev;
	int kind, index;

	for (kind = 0; kind < ARRAY_SIZE(first); kind++)
		if (!strcmp(name, first[kind][0]))
			break;
	if (kind == ARRAY_SIZE(first))
		return;
	ops = rtnl_link_ops_get(first[kind][1], &index);
	if (!ops)
		return;
	rtnl_lock();
	if (!__dev_get_by_name(net, name)) {
		dev = rtnl_create_link(net, name, NET_NAME_ENUM, ops, tb, NULL);
		if (!IS_ERR(dev) && ops->newlink(dev, &params, NULL) < 0)
			free_netdev(dev);
		else if (!IS_ERR(dev))
			rtnl_configure_link(dev, NULL, 0, NULL);
	}
	rtnl_unlock();
	rtnl_link_ops_put(ops, index);
}

static int rtnl_newlink_create(struct sk_buff *skb, struct ifinfomsg *ifm,
/* netloom: end */
