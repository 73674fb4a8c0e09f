//! TCP over cells: what is conserved, what a path carries, and what is known in closed form.

use crate::world::{World, port};
use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{BitRate, Cells, Duration, Octets, Time};
use cellrate_scenario::*;
use cellrate_sim::{RunResult, TcpSummary};

fn tcp(preset: &str, change: impl FnOnce(&mut TcpTraffic)) -> Traffic {
    let preset = Preset::named(preset).expect("it is there");
    let mut traffic = TcpTraffic {
        tcp: preset.tcp(),
        encapsulation: preset.encapsulation,
        connections: 1,
        transfer: None,
        start: Time::ZERO,
        end: Time::NEVER,
        pages: None,
        adapter_queue: AdapterQueue::Unbounded,
        successive: false,
    };
    change(&mut traffic);
    Traffic::Tcp(Box::new(traffic))
}

/// One UBR VC over two switches and a line of 10 Mb/s with a buffer of `buffer` cells before it.
fn bottleneck(traffic: Traffic, buffer: Option<u64>, seconds: u64) -> World {
    let mut world = World::new(Duration::from_secs(seconds));
    world.rate = BitRate::from_bps(10_000_000);
    world.delay = Duration::from_ms(5);
    world.link("a", "sw1", crate::world::OC3, Duration::from_us(10));
    let slow = world.link("sw1", "sw2", world.rate, world.delay);
    world.link("sw2", "b", crate::world::OC3, Duration::from_us(10));
    port(&mut world.scenario, slow.0 as usize, 0).buffers.ubr = buffer.map(Cells);
    let vc = world.other("vc", Category::Ubr, &["a", "sw1", "sw2", "b"], traffic);
    vc.forward.sender = Sender::Peak(crate::world::OC3.to_cell_rate());
    world
}

fn row(result: &RunResult) -> &TcpSummary {
    &result.summary.tcp[0]
}

#[test]
fn without_loss_the_line_is_full_and_nothing_is_sent_again() {
    let result = bottleneck(tcp("reno", |_| {}), None, 10).run();
    let row = row(&result);
    // 1460 of 32 * 53 octets a segment: 8.61 Mb/s of 10; slow start costs a few round trips of 10 ms.
    assert!(row.goodput_bps > 8.57e6 && row.goodput_bps < 8.61e6, "{row:?}");
    assert_eq!((row.retransmitted, row.timeouts, row.efficiency), (0, 0, Some(1.0)));
    assert_eq!(row.spoiled_pdus, 0);
}

#[test]
fn a_transfer_ends_and_every_octet_of_it_is_counted_once() {
    for recovery in [Recovery::None, Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack] {
        let traffic = tcp("reno", |tcp| {
            tcp.tcp.recovery = recovery;
            tcp.tcp.window = Octets(200_000);
            tcp.transfer = Some(Octets(3_000_001));
        });
        let result = bottleneck(traffic, Some(300), 60).run();
        let row = row(&result);
        assert_eq!(row.delivered_octets, 3_000_001, "{recovery:?}");
        assert_eq!(row.acknowledged_octets, 3_000_001);
        assert_eq!(row.offered_octets - row.retransmitted_octets, 3_000_001);
        assert!(
            row.retransmitted > 0 && row.spoiled_pdus > 0,
            "the buffer is too small for no loss: {row:?}"
        );
        assert!(row.completed_s.is_some_and(|at| at < 60.0));
        let vc = &result.summary.vcs[0];
        assert_eq!(vc.sent, vc.delivered + vc.dropped, "all cells have come or were lost");
        // Every segment left as a PDU; those that did not come whole were spoiled, or lost with their last cell.
        assert!(row.whole_pdus + row.spoiled_pdus <= row.segments);
    }
}

#[test]
fn recovery_orders_as_the_literature_has_it() {
    let goodput = |recovery| {
        let traffic = tcp("reno", |tcp| {
            tcp.tcp.recovery = recovery;
            tcp.tcp.window = Octets(100_000);
        });
        row(&bottleneck(traffic, Some(600), 60).run()).goodput_bps
    };
    let [none, reno, newreno, sack] =
        [Recovery::None, Recovery::Reno, Recovery::NewReno, Recovery::Sack].map(goodput);
    assert!(none < reno && none < newreno && none < sack, "{none} {reno} {newreno} {sack}");
    assert!(sack >= 0.98 * newreno, "{newreno} {sack}");
}

#[test]
fn clusters_and_folding_change_nothing() {
    // The same path with long access links is cut into other clusters, and a second host on the access link's switch
    // port is not there: the transfer takes the same time but for the delays added.
    let end = |delay_us: u64, watch: bool| {
        let traffic = tcp("newreno", |tcp| tcp.transfer = Some(Octets(500_000)));
        let mut world = bottleneck(traffic, None, 5);
        world.scenario.links[0].delay = Duration::from_us(delay_us);
        world.scenario.links[1].delay = Duration::from_us(10_000 - delay_us);
        if watch {
            // Every cell an event at the host, and real departures at the sending host.
            for quantity in [FlowQuantity::Received, FlowQuantity::Cwnd] {
                let quantity = Quantity::Flow { quantity, flow: FlowIndex::of(ConnectionIndex(0), false) };
                world.scenario.probes.push(Probe { quantity, every: Every::Change });
            }
            let quantity =
                Quantity::Port { quantity: PortQuantity::Queue, port: PortIndex::of(LinkIndex(0), 0) };
            world.scenario.probes.push(Probe { quantity, every: Every::Change });
        }
        let result = world.run();
        let row = row(&result);
        (row.completed_s, row.segments, row.final_cwnd, row.smoothed_rtt_s)
    };
    let reference = end(10, false);
    assert!(reference.0.is_some());
    for (delay_us, watch) in [(10, true), (3000, false), (3000, true), (9990, false)] {
        assert_eq!(end(delay_us, watch), reference, "{delay_us} {watch}");
    }
}

#[test]
fn a_full_adapter_loses_whole_pdus_and_the_sender_notices() {
    let traffic = tcp("reno", |tcp| {
        tcp.adapter_queue = AdapterQueue::Pdus(8);
        tcp.encapsulation = Encapsulation::VcMultiplexed;
    });
    let mut world = bottleneck(traffic, None, 10);
    world.scenario.links[0].rate = BitRate::from_bps(10_000_000);
    let Sender::Peak(rate) = &mut world.scenario.connections[0].forward.sender else { panic!() };
    *rate = BitRate::from_bps(10_000_000).to_cell_rate();
    let result = world.run();
    let row = row(&result);
    assert!(row.adapter_drops > 0 && row.retransmitted >= row.adapter_drops, "{row:?}");
    assert_eq!(row.spoiled_pdus, 0, "no cell was lost");
    assert_eq!(result.summary.vcs[0].dropped, 0);
}

#[test]
fn connections_on_one_vc_share_it_evenly() {
    let result = bottleneck(tcp("newreno", |tcp| tcp.connections = 4), None, 20).run();
    let goodputs: Vec<f64> = result.summary.tcp.iter().map(|row| row.goodput_bps).collect();
    assert_eq!(goodputs.len(), 4);
    let total: f64 = goodputs.iter().sum();
    assert!(total > 8.5e6 && goodputs.iter().all(|g| (g / total - 0.25).abs() < 0.02), "{goodputs:?}");
}

#[test]
fn both_directions_at_once_are_independent_connections() {
    let mut world = bottleneck(tcp("reno", |_| {}), None, 10);
    world.scenario.connections[0].backward.traffic = Some(tcp("reno", |_| {}));
    let result = world.run();
    assert_eq!(result.summary.tcp.len(), 2);
    // ACKs of two cells for every two segments share the line with data: 64 of 66 cells, 8.35 Mb/s. They wait behind
    // data and come in bunches, so that the line is idle at times.
    for row in &result.summary.tcp {
        assert!(row.goodput_bps > 0.85 * 8.35e6 && row.goodput_bps < 8.35e6, "{row:?}");
        assert_eq!(row.retransmitted, 0);
    }
}

#[test]
fn over_abr_the_source_queue_holds_what_the_window_allows() {
    let mut world = World::new(Duration::from_secs(10));
    world.rate = BitRate::from_bps(10_000_000);
    let traffic = tcp("tcp-lrd-vbr", |tcp| tcp.tcp.window = Octets(100_000));
    world.abr("vc", &["a", "sw1", "b"], traffic);
    let result = world.run();
    let row = row(&result);
    // 31 of 32 cells are data: 512 octets in 12 cells of 53, 7.80 Mb/s of 10.
    assert!(row.goodput_bps > 7.65e6 && row.goodput_bps < 7.81e6, "{row:?}");
    // 100,000 octets are 195 segments of 12 cells; nearly all of them wait at the source.
    assert!(row.max_adapter_queue > 1500 && row.max_adapter_queue <= 195 * 12, "{row:?}");
}

#[test]
fn back_pressure_leaves_the_window_with_tcp_and_the_line_full() {
    let run = |adapter_queue| {
        let traffic = tcp("newreno", |tcp| {
            tcp.adapter_queue = adapter_queue;
            tcp.encapsulation = Encapsulation::VcMultiplexed;
            tcp.connections = 3;
        });
        let mut world = bottleneck(traffic, Some(100), 10);
        // The source, not the switch, is what limits them, as an ABR source does.
        let rate = BitRate::from_bps(9_000_000).to_cell_rate();
        world.scenario.connections[0].forward.sender = Sender::Peak(rate);
        let result = world.run();
        assert_eq!(result.summary.vcs[0].dropped, 0);
        result.summary.tcp
    };
    let [queued, held] = [AdapterQueue::Unbounded, AdapterQueue::HighWater(Cells(16))].map(run);
    let total = |rows: &[TcpSummary]| rows.iter().map(|row| row.goodput_bps).sum::<f64>();
    // 1460 of 32 * 53 octets of 9 Mb/s.
    for rows in [&queued, &held] {
        assert!((7.68e6..7.75e6).contains(&total(rows)), "{}", total(rows));
    }
    for (queued, held) in queued.iter().zip(&held) {
        // Three windows of 45 segments wait in the adapter; or a segment and a half do, and the rest stays with TCP.
        assert!(queued.max_adapter_queue > 3000, "{queued:?}");
        assert_eq!(held.max_adapter_queue, 15 + 32);
        let [queued_s, held_s] = [queued, held].map(|row| row.smoothed_rtt_s.expect("measured"));
        assert!(queued_s > 0.15 && held_s < 0.02, "{queued_s} {held_s}");
    }
    let [most, least] = [f64::max, f64::min].map(|pick| held.iter().map(|row| row.goodput_bps).reduce(pick));
    assert!(most < least.map(|least| 1.02 * least), "they take turns: {most:?} {least:?}");
}

#[test]
fn as_many_connections_as_there_are_numbers_have_a_row_each() {
    let most = tcp("reno", |tcp| tcp.connections = u16::MAX);
    let mut world = bottleneck(most, None, 1);
    world.scenario.duration = Duration::from_us(1);
    let rows = world.run().summary.tcp;
    let numbers = rows.iter().map(|row| row.connection);
    assert!(numbers.eq(1..=u16::MAX), "{} rows", rows.len());
}
