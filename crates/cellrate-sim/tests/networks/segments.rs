//! Switches that segment control loops (VS/VD): stories of a few nodes, and what holds whatever they do.

use std::ops::ControlFlow;

use crate::world::*;
use cellrate_proto::switch::{EfciConfig, PortControlConfig};
use cellrate_proto::{BitRate, Cells, Duration};
use cellrate_scenario::{
    ConnectionIndex, Document, Every, FlowIndex, FlowQuantity, LinkIndex, NodeKind, PortIndex, PortQuantity,
    Quantity, VsVd,
};
use cellrate_sim::run;

const SLOW: BitRate = BitRate::from_bps(40_000_000);

/// A greedy source 10 ms away from sw1, and behind it sw2 and a slow line, with ERICA everywhere and `vs_vd` at the
/// port from sw1 to sw2.
fn two_loops(vs_vd: Option<VsVd>) -> World {
    let mut world = World::new(Duration::from_ms(1500));
    world.control = erica(Duration::from_ms(1), None);
    world.link("a", "sw1", OC3, Duration::from_ms(10));
    world.link("sw1", "sw2", OC3, Duration::from_us(100));
    world.link("sw2", "b", SLOW, Duration::from_us(100));
    parameters(world.abr("vc", &["a", "sw1", "sw2", "b"], greedy())).icr = SLOW.to_cell_rate() * 0.5;
    port(&mut world.scenario, 1, 0).vs_vd = vs_vd;
    world
}

fn at_sw1(world: &mut World, quantity: FlowQuantity) {
    let switch = world.node("sw1", NodeKind::Switch);
    let connection = ConnectionIndex(0);
    let every = Every::Interval(Duration::from_ms(1));
    world.probe(Quantity::VirtualSource { quantity, flow: FlowIndex::of(connection, false), switch }, every);
}

#[test]
fn a_virtual_source_takes_the_line_behind_it_and_its_queue_comes_to_rest_at_t0() {
    for t0 in [None, Some(Duration::from_ms(4)), Some(Duration::from_ms(20))] {
        let mut world = two_loops(Some(VsVd { t0, ..VsVd::default() }));
        at_sw1(&mut world, FlowQuantity::Acr);
        at_sw1(&mut world, FlowQuantity::SourceQueue);
        let result = world.run();
        // Half of the 20 ms to the source and back.
        let t0 = t0.unwrap_or(Duration::from_ms(10)).as_secs_f64();
        let last = |series: usize| *result.series[series].values.last().unwrap();
        let target = 0.9 * SLOW.to_cell_rate().as_cells_per_s();
        assert!((last(0) / target - 1.0).abs() < 0.01, "{} against {target}", last(0));
        let delay = last(1) / last(0);
        assert!((delay / t0 - 1.0).abs() < 0.05, "{delay} s against {t0} s");
        assert!(last(1) > 100.0, "so many that they would be missed");
        assert_what_is_on_its_way(&result);
        // The source is told what the virtual source has.
        let told = result.summary.vcs[0].final_acr.unwrap();
        assert!((told / target - 1.0).abs() < 0.01, "{told} against {target}");
    }
}

#[test]
fn the_line_behind_has_the_queue_of_a_short_loop() {
    let queue = |vs_vd| {
        let mut world = two_loops(vs_vd);
        // A second connection comes when the first one has the line.
        let late = greedy_in(Duration::from_ms(500), Duration::from_ms(1500));
        let other = world.abr("late", &["a2", "sw1", "sw2", "b2"], greedy());
        other.forward.traffic = Some(late);
        parameters(other).icr = SLOW.to_cell_rate() * 0.5;
        let links = &mut world.scenario.links;
        let (delay, rate) = (links[0].delay, links[2].rate);
        links[1].rate = rate;
        links[3].delay = delay;
        let result = world.run();
        let port = result.summary.ports.iter().find(|port| port.port == "sw1->sw2").unwrap();
        (port.max_queue, result.summary.virtual_sources.iter().map(|row| row.max_queue).sum::<u64>())
    };
    let ((without, none), (with, per_vc)) = (queue(None), queue(Some(VsVd::default())));
    assert_eq!(none, 0);
    // What a source sends in the 20 ms until it is told waits in its own queue.
    assert!(with * 4 < without && per_vc > with, "{with} and {per_vc} cells where {without} waited");
}

#[test]
fn a_source_hears_of_its_own_loop_alone() {
    let first = |vs_vd: Option<VsVd>| {
        let mut world = two_loops(vs_vd);
        world.scenario.links[1].delay = Duration::from_ms(100);
        let quantity = FlowQuantity::BackwardRm;
        let flow = Quantity::Flow { quantity, flow: FlowIndex::of(ConnectionIndex(0), false) };
        world.probe(flow, Every::Change);
        world.run().series[0].times_ps[1]
    };
    let ms = |ms: u64| ms * 1_000_000_000;
    let (with, without) = (first(Some(VsVd::default())), first(None));
    assert!((ms(20)..ms(21)).contains(&with) && (ms(220)..ms(221)).contains(&without), "{with} {without}");
}

#[test]
fn efci_is_for_the_loop_that_it_comes_from() {
    let mut world = two_loops(Some(VsVd::default()));
    // The line to the source's switch marks everything: it is its own bottleneck.
    world.control =
        PortControlConfig { efci: Some(EfciConfig { high: Cells(0), low: Cells(0) }), ..Default::default() };
    world.link("sw0", "sw1", SLOW, Duration::from_us(100));
    world.control = erica(Duration::from_ms(1), None);
    let marked = world.abr("marked", &["c", "sw0", "sw1", "sw2", "b2"], greedy());
    parameters(marked).icr = SLOW.to_cell_rate() * 0.5;
    at_sw1(&mut world, FlowQuantity::Acr);
    if let Quantity::VirtualSource { flow, .. } = &mut world.scenario.probes[0].quantity {
        *flow = FlowIndex::of(ConnectionIndex(1), false);
    }
    let result = world.run();
    let row = result.summary.vcs.iter().find(|row| row.vc == "marked").unwrap();
    let own = *result.series[0].values.last().unwrap();
    assert!(own > 5.0 * row.final_acr.unwrap(), "{own} against {:?}", row.final_acr);
}

#[test]
fn what_finds_no_room_is_lost_at_the_port_behind() {
    let limited = VsVd { buffer: Some(Cells(10)), ..VsVd::default() };
    let mut world = two_loops(Some(limited));
    let drops = Quantity::Port { quantity: PortQuantity::Drops, port: PortIndex::of(LinkIndex(1), 0) };
    world.probe(drops, Every::Change);
    let result = world.run();
    let (vc, virtual_source) = (&result.summary.vcs[0], &result.summary.virtual_sources[0]);
    let port = result.summary.ports.iter().find(|port| port.port == "sw1->sw2").unwrap();
    assert!(vc.dropped > 0, "10 cells are not much");
    assert_eq!((port.dropped, *result.series[0].values.last().unwrap()), (vc.dropped, vc.dropped as f64));
    assert_eq!(virtual_source.max_queue, 10);
    assert_what_is_on_its_way(&result);
}

/// Cells counted on their way, those in queues too, are data that neither came nor was lost, and a few RM cells.
fn assert_what_is_on_its_way(result: &cellrate_sim::RunResult) {
    let vc = &result.summary.vcs[0];
    let on_way = vc.data_sent - vc.data_delivered - vc.dropped;
    assert!((on_way..on_way + 40).contains(&vc.in_flight), "{on_way} data cells, {} in all", vc.in_flight);
}

#[test]
fn results_name_each_virtual_source_along_the_way() {
    let mut world = two_loops(Some(VsVd::default()));
    // Of one port of each switch, which is enough for both directions.
    port(&mut world.scenario, 1, 1).vs_vd = Some(VsVd::default());
    world.scenario.connections[0].backward.traffic = Some(greedy());
    let result = world.run();
    let names = result.summary.virtual_sources.iter().map(|row| (row.vc.as_str(), row.switch.as_str()));
    assert_eq!(
        names.collect::<Vec<_>>(),
        [("vc", "sw1"), ("vc", "sw2"), ("vc (back)", "sw2"), ("vc (back)", "sw1")]
    );
}

/// A virtual source whose ACR has become 0 while nothing waited for it.
#[test]
fn a_loop_that_was_told_nothing_at_rest_comes_back() {
    let text = r#"
        name = "rest"
        duration = "8 s"
        host = [{ name = "s" }, { name = "d" }, { name = "from" }, { name = "to" }]
        switch = [{ name = "sw1", vs_vd = {} }, { name = "sw2" }, { name = "sw3" }]
        link = [
            { between = ["s", "sw1"] }, { between = ["sw1", "sw2"], length = "1000 km" }, { between = ["sw2", "sw3"] },
            { between = ["sw3", "d"] }, { between = ["from", "sw2"] }, { between = ["sw3", "to"] },
        ]
        [defaults]
        link = { rate = "10 Mbps", length = "1 km" }
        switch.algorithm = { type = "erica" }
        [[vc]]
        name = "vc"
        path = ["s", "sw1", "sw2", "sw3", "d"]
        abr.pcr = "100 cells/s"
        [[vc]]
        name = "cbr"
        category = "cbr"
        path = ["from", "sw2", "sw3", "to"]
        traffic = { type = "constant", rate = "9.9 Mbps", start = "2283.1067047266783 ms", end = "2783.1067047266783 ms" }
    "#;
    let scenario = Document::parse(text, "rest").and_then(|document| document.resolve()).unwrap();
    let result = run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap();
    let vc = &result.summary.vcs[0];
    // It was told 0 with 129 data cells sent, and rises by 1/16 of PCR with each BRM since.
    assert!(vc.data_sent > 300 && vc.final_acr > Some(50.0), "{} cells, {:?}", vc.data_sent, vc.final_acr);
}
