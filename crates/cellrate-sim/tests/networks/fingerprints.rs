//! Fingerprints of five trajectories: a digest of the figures of each direction and port and of every value of the
//! series.
//!
//! Unchanged is not correct: a fingerprint says that a run is what it was, not that it is right. That is for the tests
//! of rules, the comparison with the judge and the papers to say. When one changes and was meant to, look at the series
//! first, then pin the new one; the failure prints it.

use crate::world::*;
use cellrate_proto::parameters::PowerOfTwo;
use cellrate_proto::switch::{EfciConfig, PortControlConfig, RelativeRateConfig, SwitchAlgorithmConfig};
use cellrate_proto::{CellRate, Cells, Duration, Time};
use cellrate_scenario::traffic::{Constant, OnOff};
use cellrate_scenario::{
    Category, Every, LinkIndex, Period, PortIndex, PortQuantity, Quantity, Scenario, Traffic,
};
use cellrate_sim::RunResult;

/// FNV-1a of 64 bits, over what each direction sent, received and lost, what each port carried, and the series. Not
/// over the whole summary: a figure added to it is no change of a trajectory.
fn digest(result: &RunResult) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |word: u64| {
        for octet in word.to_le_bytes() {
            hash = (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for vc in &result.summary.vcs {
        [vc.sent, vc.data_sent, vc.delivered, vc.dropped, vc.backward_rm_received]
            .into_iter()
            .for_each(&mut add);
        [vc.final_acr, vc.mean_delay_s, vc.max_delay_s]
            .map(|x| x.map_or(0, f64::to_bits))
            .into_iter()
            .for_each(&mut add);
    }
    for port in &result.summary.ports {
        [port.transmitted, port.max_queue, port.dropped, port.mean_queue.to_bits()]
            .into_iter()
            .for_each(&mut add);
    }
    for series in &result.series {
        series.times_ps.iter().copied().for_each(&mut add);
        series.values.iter().map(|value| value.to_bits()).for_each(&mut add);
    }
    hash
}

#[track_caller]
fn assert_fingerprint(mut world: World, expected: u64) -> RunResult {
    for connection in 0..world.scenario.connections.len() as u32 {
        if world.scenario.connections[connection as usize].category == Category::Abr {
            world.acr_of(connection);
        }
    }
    let queue = Quantity::Port { quantity: PortQuantity::Queue, port: PortIndex::of(LinkIndex(0), 0) };
    world.probe(queue, Every::Interval(Duration::from_ms(1)));
    let result = world.run();
    assert!(result.summary.run.cell_hops > 10_000, "a trajectory of some length");
    assert!(result.series.iter().all(|series| series.values.len() > 10), "series of some length");
    let found = digest(&result);
    assert!(found == expected, "the fingerprint is {found:#018x} now, it was {expected:#018x}");
    result
}

/// How often ACR fell in the series of a connection's changes.
fn decreases(result: &RunResult, connection: usize) -> usize {
    result.series[connection].values.windows(2).filter(|pair| pair[1] < pair[0]).count()
}

/// The first link is the bottleneck sw1-sw2.
fn bottleneck(duration: Duration, delay: Duration, control: PortControlConfig) -> World {
    let mut world = World::new(duration);
    world.control = control;
    world.link("sw1", "sw2", OC3, delay);
    world.delay = Duration::from_us(10);
    world
}

#[test]
fn erica_with_a_second_source_that_comes_and_goes() {
    let mut world =
        bottleneck(Duration::from_ms(300), Duration::from_ms(5), erica(Duration::from_ms(5), None));
    world.abr("vc1", &["s1", "sw1", "sw2", "d1"], greedy());
    let middle = greedy_in(Duration::from_ms(100), Duration::from_ms(200));
    world.abr("vc2", &["s2", "sw1", "sw2", "d2"], middle);
    let result = assert_fingerprint(world, 0x7b36_8173_fc64_212c);
    // Alone at 0.9 of the line, half of it each while there are two.
    let half = 0.45 * OC3.to_cell_rate().as_cells_per_s();
    let at_199_ms = |index: usize| {
        let series = &result.series[index];
        series.values[series.times_ps.partition_point(|&time| time < 199_000_000_000) - 1]
    };
    for index in [0, 1] {
        assert!((at_199_ms(index) / half - 1.0).abs() < 0.02, "{}", at_199_ms(index));
    }
}

#[test]
fn a_satellite_path_under_rule_6() {
    let mut world = bottleneck(Duration::from_secs(1), Duration::from_ms(275), PortControlConfig::default());
    let connection = world.abr("vc", &["s", "sw1", "sw2", "d"], greedy());
    parameters(connection).crm = Some(32);
    let result = assert_fingerprint(world, 0xe7a4_54e2_d4fb_78fb);
    assert!(result.summary.vcs[0].cutoff_decreases > Some(0));
}

#[test]
fn efci_with_two_sources() {
    let control =
        PortControlConfig { efci: Some(EfciConfig::single(Cells(50))), ..PortControlConfig::default() };
    let mut world = bottleneck(Duration::from_ms(200), Duration::from_ms(1), control);
    for name in ["1", "2"] {
        let (source, destination) = (format!("s{name}"), format!("d{name}"));
        let connection = world.abr(&format!("vc{name}"), &[&source, "sw1", "sw2", &destination], greedy());
        parameters(connection).icr = CellRate::new(10_000.0);
    }
    let result = assert_fingerprint(world, 0x0a8b_5846_d77b_f7c8);
    assert!(decreases(&result, 0) > 10 && decreases(&result, 1) > 10);
}

#[test]
fn relative_rate_with_three_sources() {
    let algorithm = SwitchAlgorithmConfig::RelativeRate(RelativeRateConfig::new(Cells(100)));
    let control = PortControlConfig { algorithm, ..PortControlConfig::default() };
    let mut world = bottleneck(Duration::from_ms(200), Duration::from_ms(1), control);
    for name in ["1", "2", "3"] {
        let (source, destination) = (format!("s{name}"), format!("d{name}"));
        let connection = world.abr(&format!("vc{name}"), &[&source, "sw1", "sw2", &destination], greedy());
        parameters(connection).rif = PowerOfTwo::from_negative_exponent(8).expect("at most 15");
    }
    let result = assert_fingerprint(world, 0x79cb_f44c_fe6d_8f38);
    assert!((0..3).all(|connection| decreases(&result, connection) > 10));
}

#[test]
fn priorities_of_cbr_vbr_abr_and_ubr() {
    let mut world =
        bottleneck(Duration::from_ms(200), Duration::from_ms(1), erica(Duration::from_ms(1), Some(100)));
    let share = |share: f64| OC3.to_cell_rate() * share;
    let cbr = Traffic::Constant(Constant { rate: share(0.2), start: Time::ZERO, end: Time::NEVER });
    let (on, off) = (Period::Exponential(Duration::from_ms(5)), Period::Exponential(Duration::from_ms(10)));
    let vbr = Traffic::OnOff(OnOff { rate: share(0.4), on, off, start: Time::ZERO, end: Time::NEVER });
    world.abr("abr", &["s1", "sw1", "sw2", "d1"], greedy());
    world.other("cbr", Category::Cbr, &["s2", "sw1", "sw2", "d2"], cbr);
    world.other("vbr", Category::Vbr, &["s3", "sw1", "sw2", "d3"], vbr);
    world.other("ubr", Category::Ubr, &["s4", "sw1", "sw2", "d4"], greedy());
    limit_ubr(&mut world.scenario);
    let result = assert_fingerprint(world, 0x7cd4_4d2f_6298_629f);
    let delay = |name: &str| {
        let row = result.summary.vcs.iter().find(|row| row.vc == name).expect("it sent");
        row.mean_delay_s.expect("it arrived")
    };
    assert!(delay("cbr") < delay("abr") && delay("vbr") < delay("abr") && delay("abr") < delay("ubr"));
    assert!(result.summary.vcs.iter().all(|row| (row.dropped > 0) == (row.vc == "ubr")));
}

/// UBR loses what it cannot send: without a limit its queue would only grow.
fn limit_ubr(scenario: &mut Scenario) {
    port(scenario, 0, 0).buffers.ubr = Some(Cells(500));
}
