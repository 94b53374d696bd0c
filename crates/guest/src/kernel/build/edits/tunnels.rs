//! The first tunnel of each kind, which `ip tunnel` asks for another.

use super::Edits;

/// On other machines a module is loaded when a program asks `tunl0` or `gre0` for a tunnel, and brings that device along.
/// Here everything is built in, and a node has no interfaces that nobody described. So it is made when it is asked.
pub(super) const FIRST: [Edits; 2] = [
    Edits {
        file: "net/core/dev_ioctl.c",
        edits: &[
            (
                "void dev_load(struct net *net, const char *name)\n{\n",
                "void netloom_first_tunnel(struct net *net, const char *name);\n\n\
                 void dev_load(struct net *net, const char *name)\n{\n",
            ),
            (
                "\tno_module = !dev;\n",
                "\tno_module = !dev;\n\
                 \tif (no_module && ns_capable(net->user_ns, CAP_NET_ADMIN))\n\t\tnetloom_first_tunnel(net, name);\n",
            ),
        ],
        without: WITHOUT,
    },
    Edits {
        file: "net/core/rtnetlink.c",
        edits: &[(
            "static int rtnl_newlink_create(struct sk_buff *skb, struct ifinfomsg *ifm,\n",
            "void netloom_first_tunnel(struct net *net, const char *name);\n\
             void netloom_first_tunnel(struct net *net, const char *name)\n{\n\
             \tstatic const char *const first[][2] = {\n\
             \t\t{ \"tunl0\", \"ipip\" }, { \"gre0\", \"gre\" }, { \"sit0\", \"sit\" }, { \"ip_vti0\", \"vti\" },\n\
             \t\t{ \"ip6tnl0\", \"ip6tnl\" }, { \"ip6gre0\", \"ip6gre\" }, { \"ip6_vti0\", \"vti6\" },\n\
             \t};\n\
             \tstruct nlattr *tb[IFLA_MAX + 1] = {}, *data[RTNL_MAX_TYPE + 1] = {};\n\
             \tstruct rtnl_newlink_params params = { .src_net = net, .tb = tb, .data = data };\n\
             \tstruct rtnl_link_ops *ops;\n\
             \tstruct net_device *dev;\n\
             \tint kind, index;\n\n\
             \tfor (kind = 0; kind < ARRAY_SIZE(first); kind++)\n\
             \t\tif (!strcmp(name, first[kind][0]))\n\t\t\tbreak;\n\
             \tif (kind == ARRAY_SIZE(first))\n\t\treturn;\n\
             \tops = rtnl_link_ops_get(first[kind][1], &index);\n\
             \tif (!ops)\n\t\treturn;\n\
             \trtnl_lock();\n\
             \tif (!__dev_get_by_name(net, name)) {\n\
             \t\tdev = rtnl_create_link(net, name, NET_NAME_ENUM, ops, tb, NULL);\n\
             \t\tif (!IS_ERR(dev) && ops->newlink(dev, &params, NULL) < 0)\n\t\t\tfree_netdev(dev);\n\
             \t\telse if (!IS_ERR(dev))\n\t\t\trtnl_configure_link(dev, NULL, 0, NULL);\n\
             \t}\n\
             \trtnl_unlock();\n\
             \trtnl_link_ops_put(ops, index);\n}\n\n\
             static int rtnl_newlink_create(struct sk_buff *skb, struct ifinfomsg *ifm,\n",
        )],
        without: WITHOUT,
    },
];

const WITHOUT: &str = "`ip tunnel add` fails with this kernel (`ip link add type` works)";
