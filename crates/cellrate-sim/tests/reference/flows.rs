//! Flows and calls that come and go, as the judge has them: it goes through the list of all that are offered once, by
//! the rules, and has what begins as events.

use cellrate_engine::demand::{Asked, Offers};
use cellrate_proto::Octets;
use cellrate_proto::admission::Request;
use cellrate_proto::admission::equivalent::Needs;
use cellrate_proto::wire::cells_for;
use cellrate_scenario::{Booking, DemandQuantity, Pair, TcpTraffic};
use cellrate_sim::transport::{Contents, Flags, Sequence, SizedFlow, Span};
use cellrate_sim::{CompletionSummary, DemandSummary};

use super::*;
use crate::random_world::flows::ON_OFF_LOSS;

/// Flaws that take calls to tell.
pub const CALL_FLAWS: [(Flaw, u64); 7] = [
    (Flaw::CallsEndLate, 17),
    (Flaw::SetUpTakesNoTime, 0),
    (Flaw::HoldingFromArrival, 1),
    (Flaw::SourceGoesOn, 1),
    (Flaw::HighestSlot, 0),
    (Flaw::OneWayBooked, 101),
    (Flaw::OnOffBookedAlone, 1),
];

/// Flaws that take flows of a size to tell.
pub const FLOW_FLAWS: [(Flaw, u64); 5] = [
    (Flaw::TimesFromSetUp, 5),
    (Flaw::LastDatagramCompletes, 2),
    (Flaw::SlotsFreeLate, 2),
    (Flaw::HighestSlot, 0),
    (Flaw::FreeBeforeAcknowledged, 0),
];

/// A flow of a size that has begun.
pub(super) struct Sized {
    /// Among all that are offered.
    call: usize,
    /// Numbers of its first and last datagram among the PDUs of the end.
    datagrams: (u64, u64),
    come: u64,
    complete: Option<Time>,
    /// When it is over: its last datagram has come, or that of a later one.
    over: Option<Time>,
    cells: u64,
    /// With TCP, the octets of all flows of the connection up to this one.
    until: u64,
}

/// A call that was offered.
pub(super) struct Call {
    arrived: Time,
    begins: Time,
    ends: Time,
    demand: usize,
    pair: usize,
    fate: Fate,
    /// The size of a flow of a size.
    octets: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Slot(u32),
    NoRoom,
    NoSlot,
    /// The run tells what becomes of a flow of a size.
    Unknown,
}

/// The rate that a request books.
fn rate(request: &Request) -> u64 {
    match request {
        Request::Cbr { pcr } => pcr.to_bit_rate().as_bps(),
        Request::Vbr { scr } => scr.to_bit_rate().as_bps(),
        Request::Abr { mcr, .. } | Request::Minimum { mcr } => mcr.to_bit_rate().as_bps(),
        // It depends on the others.
        Request::OnOff(_) | Request::Ubr => 0,
    }
}

/// Needs of an on/off source at a port.
fn needs(scenario: &Scenario, port: usize, request: &Request) -> Needs {
    match request {
        Request::OnOff(source) => {
            let room = scenario.links[port / 2].ports[port % 2].buffers.rooms()[0];
            Needs::of(source, room, ON_OFF_LOSS)
        }
        _ => Needs::default(),
    }
}

/// Bookings of a call on each port, once for each time that its bookings name it.
fn bookings(scenario: &Scenario, pair: &Pair, flaw: Option<Flaw>) -> Vec<(usize, u64, Needs)> {
    let counted = if flaw == Some(Flaw::OneWayBooked) { 1 } else { pair.bookings.len() };
    let of = |Booking { ports, request }: &Booking| {
        let booked = rate(request);
        ports.iter().map(move |&port| (port, booked, needs(scenario, port, request))).collect::<Vec<_>>()
    };
    pair.bookings.iter().take(counted).flat_map(of).collect()
}

/// All calls of a run.
pub(super) fn calls(scenario: &Scenario, flaw: Option<Flaw>) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for offer in Offers::new(scenario) {
        let pair = &scenario.demands[offer.demand].pairs[offer.pair];
        let (holding, octets) = match offer.amount {
            Asked::Holding(holding) => (holding, 0),
            Asked::Octets(octets) => (Duration::ZERO, octets),
        };
        let begins = match flaw {
            Some(Flaw::SetUpTakesNoTime) => offer.at,
            _ => offer.at + pair.set_up,
        };
        let ends = if flaw == Some(Flaw::HoldingFromArrival) { offer.at + holding } else { begins + holding };
        let is_under_way = |call: &&Call| {
            let lasts =
                if flaw == Some(Flaw::CallsEndLate) { call.ends >= offer.at } else { call.ends > offer.at };
            lasts && matches!(call.fate, Fate::Slot(_))
        };
        let under_way: Vec<&Call> = calls.iter().filter(is_under_way).collect();
        let is_taken = |slot: u32| {
            let same = |call: &&Call| (call.demand, call.pair) == (offer.demand, offer.pair);
            under_way.iter().copied().filter(|call| same(call)).any(|call| call.fate == Fate::Slot(slot))
        };
        let mut free = (0..pair.slots.len() as u32).filter(|&slot| !is_taken(slot));
        let slot = if flaw == Some(Flaw::HighestSlot) { free.next_back() } else { free.next() };
        let has_room = || {
            let own = bookings(scenario, pair, flaw);
            let of_call =
                |call: &&Call| bookings(scenario, &scenario.demands[call.demand].pairs[call.pair], flaw);
            let all: Vec<_> = under_way.iter().flat_map(of_call).chain(own.iter().copied()).collect();
            own.iter().all(|&(port, ..)| {
                let on_port = || all.iter().filter(|&&(other, ..)| other == port);
                let together = on_port().fold(Needs::default(), |sum, &(.., needs)| sum.plus(needs));
                let fixed: u64 = on_port().map(|&(_, rate, _)| rate).sum();
                let alone = || on_port().map(|(.., needs)| needs.bandwidth(ON_OFF_LOSS)).sum::<u64>();
                let together = match flaw {
                    Some(Flaw::OnOffBookedAlone) => alone(),
                    _ => together.bandwidth(ON_OFF_LOSS),
                };
                fixed + together <= scenario.book.room(port).as_bps()
            })
        };
        let fate = match slot {
            _ if octets > 0 => Fate::Unknown,
            None => Fate::NoSlot,
            Some(_) if !has_room() => Fate::NoRoom,
            Some(slot) => Fate::Slot(slot),
        };
        calls.push(Call {
            arrived: offer.at,
            begins,
            ends,
            demand: offer.demand,
            pair: offer.pair,
            fate,
            octets,
        });
    }
    calls
}

impl Network<'_> {
    /// Plans the beginning of every call, at each end that sends.
    pub(super) fn plan_calls(&mut self) {
        self.calls = calls(self.scenario, self.flaw);
        let mut planned = Vec::new();
        let mut sized = Vec::new();
        for (number, call) in self.calls.iter().enumerate() {
            let demand = &self.scenario.demands[call.demand];
            if call.fate == Fate::Unknown {
                let first = 2 * demand.pairs[call.pair].slots.start as usize;
                sized.push((call.begins, first, number));
            }
            let Fate::Slot(slot) = call.fate else { continue };
            let connection = demand.pairs[call.pair].slots.start + slot;
            for backward in 0..=u32::from(demand.both_ways) {
                planned.push((call.begins, (2 * connection + backward) as usize, call.ends));
            }
        }
        for (begins, first, number) in sized {
            if begins < self.end {
                self.plan(begins, Happening::Flow(first, number));
            }
        }
        for (begins, flow, ends) in planned {
            if begins < self.end {
                self.plan(begins, Happening::Opening(flow, ends));
            }
        }
    }

    pub(super) fn on_opening(&mut self, now: Time, flow: usize, ends: Time) {
        let end = &mut self.ends[flow];
        if let Some(source) = &mut end.source
            && self.flaw != Some(Flaw::SourceGoesOn)
        {
            source.restart(now);
        }
        end.note_acr(now);
        end.supply.calls_mut().expect("it carries calls").begin(now, ends);
        self.plan_transmission(now, flow);
    }

    pub(super) fn on_flow(&mut self, now: Time, number: usize) {
        let call = &self.calls[number];
        let slots = self.scenario.demands[call.demand].pairs[call.pair].slots.clone();
        let is_free = |&slot: &u32| {
            let flow = 2 * slot as usize;
            let flows = self.sized.get(&flow).map_or(&[][..], Vec::as_slice);
            let waits = self.ends[flow].supply.adapter().expect("it has one").waiting() > 0;
            let is_under_way =
                self.flaw == Some(Flaw::SlotsFreeLate) && flows.iter().any(|one| one.over.is_none());
            let until = flows.last().map_or(0, |one| one.until);
            let is_acknowledged = self.flaw == Some(Flaw::FreeBeforeAcknowledged)
                || self.octets_of_flows(flow).is_none_or(|[acknowledged, _]| acknowledged >= until);
            !waits && !is_under_way && is_acknowledged
        };
        // By turns, from the one behind that which had the last flow.
        let own = |flow: &usize| slots.contains(&((*flow / 2) as u32));
        let all = self.sized.iter().filter(|(flow, _)| own(flow));
        let last = all.filter_map(|(&flow, flows)| Some((flows.last()?.call, (flow / 2) as u32))).max();
        let first = last.map_or(slots.start, |(_, slot)| slot + 1);
        let mut free = (first..slots.end).chain(slots.start..first).filter(is_free);
        let slot = if self.flaw == Some(Flaw::HighestSlot) { free.next_back() } else { free.next() };
        let Some(slot) = slot else {
            self.calls[number].fate = Fate::NoSlot;
            return;
        };
        let (octets, flow) = (call.octets, 2 * slot as usize);
        self.calls[number].fate = Fate::Slot(slot - slots.start);
        let model = match &flow_config(self.scenario, flow).traffic {
            Some(Traffic::Transfers(model)) => *model,
            Some(Traffic::Tcp(traffic)) => return self.on_transfer(now, flow, number, traffic),
            _ => panic!("a slot of flows of a size carries them"),
        };
        let (full, rest) = (octets / model.payload.0, octets % model.payload.0);
        let lengths = (0..full).map(|_| model.payload.0).chain((rest > 0).then_some(rest));
        let end = &mut self.ends[flow];
        let adapter = end.supply.adapter_mut().expect("it has one");
        adapter.on_time(now);
        let before = adapter.accepted();
        for length in lengths {
            let span = Span { from: Sequence(0), to: Sequence(length) };
            let contents = Contents::Data(span);
            adapter.offer(Segment { connection: 0, flags: Flags::default(), stamp: 0, contents });
        }
        let datagrams = (before + 1, adapter.accepted());
        let cells = adapter.waiting();
        self.sized.entry(flow).or_default().push(Sized {
            call: number,
            datagrams,
            come: 0,
            complete: None,
            over: None,
            cells,
            until: 0,
        });
        if let Some(source) = &mut end.source
            && self.flaw != Some(Flaw::SourceGoesOn)
        {
            source.restart(now);
        }
        end.note_acr(now);
        self.plan_transmission(now, flow);
    }

    /// A flow of a size begins over TCP.
    fn on_transfer(&mut self, now: Time, flow: usize, number: usize, traffic: &TcpTraffic) {
        let call = &self.calls[number];
        let (demand, arrived, octets) = (call.demand as u32, call.arrived, call.octets);
        let stamps = if traffic.tcp.timestamps { 12 } else { 0 };
        let most = traffic.tcp.mss.0 - stamps;
        let of = |payload| cells_for(traffic.tcp.header + Octets(stamps + payload), traffic.encapsulation).0;
        let rest = if octets.is_multiple_of(most) { 0 } else { of(octets % most) };
        let cells = octets / most * of(most) + rest;
        let flows = self.sized.entry(flow).or_default();
        let until = flows.last().map_or(0, |one| one.until) + octets;
        let (datagrams, come, complete, over) = ((0, 0), 0, None, None);
        flows.push(Sized { call: number, datagrams, come, complete, over, cells, until });
        let end = &mut self.ends[flow];
        if let Some(source) = &mut end.source
            && self.flaw != Some(Flaw::SourceGoesOn)
        {
            source.restart(now);
        }
        end.note_acr(now);
        let tcp = end.tcp.as_mut().expect("it has TCP");
        tcp.stack.begin_flow(SizedFlow {
            demand,
            arrived,
            begins: now,
            octets: Octets(octets),
            alone: Duration::ZERO,
        });
        self.pump(now, flow);
    }

    /// Whether the end `flow` sends TCP.
    pub(super) fn is_over_tcp(&self, flow: usize) -> bool {
        matches!(flow_config(self.scenario, flow).traffic, Some(Traffic::Tcp(_)))
    }

    /// Octets of flows over TCP that the sender knows have come, and those that have; none of datagrams.
    fn octets_of_flows(&self, flow: usize) -> Option<[u64; 2]> {
        let of = |end: usize| self.ends[end].tcp.as_ref().and_then(|tcp| tcp.stack.successive());
        Some([of(flow)?.acknowledged.0, of(flow ^ 1)?.delivered.0])
    }

    /// More of the flows of the end `flow` may have come.
    pub(super) fn on_octets_of_flows(&mut self, now: Time, flow: usize) {
        let Some([_, come]) = self.octets_of_flows(flow) else { return };
        for one in self.sized.get_mut(&flow).expect("it has begun one") {
            if one.complete.is_none() && one.until <= come {
                (one.over, one.complete) = (Some(now), Some(now));
            }
        }
    }

    /// The datagram `pdu` of the end `flow` has come whole.
    pub(super) fn on_datagram(&mut self, now: Time, flow: usize, pdu: u64) {
        let flows = self.sized.get_mut(&flow).expect("it has begun one");
        let is_its = |one: &Sized| (one.datagrams.0..=one.datagrams.1).contains(&pdu);
        let place = flows.iter().position(is_its).expect("every datagram is one of a flow");
        flows[place].come += 1;
        if pdu < flows[place].datagrams.1 {
            return;
        }
        flows[..=place].iter_mut().for_each(|one| _ = one.over.get_or_insert(now));
        let one = &mut flows[place];
        let all = one.come == one.datagrams.1 - one.datagrams.0 + 1;
        if all || self.flaw == Some(Flaw::LastDatagramCompletes) {
            one.complete = Some(now);
        }
    }

    /// Flows or calls of a demand that have begun: from when to when they are under way.
    fn spans(&self, demand: usize) -> Vec<(Time, Time)> {
        let is_its = |call: &&Call| call.demand == demand && call.begins < self.end;
        if self.scenario.demands[demand].is_sized() {
            let of = |one: &Sized| (self.calls[one.call].begins, one.over.unwrap_or(self.end));
            let own = self.sized.values().flatten();
            return own.filter(|one| is_its(&&self.calls[one.call])).map(of).collect();
        }
        let began = self.calls.iter().filter(is_its).filter(|call| matches!(call.fate, Fate::Slot(_)));
        began.map(|call| (call.begins, call.ends)).collect()
    }

    /// How long how many were under way from the start on, in all \[ps\], and the most that were for any time.
    fn presence(&self, demand: usize) -> (u128, u64) {
        let start = self.scenario.measuring.start();
        let spans = self.spans(demand);
        let cut: Vec<(Time, Time)> = spans
            .iter()
            .map(|&(from, to)| (from.max(start), to.min(self.end)))
            .filter(|(from, to)| from < to)
            .collect();
        let at_once = |at: Time| cut.iter().filter(|(from, to)| *from <= at && at < *to).count() as u64;
        let sum = cut.iter().map(|(from, to)| u128::from(to.since(*from).as_ps())).sum();
        (sum, cut.iter().map(|(from, _)| at_once(*from)).max().unwrap_or(0))
    }

    /// How many flows or calls were under way, for each probe of a demand: a sample sees those that began before it
    /// and had not ended before it; of changes the value at the end of each instant counts.
    pub(super) fn series_of_demands(&self) -> BTreeMap<usize, (Vec<u64>, Vec<f64>)> {
        let mut all = BTreeMap::new();
        for (number, probe) in self.scenario.probes.iter().enumerate() {
            let Quantity::Demand { quantity: DemandQuantity::Concurrent, demand } = probe.quantity else {
                continue;
            };
            let spans = self.spans(demand as usize);
            let (mut times_ps, mut values) = (Vec::new(), Vec::new());
            match probe.every {
                Every::Interval(interval) => {
                    let mut at = Time::ZERO;
                    while at < self.end {
                        let count = spans.iter().filter(|(from, to)| *from < at && at <= *to).count();
                        times_ps.push(at.as_ps());
                        values.push(count as f64);
                        at = at.saturating_add(interval);
                    }
                }
                Every::Change => {
                    let mut instants: Vec<Time> = spans.iter().flat_map(|&(from, to)| [from, to]).collect();
                    instants.push(Time::ZERO);
                    instants.sort_unstable();
                    for at in instants.into_iter().filter(|&at| at < self.end) {
                        let count = spans.iter().filter(|(from, to)| *from <= at && at < *to).count() as f64;
                        if values.last() != Some(&count) {
                            times_ps.push(at.as_ps());
                            values.push(count);
                        }
                    }
                }
            }
            all.insert(number, (times_ps, values));
        }
        all
    }

    /// Complete flows of a demand: arrival, end, octets, and the time that each would take alone.
    fn complete(&self, demand: usize) -> Vec<(Time, Time, u64, Duration)> {
        let mut all = Vec::new();
        for (&flow, flows) in &self.sized {
            for one in flows {
                let call = &self.calls[one.call];
                let (Some(end), true) = (one.complete, call.demand == demand) else { continue };
                let from = if self.flaw == Some(Flaw::TimesFromSetUp) { call.begins } else { call.arrived };
                let links = || self.paths[flow].iter().map(|step| &self.scenario.links[step.link.0 as usize]);
                let mut cell = self.scenario.flow(FlowIndex(flow as u32)).sender.pcr().interval();
                let mut alone = call.begins.since(call.arrived);
                for link in links() {
                    alone = alone + link.delay + link.rate.cell_time();
                    cell = cell.max(link.rate.cell_time());
                }
                all.push((from, end, call.octets, alone + cell * (one.cells - 1)));
            }
        }
        all
    }

    /// A row for each class of sizes in which flows are complete.
    pub(super) fn completion_rows(&self) -> Vec<CompletionSummary> {
        let start = self.scenario.measuring.start();
        let mut rows = Vec::new();
        for (number, demand) in self.scenario.demands.iter().enumerate() {
            let complete = self.complete(number);
            let classes = [
                (0, None),
                (0, Some(10_000)),
                (10_000, Some(100_000)),
                (100_000, Some(1_000_000)),
                (1_000_000, Some(10_000_000)),
                (10_000_000, None),
            ];
            for (from_octets, below_octets) in classes {
                let is_of_class =
                    |octets: u64| octets >= from_octets && below_octets.is_none_or(|below| octets < below);
                let own = || {
                    complete
                        .iter()
                        .filter(|(arrived, _, octets, _)| *arrived >= start && is_of_class(*octets))
                };
                let mut times: Vec<u64> = own().map(|(from, end, ..)| end.since(*from).as_ps()).collect();
                let mut slow: Vec<f64> = own()
                    .map(|(from, end, _, alone)| end.since(*from).as_ps() as f64 / alone.as_ps() as f64)
                    .collect();
                let arrived = || {
                    let began = |call: &&Call| call.begins < self.end && call.arrived >= start;
                    let own = self.calls.iter().filter(|call| call.demand == number).filter(began);
                    own.filter(|call| call.octets > 0 && is_of_class(call.octets))
                };
                let offered = arrived().count() as u64;
                if offered == 0 {
                    continue;
                }
                let count = times.len();
                let blocked = arrived().filter(|call| call.fate == Fate::NoSlot).count() as u64;
                times.sort_unstable();
                slow.sort_unstable_by(f64::total_cmp);
                let any = count > 0;
                let place = |share: f64| (share * count as f64).ceil().max(1.0) as usize - 1;
                let time = |share: f64| any.then(|| times[place(share)] as f64 / 1e12);
                let slow_down = |share: f64| any.then(|| slow[place(share)]);
                let mean = |sum: f64| any.then(|| sum / count as f64);
                rows.push(CompletionSummary {
                    flows: demand.name.clone(),
                    from_octets,
                    below_octets,
                    offered,
                    blocked,
                    count: count as u64,
                    unfinished: offered - blocked - count as u64,
                    mean_octets: mean(own().map(|(_, _, octets, _)| *octets).sum::<u64>() as f64),
                    mean_time_s: mean(times.iter().sum::<u64>() as f64 / 1e12),
                    p50_time_s: time(0.5),
                    p95_time_s: time(0.95),
                    p99_time_s: time(0.99),
                    max_time_s: time(1.0),
                    mean_slowdown: mean(slow.iter().sum::<f64>()),
                    p50_slowdown: slow_down(0.5),
                    p99_slowdown: slow_down(0.99),
                    times: times
                        .iter()
                        .zip(1..)
                        .map(|(&ps, number)| (Duration::from_ps(ps), number))
                        .collect(),
                });
            }
        }
        rows
    }

    /// A row for each demand.
    pub(super) fn demand_rows(&self) -> Vec<DemandSummary> {
        let start = self.scenario.measuring.start();
        let row = |(number, demand): (usize, &cellrate_scenario::Demand)| {
            let all = || self.calls.iter().filter(|call| call.demand == number && call.begins < self.end);
            let counted = |wanted: &dyn Fn(Fate) -> bool| {
                all().filter(|call| call.arrived >= start && wanted(call.fate)).count() as u64
            };
            let (no_room, no_slot) =
                (counted(&|fate| fate == Fate::NoRoom), counted(&|fate| fate == Fate::NoSlot));
            let began = |fate: Fate| matches!(fate, Fate::Slot(_));
            let (offered, begun) = (counted(&|_| true), counted(&began));
            let holding: u128 = all()
                .filter(|call| began(call.fate) && call.arrived >= start)
                .map(|call| u128::from(call.ends.since(call.begins).as_ps()))
                .sum();
            let set_ups: Vec<u64> = all()
                .filter(|call| began(call.fate) && call.arrived >= start)
                .map(|call| call.begins.since(call.arrived).as_ps())
                .collect();
            let sized = demand.is_sized();
            let complete = self.complete(number);
            let (under_way, max_concurrent) = self.presence(number);
            DemandSummary {
                flows: demand.name.clone(),
                offered,
                begun,
                no_room,
                no_slot,
                blocking: (offered > 0).then(|| (no_room + no_slot) as f64 / offered as f64),
                completed: sized
                    .then(|| complete.iter().filter(|(arrived, ..)| *arrived >= start).count() as u64),
                mean_set_up_s: (begun > 0).then(|| set_ups.iter().sum::<u64>() as f64 / begun as f64 * 1e-12),
                max_set_up_s: set_ups.iter().max().map(|&most| Duration::from_ps(most).as_secs_f64()),
                mean_holding_s: (begun > 0 && !sized).then(|| holding as f64 / begun as f64 * 1e-12),
                mean_concurrent: under_way as f64 / self.end.since(start).as_ps() as f64,
                max_concurrent,
            }
        };
        self.scenario.demands.iter().enumerate().map(row).collect()
    }
}
