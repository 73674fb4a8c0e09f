//! Which flows and calls begin on which connections, and when.
//!
//! The schedule goes through the offers in order of time, admits calls or refuses them, gives each a slot of its pair,
//! and keeps what comes of it in a queue for each pair, until the end of the pair asks for it. It looks no further
//! ahead than it is asked, and no further than so many offers at a time: what it holds are calls that are under way
//! and offers that no pair has come to yet, never all that ever were.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use cellrate_proto::Time;
use cellrate_proto::admission::{Book, Grant};
use cellrate_scenario::{Booking, Demand, Scenario};

use super::offers::{Asked, Offer, Offers};

/// Offers gone through at once, before a pair that had none of them is told to come again.
const LOOK_AHEAD: usize = 1024;

/// A flow or a call begins at the end of its pair, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opening {
    /// When it arrived.
    pub arrived: Time,
    /// When its set-up is over: its first data.
    pub at: Time,
    /// Its holding time.
    pub amount: Asked,
    /// The outcome of its set-up.
    pub outcome: Outcome,
}

/// The outcome of the set-up of a flow or a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has the slot of this number among those of its pair, from 0 on.
    Begins(u32),
    /// A flow of a size has a slot that is free when it begins; if there is none, it is blocked.
    Asks,
    /// A link has no room for it.
    NoRoom,
    /// All slots of its pair are taken.
    NoSlot,
}

/// An answer to whoever asks what begins next between a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This, and the schedule forgets it.
    Next(Opening),
    /// Nothing before this instant: ask again then.
    NothingBefore(Time),
    /// Nothing ever.
    Nothing,
}

/// All demands of a scenario at work.
#[derive(Debug)]
pub struct DemandSchedule {
    demands: Arc<[Demand]>,
    offers: Offers,
    /// Offers up to this instant have been gone through.
    known: Time,
    all_known: bool,
    book: Book,
    /// By demand and pair.
    pairs: Vec<Vec<PairState>>,
    /// Calls under way: end, demand, pair, slot.
    ends: BinaryHeap<Reverse<(Time, usize, usize, u32)>>,
}

#[derive(Debug, Default)]
struct PairState {
    /// Openings that have not been asked for yet, for each end that sends: that at the first host, then that at the
    /// last.
    queues: Vec<VecDeque<Opening>>,
    /// Slots that are free, the lowest first.
    free: BinaryHeap<Reverse<u32>>,
    /// Grants that are given back when a call ends, by booking of the pair.
    granted: Vec<Option<Grant>>,
}

impl DemandSchedule {
    /// The schedule of `scenario`.
    pub fn new(scenario: &Scenario) -> DemandSchedule {
        let pairs = |demand: &Demand| {
            let pair = |pair: &cellrate_scenario::Pair| PairState {
                queues: vec![VecDeque::new(); if demand.both_ways { 2 } else { 1 }],
                free: (0..pair.slots.len() as u32).map(Reverse).collect(),
                granted: vec![None; pair.bookings.len()],
            };
            demand.pairs.iter().map(pair).collect()
        };
        DemandSchedule {
            demands: Arc::clone(&scenario.demands),
            offers: Offers::new(scenario),
            known: Time::ZERO,
            all_known: false,
            book: scenario.book.clone(),
            pairs: scenario.demands.iter().map(pairs).collect(),
            ends: BinaryHeap::new(),
        }
    }

    /// The next opening between a pair of a demand, at the end of the first host or, `backward`, of the last, where it
    /// is `now`.
    pub fn next(&mut self, demand: usize, pair: usize, backward: bool, now: Time) -> Answer {
        let set_up = self.demands[demand].pairs[pair].set_up;
        loop {
            if let Some(opening) = self.pairs[demand][pair].queues[usize::from(backward)].pop_front() {
                return Answer::Next(opening);
            }
            if self.all_known {
                return Answer::Nothing;
            }
            self.look_ahead(demand, pair);
            let nothing_before = self.known.saturating_add(set_up);
            if self.pairs[demand][pair].queues[usize::from(backward)].is_empty()
                && !self.all_known
                && nothing_before > now
            {
                return Answer::NothingBefore(nothing_before);
            }
        }
    }

    /// Goes through some offers, up to the first one between this pair.
    fn look_ahead(&mut self, demand: usize, pair: usize) {
        for _ in 0..LOOK_AHEAD {
            let Some(offer) = self.offers.next() else {
                self.all_known = true;
                return;
            };
            self.known = offer.at;
            self.set_up_offer(offer);
            if (offer.demand, offer.pair) == (demand, pair) {
                return;
            }
        }
    }

    fn set_up_offer(&mut self, offer: Offer) {
        let Offer { at: arrived, demand, pair, amount } = offer;
        self.end_until(arrived);
        let model = &self.demands[demand].pairs[pair];
        let at = arrived.saturating_add(model.set_up);
        let outcome = match amount {
            Asked::Holding(holding) => {
                let outcome = self.set_up(demand, pair);
                if let Outcome::Begins(slot) = outcome {
                    self.ends.push(Reverse((at.saturating_add(holding), demand, pair, slot)));
                }
                outcome
            }
            // How long it takes only the network knows.
            Asked::Octets(_) => Outcome::Asks,
        };
        let opening = Opening { arrived, at, amount, outcome };
        self.pairs[demand][pair].queues.iter_mut().for_each(|queue| queue.push_back(opening));
    }

    /// Calls that are over by `now` give back what they have.
    fn end_until(&mut self, now: Time) {
        while let Some(&Reverse((end, demand, pair, slot))) = self.ends.peek()
            && end <= now
        {
            self.ends.pop();
            let state = &mut self.pairs[demand][pair];
            state.free.push(Reverse(slot));
            give_back(&mut self.book, &self.demands[demand].pairs[pair].bookings, &state.granted);
        }
    }

    /// Books what a call between a pair needs in every direction, or nothing.
    fn set_up(&mut self, demand: usize, pair: usize) -> Outcome {
        let state = &mut self.pairs[demand][pair];
        let Some(&Reverse(slot)) = state.free.peek() else { return Outcome::NoSlot };
        let bookings = &self.demands[demand].pairs[pair].bookings;
        for (place, Booking { ports, request }) in bookings.iter().enumerate() {
            match self.book.admit(ports, *request) {
                Ok(grant) => state.granted[place] = Some(grant),
                Err(_) => {
                    give_back(&mut self.book, &bookings[..place], &state.granted);
                    return Outcome::NoRoom;
                }
            }
        }
        state.free.pop();
        Outcome::Begins(slot)
    }
}

/// Gives back what these bookings were granted.
fn give_back(book: &mut Book, bookings: &[Booking], granted: &[Option<Grant>]) {
    for (Booking { ports, request }, grant) in bookings.iter().zip(granted) {
        if let Some(grant) = *grant {
            book.release(ports, *request, grant);
        }
    }
}
