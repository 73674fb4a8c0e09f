//! Calls over one connection, one after the other.

use cellrate_proto::Time;
use cellrate_scenario::Traffic;

use super::Supply;
use cellrate_engine::random::{Owner, Random, Stream};
use cellrate_engine::supply::CommonSupply;

/// Cells of the calls over a connection, each while it lasts.
#[derive(Debug)]
pub struct Calls {
    model: Traffic,
    owner: Owner,
    random: Random,
    present: Supply,
}

impl Calls {
    /// Before the first call of `model`, of the direction `owner`; its randomness is drawn under `seed`.
    pub fn new(model: &Traffic, seed: u64, owner: Owner) -> Calls {
        let random = Random::new(seed, Stream::Traffic(owner));
        Calls { model: model.clone(), owner, random, present: Supply::Common(CommonSupply::Nothing) }
    }

    /// A call begins at `now`, and ends at `end`. What the one before it has not sent is dropped.
    pub fn begin(&mut self, now: Time, end: Time) {
        let random = || Random::new(self.random.bits(), Stream::Traffic(self.owner));
        let call = self.model.kind().for_call(now, end);
        let cells = call.and_then(|call| call.generator(random));
        self.present = Supply::Common(cells.map_or(CommonSupply::Nothing, CommonSupply::Generated));
    }

    /// The traffic of the call that is under way, or was.
    pub fn present(&self) -> &Supply {
        &self.present
    }

    /// The traffic of that call, to send it.
    pub fn present_mut(&mut self) -> &mut Supply {
        &mut self.present
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_engine::supply::CellSupply;
    use cellrate_proto::{CellRate, Duration};
    use cellrate_scenario::Period;
    use cellrate_scenario::traffic::{Constant, OnOff};

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn instants(calls: &mut Calls, from: u64, count: usize) -> Vec<Time> {
        let mut now = at(from);
        let mut next = || {
            now = calls.present().available_from(now);
            if now != Time::NEVER {
                calls.present_mut().take(now);
            }
            now
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn each_call_sends_from_its_beginning_until_before_its_end() {
        let model =
            Traffic::Constant(Constant { rate: CellRate::new(1e5), start: Time::ZERO, end: Time::NEVER });
        let mut calls = Calls::new(&model, 1, Owner::named("v"));
        assert_eq!(calls.present().available_from(at(0)), Time::NEVER);
        calls.begin(at(7), at(28));
        assert_eq!(instants(&mut calls, 7, 4), [at(7), at(17), at(27), Time::NEVER]);
        calls.begin(at(40), at(41));
        assert_eq!(instants(&mut calls, 40, 2), [at(40), Time::NEVER]);
    }

    #[test]
    fn calls_that_are_on_and_off_differ() {
        let period = Period::Exponential(Duration::from_us(100));
        let model = Traffic::OnOff(OnOff {
            rate: CellRate::new(1e5),
            on: period,
            off: period,
            start: Time::ZERO,
            end: Time::NEVER,
        });
        let mut calls = Calls::new(&model, 1, Owner::named("v"));
        calls.begin(at(0), at(100_000));
        let one = instants(&mut calls, 0, 200);
        calls.begin(at(0), at(100_000));
        assert_ne!(instants(&mut calls, 0, 200), one);
    }
}
