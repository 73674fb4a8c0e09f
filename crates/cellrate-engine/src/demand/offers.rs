//! Everything that demands ask of a network, in order of time.

use std::sync::Arc;

use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Amount, Demand, Scenario};

use super::arriving::Arriving;
use super::law;
use crate::random::{Owner, Random, Stream};

/// Largest flow \[octets\]: what a distribution without end gives beyond it is cut.
const MOST_OCTETS: u64 = 1_000_000_000_000;

/// A flow or a call that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// When.
    pub at: Time,
    /// Its demand: an index into [`Scenario::demands`].
    pub demand: usize,
    /// An index into the demand's pairs.
    pub pair: usize,
    /// Its holding time.
    pub amount: Asked,
}

/// How much a flow or a call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A call lasts so long from its first data on.
    Holding(Duration),
    /// A flow has so many octets to send.
    Octets(u64),
}

/// Flows and calls of all demands, those that arrive at the same instant in the order of the demands.
#[derive(Clone, Debug)]
pub struct Offers {
    demands: Arc<[Demand]>,
    sources: Vec<Source>,
}

#[derive(Clone, Debug)]
struct Source {
    arriving: Arriving,
    /// The next arrival; [`Time::NEVER`] when there is none.
    next: Time,
    /// None comes at or after this.
    end: Time,
    /// Sums of the weights of the pairs up to each.
    weights: Vec<f64>,
    pairs: Random,
    amounts: Random,
}

impl Offers {
    /// All that arrives before the end of the run.
    pub fn new(scenario: &Scenario) -> Offers {
        let run_end = Time::ZERO + scenario.duration;
        let source = |demand: &Demand| {
            let random = |part| Random::new(scenario.seed, Stream::Demand(Owner::named(&demand.name), part));
            let mut sum = 0.0;
            let weights = demand.pairs.iter().map(|pair| {
                sum += pair.weight;
                sum
            });
            let mut source = Source {
                arriving: Arriving::new(&demand.arrivals, demand.start, random(0)),
                next: Time::ZERO,
                end: demand.end.min(run_end),
                weights: weights.collect(),
                pairs: random(1),
                amounts: random(2),
            };
            source.advance();
            source
        };
        let sources = scenario.demands.iter().map(source).collect();
        Offers { demands: Arc::clone(&scenario.demands), sources }
    }
}

impl Iterator for Offers {
    type Item = Offer;

    fn next(&mut self) -> Option<Offer> {
        let (demand, source) = self.sources.iter_mut().enumerate().min_by_key(|(_, source)| source.next)?;
        if source.next == Time::NEVER {
            return None;
        }
        let (at, traced) = (source.next, source.arriving.traced());
        let pair = traced.map_or_else(|| source.draw_pair(), |flow| flow.pair as usize);
        let amount = match &self.demands[demand].amount {
            // A call of no length at all would have neither data nor an end after its beginning.
            Amount::Holding(law) => {
                let holding = Duration::from_secs_f64(law::draw(law, &mut source.amounts));
                Asked::Holding(holding.max(Duration::from_ps(1)))
            }
            Amount::Octets(law) => {
                let octets = law::draw(law, &mut source.amounts).ceil() as u64;
                Asked::Octets(octets.clamp(1, MOST_OCTETS))
            }
            Amount::Traced => Asked::Octets(traced?.octets.0),
        };
        source.advance();
        Some(Offer { at, demand, pair, amount })
    }
}

impl Source {
    fn advance(&mut self) {
        let next = self.arriving.next();
        self.next = if next < self.end { next } else { Time::NEVER };
    }

    fn draw_pair(&mut self) -> usize {
        let last = self.weights.len() - 1;
        if last == 0 {
            return 0;
        }
        let drawn = self.pairs.uniform() * self.weights[last];
        self.weights.partition_point(|&sum| sum <= drawn).min(last)
    }
}
