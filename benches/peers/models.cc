/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The workloads of `netloom-bench peers` as models of ns-3: its own TCP with Linux's settings, and its applications for programs.
 *
 * models bulk RATE BYTES QUEUE | pairs | fetch | ping | packets | frames */
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include <cstdio>
#include <map>
#include <string>
#include <vector>

using namespace ns3;

static uint64_t retransmits, received;
static Time first, last;

static void Again(Ptr<const Packet>, const TcpHeader &, const Address &, const Address &, Ptr<const TcpSocketBase>)
{
	retransmits++;
}

static void Watch()
{
	Config::ConnectWithoutContextFailSafe("/NodeList/*/$ns3::TcpL4Protocol/SocketList/*/Retransmission", MakeCallback(&Again));
}

static void Arrived(Ptr<const Packet>, const Address &)
{
	last = Simulator::Now();
	if (first.IsZero())
		first = last;
}

static void Frame(Ptr<const Packet>)
{
	received++;
}

static void Defaults()
{
	Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue("ns3::TcpLinuxReno"));
	Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
	Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(6 << 20));
	Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(6 << 20));
	Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
	Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
	Config::SetDefault("ns3::TcpSocketBase::ClockGranularity", TimeValue(MilliSeconds(1)));
}

/* Links, each a subnet, with the device's queue alone. */
struct Links {
	std::vector<Ipv4Address> addresses;

	void Add(Ptr<Node> one, Ptr<Node> other, const std::string &rate, const std::string &delay, const std::string &queue = "1000p")
	{
		PointToPointHelper wire;
		wire.SetDeviceAttribute("DataRate", StringValue(rate));
		wire.SetChannelAttribute("Delay", StringValue(delay));
		wire.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(queue));
		auto devices = wire.Install(one, other);
		Ipv4AddressHelper subnet(Ipv4Address(0x0a000000 + 2 * addresses.size()), Ipv4Mask("255.255.255.252"));
		auto interfaces = subnet.Assign(devices);
		TrafficControlHelper().Uninstall(devices);
		addresses.push_back(interfaces.GetAddress(0));
		addresses.push_back(interfaces.GetAddress(1));
	}
};

/* Hosts around a router, to which each has a link; the addresses of hosts are at even places. */
struct Star {
	NodeContainer hosts, hub;
	Links links;

	explicit Star(uint32_t count) : hosts(count), hub(1)
	{
		InternetStackHelper stack;
		stack.SetIpv6StackInstall(false);
		stack.Install(hosts);
		stack.Install(hub);
	}
	Ipv4Address Of(uint32_t host) const
	{
		return links.addresses[2 * host];
	}
};

static ApplicationContainer Sink(Ptr<Node> node)
{
	return PacketSinkHelper("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 5001)).Install(node);
}

static void Bulk(Ptr<Node> node, Ipv4Address to, uint64_t bytes)
{
	BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(to, 5001));
	bulk.SetAttribute("SendSize", UintegerValue(1448));
	bulk.SetAttribute("MaxBytes", UintegerValue(bytes));
	bulk.Install(node).Start(Seconds(1));
}

static void Run(double seconds)
{
	Simulator::Schedule(Seconds(1.0001), &Watch);
	Simulator::Stop(Seconds(seconds));
	Simulator::Run();
}

static void OneBulk(const std::string &rate, uint64_t bytes, const std::string &queue)
{
	NodeContainer ends(2);
	InternetStackHelper stack;
	stack.SetIpv6StackInstall(false);
	stack.Install(ends);
	Links links;
	links.Add(ends.Get(0), ends.Get(1), rate, "10ms", queue);
	auto sinks = Sink(ends.Get(1));
	Bulk(ends.Get(0), links.addresses[1], bytes);
	sinks.Get(0)->TraceConnectWithoutContext("Rx", MakeCallback(&Arrived));
	Run(16);
	double got = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
	printf("{\"goodput_mbit\": %.3f}\n{\"retransmits\": %lu}\n", got * 8 / (last - first).GetSeconds() / 1e6, retransmits);
}

static void Pairs()
{
	Star star(50);
	for (uint32_t i = 0; i < 50; i++)
		star.links.Add(star.hosts.Get(i), star.hub.Get(0), "10Mbps", "5ms", "100p");
	Ipv4GlobalRoutingHelper::PopulateRoutingTables();
	std::vector<ApplicationContainer> sinks;
	for (uint32_t i = 0; i < 50; i += 2) {
		sinks.push_back(Sink(star.hosts.Get(i + 1)));
		Bulk(star.hosts.Get(i), star.Of(i + 1), 6000000);
	}
	Run(14);
	for (auto &sink : sinks)
		printf("{\"bytes\": %lu}\n", DynamicCast<PacketSink>(sink.Get(0))->GetTotalRx());
}

/* Answers each request of eight bytes with a file. */
class Files : public Application {
	std::map<Ptr<Socket>, std::pair<uint32_t, uint32_t>> open;
	Ptr<Socket> listener;

	void StartApplication() override
	{
		listener = Socket::CreateSocket(GetNode(), TcpSocketFactory::GetTypeId());
		listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), 8000));
		listener->Listen();
		listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address &>(), MakeCallback(&Files::Accepted, this));
	}
	void Accepted(Ptr<Socket> client, const Address &)
	{
		open[client] = {0, 1000000};
		client->SetRecvCallback(MakeCallback(&Files::Read, this));
		client->SetSendCallback(MakeCallback(&Files::Send, this));
	}
	void Read(Ptr<Socket> client)
	{
		while (Ptr<Packet> packet = client->Recv()) {
			if (packet->GetSize() == 0)
				break;
			open[client].first += packet->GetSize();
		}
		Send(client, 0);
	}
	void Send(Ptr<Socket> client, uint32_t)
	{
		auto file = open.find(client);
		if (file == open.end() || file->second.first < 8)
			return;
		uint32_t &left = file->second.second;
		while (left > 0) {
			uint32_t count = std::min({left, client->GetTxAvailable(), 131072u});
			if (count == 0 || client->Send(Create<Packet>(count)) <= 0)
				return;
			left -= count;
		}
		open.erase(file);
		client->Close();
	}
};

/* Fetches ten files, one after the other. */
class Fetch : public Application {
      public:
	Address server;
	uint32_t good = 0;
	Time begun, ended;

      private:
	Ptr<Socket> own;
	uint32_t got = 0, done = 0;

	void StartApplication() override
	{
		begun = Simulator::Now();
		Next();
	}
	void Next()
	{
		got = 0;
		own = Socket::CreateSocket(GetNode(), TcpSocketFactory::GetTypeId());
		own->SetConnectCallback(MakeCallback(&Fetch::Connected, this), MakeNullCallback<void, Ptr<Socket>>());
		own->SetRecvCallback(MakeCallback(&Fetch::Read, this));
		own->SetCloseCallbacks(MakeCallback(&Fetch::Closed, this), MakeCallback(&Fetch::Closed, this));
		own->Bind();
		own->Connect(server);
	}
	void Connected(Ptr<Socket>)
	{
		own->Send(Create<Packet>(8));
	}
	void Read(Ptr<Socket> from)
	{
		while (Ptr<Packet> packet = from->Recv()) {
			if (packet->GetSize() == 0)
				break;
			got += packet->GetSize();
		}
	}
	void Closed(Ptr<Socket> which)
	{
		if (which != own)
			return;
		Read(which);
		good += got == 1000000;
		own->SetRecvCallback(MakeNullCallback<void, Ptr<Socket>>());
		own->Close();
		own = nullptr;
		if (++done < 10)
			Simulator::ScheduleNow(&Fetch::Next, this);
		else
			ended = Simulator::Now();
	}
};

static void Fetches()
{
	Star star(105);
	for (uint32_t i = 0; i < 105; i++)
		star.links.Add(star.hosts.Get(i), star.hub.Get(0), i < 5 ? "1Gbps" : "20Mbps", "10ms");
	Ipv4GlobalRoutingHelper::PopulateRoutingTables();
	std::vector<Ptr<Fetch>> clients;
	for (uint32_t i = 0; i < 5; i++)
		star.hosts.Get(i)->AddApplication(CreateObject<Files>());
	for (uint32_t i = 0; i < 100; i++) {
		auto client = CreateObject<Fetch>();
		client->server = InetSocketAddress(star.Of(i % 5), 8000);
		client->SetStartTime(MilliSeconds(1000 + 20 * i));
		star.hosts.Get(5 + i)->AddApplication(client);
		clients.push_back(client);
	}
	Run(60);
	for (auto &client : clients)
		printf("{\"good\": %u, \"mean_s\": %.6f}\n", client->good, (client->ended - client->begun).GetSeconds() / 10);
}

/* Sends a datagram each second for an hour; UdpEchoClient does not say when the answers come. */
class Ping : public Application {
      public:
	Address peer;
	uint32_t sent = 0, got = 0;
	double sum = 0;

      private:
	Ptr<Socket> own;
	Time at;

	void StartApplication() override
	{
		own = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
		own->Bind();
		own->Connect(peer);
		own->SetRecvCallback(MakeCallback(&Ping::Read, this));
		Send();
	}
	void Send()
	{
		at = Simulator::Now();
		own->Send(Create<Packet>(56));
		if (++sent < 3600)
			Simulator::Schedule(Seconds(1), &Ping::Send, this);
	}
	void Read(Ptr<Socket> from)
	{
		for (; from->Recv(); got++)
			sum += (Simulator::Now() - at).GetSeconds();
	}
};

static void Pings()
{
	Star star(20);
	for (uint32_t i = 0; i < 20; i++)
		star.links.Add(star.hosts.Get(i), star.hub.Get(0), "100Mbps", "5ms");
	Ipv4GlobalRoutingHelper::PopulateRoutingTables();
	std::vector<Ptr<Ping>> pings;
	for (uint32_t i = 0; i < 20; i++) {
		UdpEchoServerHelper(7).Install(star.hosts.Get(i));
		auto ping = CreateObject<Ping>();
		ping->peer = InetSocketAddress(star.Of((i + 1) % 20), 7);
		ping->SetStartTime(Seconds(1));
		star.hosts.Get(i)->AddApplication(ping);
		pings.push_back(ping);
	}
	Run(3602);
	for (auto &ping : pings)
		printf("{\"pings\": %u, \"lost\": %u, \"mean_us\": %.1f}\n", ping->sent, ping->sent - ping->got, ping->sum / ping->got * 1e6);
}

static void Packets()
{
	NodeContainer ends(2);
	InternetStackHelper().Install(ends);
	Links links;
	links.Add(ends.Get(0), ends.Get(1), "1Gbps", "10ms");
	auto servers = UdpServerHelper(9).Install(ends.Get(1));
	UdpClientHelper client(links.addresses[1], 9);
	client.SetAttribute("MaxPackets", UintegerValue(800000));
	client.SetAttribute("Interval", TimeValue(MicroSeconds(10)));
	client.SetAttribute("PacketSize", UintegerValue(972));
	client.Install(ends.Get(0)).Start(Seconds(1));
	Run(12);
	printf("{\"received\": %lu}\n", DynamicCast<UdpServer>(servers.Get(0))->GetReceived());
}

/* The same without IP: device, queue and channel alone. */
static void Frames()
{
	NodeContainer ends(2);
	PacketSocketHelper().Install(ends);
	PointToPointHelper wire;
	wire.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
	wire.SetChannelAttribute("Delay", StringValue("10ms"));
	wire.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000p"));
	auto devices = wire.Install(ends);
	PacketSocketAddress to;
	to.SetSingleDevice(devices.Get(0)->GetIfIndex());
	to.SetPhysicalAddress(devices.Get(1)->GetAddress());
	to.SetProtocol(0x0800);
	auto client = CreateObject<PacketSocketClient>();
	client->SetRemote(to);
	client->SetAttribute("MaxPackets", UintegerValue(800000));
	client->SetAttribute("Interval", TimeValue(MicroSeconds(10)));
	client->SetAttribute("PacketSize", UintegerValue(1000));
	client->SetStartTime(Seconds(1));
	ends.Get(0)->AddApplication(client);
	devices.Get(1)->TraceConnectWithoutContext("MacRx", MakeCallback(&Frame));
	Run(12);
	printf("{\"received\": %lu}\n", received);
}

int main(int count, char **words)
{
	std::string what = count > 1 ? words[1] : "";
	Defaults();
	if (what == "bulk" && count == 5)
		OneBulk(words[2], atoll(words[3]), words[4]);
	else if (what == "pairs")
		Pairs();
	else if (what == "fetch")
		Fetches();
	else if (what == "ping")
		Pings();
	else if (what == "packets")
		Packets();
	else if (what == "frames")
		Frames();
	else
		return 2;
	Simulator::Destroy();
	return 0;
}
