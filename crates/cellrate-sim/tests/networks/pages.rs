//! Pages over TCP over cells: what they take in closed form, and what is conserved whatever is lost.

use std::collections::VecDeque;

use crate::world::{World, parameters_of};
use cellrate_proto::{BitRate, CellRate, Duration, Octets, Time};
use cellrate_scenario::*;
use cellrate_sim::random::Owner;
use cellrate_sim::transport::{Segment, Stack};
use cellrate_sim::{ExchangeRow, RunResult, TcpSummary};
use proptest::prelude::*;

const LINE: BitRate = BitRate::from_bps(10_000_000);
const DELAY: Duration = Duration::from_ms(10);

fn object(request: u64, response: u64) -> PageObject {
    PageObject { request: Octets(request), response: Octets(response), server_time: Duration::ZERO }
}

/// One page of one object of 300 kB.
fn pages() -> Pages {
    Pages {
        objects: vec![object(300, 300_000)],
        clients: 1,
        count: Some(1),
        object_gap: Duration::ZERO,
        think_time: Period::Fixed(Duration::ZERO),
        connection: ConnectionUse::PerObject,
        handshake: true,
        end: Time::NEVER,
        record: 1000,
    }
}

fn traffic(preset: &str, pages: Pages) -> TcpTraffic {
    let preset = Preset::named(preset).expect("it is there");
    TcpTraffic {
        tcp: preset.tcp(),
        encapsulation: preset.encapsulation,
        connections: 0,
        transfer: None,
        start: Time::ZERO,
        end: Time::NEVER,
        pages: Some(pages),
        adapter_queue: AdapterQueue::Unbounded,
        successive: false,
    }
}

/// A client and a server with a line of 10 Mb/s and 10 ms between them.
fn line(traffic: TcpTraffic) -> World {
    let mut world = World::new(Duration::from_secs(60));
    (world.rate, world.delay) = (LINE, DELAY);
    world.other("web", Category::Ubr, &["client", "server"], Traffic::Tcp(Box::new(traffic)));
    world
}

/// A world of two hosts and two switches.
fn network(traffic: TcpTraffic, category: Category) -> World {
    let mut world = World::new(Duration::from_secs(60));
    world.link("client", "sw1", crate::world::OC3, Duration::from_us(10));
    world.link("sw1", "sw2", LINE, DELAY);
    world.link("sw2", "server", crate::world::OC3, Duration::from_us(10));
    let path = ["client", "sw1", "sw2", "server"];
    let traffic = Traffic::Tcp(Box::new(traffic));
    match category {
        Category::Abr => world.abr("web", &path, traffic),
        _ => world.other("web", category, &path, traffic),
    };
    world
}

fn tcp<'a>(result: &'a RunResult, vc: &str) -> Vec<&'a TcpSummary> {
    result.summary.tcp.iter().filter(|row| row.vc == vc).collect()
}

/// So many cells and delays of the line [s].
fn span(cells: u64, delays: u64) -> f64 {
    (LINE.cell_time() * cells + DELAY * delays).as_secs_f64()
}

#[track_caller]
fn assert_same(found: Option<f64>, expected: f64) {
    let found = found.expect("it is there");
    assert!((found - expected).abs() < 1e-9, "{found} against {expected}");
}

#[test]
fn three_hundred_kilobytes_take_33_segments_and_32_delayed_acks() {
    let result = line(traffic("internet-applications", pages())).run();
    let [row] = &result.summary.exchange_list[..] else { panic!("{:?}", result.summary.exchange_list) };
    // SYN and its answer are two cells each. Then an ACK of two, and the request of 300 + 56 octets in eight.
    assert_same(row.opened_s, span(4, 2));
    assert_same(row.request_cell_s, span(4 + 3, 2));
    assert_same(row.request_delivered_s, span(4 + 10, 3));
    // A segment of 9140 octets is 192 cells. The window of 9148 holds one: its ACK of two cells comes 50 ms after it,
    // and then the next: 32 times. The last one has 300,000 - 32 * 9140 = 7520 octets, 158 cells.
    assert_same(row.first_octet_s, span(14 + 192, 4));
    let cycles = 32.0 * (0.050 + span(2, 2));
    let expected = span(14 + 32 * 192 + 158, 4) + cycles;
    assert_same(row.last_octet_s, expected);
    assert!((expected - 2.550_512).abs() < 1e-6, "{expected}");
    assert_same(row.response_departed_s, expected - span(0, 1));
    assert_same(row.response_s, expected);
    assert_same(row.cell_response_s, expected - span(7, 2));
    let [summary] = &result.summary.exchanges[..] else { panic!("{:?}", result.summary.exchanges) };
    assert_eq!((summary.count, summary.object, summary.response_octets), (1, 1, 300_000));
    assert_same(summary.mean_response_s, expected);
    assert_same(summary.max_cell_response_s, expected - span(7, 2));
    assert_eq!(summary.deviation_response_s, Some(0.0));
    let responses = tcp(&result, "web (back)")[0];
    assert_eq!((responses.segments, responses.retransmitted, responses.delivered_octets), (33, 0, 300_000));
    assert_eq!(responses.acknowledged_octets, 300_000, "the last ACK does not wait: the connection closes");
}

#[test]
fn a_handshake_costs_a_round_trip_and_an_ack_before_the_request() {
    let response = |handshake| {
        let result = line(traffic("internet-applications", Pages { handshake, ..pages() })).run();
        result.summary.exchanges[0].mean_response_s.expect("one")
    };
    let cost = response(true) - response(false);
    assert!((cost - span(4 + 2, 2)).abs() < 1e-9, "{cost}");
}

#[test]
fn thirty_pages_of_two_objects_over_a_connection_per_object_page_or_client() {
    let html_and_gif = Pages {
        objects: vec![object(250, 600), object(300, 300_000)],
        count: Some(30),
        think_time: Period::Fixed(Duration::from_ms(500)),
        ..pages()
    };
    let run = |connection| {
        let mut world = line(traffic("internet-applications", Pages { connection, ..html_and_gif.clone() }));
        world.scenario.duration = Duration::from_secs(120);
        world.run()
    };
    let [object, page, persistent] =
        [ConnectionUse::PerObject, ConnectionUse::PerPage, ConnectionUse::Persistent].map(run);
    for (result, connections) in [(&object, 60), (&page, 30), (&persistent, 1)] {
        let list = &result.summary.exchange_list;
        assert_eq!((list.len(), list.last().unwrap().connection), (60, connections));
        assert_eq!(result.summary.pages[0].count, 30);
        assert_eq!(tcp(result, "web")[0].delivered_octets, 30 * 550);
        assert_eq!(tcp(result, "web (back)")[0].delivered_octets, 30 * 300_600);
        // Nothing is random and nothing is left over from the page before.
        assert!(result.summary.exchanges.iter().all(|row| row.count == 30));
        assert!(list.iter().all(|row| row.cell_response_s < row.response_s || connections < 60));
    }
    // The html: SYN and answer, ACK and request of 306 octets in 7 cells, response of 656 octets in 14.
    let mean = |result: &RunResult, object: usize| result.summary.exchanges[object].mean_response_s;
    assert_same(mean(&object, 0), span(4 + 2 + 7 + 14, 4));
    assert_same(object.summary.exchanges[0].deviation_response_s, 0.0);
    // The second object of a page needs no handshake; the ACK of the html rides on its request.
    assert_same(mean(&page, 0), span(4 + 2 + 7 + 14, 4));
    let gif = span(8 + 32 * 192 + 158, 2) + 32.0 * (0.050 + span(2, 2));
    assert_same(mean(&page, 1), gif);
    // A page by itself: 0.5 s after the one before.
    let starts: Vec<f64> =
        page.summary.exchange_list.iter().filter(|row| row.object == 1).map(|row| row.start_s).collect();
    let load = page.summary.pages[0].mean_load_s.expect("thirty");
    assert_same(Some(starts[1] - starts[0]), load + 0.5);
    assert_same(Some(load), span(27, 4) + gif);
}

#[test]
fn a_server_takes_its_time_and_objects_keep_their_gap() {
    let slow = PageObject { server_time: Duration::from_ms(30), ..object(250, 600) };
    let model =
        Pages { objects: vec![slow, slow], object_gap: Duration::from_ms(7), handshake: false, ..pages() };
    let result = line(traffic("internet-applications", model)).run();
    let list = &result.summary.exchange_list;
    // A request of 7 cells, 30 ms, a response of 14: both with the delay of the line.
    for row in list {
        assert_same(row.response_s, span(21, 2) + 0.030);
    }
    assert_same(Some(list[1].start_s - list[0].last_octet_s.unwrap()), 0.007);
}

#[test]
fn no_page_begins_at_or_after_the_end() {
    let count = |end_ms| {
        let end = Time::ZERO + Duration::from_ms(end_ms);
        let think_time = Period::Fixed(Duration::from_ms(1000));
        let model = Pages {
            count: None,
            objects: vec![object(250, 600)],
            end,
            think_time,
            handshake: false,
            ..pages()
        };
        line(traffic("internet-applications", model)).run().summary.pages[0].count
    };
    // Pages begin every 1000 + 20 + 0.89 ms: at 0, 1021, 2042.
    assert_eq!([count(1), count(1020), count(1021), count(2042)], [1, 1, 2, 3]);
}

#[test]
fn the_direction_back_has_its_own_rate_and_settings() {
    let mut world = network(traffic("internet-applications", pages()), Category::Abr);
    let connection = &mut world.scenario.connections[0];
    let parameters = parameters_of(&mut connection.backward).expect("abr");
    parameters.pcr = CellRate::new(2000.0);
    parameters.icr = CellRate::new(2000.0);
    let limited = world.run();
    let time = limited.summary.exchanges[0].mean_response_s.expect("one");
    assert_eq!(tcp(&limited, "web (back)")[0].retransmitted, 0);
    // 300,000 octets are 32 * 192 + 158 = 6302 cells; the SYN is two. RM cells of both directions go with them.
    let back = &limited.summary.vcs[1];
    assert_eq!(back.data_sent, 6304);
    let expected = back.sent as f64 / 2000.0 + 32.0 * 0.070 + 0.040;
    assert!((time / expected - 1.0).abs() < 0.01, "{time} against {expected}");
    // The responses' own settings: a window for all of it.
    let mut own = traffic("reno", pages());
    own.pages = None;
    own.tcp.window = Octets(1 << 20);
    own.tcp.initial_window = Octets(400_000);
    world.scenario.connections[0].backward.traffic = Some(Traffic::Tcp(Box::new(own)));
    let at_once = world.run();
    let responses = tcp(&at_once, "web (back)")[0];
    assert_eq!((responses.segments, responses.retransmitted), (206, 0), "of 1460 octets");
    let time = at_once.summary.exchanges[0].mean_response_s.expect("one");
    // The line is never idle but for two round trips at the beginning.
    let expected = at_once.summary.vcs[1].sent as f64 / 2000.0 + 0.040;
    assert!((time / expected - 1.0).abs() < 0.01, "{time} against {expected}");
}

#[test]
fn pages_and_transfers_share_a_vc() {
    let mut shared = traffic("reno", Pages { clients: 3, count: Some(4), ..pages() });
    (shared.connections, shared.transfer) = (2, Some(Octets(500_000)));
    let mut world = network(shared.clone(), Category::Ubr);
    world.scenario.connections[0].backward.traffic =
        Some(Traffic::Tcp(Box::new(TcpTraffic { pages: None, connections: 1, ..shared })));
    let result = world.run();
    let numbers = |vc| tcp(&result, vc).iter().map(|row| row.connection).collect::<Vec<_>>();
    assert_eq!((numbers("web"), numbers("web (back)")), (vec![1, 2, 3, 4, 5], vec![1, 2, 3, 4]));
    let delivered = |vc| tcp(&result, vc).iter().map(|row| row.delivered_octets).collect::<Vec<_>>();
    assert_eq!(delivered("web"), [500_000, 500_000, 1200, 1200, 1200]);
    assert_eq!(delivered("web (back)"), [500_000, 1_200_000, 1_200_000, 1_200_000]);
    assert!(result.summary.tcp.iter().all(|row| row.completed_s.is_some()));
    assert_eq!(result.summary.pages.iter().map(|row| row.count).collect::<Vec<_>>(), [4, 4, 4]);
}

#[test]
fn clients_think_each_by_itself_and_the_same_under_the_same_seed() {
    let starts = |seed| {
        let think_time = Period::Exponential(Duration::from_ms(400));
        let objects = vec![object(250, 600)];
        let model = Pages { clients: 2, count: Some(20), think_time, objects, ..pages() };
        let mut world = network(traffic("internet-applications", model), Category::Ubr);
        world.scenario.seed = seed;
        let list = world.run().summary.exchange_list;
        let of = |client| {
            list.iter().filter(|row| row.client == client).map(|row| row.start_s).collect::<Vec<_>>()
        };
        [of(1), of(2)]
    };
    let [one, two] = starts(1);
    assert_eq!((one.len(), two.len()), (20, 20));
    assert_ne!(one, two);
    assert_eq!([one.clone(), two], starts(1));
    assert_ne!(one, starts(2)[0]);
    // 19 thoughts of 400 ms and pages of 42 ms: 8.4 s, with a deviation of 400 ms times the root of 19.
    let last = one.last().unwrap();
    assert!((last - 8.4).abs() < 3.0 * 1.75, "{last}");
}

#[test]
fn clusters_and_folding_change_nothing() {
    let times = |delay_us: u64, watch: bool| {
        let model = Pages { objects: vec![object(250, 600), object(300, 50_000)], count: Some(3), ..pages() };
        let mut world = network(traffic("newreno", model), Category::Ubr);
        world.scenario.links[0].delay = Duration::from_us(delay_us);
        world.scenario.links[1].delay = Duration::from_us(10_000 - delay_us);
        if watch {
            for backward in [false, true] {
                let of =
                    |quantity| Quantity::Flow { quantity, flow: FlowIndex::of(ConnectionIndex(0), backward) };
                world.probe(of(FlowQuantity::Received), Every::Change);
                world.probe(of(FlowQuantity::Cwnd), Every::Change);
            }
            world.probe(
                Quantity::Port { quantity: PortQuantity::Queue, port: PortIndex::of(LinkIndex(0), 0) },
                Every::Change,
            );
        }
        world.run().summary.exchange_list
    };
    let reference = times(10, false);
    assert_eq!(reference.len(), 6);
    for (delay_us, watch) in [(10, true), (3000, false), (3000, true), (9990, false)] {
        assert_eq!(times(delay_us, watch), reference, "{delay_us} {watch}");
    }
}

#[test]
fn an_object_that_is_not_whole_at_the_end_says_how_far_it_has_come() {
    let until = |ms| {
        let mut world = line(traffic("internet-applications", pages()));
        world.scenario.duration = Duration::from_ms(ms);
        let summary = world.run().summary;
        assert_eq!((summary.exchanges[0].count, summary.pages[0].count), (0, 0));
        assert_eq!(summary.exchanges[0].mean_response_s, None);
        let row: &ExchangeRow = &summary.exchange_list[0];
        assert_eq!((row.last_octet_s, row.response_s), (None, None));
        [row.opened_s, row.request_cell_s, row.request_delivered_s, row.first_octet_s].map(|at| at.is_some())
    };
    assert_eq!(until(15), [false, false, false, false]);
    assert_eq!(until(22), [true, true, false, false]);
    assert_eq!(until(31), [true, true, true, false]);
    assert_eq!(until(1000), [true, true, true, true]);
}

#[test]
fn probes_count_responses_and_tell_the_time_of_the_last() {
    // Not at once, or the second SYN would wait for the ACK that closes the first connection.
    let think_time = Period::Fixed(Duration::from_ms(1));
    let mut world = line(traffic("internet-applications", Pages { count: Some(2), think_time, ..pages() }));
    for quantity in [FlowQuantity::Responses, FlowQuantity::ResponseTime] {
        let flow = FlowIndex::of(ConnectionIndex(0), false);
        world.probe(Quantity::Flow { quantity, flow }, Every::Change);
    }
    let result = world.run();
    let time = result.summary.exchanges[0].mean_response_s.unwrap();
    assert_eq!(result.series[0].values, [0.0, 1.0, 2.0]);
    assert_eq!((result.series[1].probe.as_str(), result.series[1].unit), ("response_time", "s"));
    // The first value is before any; each page takes as long as the other, but for the last picosecond.
    assert_eq!(result.series[1].values[0], 0.0);
    for value in &result.series[1].values[1..] {
        assert_same(Some(*value), time);
    }
}

#[test]
fn losses_on_the_line_cost_time_and_no_octet() {
    for connection in [ConnectionUse::PerObject, ConnectionUse::PerPage, ConnectionUse::Persistent] {
        let objects = vec![object(250, 600), object(300, 100_000)];
        let model = Pages { objects, count: Some(10), connection, ..pages() };
        let mut world = network(traffic("newreno", model), Category::Ubr);
        world.scenario.links[1].line.loss = 2e-4;
        world.scenario.duration = Duration::from_secs(600);
        let result = world.run();
        let [requests, responses] = [tcp(&result, "web")[0], tcp(&result, "web (back)")[0]];
        assert_eq!((requests.delivered_octets, responses.delivered_octets), (5500, 1_006_000));
        assert!(responses.retransmitted > 0, "{responses:?}");
        assert_eq!(result.summary.pages[0].count, 10);
        for vc in &result.summary.vcs {
            assert_eq!(vc.sent, vc.delivered + vc.dropped + vc.in_flight);
        }
    }
}

/// Two ends with `delay` between them, until nothing happens any more; segments for which `loses(end, n)` are lost.
fn converse(traffic: &TcpTraffic, delay: Duration, loses: impl Fn(usize, u64) -> bool) -> [Stack; 2] {
    let mut ends = [
        Stack::new(Some(traffic), None, 1, Owner::named("there")),
        Stack::new(None, Some(traffic), 1, Owner::named("back")),
    ];
    let mut wires: [VecDeque<(Time, Segment)>; 2] = Default::default();
    let (mut now, mut counts) = (Time::ZERO, [0, 0]);
    loop {
        for end in 0..2 {
            loop {
                if wires[1 - end].front().is_some_and(|(at, _)| *at <= now) {
                    let (_, segment) = wires[1 - end].pop_front().expect("it is there");
                    ends[end].on_segment(now, &segment, false);
                } else if ends[end].next_timer() <= now {
                    ends[end].on_timer(now);
                } else {
                    break;
                }
                while let Some(segment) = ends[end].poll_transmit(now) {
                    counts[end] += 1;
                    if !loses(end, counts[end]) {
                        wires[end].push_back((now + delay, segment));
                    }
                }
            }
        }
        let timers = ends.iter().map(Stack::next_timer);
        let arrivals = wires.iter().filter_map(|wire| wire.front().map(|(at, _)| *at));
        match timers.chain(arrivals).min() {
            Some(next) if next != Time::NEVER => now = next,
            _ => return ends,
        }
        assert!(now < Time::ZERO + Duration::from_secs(100_000), "it does not end");
    }
}

fn any_pages() -> impl Strategy<Value = Pages> {
    let connection = prop_oneof![
        Just(ConnectionUse::PerObject),
        Just(ConnectionUse::PerPage),
        Just(ConnectionUse::Persistent)
    ];
    let objects = prop::collection::vec((1_u64..4000, 1_u64..60_000, 0_u64..80), 1..4);
    let gaps = (0_u64..100, 0_u64..3000);
    (objects, 1_u16..4, 1_u64..5, gaps, connection, any::<bool>()).prop_map(
        |(objects, clients, count, (gap, think), connection, handshake)| Pages {
            objects: objects
                .into_iter()
                .map(|(request, response, server_ms)| PageObject {
                    server_time: Duration::from_ms(server_ms),
                    ..object(request, response)
                })
                .collect(),
            clients,
            count: Some(count),
            object_gap: Duration::from_ms(gap),
            think_time: Period::Fixed(Duration::from_ms(think)),
            connection,
            handshake,
            end: Time::NEVER,
            record: 1000,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn every_page_comes_whole_and_in_order_whatever_is_lost(
        pages in any_pages(),
        preset in prop::sample::select(vec!["reno", "newreno", "sack", "cubic", "internet-applications", "tcp-lrd-vbr", "solaris-2.4"]),
        lost in prop::collection::vec(any::<bool>(), 0..120),
        period in 4_u64..60,
        delay_ms in 0_u64..40,
    ) {
        // A burst of losses at the beginning, one in `period` later on; never the same for the two ends.
        let loses = |end: usize, n: u64| match lost.get(2 * n as usize + end) {
            Some(&lost) => lost && !n.is_multiple_of(3),
            None => (n + 7 * end as u64).is_multiple_of(period) && n < 2000,
        };
        let traffic = traffic(preset, pages.clone());
        let [clients, servers] = converse(&traffic, Duration::from_ms(delay_ms), loses);
        let count = pages.count.expect("so many");
        let sum = |size: fn(&PageObject) -> Octets| pages.objects.iter().map(|object| size(object).0).sum::<u64>() * count;
        for (client, server) in clients.clients().iter().zip(servers.servers()) {
            prop_assert!(client.finished().is_some());
            prop_assert_eq!(server.tally().delivered.0, sum(|object| object.request));
            prop_assert_eq!(client.tally().delivered.0, sum(|object| object.response));
            for tally in [client.tally(), server.tally()] {
                let first = tally.statistics.octets.0 - tally.statistics.retransmitted_octets.0;
                prop_assert!(tally.acknowledged.0 <= first, "{:?}", tally);
            }
            let sent = server.tally().statistics;
            prop_assert_eq!(sent.octets.0 - sent.retransmitted_octets.0, sum(|object| object.response));
            let list: Vec<_> = client.list().collect();
            prop_assert_eq!(list.len() as u64, count * pages.objects.len() as u64);
            let mut before = Time::ZERO;
            for (number, exchange) in list.iter().enumerate() {
                prop_assert_eq!(exchange.page as usize * pages.objects.len() + exchange.object, number);
                let request = server.requests()[number];
                let times = [before, exchange.start, exchange.opened.unwrap(), request,
                    exchange.first_octet.unwrap(), exchange.last_octet.unwrap()];
                prop_assert!(times.is_sorted(), "{:?}", times);
                before = times[5];
            }
            prop_assert_eq!(client.of_pages().count(), count);
        }
    }
}

#[test]
fn as_many_clients_as_there_are_numbers_have_a_row_each() {
    let model = Pages { clients: u16::MAX, ..pages() };
    let mut world = network(traffic("internet-applications", model), Category::Abr);
    world.scenario.duration = Duration::from_us(1);
    let summary = world.run().summary;
    assert!(summary.pages.iter().map(|row| row.client).eq(1..=u16::MAX));
    assert!(summary.exchanges.iter().map(|row| row.client).eq(1..=u16::MAX));
}
