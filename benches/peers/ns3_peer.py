"""W1's constant-rate and TCP equivalents on ns-3: ns3_peer.py cbr|tcp SECONDS SOURCES DELAY, the delay in seconds.

Prints a line of JSON. No traces. Point-to-point devices of 149.76 Mbit/s with drop-tail queues that never fill, no
queue discs above them, IPv4 with static routes, UDP clients of 53 octets on the line (2 PPP, 20 IP, 8 UDP, 23 payload),
or bulk senders with segments of 512 octets and an ACK for each, no timestamps, no SACK. The library runs it; Python
only builds it.
"""

import json
import sys
import time
from importlib.metadata import version

from ns import ns

kind, seconds, sources, delay = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
mean, step = 317880 / sources, 42000 / (sources * (sources - 1))

ns.Config.SetDefault("ns3::DropTailQueue<Packet>::MaxSize", ns.QueueSizeValue(ns.QueueSize("1000000p")))
# A packet is compared with the addresses of the interface it came by, not with those of all seventeen.
ns.Config.SetDefault("ns3::Ipv4::StrongEndSystemModel", ns.BooleanValue(True))
ns.Config.SetDefault("ns3::TcpSocket::SegmentSize", ns.UintegerValue(512))
ns.Config.SetDefault("ns3::TcpSocket::DelAckCount", ns.UintegerValue(1))
ns.Config.SetDefault("ns3::TcpSocket::InitialCwnd", ns.UintegerValue(2))
ns.Config.SetDefault("ns3::TcpSocket::SndBufSize", ns.UintegerValue(1 << 18))
ns.Config.SetDefault("ns3::TcpSocket::RcvBufSize", ns.UintegerValue(1 << 16))
ns.Config.SetDefault("ns3::TcpSocketBase::Timestamp", ns.BooleanValue(False))
ns.Config.SetDefault("ns3::TcpSocketBase::Sack", ns.BooleanValue(False))
ns.Config.SetDefault("ns3::TcpL4Protocol::SocketType", ns.StringValue("ns3::TcpNewReno"))

nodes = ns.NodeContainer()
nodes.Create(2 + 2 * sources)
stack = ns.InternetStackHelper()
stack.SetIpv6StackInstall(False)
routing = ns.Ipv4StaticRoutingHelper()
stack.SetRoutingHelper(routing)
stack.Install(nodes)
line = ns.PointToPointHelper()
line.SetDeviceAttribute("DataRate", ns.StringValue("149.76Mbps"))
line.SetChannelAttribute("Delay", ns.TimeValue(ns.Seconds(delay)))
addresses = ns.Ipv4AddressHelper()
addresses.SetBase(ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.255.0"))
no_discs = ns.TrafficControlHelper()


def link(a, b):
    """Join two nodes; give their addresses."""
    devices = line.Install(nodes.Get(a), nodes.Get(b))
    interfaces = addresses.Assign(devices)
    no_discs.Uninstall(devices)
    addresses.NewNetwork()
    return interfaces


def route(node):
    """Give the routing table of a node."""
    return routing.GetStaticRouting(nodes.Get(node).GetObject[ns.Ipv4]())


between = link(0, 1)
apps = []
for i in range(sources):
    source, destination = 2 + 2 * i, 3 + 2 * i
    access, egress = link(source, 0), link(1, destination)
    # Interface 1 of every node is its first link: that between the switches, or a host's only one.
    route(source).SetDefaultRoute(access.GetAddress(1), 1)
    route(destination).SetDefaultRoute(egress.GetAddress(0), 1)
    target = egress.GetAddress(1)
    if kind == "cbr":
        server = ns.UdpServerHelper(9)
        client = ns.UdpClientHelper(ns.InetSocketAddress(target, 9).ConvertTo())
        client.SetAttribute("MaxPackets", ns.UintegerValue(0))
        client.SetAttribute("Interval", ns.TimeValue(ns.Seconds(1 / (mean + step * (i - (sources - 1) / 2)))))
        client.SetAttribute("PacketSize", ns.UintegerValue(23))
    else:
        server = ns.PacketSinkHelper(
            "ns3::TcpSocketFactory", ns.InetSocketAddress(ns.Ipv4Address.GetAny(), 9).ConvertTo()
        )
        client = ns.BulkSendHelper("ns3::TcpSocketFactory", ns.InetSocketAddress(target, 9).ConvertTo())
        client.SetAttribute("SendSize", ns.UintegerValue(512 * 16))
    sinks = server.Install(nodes.Get(destination))
    senders = client.Install(nodes.Get(source))
    sinks.Start(ns.Seconds(0))
    senders.Start(ns.Seconds(2e-6 * (i + 1)))
    apps.append((sinks, senders))
# Everything else goes to the other switch: the routes to the hosts of one's own are those of their links.
route(0).SetDefaultRoute(between.GetAddress(1), 1)
route(1).SetDefaultRoute(between.GetAddress(0), 1)

# The first call is compiled, so it runs before anything is sent.
warm_up = ns.MicroSeconds(1)
ns.Simulator.Stop(warm_up)
ns.Simulator.Run()
ns.Simulator.Stop(ns.Seconds(seconds) - warm_up)
begun, busy = time.perf_counter(), time.process_time()
ns.Simulator.Run()
wall_s, cpu_s = time.perf_counter() - begun, time.process_time() - busy
if kind == "cbr":
    delivered = sum(sinks.Get(0).GetObject[ns.UdpServer]().GetReceived() for sinks, _ in apps)
else:
    delivered = sum(sinks.Get(0).GetObject[ns.PacketSink]().GetTotalRx() for sinks, _ in apps) // 512
print(json.dumps({"delivered": delivered, "wall_s": wall_s, "cpu_s": cpu_s, "version": version("ns3")}))
ns.Simulator.Destroy()
