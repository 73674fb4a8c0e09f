"""One TCP through one drop-tail buffer on ns-3: reads lines "VARIANT WINDOW BUFFER DELAYED SECONDS", answers each with JSON.

The network of tcp_grid.py, as tcp_grid.tcl has it for ns-2. VARIANT is newreno or sack (TcpNewReno without and with SACK, classic
recovery; ns-3 has no Tahoe and no Reno). PPP takes 2 octets, so that a segment carries 1654 to be 1696 on the line.
"""

import json
import sys
from importlib.metadata import version

from ns import ns

ns.cppyy.cppdef(
    r"""
    using namespace ns3;
    static uint64_t again, timeouts;
    static void OnState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now) {
        timeouts += now == TcpSocketState::CA_LOSS;
    }
    static void OnAgain(Ptr<const Packet>, const TcpHeader&, const Address&, const Address&, Ptr<const TcpSocketBase>) {
        again++;
    }
    static void Watch(Ptr<Node> node) {
        auto watch = [](std::string what, auto callback) {
            Config::ConnectWithoutContext("/NodeList/0/$ns3::TcpL4Protocol/SocketList/0/" + what, callback);
        };
        watch("CongState", MakeCallback(&OnState));
        watch("Retransmission", MakeCallback(&OnAgain));
    }
    std::vector<uint64_t> Transfer(bool sack, uint32_t window, std::string buffer, bool delayed, double seconds) {
        again = timeouts = 0;
        const uint32_t segment = 1654;
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
        Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
        Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(delayed ? 2 : 1));
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(window * segment));
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 * window * segment));
        Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
        Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
        NodeContainer nodes;
        nodes.Create(3);
        PointToPointHelper line;
        line.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
        line.SetChannelAttribute("Delay", StringValue("1ms"));
        line.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
        NetDeviceContainer access = line.Install(nodes.Get(0), nodes.Get(1));
        line.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
        line.SetChannelAttribute("Delay", StringValue("20ms"));
        NetDeviceContainer bottleneck = line.Install(nodes.Get(1), nodes.Get(2));
        InternetStackHelper().Install(nodes);
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
        addresses.Assign(access);
        addresses.NewNetwork();
        Ipv4InterfaceContainer ends = addresses.Assign(bottleneck);
        TrafficControlHelper().Uninstall(access);
        TrafficControlHelper().Uninstall(bottleneck);
        PointerValue queue;
        bottleneck.Get(0)->GetAttribute("TxQueue", queue);
        queue.Get<Queue<Packet>>()->SetAttribute("MaxSize", StringValue(buffer));
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(ends.GetAddress(1), 9));
        source.SetAttribute("SendSize", UintegerValue(segment));
        source.Install(nodes.Get(0)).Start(Seconds(0));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
        ApplicationContainer sinks = sink.Install(nodes.Get(2));
        sinks.Start(Seconds(0));
        Simulator::Schedule(MilliSeconds(1), &Watch, nodes.Get(0));
        Simulator::Stop(Seconds(seconds));
        Simulator::Run();
        uint64_t delivered = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx() / segment;
        Simulator::Destroy();
        return {delivered, again, timeouts};
    }
    """
)

for line in iter(sys.stdin.readline, ""):
    variant, window, buffer, delayed, seconds = line.split()
    told = ns.cppyy.gbl.Transfer(variant == "sack", int(window), f"{buffer}p", delayed == "1", float(seconds))
    delivered, again, timeouts = (int(value) for value in told)
    print(
        json.dumps({"delivered": delivered, "again": again, "timeouts": timeouts, "version": version("ns3")}),
        flush=True,
    )
