"""Record reference traces of TCP from ns-3: what leaves the sender when, and the congestion window.

Needs the package ns3 (3.44) in the interpreter that runs this; nothing else of the project does. Each case is one sender and
one receiver over a line of 10 Mb/s and 20 ms with PPP framing (2 octets), no queue limit, segments of 1000 octets, a
receiver window of 64 segments, an ACK for every segment, no timestamps, no limited transmit, minimum RTO 1 s; a list says
which packets that reach the receiver are lost (0 is the SYN, 1 the ACK of the handshake, 2 the first segment).

    python generate.py        writes CASE.csv beside this file, one for each case
"""

from pathlib import Path

from ns import ns

SEGMENTS = 300
CASES = {
    # name: (SACK, indices of lost packets)
    "no-loss": (False, []),
    "newreno-one-loss": (False, [42]),
    "newreno-three-losses": (False, [42, 44, 47]),
    "newreno-two-windows": (False, [42, 96]),
    "newreno-lost-again": (False, [42, 84]),
    "sack-one-loss": (True, [42]),
    "sack-three-losses": (True, [42, 44, 47]),
}

ns.cppyy.cppdef(
    r"""
    #include <sstream>
    using namespace ns3;
    static std::ostringstream* out;
    static void OnWindow(uint32_t, uint32_t now) {
        *out << "cwnd," << Simulator::Now().GetNanoSeconds() << "," << now << "\n";
    }
    static void Watch(Ptr<Node> node) {
        node->GetObject<TcpL4Protocol>();
        Config::ConnectWithoutContext("/NodeList/0/$ns3::TcpL4Protocol/SocketList/0/CongestionWindowInflated",
                                      MakeCallback(&OnWindow));
    }
    static void OnSend(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t) {
        Ptr<Packet> copy = packet->Copy();
        Ipv4Header ip;
        copy->RemoveHeader(ip);
        TcpHeader tcp;
        copy->RemoveHeader(tcp);
        if (copy->GetSize() > 0) {
            *out << "data," << Simulator::Now().GetNanoSeconds() << "," << tcp.GetSequenceNumber().GetValue() - 1 << "\n";
        }
    }
    std::string Record(bool sack, std::vector<uint32_t> lost, uint32_t segments) {
        std::ostringstream text;
        out = &text;
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1000));
        Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
        Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(64000));
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1000000));
        Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(sack));
        Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpClassicRecovery::GetTypeId()));
        NodeContainer nodes;
        nodes.Create(2);
        PointToPointHelper line;
        line.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
        line.SetChannelAttribute("Delay", StringValue("20ms"));
        line.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
        NetDeviceContainer devices = line.Install(nodes);
        InternetStackHelper().Install(nodes);
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
        Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        TrafficControlHelper().Uninstall(devices);
        Ptr<ReceiveListErrorModel> losses = CreateObject<ReceiveListErrorModel>();
        losses->SetList(std::list<uint32_t>(lost.begin(), lost.end()));
        devices.Get(1)->SetAttribute("ReceiveErrorModel", PointerValue(losses));
        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(interfaces.GetAddress(1), 9));
        source.SetAttribute("MaxBytes", UintegerValue(1000 * segments));
        source.SetAttribute("SendSize", UintegerValue(1000));
        source.Install(nodes.Get(0)).Start(Seconds(0));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
        sink.Install(nodes.Get(1)).Start(Seconds(0));
        nodes.Get(0)->GetObject<Ipv4L3Protocol>()->TraceConnectWithoutContext("Tx", MakeCallback(&OnSend));
        Simulator::Schedule(MilliSeconds(1), &Watch, nodes.Get(0));
        Simulator::Stop(Seconds(20));
        Simulator::Run();
        Simulator::Destroy();
        return text.str();
    }
    """
)

HEADER = "# ns-3 3.44, {name}: SACK {sack}, lost packets {lost}; written by generate.py\n# what,time [ns],octets\n"

for name, (sack, lost) in CASES.items():
    text = ns.cppyy.gbl.Record(sack, ns.cppyy.gbl.std.vector["uint32_t"](lost), SEGMENTS)
    path = Path(__file__).with_name(f"{name}.csv")
    path.write_text(HEADER.format(name=name, sack=sack, lost=lost) + str(text))
    print(path.name, str(text).count("data,"), "segments")
