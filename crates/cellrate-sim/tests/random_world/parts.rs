//! Parts of a run that are measured by themselves: a warm-up, and windows that overlap, touch, or are very short.

use cellrate_proto::{Duration, Time};
use cellrate_scenario::{Measuring, Scenario, Span, Window};
use cellrate_sim::random::{Owner, Random, Stream};

/// `scenario` with a warm-up, windows, or both.
pub fn in_parts(mut scenario: Scenario, number: u64) -> Scenario {
    let mut random = Random::new(number, Stream::Traffic(Owner::named("parts")));
    let end = scenario.duration.as_ps();
    let cell_time = scenario.links.first().map_or(1, |link| link.rate.cell_time().as_ps());
    // Often at a multiple of a cell time, where a cell may leave, and of what series are sampled at.
    let mut instant = |low: u64| {
        let at = low + (random.uniform() * (end - low) as f64) as u64;
        let unit = [1, cell_time, 1_000_000, 1_000_000_000][(random.uniform() * 4.0) as usize];
        (at / unit * unit).max(low)
    };
    let warm_up = if number.is_multiple_of(3) { 0 } else { instant(0).min(end - 1) };
    let mut windows = Vec::new();
    for place in 0..number % 4 {
        let start = instant(0).min(end - 1);
        let until = if place == 2 { start + 1 } else { instant(start + 1) };
        let span = Span { start: Time::from_ps(start), end: Time::from_ps(until) };
        windows.push(Window { name: place.to_string(), span });
    }
    scenario.measuring = Measuring { warm_up: Duration::from_ps(warm_up), windows };
    scenario
}
