//! Comparison of figures that the kernel rounds, and of completions.

use cellrate_proto::Duration;
use cellrate_sim::CompletionSummary;

/// Whether as many cells had at most the delay of each step as the judge counts, who has a step for each cell.
pub fn same_distribution(kernel: &[(Duration, u64)], judge: &[(Duration, u64)]) -> bool {
    let counted = |step: Duration| judge.partition_point(|&(delay, _)| delay <= step) as u64;
    kernel.iter().all(|&(step, number)| number == counted(step)) && kernel.last() == judge.last()
}

/// Whether a row of completions is the judge's.
pub fn same_completions(kernel: &CompletionSummary, judge: &CompletionSummary) -> bool {
    let figures = |row: &CompletionSummary| {
        let exact = [row.mean_octets, row.mean_time_s, row.max_time_s];
        let rounded = [row.p50_time_s, row.p95_time_s, row.p99_time_s, row.p50_slowdown, row.p99_slowdown];
        (exact, rounded)
    };
    let ((exact, rounded), (judged, judged_rounded)) = (figures(kernel), figures(judge));
    let counts = |row: &CompletionSummary| [row.offered, row.blocked, row.count, row.unfinished];
    let above_one = |slow_down: f64| 1.0 + slow_down;
    let near = |one: Option<f64>, other: Option<f64>, tolerance| match (one, other) {
        (Some(one), Some(other)) => close(one, other, tolerance),
        (one, other) => one == other,
    };
    (&kernel.flows, kernel.from_octets, kernel.below_octets)
        == (&judge.flows, judge.from_octets, judge.below_octets)
        && counts(kernel) == counts(judge)
        && same_distribution(&kernel.times, &judge.times)
        && exact.iter().zip(judged).all(|(&one, other)| near(one, other, 2e-6))
        // Counted in millionths, which are more of a slow-down below 1, as where a link becomes shorter.
        && near(kernel.mean_slowdown.map(above_one), judge.mean_slowdown.map(above_one), 2e-6)
        && rounded.iter().zip(judged_rounded).all(|(&one, other)| near(one, other, 0.0101))
}

/// Whether two figures differ by no more than such a part.
pub fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= tolerance * b.abs()
}
