//! Ports and ends as a run begins.

use super::*;

/// The control of a port; the judge knows one custom algorithm.
pub(super) fn new_control(
    port: &cellrate_scenario::Port,
    link_rate: cellrate_proto::CellRate,
) -> PortControl {
    let mut control = match &port.custom {
        Some(_) => PortControl::with_algorithm(&port.control, Box::new(Counting::default())),
        None => PortControl::new(&port.control, link_rate),
    };
    let booked = port.queueing.booked.as_cells_per_s() > 0.0;
    if port.queueing.class_weights.is_some() || booked {
        control.watch_sent(port.queueing.class_weights);
    }
    control
}

pub(super) fn new_port(scenario: &Scenario, number: usize) -> Port {
    let link = &scenario.links[number / 2];
    Port {
        waiting: Default::default(),
        turns: Turns::of(scenario, PortIndex(number as u32)),
        transmitting: None,
        transmitted_at: Time::NEVER,
        last_arrival: Time::ZERO,
        control: new_control(&link.ports[number % 2], link.rate.to_cell_rate()),
        slots: BTreeMap::new(),
        planned_interval_end: Time::NEVER,
        originated: BTreeMap::new(),
        packets: BTreeMap::new(),
        reds: Reds::of(scenario, number),
        fates: BTreeMap::new(),
        refused: 0,
        cut: 0,
        refusals: Random::new(
            scenario.seed,
            Stream::Refusals(Owner::port(scenario, PortIndex(number as u32))),
        ),
        random: Random::new(scenario.seed, Stream::Loss(Owner::port(scenario, PortIndex(number as u32)))),
        doomed: false,
        line_is_bad: false,
        transmitted: 0,
        busy: Duration::ZERO,
        dropped: 0,
        tagged_dropped: 0,
        max_queue: 0,
        max_abr_queue: 0,
        queue_integral: 0,
        integrated_until: Time::ZERO,
    }
}

/// An end at a host, which may break rules.
pub(super) fn new_host_end(scenario: &Scenario, flow: usize, flaw: Option<Flaw>) -> End {
    let mut end = new_end(scenario, flow);
    if scenario.connections[flow / 2].branch.is_some() && flow.is_multiple_of(2) {
        // What goes over a branch of a tree are copies.
        let (source, spacing, earliest) = (None, Duration::FOREVER, Time::NEVER);
        return End { source, spacing, earliest, acr: Vec::new(), ..end };
    }
    end.conditioned = Conditioned::of(scenario, flow, flaw);
    if let Sender::Abr(abr) = &flow_config(scenario, flow).sender {
        end.source = end.source.map(|source| source.misbehaving(abr.misbehaviour).bursting(abr.mbs));
        if let Some(Traffic::Frames(frames)) = &flow_config(scenario, flow).traffic
            && frames.frm_at_frame_ends
        {
            end.source = end.source.map(Source::reporting_frames);
        }
    }
    end
}

pub(super) fn new_end(scenario: &Scenario, flow: usize) -> End {
    let (own, other) = (flow_config(scenario, flow), flow_config(scenario, flow ^ 1));
    let (source, spacing) = match &own.sender {
        Sender::Abr(abr) => (
            Some(plugins().source(scenario, FlowIndex(flow as u32), abr).expect("it is given")),
            Duration::ZERO,
        ),
        Sender::Peak(rate) => (None, rate.interval()),
    };
    // An end receives the other direction, by what is agreed on for that one.
    let destination = match &other.sender {
        Sender::Abr(abr) => Destination::new(DestinationConfig {
            clear_efci_state: abr.clear_efci_state,
            send_waiting_out_of_rate: abr.waiting_brm == WaitingBrm::SendOutOfRate,
            ..DestinationConfig::default()
        }),
        Sender::Peak(_) => Destination::default(),
    };
    let traffic = |flow: &cellrate_scenario::Flow| match &flow.traffic {
        Some(Traffic::Tcp(tcp)) => Some((**tcp).clone()),
        _ => None,
    };
    let (out, back) = (traffic(own), traffic(other));
    let has_flows = [own, other].iter().any(|flow| matches!(flow.traffic, Some(Traffic::Transfers(_))));
    let tcp = (out.is_some() || back.is_some() || has_flows).then(|| Tcp {
        stack: Stack::new(
            out.as_ref(),
            back.as_ref(),
            scenario.seed,
            Owner::flow(scenario, FlowIndex(flow as u32)),
        ),
        timer_plan: 0,
        leaving: (1, 0),
        come: Vec::new(),
        ended: 0,
        whole: 0,
        spoiled: 0,
    });
    let acr = source.iter().map(|source| (Time::ZERO, source.acr().as_cells_per_s())).collect();
    let path = &scenario.connections[flow / 2].path;
    let first = if flow.is_multiple_of(2) { path.first() } else { path.last() };
    let cell_time = scenario.links[first.expect("a path has a link").link.0 as usize].rate.cell_time();
    let end = Time::ZERO + scenario.duration;
    let site = Site {
        scenario,
        flow: FlowIndex(flow as u32),
        cell_time,
        end,
        marks_bursts: false,
        plugins: plugins(),
    };
    End {
        flow,
        relay: None,
        source,
        spacing,
        earliest: Time::ZERO,
        conditioned: None,
        supply: Supply::new(site).expect("its traffic is given"),
        destination,
        tcp,
        plan: 0,
        sent: 0,
        data_sent: 0,
        forward_rm_sent: 0,
        backward_rm_received: 0,
        received: 0,
        data_received: 0,
        dropped: 0,
        delays: Vec::new(),
        frame_cells: matches!(other.traffic, Some(Traffic::Frames(_) | Traffic::Mpeg2(_))).then(Vec::new),
        acr,
    }
}

pub(super) fn flow_config(scenario: &Scenario, flow: usize) -> &cellrate_scenario::Flow {
    let connection = &scenario.connections[flow / 2];
    if flow.is_multiple_of(2) { &connection.forward } else { &connection.backward }
}
