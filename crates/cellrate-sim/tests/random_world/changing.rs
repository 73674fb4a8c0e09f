//! Links that change in any network.

use super::*;

/// `scenario`, some of whose links change in time.
pub fn changing(mut scenario: Scenario, number: u64) -> Scenario {
    let dice = Random::new(number, Stream::Traffic(Owner::named("dice of changes")));
    let mut generator = Generator { dice, style: Style::Mixed };
    let end = scenario.duration;
    for link in &mut scenario.links {
        if generator.one_in(3) {
            continue;
        }
        let mut instants: Vec<Time> = (0..=generator.below(9)).map(|_| generator.instant(end)).collect();
        instants.retain(|&at| at > Time::ZERO);
        instants.sort_unstable();
        instants.dedup();
        let (loses, stops) = (generator.one_in(4), generator.one_in(4));
        let mut step = LinkStep {
            at: Time::ZERO,
            rate: link.rate,
            delay: link.delay,
            cell_loss: link.cell_loss,
            in_flight: InFlight::Kept,
        };
        let (rate, delay) = (link.rate, link.delay);
        let cell_time = rate.cell_time();
        let mut next = |at: Time| {
            let kinds = [InFlight::Kept, InFlight::Kept, InFlight::Lost];
            step = LinkStep { at, in_flight: generator.pick(&kinds), ..step };
            if generator.one_in(2) {
                // Twice and half as fast keep cells in step with one another.
                let times = generator.pick(&[(1, 2), (2, 1), (1, 1), (1, 3), (5, 3), (17, 4)]);
                step.rate = BitRate::from_bps((rate.as_bps() * times.0 / times.1).max(1));
            }
            if stops && generator.one_in(3) {
                step.rate = BitRate::default();
            }
            if generator.one_in(2) {
                let others = [Duration::ZERO, delay, delay * 2, cell_time, cell_time * 5, cell_time * 40];
                step.delay = generator.pick(&others);
            }
            if loses && generator.one_in(2) {
                step.cell_loss = generator.pick(&[0.0, 0.01, 0.3]);
            }
            step
        };
        link.changes = instants.into_iter().map(&mut next).collect();
    }
    scenario
}
