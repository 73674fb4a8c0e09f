//! Flows and calls that come and go, as the judge has them: it goes through the list of all that are offered once, by
//! the rules, and has what begins as events.

use cellrate_engine::demand::{Asked, Offers};
use cellrate_proto::admission::Request;
use cellrate_scenario::{Booking, Pair};
use cellrate_sim::DemandSummary;

use super::*;

/// Flaws that take calls to tell.
pub const CALL_FLAWS: [Flaw; 6] = [
    Flaw::CallsEndLate,
    Flaw::SetUpTakesNoTime,
    Flaw::HoldingFromArrival,
    Flaw::SourceGoesOn,
    Flaw::HighestSlot,
    Flaw::OneWayBooked,
];

/// A call that was offered.
pub(super) struct Call {
    arrived: Time,
    begins: Time,
    ends: Time,
    demand: usize,
    pair: usize,
    fate: Fate,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Slot(u32),
    NoRoom,
    NoSlot,
}

/// The rate that a request books.
fn rate(request: &Request) -> u64 {
    match request {
        Request::Cbr { pcr } => pcr.to_bit_rate().as_bps(),
        Request::Vbr { scr } => scr.to_bit_rate().as_bps(),
        Request::Abr { mcr, .. } | Request::Minimum { mcr } => mcr.to_bit_rate().as_bps(),
        Request::Ubr => 0,
    }
}

/// Bookings of a call on each port, once for each time that its bookings name it.
fn bookings(pair: &Pair, flaw: Option<Flaw>) -> Vec<(usize, u64)> {
    let counted = if flaw == Some(Flaw::OneWayBooked) { 1 } else { pair.bookings.len() };
    let of = |Booking { ports, request }: &Booking| {
        let booked = rate(request);
        ports.iter().map(move |&port| (port, booked)).collect::<Vec<_>>()
    };
    pair.bookings.iter().take(counted).flat_map(of).collect()
}

/// All calls of a run.
pub(super) fn calls(scenario: &Scenario, flaw: Option<Flaw>) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for offer in Offers::new(scenario) {
        let pair = &scenario.demands[offer.demand].pairs[offer.pair];
        let Asked::Holding(holding) = offer.amount;
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
            let own = bookings(pair, flaw);
            own.iter().all(|&(port, _)| {
                let on_port = |list: &[(usize, u64)]| {
                    list.iter().filter(|&&(other, _)| other == port).map(|&(_, rate)| rate).sum::<u64>()
                };
                let booked = under_way
                    .iter()
                    .map(|call| on_port(&bookings(&scenario.demands[call.demand].pairs[call.pair], flaw)));
                booked.sum::<u64>() + on_port(&own) <= scenario.book.room(port).as_bps()
            })
        };
        let fate = match slot {
            None => Fate::NoSlot,
            Some(_) if !has_room() => Fate::NoRoom,
            Some(slot) => Fate::Slot(slot),
        };
        calls.push(Call { arrived: offer.at, begins, ends, demand: offer.demand, pair: offer.pair, fate });
    }
    calls
}

impl Network<'_> {
    /// Plans the beginning of every call, at each end that sends.
    pub(super) fn plan_calls(&mut self) {
        self.calls = calls(self.scenario, self.flaw);
        let mut planned = Vec::new();
        for call in &self.calls {
            let demand = &self.scenario.demands[call.demand];
            let Fate::Slot(slot) = call.fate else { continue };
            let connection = demand.pairs[call.pair].slots.start + slot;
            for backward in 0..=u32::from(demand.both_ways) {
                planned.push((call.begins, (2 * connection + backward) as usize, call.ends));
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
            source.restart();
        }
        end.note_acr(now);
        end.supply.calls_mut().expect("it carries calls").begin(now, ends);
        self.plan_transmission(now, flow);
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
            let under_way: u128 = all()
                .filter(|call| began(call.fate))
                .map(|call| call.ends.min(self.end).since(call.begins.max(start)).as_ps())
                .map(u128::from)
                .sum();
            let holding: u128 = all()
                .filter(|call| began(call.fate) && call.arrived >= start)
                .map(|call| u128::from(call.ends.since(call.begins).as_ps()))
                .sum();
            DemandSummary {
                flows: demand.name.clone(),
                offered,
                begun,
                no_room,
                no_slot,
                blocking: (offered > 0).then(|| (no_room + no_slot) as f64 / offered as f64),
                mean_holding_s: (begun > 0).then(|| holding as f64 / begun as f64 * 1e-12),
                mean_concurrent: under_way as f64 / self.end.since(start).as_ps() as f64,
            }
        };
        self.scenario.demands.iter().enumerate().map(row).collect()
    }
}
