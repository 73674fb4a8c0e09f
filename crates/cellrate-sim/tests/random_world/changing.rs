//! Links that change in any network.

use super::*;

/// `scenario`, some of whose links change in time.
pub fn changing(mut scenario: Scenario, number: u64) -> Scenario {
    let dice = Random::new(number, Stream::Traffic(Owner::named("dice of changes")));
    let mut generator = Generator { dice, style: Style::Mixed };
    let mut short = Random::new(number, Stream::Traffic(Owner::named("dice of short steps")));
    let end = scenario.duration;
    for link in &mut scenario.links {
        if generator.one_in(3) {
            continue;
        }
        let mut instants: Vec<Time> = (0..=generator.below(9)).map(|_| generator.instant(end)).collect();
        if short.uniform() < 0.3 {
            // Several changes amid a cell, or one amid each.
            let step = link.rate.cell_time().as_ps() / [3, 7, 1][(short.uniform() * 3.0) as usize] + 1;
            let trains = instants.clone();
            let steps = |from: Time| (1..=20).map(move |number| from + Duration::from_ps(step * number));
            instants.extend(trains.into_iter().flat_map(steps).filter(|&at| at < Time::ZERO + end));
        }
        instants.retain(|&at| at > Time::ZERO);
        instants.sort_unstable();
        instants.dedup();
        let (loses, stops) = (generator.one_in(4), generator.one_in(4));
        let mut step = LinkStep { at: Time::ZERO, lines: [link.first_state(); 2] };
        let (rate, delay) = (link.rate, link.delay);
        let cell_time = rate.cell_time();
        let mut next = |at: Time| {
            let kinds = [InFlight::Kept, InFlight::Kept, InFlight::Lost];
            step.at = at;
            // Both ways alike, or one way alone.
            let from = generator.pick(&[None, None, Some(0), Some(1)]);
            let mut line = step.lines[from.unwrap_or(0)];
            line.in_flight = generator.pick(&kinds);
            if generator.one_in(2) {
                // Twice and half as fast keep cells in step with one another.
                let times = generator.pick(&[(1, 2), (2, 1), (1, 1), (1, 3), (5, 3), (17, 4)]);
                line.rate = BitRate::from_bps((rate.as_bps() * times.0 / times.1).max(1));
            }
            if stops && generator.one_in(3) {
                line.rate = BitRate::default();
            }
            if generator.one_in(2) {
                let others = [Duration::ZERO, delay, delay * 2, cell_time, cell_time * 5, cell_time * 40];
                line.delay = generator.pick(&others);
            }
            if loses && generator.one_in(2) {
                line.cell_loss = generator.pick(&[0.0, 0.01, 0.3]);
            }
            step.lines = match from {
                None => [line; 2],
                Some(0) => [line, LineState { in_flight: InFlight::Kept, ..step.lines[1] }],
                Some(_) => [LineState { in_flight: InFlight::Kept, ..step.lines[0] }, line],
            };
            step
        };
        link.changes = instants.into_iter().map(&mut next).collect();
        if generator.one_in(4) {
            let [begin, end, loss] = [[0.01, 0.1], [0.1, 0.5], [0.5, 1.0]].map(|of| generator.pick(&of));
            link.line.loss_bursts = Some(LossBursts { begin, end, loss });
        }
    }
    scenario
}
