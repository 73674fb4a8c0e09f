"""Record reference traces of today's TCP from ns-3: CUBIC and proportional rate reduction.

Needs the package ns3 (3.44) in the interpreter that runs this. The line is that of generate.py: 10 Mb/s, 20 ms, PPP
framing, no queue limit, segments of 1000 octets, an ACK for every segment, SACK, no timestamps, minimum RTO 1 s.
HyStart is off, and limited transmit, too. A list says which packets that reach the receiver are lost (0 is the SYN).

    python today.py        writes CASE.csv beside this file, one for each case

ns-3 has no RACK-TLP, and paces from the first segment on, where Linux lets ten go. Where `every` is given, only cwnd is
written, at most once in so many ms.
"""

from pathlib import Path

from ns import ns

CASES = {
    # name: (control, recovery, ssthresh [segments], window [segments], segments, lost, every [ms])
    "prr-one-loss": ("TcpNewReno", "TcpPrrRecovery", 0, 64, 300, [42], 0),
    "cubic-growth": ("TcpCubic", "TcpPrrRecovery", 100, 2000, 8000, [2000], 50),
}

ns.cppyy.cppdef(
    r"""
    #include <sstream>
    using namespace ns3;
    static std::ostringstream* out;
    static int64_t next_row, every;
    static void OnWindow(uint32_t, uint32_t now) {
        int64_t at = Simulator::Now().GetNanoSeconds();
        if (every == 0 || at >= next_row) {
            *out << "cwnd," << at << "," << now << "\n";
            next_row = at + every;
        }
    }
    static void OnSend(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t) {
        Ptr<Packet> copy = packet->Copy();
        Ipv4Header ip;
        copy->RemoveHeader(ip);
        TcpHeader tcp;
        copy->RemoveHeader(tcp);
        if (copy->GetSize() > 0 && every == 0) {
            *out << "data," << Simulator::Now().GetNanoSeconds() << "," << tcp.GetSequenceNumber().GetValue() - 1 << "\n";
        }
    }
    static void Watch() {
        Config::ConnectWithoutContext("/NodeList/0/$ns3::TcpL4Protocol/SocketList/0/CongestionWindow",
                                      MakeCallback(&OnWindow));
    }
    std::string Record(std::string control, std::string recovery, uint32_t ssthresh, uint32_t window,
                       uint32_t segments, std::vector<uint32_t> lost, uint32_t ms) {
        std::ostringstream text;
        out = &text;
        every = ms * 1000000LL;
        next_row = 0;
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1000));
        Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
        Config::SetDefault("ns3::TcpSocket::InitialSlowStartThreshold",
                           UintegerValue(ssthresh ? 1000 * ssthresh : 0xffffffff));
        Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1000 * window));
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(20000000));
        Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
        Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(false));
        Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
        Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + control)));
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::" + recovery)));
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
        Simulator::Schedule(MilliSeconds(1), &Watch);
        Simulator::Stop(Seconds(20));
        Simulator::Run();
        Simulator::Destroy();
        return text.str();
    }
    """
)

HEADER = (
    "# ns-3 3.44, {name}: {control}, {recovery}, lost packets {lost}; written by today.py\n# what,time [ns],octets\n"
)

for name, (control, recovery, ssthresh, window, segments, lost, every) in CASES.items():
    packets = ns.cppyy.gbl.std.vector["uint32_t"](lost)
    text = ns.cppyy.gbl.Record(control, recovery, ssthresh, window, segments, packets, every)
    path = Path(__file__).with_name(f"{name}.csv")
    path.write_text(HEADER.format(name=name, control=control, recovery=recovery, lost=lost) + str(text))
    print(path.name, len(str(text).splitlines()), "rows")
