use proptest::prelude::*;
use std::collections::VecDeque;
use std::vec::Vec;

use super::*;

fn scheduler(discipline: Discipline, weights: &[f64]) -> Scheduler {
    let mut scheduler = discipline.scheduler().expect("it has several queues");
    weights.iter().for_each(|&weight| scheduler.connect(Weight::nearest(weight)));
    scheduler
}

/// The order in which a line that takes one unit of time for a cell sends what comes to it: (instant, queue) in order
/// of instants. Each sent cell as (queue, arrival, departure).
fn sent(mut scheduler: Scheduler, queues: usize, cells: &[(u64, u32)]) -> Vec<(u32, u64, u64)> {
    let mut waiting = std::vec![VecDeque::new(); queues];
    let (mut now, mut next, mut sent) = (0, 0, Vec::new());
    while sent.len() < cells.len() {
        if scheduler.is_empty() && cells[next].0 > now {
            now = cells[next].0;
            scheduler.idle();
        }
        while let Some(&(at, queue)) = cells.get(next).filter(|&&(at, _)| at <= now) {
            if waiting[queue as usize].is_empty() {
                scheduler.begin(queue);
            }
            waiting[queue as usize].push_back(at);
            next += 1;
        }
        let queue = scheduler.next().expect("a cell waits");
        let at = waiting[queue as usize].pop_front().expect("it has one");
        if !waiting[queue as usize].is_empty() {
            scheduler.requeue(queue);
        }
        now += 1;
        sent.push((queue, at, now));
    }
    sent
}

fn order(scheduler: Scheduler, queues: usize, cells: &[(u64, u32)]) -> Vec<u32> {
    sent(scheduler, queues, cells).into_iter().map(|(queue, ..)| queue).collect()
}

const WEIGHTED: [Discipline; 3] = [
    Discipline::DeficitRoundRobin { quantum: 1 },
    Discipline::DeficitRoundRobin { quantum: 7 },
    Discipline::WeightedFair,
];

#[test]
fn wf2q_plus_never_runs_ahead_where_fair_queueing_sends_a_burst() {
    // A queue of half the line with eleven cells, ten of a twentieth with one each: the first is sent every other cell.
    let weights: Vec<f64> = core::iter::once(0.5).chain([0.05; 10]).collect();
    let cells: Vec<(u64, u32)> = [(0, 0); 11].into_iter().chain((1..=10).map(|queue| (0, queue))).collect();
    let order = order(scheduler(Discipline::WeightedFair, &weights), 11, &cells);
    let places: Vec<usize> = (0..order.len()).filter(|&place| order[place] == 0).collect();
    assert_eq!(places, (0..11).map(|cell| 2 * cell).collect::<Vec<_>>());
}

#[test]
fn round_robin_goes_around_whatever_the_weights() {
    let cells: Vec<(u64, u32)> = [0, 0, 0, 1, 2, 2].map(|queue| (0, queue)).into();
    let order = order(scheduler(Discipline::RoundRobin, &[1.0, 9.0, 2.0]), 3, &cells);
    assert_eq!(order, [0, 1, 2, 0, 2, 0]);
}

#[test]
fn deficit_round_robin_carries_parts_of_a_cell() {
    // Weights 1 and 1.5: one cell and one and a half in a round, so 1, 1, 1, 2, ...
    let cells: Vec<(u64, u32)> = [(0, 0); 4].into_iter().chain([(0, 1); 6]).collect();
    let order = order(scheduler(Discipline::DeficitRoundRobin { quantum: 1 }, &[1.0, 1.5]), 2, &cells);
    assert_eq!(order, [0, 1, 0, 1, 1, 0, 1, 0, 1, 1]);
}

#[test]
fn a_weight_is_rounded_to_thousandths_within_its_range() {
    assert_eq!(
        [0.0, 0.0014, 1.0, 1e9].map(|weight| Weight::nearest(weight).thousandths()),
        [1, 1, 1000, 1_000_000]
    );
}

/// Departures of queues that conform to a share each and to bursts of so many cells.
fn conforming(shares: &[u32], burst: u64, gaps: &[u64]) -> Vec<(u64, u32)> {
    let total: u64 = shares.iter().map(|&share| u64::from(share)).sum();
    let mut cells = Vec::new();
    for (queue, &share) in (0_u32..).zip(shares) {
        // GCRA(total/share, (burst - 1) total/share) in units of 1/share.
        let (mut theoretical, mut at) = (0_u64, 0_u64);
        for &gap in gaps.iter().cycle().skip(queue as usize).take(60) {
            at += gap;
            let share = u64::from(share);
            let earliest = theoretical.saturating_sub((burst - 1) * total);
            at = at.max(earliest.div_ceil(share));
            theoretical = theoretical.max(at * share) + total;
            cells.push((at, queue));
        }
    }
    cells.sort_unstable();
    cells
}

proptest! {
    /// Latency 1/r + 1/C: a cell of a queue that conforms to r with bursts of sigma cells leaves (sigma - 1)/r + 1/r +
    /// 1/C after it came, at the latest.
    #[test]
    fn the_delay_of_wf2q_plus_is_bounded_by_the_share_alone(
        shares in proptest::collection::vec(1_u32..20, 1..12), burst in 1_u64..5,
        gaps in proptest::collection::vec(0_u64..40, 7..20),
    ) {
        let total: u32 = shares.iter().sum();
        let weights: Vec<f64> = shares.iter().map(|&share| f64::from(share)).collect();
        let cells = conforming(&shares, burst, &gaps);
        for (queue, came, left) in sent(scheduler(Discipline::WeightedFair, &weights), shares.len(), &cells) {
            let share = u64::from(shares[queue as usize]);
            prop_assert!((left - came - 1) * share <= burst * u64::from(total), "{queue}: {came} to {left}");
        }
    }

    /// Between queues that always wait, what is sent differs by weight by no more than the discipline allows.
    #[test]
    fn queues_that_wait_have_shares_by_weight(
        weights in proptest::collection::vec(1_u32..50, 2..9),
    ) {
        let queues = weights.len();
        let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
        let least = u64::from(*weights.iter().min().unwrap());
        for discipline in WEIGHTED {
            let quantum = if let Discipline::DeficitRoundRobin { quantum } = discipline { u64::from(quantum) } else { 1 };
            // Ten rounds in which all queues have cells.
            let round = (total * quantum).div_ceil(least);
            let cells: Vec<(u64, u32)> =
                (0..queues as u32).flat_map(|queue| core::iter::repeat_n((0, queue), 12 * round as usize)).collect();
            let weights: Vec<f64> = weights.iter().map(|&weight| f64::from(weight)).collect();
            let order = order(scheduler(discipline, &weights), queues, &cells);
            for (queue, weight) in weights.iter().enumerate() {
                let count = order[..10 * round as usize].iter().filter(|&&of| of as usize == queue).count();
                let expected = 10.0 * round as f64 * weight / total as f64;
                let slack = match discipline {
                    Discipline::WeightedFair => 1.001,
                    _ => 2.0 + 2.0 * quantum as f64 * weight / least as f64,
                };
                prop_assert!((count as f64 - expected).abs() <= slack, "{discipline:?}: {count} for {expected}");
            }
        }
    }

    /// No discipline leaves the line idle, and each sends all that comes, the cells of a queue in order.
    #[test]
    fn all_that_comes_is_sent_in_order(
        cells in proptest::collection::vec((0_u64..60, 0_u32..5), 1..80),
        weights in proptest::collection::vec(0.001_f64..9.0, 5),
    ) {
        let mut cells = cells;
        cells.sort_unstable();
        for discipline in [Discipline::RoundRobin].into_iter().chain(WEIGHTED) {
            let sent = sent(scheduler(discipline, &weights), 5, &cells);
            let (mut free, mut last) = (0, [0; 5]);
            let mut arrivals = cells.iter();
            for &(queue, came, left) in &sent {
                let next = arrivals.next().expect("as many").0;
                free = free.max(next) + 1;
                prop_assert_eq!(left, free, "the line is busy whenever a cell waits");
                prop_assert!(came >= last[queue as usize]);
                last[queue as usize] = came;
            }
        }
    }
}
