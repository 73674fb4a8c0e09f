//! Instants at which flows or calls arrive.

use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Arrivals, Law, Traced};

use super::law;
use crate::random::Random;

/// Arrivals, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Arriving {
    model: Arrivals,
    random: Random,
    now: Time,
    /// Instants of a list that have been given.
    given: usize,
    /// The state of an MMPP, and when it ends.
    state: (usize, Time),
}

impl Arriving {
    /// Arrivals from `start` on.
    pub fn new(model: &Arrivals, start: Time, mut random: Random) -> Arriving {
        let state = match model {
            Arrivals::Mmpp { stays, .. } => {
                // The state at the start is drawn with the share of time that each has.
                let [first, second] = stays.map(Duration::as_secs_f64);
                let state = usize::from(random.uniform() * (first + second) >= first);
                (state, start.saturating_add(random.exponential(stays[state])))
            }
            _ => (0, Time::NEVER),
        };
        Arriving { model: model.clone(), random, now: start, given: 0, state }
    }

    /// The next arrival; [`Time::NEVER`] after the last.
    pub fn next(&mut self) -> Time {
        match &self.model {
            Arrivals::Poisson { gap } => self.now = self.now.saturating_add(self.random.exponential(*gap)),
            &Arrivals::Mmpp { gaps, stays } => loop {
                // Exponential gaps have no memory: what is left of one begins anew with the state.
                let (state, until) = self.state;
                let next = self.now.saturating_add(self.random.exponential(gaps[state]));
                if next < until || until == Time::NEVER {
                    self.now = next;
                    break;
                }
                self.now = until;
                let other = 1 - state;
                self.state = (other, until.saturating_add(self.random.exponential(stays[other])));
            },
            &Arrivals::Pareto { gap, alpha } => {
                let least = gap.as_secs_f64() * (alpha - 1.0) / alpha;
                let law = Law::Pareto { least, alpha, most: f64::INFINITY };
                let gap = Duration::from_secs_f64(law::draw(&law, &mut self.random));
                self.now = self.now.saturating_add(gap);
            }
            Arrivals::At(instants) => {
                let from = &instants[self.given..];
                let skipped = from.partition_point(|at| *at < self.now);
                self.given += skipped + 1;
                return from.get(skipped).copied().unwrap_or(Time::NEVER);
            }
            Arrivals::Traced(flows) => {
                let from = &flows[self.given..];
                let skipped = from.partition_point(|flow| flow.at < self.now);
                self.given += skipped + 1;
                return from.get(skipped).map_or(Time::NEVER, |flow| flow.at);
            }
        }
        self.now
    }
}

impl Arriving {
    /// The flow of a trace that was given last.
    pub fn traced(&self) -> Option<Traced> {
        let Arrivals::Traced(flows) = &self.model else { return None };
        flows.get(self.given.checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Owner, Stream};
    use cellrate_proto::Octets;

    fn arriving(model: Arrivals) -> Arriving {
        Arriving::new(&model, Time::ZERO, Random::new(1, Stream::Traffic(Owner::named("arrivals"))))
    }

    /// The mean of so many gaps, and their squared coefficient of variation.
    fn gaps(model: Arrivals, count: u32) -> (f64, f64) {
        let mut arriving = arriving(model);
        let (mut last, mut sum, mut squares) = (Time::ZERO, 0.0, 0.0);
        for _ in 0..count {
            let next = arriving.next();
            let gap = next.since(last).as_secs_f64();
            (last, sum, squares) = (next, sum + gap, squares + gap * gap);
        }
        let mean = sum / f64::from(count);
        (mean, squares / f64::from(count) / mean / mean - 1.0)
    }

    #[test]
    fn poisson_gaps_have_their_mean_and_vary_as_much() {
        let (mean, variation) = gaps(Arrivals::Poisson { gap: Duration::from_ms(10) }, 100_000);
        assert!((mean / 0.01 - 1.0).abs() < 0.015 && (variation - 1.0).abs() < 0.03, "{mean} {variation}");
    }

    #[test]
    fn pareto_gaps_have_their_mean() {
        let (mean, _) = gaps(Arrivals::Pareto { gap: Duration::from_ms(10), alpha: 2.5 }, 100_000);
        assert!((mean / 0.01 - 1.0).abs() < 0.02, "{mean}");
    }

    #[test]
    fn an_mmpp_has_the_mean_rate_of_its_states_and_varies_more_than_poisson() {
        // l1 = 1000/s, l2 = 100/s; r1 = 10/s, r2 = 5/s: (l1 r2 + l2 r1)/(r1 + r2) = 400/s.
        let model = Arrivals::Mmpp {
            gaps: [Duration::from_ms(1), Duration::from_ms(10)],
            stays: [Duration::from_ms(100), Duration::from_ms(200)],
        };
        let (mean, variation) = gaps(model, 200_000);
        assert!((mean * 400.0 - 1.0).abs() < 0.04 && variation > 1.5, "{mean} {variation}");
    }

    #[test]
    fn a_list_gives_its_instants_from_the_start_on() {
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let model = Arrivals::At([1, 2, 2, 5].map(at).into());
        let mut all = arriving(model.clone());
        assert_eq!([(); 5].map(|()| all.next()), [at(1), at(2), at(2), at(5), Time::NEVER]);
        let random = Random::new(1, Stream::Traffic(Owner::named("arrivals")));
        let mut later = Arriving::new(&model, at(2), random);
        assert_eq!([(); 4].map(|()| later.next()), [at(2), at(2), at(5), Time::NEVER]);
    }

    #[test]
    fn a_trace_gives_its_flows_from_the_start_on() {
        let flow = |ms, pair| Traced {
            at: Time::ZERO + Duration::from_ms(ms),
            pair,
            octets: Octets(100 * ms + u64::from(pair)),
        };
        let flows = [flow(1, 0), flow(2, 1), flow(2, 0), flow(5, 1)];
        let model = Arrivals::Traced(flows.into());
        let random = Random::new(1, Stream::Traffic(Owner::named("arrivals")));
        let mut arriving = Arriving::new(&model, Time::ZERO + Duration::from_ms(2), random);
        for flow in &flows[1..] {
            assert_eq!((arriving.next(), arriving.traced()), (flow.at, Some(*flow)));
        }
        assert_eq!((arriving.next(), arriving.traced()), (Time::NEVER, None));
    }
}
