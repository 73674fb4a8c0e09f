//! Every line of docs/algorithms/erica.md and erica-plus.md by worked numbers.

use super::*;
use crate::switch::small_port::figure;
use crate::switch::{
    ActiveSources, AgingConfig, AveragingInterval, DelayControl, PortControl, PortControlConfig,
    SwitchAlgorithmConfig,
};

/// Intervals of 1/64 s: 1024 cells in one are C = 65,536 cells/s. The line takes 2 C, and U is 1/2, so that C is the
/// capacity of an idle line, and every rate below has a rate code of its own.
const INTERVAL: Duration = Duration::from_us(15_625);
const C: f64 = 65_536.0;
const A: Slot = Slot(0);
const B: Slot = Slot(1);

fn half_utilization() -> EricaConfig {
    EricaConfig {
        interval: AveragingInterval::of_time(INTERVAL),
        queue_control: QueueControl::TargetUtilization(0.5),
        delta: 0.125,
        ..EricaConfig::erica()
    }
}

struct World {
    port: PortControl,
    now: Time,
}

impl World {
    fn new(config: EricaConfig) -> World {
        assert_eq!(config.check(), Ok(()));
        let algorithm = SwitchAlgorithmConfig::Erica(Arc::new(config));
        let config = PortControlConfig { algorithm, ..PortControlConfig::default() };
        let mut port = PortControl::new(&config, CellRate::new(2.0 * C));
        let vc = VcAtPort {
            pcr: CellRate::new(2.0 * C),
            mcr: CellRate::ZERO,
            weight: 1.0,
            round_trip: Duration::ZERO,
        };
        assert_eq!((port.connect(&vc), port.connect(&vc)), (A, B));
        World { port, now: Time::ZERO }
    }

    /// Cells of A and B, somewhere inside the interval.
    fn cells(&mut self, cells_a: u32, cells_b: u32) {
        (0..cells_a).for_each(|_| self.port.on_abr_cell(self.now, A));
        (0..cells_b).for_each(|_| self.port.on_abr_cell(self.now, B));
    }

    fn end_interval(&mut self, queue: u64) {
        self.now = self.port.next_deadline();
        self.port.end_intervals(self.now, |_| Cells(queue));
    }

    /// One whole interval with so many cells of each.
    fn interval(&mut self, cells_a: u32, cells_b: u32) {
        self.cells(cells_a, cells_b);
        self.end_interval(0);
    }

    fn ccr(&mut self, slot: Slot, ccr: f64) {
        self.port.on_forward_rm(self.now, slot, CellRate::new(ccr));
    }

    fn er(&mut self, slot: Slot) -> f64 {
        let mut feedback = Feedback::new(RateCode::MAX, false, false);
        self.port.on_backward_rm(self.now, slot, Cells::ZERO, &mut feedback);
        assert!(!feedback.congestion_indication() && !feedback.no_increase());
        feedback.explicit_rate().rate().as_cells_per_s()
    }

    fn figure(&self, wanted: &str) -> f64 {
        figure(&self.port, wanted)
    }
}

#[test]
fn the_end_of_an_interval_yields_z_n_fair_share_and_capacity() {
    let mut world = World::new(half_utilization());
    // 512 of the 1024 cells of capacity go to higher categories: C/2 is left, ABR offers 768 cells, z = 1.5.
    (0..512).for_each(|_| world.port.on_guaranteed_cell());
    world.interval(700, 68);
    assert_eq!(world.figure("capacity"), C / 2.0);
    assert_eq!(world.figure("z"), 1.5);
    assert_eq!(world.figure("n"), 2.0);
    assert_eq!(world.figure("fair_share"), C / 4.0);
}

#[test]
fn overload_scales_down_to_the_fair_share_at_most() {
    // z = 2, FairShare = C/2. A: max(C/2, 1.5 C / 2) = 0.75 C. B: max(C/2, 0.5 C / 2) = C/2.
    let mut world = World::new(half_utilization());
    world.ccr(A, 1.5 * C);
    world.ccr(B, 0.5 * C);
    world.interval(1536, 512);
    assert_eq!(world.figure("z"), 2.0);
    assert_eq!((world.er(A), world.er(B)), (0.75 * C, 0.5 * C));
}

#[test]
fn underload_scales_up_and_capacity_is_the_limit() {
    // z = 1/2, FairShare = C/2, MaxAllocPrevious = C/2 because the second interval gave no answer. A: 0.375 C / (1/2)
    // = 0.75 C, but its CCR is below FairShare: C/2. With CCR 0.5 C: C. With 0.75 C: 1.5 C, cut to C.
    for (ccr, er) in [(0.375, 0.5), (0.5, 1.0), (0.75, 1.0)] {
        let mut world = World::new(half_utilization());
        world.interval(512, 512);
        world.interval(384, 128);
        world.ccr(A, ccr * C);
        assert_eq!(world.figure("z"), 0.5);
        assert_eq!(world.figure("max_alloc"), C / 2.0);
        assert_eq!(world.er(A), er * C, "CCR = {ccr} C");
    }
}

/// In the last interval A was granted 0.75 C; now z is `cells` / 1024.
fn after_a_large_allocation(cells: u32) -> World {
    let mut world = World::new(half_utilization());
    world.ccr(A, 1.5 * C);
    world.interval(1536, 512);
    assert_eq!(world.er(A), 0.75 * C);
    world.interval(cells - 512, 512);
    assert_eq!(world.figure("max_alloc"), 0.75 * C);
    world
}

#[test]
fn up_to_one_plus_delta_everyone_gets_the_largest_allocation_of_the_last_interval() {
    // z = 1.125 = 1 + delta: B at its fair share is raised to 0.75 C. One cell more: max(C/2, 0.5 C / z) = C/2.
    for (cells, er) in [(1024, 0.75), (1152, 0.75), (1153, 0.5)] {
        let mut world = after_a_large_allocation(cells);
        world.ccr(B, 0.5 * C);
        assert_eq!(world.er(B), er * C, "{cells} cells");
    }
}

#[test]
fn below_its_fair_share_a_connection_gets_no_more_than_that() {
    let mut world = after_a_large_allocation(1024);
    world.ccr(B, 0.5 * C - 1.0);
    assert_eq!(world.er(B), 0.5 * C);
    // The larger rate that B was refused still is this interval's MaxAllocCurrent.
    world.interval(512, 512);
    assert_eq!(world.figure("max_alloc"), 0.75 * C);
}

#[test]
fn a_connection_at_the_code_of_its_fair_share_is_not_below_it() {
    // U = 0.49: capacity 64,225.28, FairShare 32,112.64, whose code is 32,096 (codes are 32 apart there).
    // z = 131,072 / 64,225.28 = 2.0408 first; A is granted 98,304 / 2.0408 = 48,168.96, whose code is 48,128.
    // Then z = 1.0204: B gets the same, unless it is below its FairShare.
    for (ccr, er) in [(32_096.0, 48_128.0), (32_095.0, 32_096.0)] {
        let queue_control = QueueControl::TargetUtilization(0.49);
        let mut world = World::new(EricaConfig { queue_control, ..half_utilization() });
        world.ccr(A, 98_304.0);
        world.interval(1536, 512);
        assert_eq!(world.er(A), 48_128.0);
        world.interval(512, 512);
        world.ccr(B, ccr);
        assert_eq!(world.er(B), er, "CCR = {ccr}");
    }
}

#[test]
fn the_largest_allocation_is_forgotten_after_an_interval_that_answers_nobody() {
    let mut world = after_a_large_allocation(1024);
    world.interval(512, 512);
    assert_eq!(world.figure("max_alloc"), 0.5 * C);
    world.ccr(B, 0.5 * C);
    assert_eq!(world.er(B), 0.5 * C);
}

#[test]
fn a_second_brm_in_one_interval_gets_the_answer_of_the_first() {
    let mut world = World::new(half_utilization());
    world.ccr(A, 1.5 * C);
    world.interval(1536, 512);
    assert_eq!(world.er(A), 0.75 * C);
    world.ccr(A, 1.25 * C);
    assert_eq!(world.er(A), 0.75 * C);
    // In the next interval the newer CCR counts: 1.25 C / 2 = 0.625 C.
    world.interval(1536, 512);
    assert_eq!(world.er(A), 0.625 * C);
}

#[test]
fn er_is_never_raised() {
    let mut world = World::new(half_utilization());
    world.ccr(A, 1.5 * C);
    world.interval(1536, 512);
    let came = RateCode::floor(CellRate::new(1_000.0));
    let mut feedback = Feedback::new(came, true, true);
    world.port.on_backward_rm(world.now, A, Cells::ZERO, &mut feedback);
    assert_eq!(feedback, Feedback::new(came, true, true));
}

#[test]
fn before_the_first_interval_ends_the_capacity_is_the_limit() {
    let mut world = World::new(half_utilization());
    assert_eq!(world.er(A), C);
    assert_eq!((world.figure("z"), world.figure("n")), (0.0, 1.0));
}

#[test]
fn an_interval_without_input_allows_the_capacity() {
    let mut world = World::new(half_utilization());
    world.interval(512, 512);
    world.interval(0, 0);
    assert_eq!((world.figure("z"), world.figure("n")), (0.0, 1.0));
    world.ccr(A, C);
    assert_eq!((world.er(A), world.er(B)), (C, C));
}

#[test]
fn without_capacity_er_is_zero() {
    let mut world = World::new(half_utilization());
    world.ccr(A, C);
    (0..1024).for_each(|_| world.port.on_guaranteed_cell());
    world.interval(100, 0);
    assert_eq!((world.figure("capacity"), world.figure("z")), (0.0, f64::INFINITY));
    assert_eq!(world.er(A), 0.0);
    world.interval(100, 0);
    assert_eq!(world.figure("capacity"), C);
}

#[test]
fn a_cell_count_shortens_the_interval_and_rates_are_over_its_true_length() {
    let interval = AveragingInterval::of_time_or_cells(INTERVAL, 512);
    let mut world = World::new(EricaConfig { interval, ..half_utilization() });
    // 512 cells in a quarter of the time: 2048 per interval, z = 2; 128 guaranteed cells would be C/2.
    world.now = Time::from_ps(INTERVAL.as_ps() / 4);
    (0..128).for_each(|_| world.port.on_guaranteed_cell());
    world.cells(512, 0);
    assert_eq!(world.port.next_deadline(), world.now);
    world.end_interval(0);
    assert_eq!((world.figure("capacity"), world.figure("z")), (C / 2.0, 4.0));
    assert_eq!(world.port.next_deadline(), world.now + INTERVAL);
}

#[test]
fn bidirectional_counting_keeps_a_silent_connection_that_gets_brms() {
    for (bidirectional, n) in [(false, 1.0), (true, 2.0)] {
        let active_sources = ActiveSources { bidirectional, ..ActiveSources::default() };
        let mut world = World::new(EricaConfig { active_sources, ..half_utilization() });
        world.er(B);
        world.interval(1024, 0);
        assert_eq!(world.figure("n"), n);
        assert_eq!(world.figure("fair_share"), C / n);
    }
}

#[test]
fn n_is_who_was_active_and_at_least_one() {
    let mut world = World::new(half_utilization());
    for (cells_a, cells_b, n) in [(0, 0, 1.0), (5, 0, 1.0), (5, 5, 2.0), (0, 5, 1.0), (0, 0, 1.0)] {
        world.interval(cells_a, cells_b);
        assert_eq!(world.figure("n"), n, "{cells_a} and {cells_b} cells");
    }
}

#[test]
fn an_answer_is_one_of_its_own_interval() {
    let er = RateCode::floor(CellRate::new(C));
    let answer = Answer::new(7, er);
    assert_eq!((answer.er_in(7), answer.er_in(6), answer.er_in(8)), (Some(er), None, None));
    assert_eq!(Answer::NONE.er_in(Meter::FIRST_INTERVAL), None);
    assert_eq!(Answer::new(u64::MAX, er).er_in(u64::MAX), Some(er));
}

#[test]
fn a_fading_connection_still_takes_part_of_the_fair_share() {
    let active_sources = ActiveSources { decay: Some(0.5), ..ActiveSources::default() };
    let mut world = World::new(EricaConfig { active_sources, ..half_utilization() });
    world.interval(512, 512);
    world.interval(1024, 0);
    assert_eq!((world.figure("n"), world.figure("fair_share")), (1.5, C / 1.5));
}

#[test]
fn with_immediate_fair_share_a_newcomer_counts_at_its_first_rm_cell() {
    for (immediate_fair_share, fair_share) in [(false, C), (true, C / 2.0)] {
        let mut world = World::new(EricaConfig { immediate_fair_share, ..half_utilization() });
        world.interval(1024, 0);
        assert_eq!(world.figure("fair_share"), C);
        world.cells(1, 1);
        world.ccr(B, 0.0);
        assert_eq!(world.figure("fair_share"), fair_share);
        assert_eq!(world.er(B), fair_share);
        world.end_interval(0);
        assert_eq!(world.figure("n"), 2.0);
    }
}

#[test]
fn immediate_fair_share_does_not_count_a_lone_newcomer_on_an_idle_port_twice() {
    let mut world = World::new(EricaConfig { immediate_fair_share: true, ..half_utilization() });
    world.interval(0, 0);
    world.cells(1, 0);
    world.ccr(A, 0.0);
    assert_eq!((world.figure("n"), world.figure("fair_share")), (1.0, C));
}

#[test]
fn aging_lowers_what_is_granted_and_nothing_else() {
    // A claims C and sends a quarter of it; without aging it would be granted C whole. u = 4, alpha = 0.1,
    // delta = 1.5: C / (1 + e^0.4 - e^0.15), as a rate code.
    let aging = AgingConfig { weight: 1.0, floor: CellRate::ZERO, ..AgingConfig::new() };
    for (aging, expected) in [(None, 1.0), (Some(aging), 1.0 / 1.329_990_4)] {
        let mut world = World::new(EricaConfig { aging, ..half_utilization() });
        world.ccr(A, C);
        world.interval(256, 0);
        world.interval(256, 0);
        let er = world.er(A) / C;
        assert!((er / expected - 1.0).abs() < 1.0 / 512.0, "{er} against {expected}");
    }
    let aging = Some(AgingConfig { alpha: 0.0, ..AgingConfig::new() });
    let refused = EricaConfig { aging, ..EricaConfig::erica() }.check().unwrap_err();
    assert_eq!(refused.name, "aging_alpha");
}

#[test]
fn a_measured_ccr_is_the_cells_of_the_last_interval_and_not_the_field() {
    // z = 2, A sent 1536 cells = 1.5 C whatever it claims, so that VCShare = 0.75 C.
    for (measured_ccr, er) in [(false, 1.0), (true, 0.75)] {
        let mut world = World::new(EricaConfig { measured_ccr, ..half_utilization() });
        world.ccr(A, 2.0 * C);
        world.interval(1536, 512);
        world.cells(10, 0);
        assert_eq!(world.er(A), er * C);
    }
}

#[test]
fn averaged_z_is_what_scales() {
    // Interval 1: z = 2; interval 2: z = 1; average with alpha 1/2: 1.5. A: 1.5 C / 1.5 = C.
    let load_averaging = LoadAveraging::Ratio { alpha: 0.5 };
    let mut world = World::new(EricaConfig { load_averaging, ..half_utilization() });
    world.interval(1536, 512);
    world.interval(512, 512);
    world.ccr(A, 0.9375 * C);
    assert_eq!(world.figure("z"), 1.5);
    assert_eq!(world.er(A), 0.625 * C);
}

#[test]
fn the_share_of_erica_plus_by_queueing_delay() {
    let control = QueueControl::erica_plus();
    let near = |delay: Duration, share: f64| (control.share(delay) - share).abs() < 1e-9;
    let t0 = Duration::from_us(500);
    assert!(near(Duration::ZERO, 1.05));
    // 1.05 / (0.05 / 2 + 1) = 1.024390...
    assert!(near(Duration::from_us(250), 1.05 / 1.025));
    assert!(near(t0, 1.0));
    // Just above T0 the other branch holds, which is 1 there too: 1.15 / (0.15 * 2 + 1) at 2 T0 = 0.884615...
    assert!(near(t0 + Duration::from_ps(1), 1.0));
    assert!(near(t0 * 2, 1.15 / 1.3));
    // (2a - 1) / (a - 1) * T0 = 1.3 / 0.15 * 500 us = 4333.33 us: a / qdlf = 2.3 = 0.15 * 8.667 + 1.
    let limit = Duration::from_secs_f64(1.3 / 0.15 * 500e-6);
    assert!(near(limit, 0.5));
    assert!(control.share(limit - Duration::from_us(10)) > 0.5001);
    assert!(near(limit + Duration::from_us(10), 0.5));
    assert!(near(Duration::FOREVER, 0.5));
}

#[test]
fn erica_plus_sets_the_queue_against_the_rate_that_is_left() {
    // T0 = 1/128 s. Half of the line (2 C) is left: C. A queue of 512 cells waits 1/128 s = T0 there: f = 1.
    // At 1024 cells, 2 T0: f = 1.5 / (0.5 * 2 + 1) = 0.75. Empty: f = b = 1.25.
    let queue_control = QueueControl::QueueingDelay(DelayControl::hyperbolic(
        Duration::from_ps(INTERVAL.as_ps() / 2),
        1.5,
        1.25,
        0.5,
    ));
    let mut world = World::new(EricaConfig { queue_control, ..half_utilization() });
    assert_eq!(world.figure("capacity"), 2.5 * C);
    for (queue, share) in [(0, 1.25), (512, 1.0), (1024, 0.75), (1_000_000, 0.5)] {
        (0..1024).for_each(|_| world.port.on_guaranteed_cell());
        world.cells(512, 512);
        world.end_interval(queue);
        assert!((world.figure("capacity") - share * C).abs() < 1e-6, "queue of {queue}");
        assert!((world.figure("z") - 1.0 / share).abs() < 1e-9);
    }
    // With nothing left, a queue waits for ever, and there is nothing to share.
    (0..2048).for_each(|_| world.port.on_guaranteed_cell());
    world.end_interval(10);
    assert_eq!(world.figure("capacity"), 0.0);
}

#[test]
fn idle_intervals_are_not_passed_over_while_somebody_fades() {
    // Whoever joins counts by how far it has faded, even where the effective number says how many are active.
    for effective in [false, true] {
        let active_sources = ActiveSources { bidirectional: false, decay: Some(0.5), effective };
        let config = EricaConfig { active_sources, immediate_fair_share: true, ..half_utilization() };
        let active = |idle: u64, at_once: bool| {
            let mut world = World::new(config);
            world.interval(8, 8);
            let step = if at_once { idle } else { 1 };
            for _ in 0..idle / step {
                world.now += INTERVAL * step;
                world.port.end_intervals(world.now, |_| Cells::ZERO);
            }
            world.cells(1, 1);
            world.er(A);
            world.figure("n")
        };
        for idle in 1..20 {
            assert_eq!(active(idle, true), active(idle, false), "{idle} intervals, effective: {effective}");
        }
        assert!(!effective || active(1, true) < active(10, true), "the less it counted, the more it adds");
    }
}

#[test]
fn every_parameter_is_refused_just_outside_its_range() {
    let refused = |config: EricaConfig| config.check().map_err(|error| error.name);
    let plain = EricaConfig::erica();
    let control = |queue_control| refused(EricaConfig { queue_control, ..plain });
    for utilization in [0.0, 1.001, f64::NAN] {
        assert_eq!(control(QueueControl::TargetUtilization(utilization)), Err("target_utilization"));
    }
    let t0 = Duration::from_us(500);
    let delay =
        |t0, a, b, qdlf| control(QueueControl::QueueingDelay(DelayControl::hyperbolic(t0, a, b, qdlf)));
    assert_eq!(delay(Duration::ZERO, 1.15, 1.05, 0.5), Err("t0"));
    assert_eq!(delay(t0, 1.0, 1.05, 0.5), Err("a"));
    assert_eq!(delay(t0, 1.15, 1.0, 0.5), Err("b"));
    assert_eq!(delay(t0, 1.15, f64::INFINITY, 0.5), Err("b"));
    assert_eq!(delay(t0, 1.15, 1.05, 0.0), Err("qdlf"));
    assert_eq!(delay(t0, 1.15, 1.05, 1.001), Err("qdlf"));
    assert_eq!(delay(t0, 1.001, 1.001, 1.0), Ok(()));
    assert_eq!(refused(EricaConfig { delta: -0.001, ..plain }), Err("delta"));
    assert_eq!(refused(EricaConfig { delta: 1.001, ..plain }), Err("delta"));
    assert_eq!(refused(EricaConfig { delta: 1.0, ..plain }), Ok(()));
    let interval = AveragingInterval::of_time(Duration::ZERO);
    assert_eq!(refused(EricaConfig { interval, ..plain }), Err("interval"));
    let active_sources = ActiveSources { decay: Some(1.0), ..ActiveSources::default() };
    assert_eq!(refused(EricaConfig { active_sources, ..plain }), Err("activity_decay"));
    let load_averaging = LoadAveraging::Ratio { alpha: 0.0 };
    assert_eq!(refused(EricaConfig { load_averaging, ..plain }), Err("alpha"));
    assert_eq!((refused(plain), refused(EricaConfig::erica_plus())), (Ok(()), Ok(())));
    assert_eq!(EricaConfig::default(), plain);
}

/// A keeps 3/4 of C by its MCR: B has the other quarter, whether it claims more or less, and is not offered what A has
/// without overload.
#[test]
fn who_keeps_more_by_its_mcr_leaves_less_to_share() {
    let algorithm = SwitchAlgorithmConfig::Erica(Arc::new(half_utilization()));
    let config = PortControlConfig { algorithm, ..PortControlConfig::default() };
    let mut port = PortControl::new(&config, CellRate::new(2.0 * C));
    let vc = |mcr: f64| VcAtPort {
        pcr: CellRate::new(2.0 * C),
        mcr: CellRate::new(mcr),
        weight: 1.0,
        round_trip: Duration::ZERO,
    };
    assert_eq!((port.connect(&vc(0.75 * C)), port.connect(&vc(0.0))), (A, B));
    let mut world = World { port, now: Time::ZERO };
    world.ccr(A, 0.75 * C);
    world.ccr(B, 0.25 * C);
    // MaxAlloc is all of C before the first interval has ended.
    world.interval(768, 256);
    for _ in 0..3 {
        world.interval(768, 256);
        assert_eq!((world.er(A), world.er(B)), (0.25 * C, 0.25 * C));
    }
    // Twice the load for B: half of 1/2 C is what it has to come down to.
    world.ccr(B, 0.5 * C);
    world.interval(768, 512);
    assert_eq!(world.figure("fair_share"), 0.25 * C);
    assert_eq!(world.er(B), RateCode::floor(CellRate::new(0.5 * C / 1.25)).rate().as_cells_per_s());
    // Without cells of A all of C is there for B.
    world.interval(0, 512);
    assert_eq!(world.figure("fair_share"), C);
}
