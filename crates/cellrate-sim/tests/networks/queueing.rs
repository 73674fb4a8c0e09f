//! Ports with queues for connections and weights for categories, against closed forms.

use std::ops::ControlFlow;

use crate::world::{World, greedy, port};
use cellrate_proto::scheduling::{Discipline, Weight};
use cellrate_proto::{BitRate, CellRate, Cells, Duration, Time};
use cellrate_scenario::traffic::{Constant, Timed};
use cellrate_scenario::*;
use cellrate_sim::random::{Owner, Random, Stream};
use cellrate_sim::{RunResult, run};

/// A line of one cell in 10 us, and access lines of ten times that.
const LINE: BitRate = BitRate::from_bps(42_400_000);
const CELL_S: f64 = 1e-5;

const PER_VC: [Discipline; 3] =
    [Discipline::RoundRobin, Discipline::DeficitRoundRobin { quantum: 3 }, Discipline::WeightedFair];

/// Connections "vc0", "vc1" and so on before one line, with these weights, served like this.
fn before_one_line(duration: Duration, queueing: Queueing, sources: Vec<(Category, f64, Traffic)>) -> World {
    let mut world = World::new(duration);
    world.link("sw0", "sw1", LINE, Duration::from_us(100));
    (world.rate, world.delay) = (BitRate::from_bps(424_000_000), Duration::ZERO);
    for (index, (category, weight, traffic)) in sources.into_iter().enumerate() {
        let (source, sink) = (format!("s{index}"), format!("d{index}"));
        let path = [source.as_str(), "sw0", "sw1", sink.as_str()];
        let connection = world.other(&format!("vc{index}"), category, &path, traffic);
        connection.queue.weight = Some(Weight::nearest(weight));
    }
    port(&mut world.scenario, 0, 0).queueing = queueing;
    world
}

fn per_vc(discipline: Discipline) -> Queueing {
    Queueing { discipline, room: Some(Cells(50)), ..Queueing::default() }
}

fn constant(rate: f64) -> Traffic {
    Traffic::Constant(Constant { rate: CellRate::new(rate), start: Time::ZERO, end: Time::NEVER })
}

fn received(result: &RunResult) -> Vec<f64> {
    result.summary.vcs.iter().map(|row| row.data_delivered as f64).collect()
}

#[test]
fn connections_that_always_wait_share_by_weight() {
    let weights = [1.0, 2.0, 5.0];
    for discipline in PER_VC {
        let sources = weights.map(|weight| (Category::Ubr, weight, greedy()));
        let world = before_one_line(Duration::from_ms(400), per_vc(discipline), sources.into());
        let received = received(&world.run());
        let shares = if discipline == Discipline::RoundRobin { [1.0, 1.0, 1.0] } else { weights };
        let (all, sum) = (received.iter().sum::<f64>(), shares.iter().sum::<f64>());
        assert!(all > 39_950.0, "the line is never idle: {all}");
        for (count, share) in received.iter().zip(shares) {
            assert!((count - all * share / sum).abs() < 20.0, "{discipline:?}: {received:?}");
        }
    }
}

#[test]
fn categories_share_by_weight_and_none_starves() {
    let weights = [2.0, 1.0, 1.0].map(Weight::nearest);
    let queueing = Queueing { class_weights: Some(weights), ..Queueing::default() };
    // Two connections of the first category share its half, as one queue has it.
    let categories = [Category::Cbr, Category::Vbr, Category::Ubr];
    let sources = categories.map(|category| (category, 1.0, greedy()));
    let mut world = before_one_line(Duration::from_ms(400), queueing, sources.into());
    port(&mut world.scenario, 0, 0).buffers =
        Buffers { guaranteed: Some(Cells(60)), ubr: Some(Cells(60)), ..Buffers::default() };
    let received = received(&world.run());
    let (first, last) = (received[0] + received[1], received[2]);
    assert!((first - 2.0 * last).abs() < 50.0, "{received:?}");
    // By strict priority the last one has nothing.
    port(&mut world.scenario, 0, 0).queueing = Queueing::default();
    let received = self::received(&world.run());
    assert!(received[2] < 5.0, "{received:?}");
}

#[test]
fn a_connection_within_its_share_waits_no_longer_than_wf2q_plus_allows() {
    // A tenth of the line for one that sends a tenth, beside nine that always send: 1/r + 1/C, and a cell time on the
    // access line and on that to the sink, and the delay.
    let mut sources = vec![(Category::Vbr, 1.0, constant(10_000.0))];
    sources.extend((0..9).map(|_| (Category::Vbr, 1.0, greedy())));
    let longest = |discipline| {
        let queueing = if discipline == Discipline::Fifo { Queueing::default() } else { per_vc(discipline) };
        let mut world = before_one_line(Duration::from_ms(300), queueing, sources.clone());
        port(&mut world.scenario, 0, 0).buffers.guaranteed = Some(Cells(1000));
        let result = world.run();
        let row = &result.summary.vcs[0];
        (row.max_delay_s.expect("cells came"), row.dropped)
    };
    let bound = 1e-4 + CELL_S + 2.0 * CELL_S / 10.0 + 1e-4;
    let (delay, dropped) = longest(Discipline::WeightedFair);
    assert!(delay <= bound + 1e-9 && dropped == 0, "{delay} beside {bound}");
    let (delay, _) = longest(Discipline::Fifo);
    assert!(delay > 40.0 * bound, "{delay} in one queue");
}

#[test]
fn a_connection_that_is_held_to_a_rate_leaves_an_idle_line_idle() {
    for discipline in PER_VC {
        let sources = vec![(Category::Ubr, 1.0, greedy()), (Category::Vbr, 1.0, constant(20_000.0))];
        let mut world = before_one_line(Duration::from_ms(200), per_vc(discipline), sources);
        world.scenario.connections[0].queue.shaped_to = Some(CellRate::new(25_000.0));
        let received = received(&world.run());
        assert!((received[0] - 5_000.0).abs() <= 10.0, "{received:?}");
        assert!((received[1] - 4_000.0).abs() <= 10.0, "{received:?}");
    }
}

/// Poisson arrivals, as instants.
fn poisson(name: &str, rate: f64, until: f64) -> Traffic {
    let mut dice = Random::new(7, Stream::Traffic(Owner::named(name)));
    let (mut at, mut cells) = (0.0, Vec::new());
    loop {
        at -= (1.0 - dice.uniform()).ln() / rate;
        if at >= until {
            return Traffic::Timed(Timed { cells });
        }
        cells.push((Time::from_ps((at * 1e12) as u64), 1));
    }
}

/// Mean time from arrival to the beginning of service, of each connection [cell times].
fn waits(queueing: Queueing, categories: [Category; 2], loads: [f64; 2]) -> [f64; 2] {
    let until = 3.0;
    let sources =
        (0..2).map(|i| (categories[i], 1.0, poisson(&format!("source {i}"), loads[i] / CELL_S, until)));
    let mut world = before_one_line(Duration::from_secs(3), queueing, sources.collect());
    // Sources hand cells over at once: their own lines take next to nothing.
    for link in 1..world.scenario.links.len() {
        world.scenario.links[link].rate = BitRate::from_bps(424_000_000_000);
    }
    for connection in &mut world.scenario.connections {
        connection.forward.sender = Sender::Peak(BitRate::from_bps(424_000_000_000).to_cell_rate());
    }
    let result = world.run();
    let beside = 1e-4 + CELL_S + 2.0 * 1e-9;
    [0, 1].map(|i| (result.summary.vcs[i].mean_delay_s.expect("cells came") - beside) / CELL_S)
}

#[test]
fn poisson_cells_wait_as_m_d_1_with_priorities_says() {
    let (loads, residual) = ([0.3, 0.5], 0.4);
    let by_priority = waits(Queueing::default(), [Category::Vbr, Category::Ubr], loads);
    let expected = [residual / (1.0 - 0.3), residual / ((1.0 - 0.3) * (1.0 - 0.8))];
    for (found, expected) in by_priority.iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 0.05, "{by_priority:?} and {expected:?}");
    }
    // Whatever the order, the sum of load times wait is that of M/D/1.
    let conserved = 0.8 * residual / (1.0 - 0.8);
    let weights = Some([1.0, 1.0, 9.0].map(Weight::nearest));
    let unlimited = |discipline| Queueing { discipline, ..Queueing::default() };
    let shared = [Category::Vbr, Category::Vbr];
    let cases = [
        (Queueing::default(), shared),
        (Queueing { class_weights: weights, ..Queueing::default() }, [Category::Vbr, Category::Ubr]),
        (unlimited(PER_VC[0]), shared),
        (unlimited(PER_VC[1]), shared),
        (unlimited(PER_VC[2]), shared),
    ];
    for (queueing, categories) in cases {
        let waits = waits(queueing, categories, loads);
        let sum = loads[0] * waits[0] + loads[1] * waits[1];
        assert!((sum / conserved - 1.0).abs() < 0.05, "{queueing:?}: {waits:?}, {sum} and {conserved}");
        if queueing == Queueing::default() {
            assert!(
                (waits[0] / waits[1] - 1.0).abs() < 0.05,
                "one queue does not tell them apart: {waits:?}"
            );
        }
    }
}

#[test]
fn room_for_each_keeps_one_from_taking_that_of_another() {
    let sources = vec![(Category::Vbr, 1.0, constant(30_000.0)), (Category::Vbr, 1.0, greedy())];
    let mut world = before_one_line(Duration::from_ms(100), per_vc(Discipline::RoundRobin), sources);
    port(&mut world.scenario, 0, 0).buffers.guaranteed = Some(Cells(40));
    let lost = |world: &World| world.run().summary.vcs[0].dropped;
    assert!(lost(&world) > 0, "a room that is never reached protects nobody");
    port(&mut world.scenario, 0, 0).queueing.room = Some(Cells(20));
    assert_eq!(lost(&world), 0);
}

/// The ready scenario with each of its disciplines.
#[test]
fn the_ready_scenario_shows_what_queues_for_connections_are_for() {
    let text = include_str!("../../../../scenarios/per-vc-queues.toml");
    let document = Document::parse(text, "per-vc-queues").expect("it is right");
    for point in document.points().expect("it has a sweep") {
        let scenario = point.document.resolve().expect("it is right");
        let result = run(&scenario, &mut |_| ControlFlow::Continue(())).expect("the run ends well");
        // Of the line that all of them share.
        let shared = scenario.steps(FlowIndex(0)).nth(1).expect("it has three links").port();
        let discipline = Some(scenario.port(shared).queueing.discipline);
        let rows = &result.summary.vcs;
        for row in rows {
            println!(
                "{discipline:?} {}: {:.1} Mb/s, {} lost, mean {:.1} us, most {:.1} us",
                row.vc,
                row.throughput_bps / 1e6,
                row.dropped,
                row.mean_delay_s.unwrap_or(0.0) * 1e6,
                row.max_delay_s.unwrap_or(0.0) * 1e6,
            );
        }
        let steady = &rows[0];
        let (cell_us, beside_us) = (424.0 / 155.52, 3.0 * 50.0 + 3.0 * 424.0 / 155.52);
        let wait_us = steady.max_delay_s.expect("cells came") * 1e6 - beside_us;
        if discipline == Some(Discipline::Fifo) {
            assert!(steady.dropped > 1000 && wait_us > 900.0 * cell_us);
            continue;
        }
        assert_eq!(steady.dropped, 0);
        assert!(wait_us < 30.0, "{discipline:?}: {wait_us}");
        let ratio = rows[2].throughput_bps / rows[1].throughput_bps;
        let expected = if discipline == Some(Discipline::RoundRobin) { 1.0 } else { 2.0 };
        assert!((ratio - expected).abs() < 0.02, "{discipline:?}: {ratio}");
    }
}
