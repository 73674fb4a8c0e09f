//! The cost of a switch algorithm to the processor that runs it: per RM cell, and per averaging interval.
//!
//! The port of [`measure`] sees a full line of [`CONNECTIONS`] connections, each with an FRM in every [`NRM`] cells
//! whose claim differs from the one before, and answers as many BRMs. The cells between them are counted and not timed:
//! what they cost is the port's meter, the same for all algorithms.

use cellrate_proto::rate_code::RateCode;
use cellrate_proto::switch::{Feedback, PortControl, Slot, VcAtPort};
use cellrate_proto::{CellRate, Cells, Duration, Time};

/// Connections through the port.
pub const CONNECTIONS: u32 = 32;

/// Cells of a connection per FRM.
pub const NRM: u32 = 32;

/// Rounds, of a BRM and an FRM of each connection, that are timed at most.
const MOST_ROUNDS: usize = 1000;

/// The least number of rounds, however long they take.
const LEAST_ROUNDS: usize = 20;

/// The time that calls of an algorithm take: medians, without what reading the clock takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// An RM cell, forward and backward ones alike \[ns\].
    pub rm_cell: f64,
    /// The end of an averaging interval \[ns\]; `None` where none has ended.
    pub interval: Option<f64>,
}

/// Times the calls of `control`, a port that is not in use yet, whose line takes `line`. `clock` gives an instant
/// \[ns\] each time; no round begins that is not one of the first few once `budget` \[ns\] have gone by.
pub fn measure(
    control: &mut PortControl,
    line: CellRate,
    clock: &mut dyn FnMut() -> u64,
    budget: u64,
) -> Cost {
    let share = line.as_cells_per_s() / f64::from(CONNECTIONS);
    let about = VcAtPort { pcr: line, mcr: CellRate::ZERO, weight: 1.0, round_trip: Duration::ZERO };
    let slots: Vec<_> = (0..CONNECTIONS).map(|_| control.connect(&about)).collect();
    let begun = clock();
    let overhead = median((0..100).map(|_| since(clock(), clock())).collect()).unwrap_or(0.0);
    let (mut rounds, mut intervals) = (Vec::new(), Vec::new());
    let mut cells = 0_u64;
    let at = |cells: u64| Time::ZERO + Duration::from_secs_f64(cells as f64 / line.as_cells_per_s());
    while rounds.len() < LEAST_ROUNDS || (rounds.len() < MOST_ROUNDS && since(begun, clock()) < budget as f64)
    {
        let round = rounds.len() as u64;
        let queue = Cells(round * 37 % 1000);
        for &slot in (0..NRM).flat_map(|_| &slots) {
            cells += 1;
            if control.interval_due(at(cells)) {
                let before = clock();
                control.end_intervals(at(cells), |_| queue);
                intervals.push((since(before, clock()) - overhead).max(0.0));
            }
            control.on_abr_cell(at(cells), slot);
        }
        // From a fifth of the share to nine fifths, another one each time.
        let claim = |slot: &Slot| 0.2 + 1.6 * ((u64::from(slot.0) * 7 + round * 11) % 32) as f64 / 31.0;
        let claims: Vec<CellRate> = slots.iter().map(|slot| CellRate::new(share * claim(slot))).collect();
        let now = at(cells);
        let mut feedback = Feedback::new(RateCode::floor(line), false, false);
        let before = clock();
        for (&slot, &claim) in slots.iter().zip(&claims) {
            control.on_forward_rm(now, slot, claim);
        }
        for &slot in &slots {
            control.on_backward_rm(now, slot, queue, &mut feedback);
        }
        rounds.push((since(before, clock()) - overhead).max(0.0) / f64::from(2 * CONNECTIONS));
    }
    Cost { rm_cell: median(rounds).unwrap_or(0.0), interval: median(intervals) }
}

fn since(before: u64, now: u64) -> f64 {
    now.saturating_sub(before) as f64
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use cellrate_proto::declaration::Drawn;
    use cellrate_proto::switch::{FORMS, PortControlConfig, SwitchAlgorithmConfig};

    use super::*;

    fn port(name: &str) -> PortControl {
        let form = FORMS.iter().find(|form| form.shape.name == name).expect("there is such a form");
        let read = SwitchAlgorithmConfig::read(name, &Drawn::least(form.shape.keys)).expect("as above");
        let config = PortControlConfig {
            algorithm: read.expect("defaults are in range"),
            ..PortControlConfig::default()
        };
        PortControl::new(&config, CellRate::new(353_207.5))
    }

    /// A clock that ticks once each time it is looked at: calls take no time beyond the look.
    fn ticking() -> impl FnMut() -> u64 {
        let mut ticks = 0;
        move || {
            ticks += 1;
            ticks
        }
    }

    #[test]
    fn what_reading_the_clock_takes_is_left_out() {
        let cost = measure(&mut port("erica"), CellRate::new(353_207.5), &mut ticking(), 0);
        assert_eq!(cost, Cost { rm_cell: 0.0, interval: Some(0.0) });
    }

    #[test]
    fn intervals_of_time_and_of_cells_end_and_others_have_none() {
        let line = CellRate::new(353_207.5);
        for form in FORMS {
            let cost = measure(&mut port(form.shape.name), line, &mut ticking(), 0);
            let has_none = ["relative-rate", "stop-and-go", "eprca"].contains(&form.shape.name);
            assert_eq!(cost.interval.is_none(), has_none, "{}", form.shape.name);
        }
    }

    #[test]
    fn a_round_is_divided_by_its_rm_cells() {
        // A look takes 10 ns, and what is between the two looks of a round 6400, 100 for each of its 64 RM cells. The
        // first look is for the budget, 200 are for the overhead.
        let (mut now, mut looks) = (0, 0);
        let mut clock = move || {
            looks += 1;
            now += if looks > 201 && looks % 2 == 1 { 6410 } else { 10 };
            now
        };
        let cost = measure(&mut port("relative-rate"), CellRate::new(353_207.5), &mut clock, 0);
        assert_eq!(cost, Cost { rm_cell: 100.0, interval: None });
    }
}
