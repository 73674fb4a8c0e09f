//! Stories of a few nodes, driven to their end.

use crate::world::*;
use cellrate_proto::{CellRate, Cells, Duration, Time};
use cellrate_scenario::traffic::{Constant, Greedy};
use cellrate_scenario::{
    Category, Every, GreedyWindow, LinkIndex, PortIndex, PortQuantity, Quantity, Span, Traffic,
};

#[test]
fn one_greedy_source_settles_at_the_target_utilization() {
    let mut world = n_sources(1, Duration::from_ms(5), Duration::from_ms(400));
    world.acr_of(0);
    let result = world.run();
    let acr = *result.series[0].values.last().unwrap();
    let target = 0.9 * OC3.to_cell_rate().as_cells_per_s();
    assert!((acr / target - 1.0).abs() < 0.01, "{acr} against {target}");
}

#[test]
fn fifteen_greedy_sources_share_alike() {
    let world = n_sources(15, Duration::from_ms(5), Duration::from_secs(1));
    let result = world.run();
    let share = 0.9 * OC3.to_cell_rate().as_cells_per_s() / 15.0;
    for row in result.summary.vcs.iter().filter(|row| !row.vc.ends_with("(back)")) {
        let acr = row.final_acr.unwrap();
        assert!((acr / share - 1.0).abs() < 0.02, "{}: {acr} against {share}", row.vc);
        assert_eq!(row.dropped, 0);
    }
}

/// `cells` cells from a to b over one link of 100 us delay, from time 0 on, at the line rate.
fn one_link(cells: u64, duration: Duration) -> World {
    let mut world = World::new(duration);
    world.link("a", "b", OC3, Duration::from_us(100));
    let window = GreedyWindow { start: Time::ZERO, end: Time::NEVER, cells: Some(Cells(cells)) };
    world.other("vc", Category::Ubr, &["a", "b"], Traffic::Greedy(Greedy { windows: vec![window] }));
    world
}

fn port_probe(world: &mut World, quantity: PortQuantity, link: u32, end: u8, every: Every) {
    world.probe(Quantity::Port { quantity, port: PortIndex::of(LinkIndex(link), end) }, every);
}

#[test]
fn a_departure_at_the_very_end_does_not_happen() {
    let cell_time = OC3.cell_time();
    let transmitted = |duration| one_link(1, duration).run().summary.ports.first().map(|row| row.transmitted);
    assert_eq!(transmitted(cell_time), None);
    assert_eq!(transmitted(cell_time + Duration::from_ps(1)), Some(1));
}

/// A source without feedback sends many cells ahead of time, and the first that has not been sent has to arrive for
/// more to be: wherever that is cut, what leaves before the end has been sent and nothing else.
#[test]
fn a_source_that_sends_ahead_has_sent_what_leaves_before_the_end() {
    let gap = Duration::from_us(5);
    let sent = |duration| {
        let mut world = World::new(duration);
        world.link("a", "sw1", OC3, Duration::from_us(99));
        world.link("sw1", "sw2", OC3, Duration::from_ms(1));
        let traffic = Traffic::Constant(Constant {
            rate: CellRate::new(200_000.0),
            start: Time::ZERO,
            end: Time::NEVER,
        });
        world.other("vc", Category::Cbr, &["a", "sw1", "sw2", "b"], traffic);
        let row = world.run().summary.vcs[0].clone();
        (row.sent, row.delivered + row.in_flight)
    };
    for cells in [1, 2, 100, 127, 128, 129, 140, 255, 256, 257, 270, 400] {
        assert_eq!(sent(gap * cells), (cells, cells), "one that leaves at the end does not");
        assert_eq!(sent(gap * cells + Duration::from_ps(1)), (cells + 1, cells + 1));
    }
}

#[test]
fn a_cell_is_lost_when_its_transmission_ends_and_not_before() {
    let cell_time = OC3.cell_time();
    let lost = |duration| {
        let mut world = one_link(1, duration);
        world.scenario.links[0].line.outages = vec![Span { start: Time::ZERO, end: Time::NEVER }];
        let row = world.run().summary.vcs[0].clone();
        (row.dropped, row.in_flight)
    };
    assert_eq!(lost(cell_time), (0, 1));
    assert_eq!(lost(cell_time + Duration::from_ps(1)), (1, 0));
}

#[test]
fn a_port_that_nothing_uses_has_a_queue_of_zero() {
    let mut world = one_link(1, Duration::from_ms(2));
    port_probe(&mut world, PortQuantity::Queue, 0, 1, Every::Interval(Duration::from_ms(1)));
    port_probe(&mut world, PortQuantity::Queue, 0, 1, Every::Change);
    let series = world.run().series;
    assert_eq!((&series[0].times_ps[..], &series[0].values[..]), (&[0, 1_000_000_000][..], &[0.0, 0.0][..]));
    assert_eq!((&series[1].times_ps[..], &series[1].values[..]), (&[0][..], &[0.0][..]));
}

#[test]
fn a_buffer_of_no_places_takes_nothing_and_one_of_one_place_takes_the_cell_in_transmission() {
    let carried = |places| {
        let mut world = one_link(1, Duration::from_ms(1));
        port(&mut world.scenario, 0, 0).buffers.ubr = Some(Cells(places));
        let row = world.run().summary.vcs[0].clone();
        (row.delivered, row.dropped)
    };
    assert_eq!(carried(0), (0, 1));
    assert_eq!(carried(1), (1, 0));
}

#[test]
fn every_averaging_interval_shows_though_nothing_passes_the_port_any_more() {
    let mut world = World::new(Duration::from_ms(40));
    world.control = erica(Duration::from_ms(5), None);
    world.delay = Duration::from_us(10);
    world.abr("vc", &["a", "sw1", "b"], greedy_in(Duration::ZERO, Duration::from_ms(7)));
    port_probe(&mut world, PortQuantity::Metric(0), 1, 0, Every::Change);
    let series = &world.run().series[0];
    // z of nothing at 0; the load of two intervals, ended at 5 and 10 ms; of an empty one at 15 ms, and so for ever.
    let ms: Vec<u64> = series.times_ps.iter().map(|&ps| ps / Duration::from_ms(1).as_ps()).collect();
    assert_eq!(ms, [0, 5, 10, 15], "{:?}", series.values);
    assert!(series.times_ps.iter().all(|ps| ps.is_multiple_of(Duration::from_ms(1).as_ps())));
    assert_eq!((series.values[0], series.values[3]), (0.0, 0.0));
}
