//! Calls that come and go in any network.

use super::*;

use cellrate_proto::admission::equivalent::OnOffSource;
use cellrate_proto::admission::{Book, Request};
use std::ops::Range;

/// Share of their cells that on/off sources may lose in these networks.
pub const ON_OFF_LOSS: f64 = 1e-3;

/// `scenario` with calls between the ends of some of its connections, over connections like these.
pub fn with_calls(mut scenario: Scenario, number: u64) -> Scenario {
    let dice = Random::new(number, Stream::Traffic(Owner::named("dice of calls")));
    let mut generator = Generator { dice, style: Style::Mixed };
    let end = scenario.duration;
    scenario.book = book_of(&scenario);
    let models = scenario.connections.clone();
    let mut demands = Vec::new();
    for place in 0..=generator.below(2) {
        let sized = generator.one_in(2);
        let both_ways = !sized && generator.one_in(3);
        let pairs = (0..=generator.below(3)).map(|_| {
            let model = generator.pick(&models);
            let slots = carriers(&mut scenario, &mut generator, model, both_ways, sized);
            pair(&scenario, &mut generator, slots, both_ways)
        });
        let pairs = pairs.collect();
        let part = |n: u64| Duration::from_ps(end.as_ps() / n);
        let gap = part(generator.pick(&[8, 20, 60]));
        // Instants and times of one measure meet one another.
        let arrivals = match generator.below(4) {
            0 => Arrivals::Poisson { gap },
            1 => Arrivals::Pareto { gap, alpha: 1.5 },
            2 => Arrivals::Mmpp { gaps: [gap, gap * 4], stays: [part(4); 2] },
            _ => Arrivals::At((1..60).map(|n| Time::ZERO + gap * n).collect()),
        };
        let mean = end.as_secs_f64() / generator.pick(&[5.0, 20.0, 50.0]);
        let law = match generator.below(3) {
            0 => Law::Exponential { mean },
            1 => Law::Lognormal { mean, sigma: 1.0 },
            _ => Law::Fixed((gap * generator.pick(&[1, 2, 3])).as_secs_f64()),
        };
        let octets = match generator.below(3) {
            0 => Law::Fixed(generator.pick(&[1.0, 900.0, 30_000.0])),
            1 => Law::Exponential { mean: 3000.0 },
            _ => Law::Pareto { least: 300.0, alpha: 1.2, most: 1e6 },
        };
        demands.push(Demand {
            name: format!("calls {place}"),
            arrivals,
            start: if generator.one_in(3) { generator.instant(end) } else { Time::ZERO },
            end: if generator.one_in(4) { generator.instant(end) } else { Time::NEVER },
            amount: if sized { Amount::Octets(octets) } else { Amount::Holding(law) },
            pairs,
            both_ways,
        });
    }
    scenario.demands = demands.into();
    for demand in 0..scenario.demands.len() as u32 {
        let quantity = Quantity::Demand { quantity: DemandQuantity::Concurrent, demand };
        let every = match generator.below(3) {
            0 => continue,
            1 => Every::Change,
            // Calls that begin and end at multiples of a gap do so as samples are taken.
            _ => Every::Interval(Duration::from_ps(end.as_ps() / generator.pick(&[8, 60, 120]))),
        };
        scenario.probes.push(Probe { quantity, every });
    }
    scenario
}

/// The book of a network with calls: what on/off sources need depends on the rooms of its ports.
pub fn book_of(scenario: &Scenario) -> Book {
    let rates = scenario.links.iter().flat_map(|link| [link.slowest_rate(); 2]);
    let rooms = scenario.links.iter().flat_map(|link| &link.ports).map(|port| port.buffers.rooms()[0]);
    Book::new(rates, None).multiplexing(ON_OFF_LOSS, rooms)
}

/// A pair with these slots, which books a part of its narrowest line.
fn pair(scenario: &Scenario, generator: &mut Generator, slots: Range<u32>, both_ways: bool) -> Pair {
    let connection = &scenario.connections[slots.start as usize];
    let links = || connection.path.iter().map(|step| scenario.link(step.link));
    let narrowest = links().map(Link::slowest_rate).min().expect("a path has a link");
    let share = generator.pick(&[0.2, 0.5, 0.9]);
    let rate = narrowest.to_cell_rate() * share;
    let request = match generator.below(3) {
        0 => {
            let burst = Duration::from_us(generator.pick(&[1, 100, 10_000]));
            Request::OnOff(OnOffSource { peak: rate, mean: rate * generator.pick(&[0.05, 0.4, 1.0]), burst })
        }
        _ => Request::Cbr { pcr: rate },
    };
    let directions: &[bool] = if both_ways { &[false, true] } else { &[false] };
    let booking = |&backward: &bool| {
        let ports = connection.steps(backward).map(|step| step.port().index()).collect();
        Booking { ports, request }
    };
    let bookings = if generator.one_in(4) { Vec::new() } else { directions.iter().map(booking).collect() };
    let round_trip = links().fold(Duration::ZERO, |sum, link| sum + link.delay * 2);
    Pair {
        weight: generator.pick(&[1.0, 1.0, 3.0, 1e-4]),
        slots,
        set_up: generator.pick(&[Duration::ZERO, round_trip, Duration::from_us(100)]),
        bookings,
    }
}

/// Some connections like `model` that carry calls, behind all others.
fn carriers(
    scenario: &mut Scenario,
    generator: &mut Generator,
    model: Connection,
    both_ways: bool,
    sized: bool,
) -> Range<u32> {
    let first = scenario.connections.len() as u32;
    let period = |us| Period::Exponential(Duration::from_us(us));
    let peak = model.forward.sender.pcr();
    let rate = peak * generator.pick(&[0.1, 0.3, 1.0]);
    let (start, end) = (Time::ZERO, Time::NEVER);
    let traffic = match generator.below(3) {
        0 => Traffic::Constant(Constant { rate, start, end }),
        1 => Traffic::OnOff(OnOff { rate, on: period(400), off: period(300), start, end }),
        _ => Traffic::Greedy(Greedy::default()),
    };
    let mut call = Traffic::Call(Arc::new(traffic));
    if sized {
        let encapsulation = generator.pick(&[Encapsulation::LlcSnapIpv4, Encapsulation::VcMultiplexed]);
        call = match generator.one_in(2) {
            true => Traffic::Tcp(Box::new(tcp(generator, encapsulation))),
            false => Traffic::Transfers(Datagrams {
                payload: Octets(generator.pick(&[20, 500, 1472, 9000])),
                header: Octets(28),
                encapsulation,
            }),
        };
    }
    for slot in 0..=generator.below(4) {
        let mut connection = model.clone();
        connection.name = format!("slot {first} {slot}");
        connection.forward.traffic = Some(call.clone());
        connection.backward.traffic = both_ways.then(|| call.clone());
        connection.policing.clear();
        scenario.connections.push(connection);
    }
    first..scenario.connections.len() as u32
}

/// TCP that carries flows of a size.
fn tcp(generator: &mut Generator, encapsulation: Encapsulation) -> TcpTraffic {
    let preset = generator.pick(&["reno", "newreno", "sack", "cubic", "dctcp", "tcp-lrd-vbr"]);
    let mut tcp = Preset::named(preset).expect("it is there").tcp();
    tcp.timestamps = generator.one_in(3);
    tcp.mss = Octets(generator.pick(&[40, 512, 1460]));
    tcp.window = Octets(tcp.mss.0 * generator.pick(&[1, 4, 40]));
    tcp.initial_window = Octets(tcp.mss.0 * generator.pick(&[1, 2, 10]));
    let granularity = Duration::from_us(generator.pick(&[50, 1000]));
    tcp.timeout =
        TimeoutConfig { granularity, minimum: granularity * 2, initial: granularity * 20, ..tcp.timeout };
    tcp.delayed_ack = generator.pick(&[
        DelayedAck::EverySegment,
        DelayedAck::Heartbeat(granularity * 3),
        DelayedAck::Timer(Duration::from_us(400)),
    ]);
    TcpTraffic {
        tcp,
        encapsulation,
        connections: 1,
        transfer: None,
        start: Time::ZERO,
        end: Time::NEVER,
        pages: None,
        adapter_queue: generator.pick(&[
            AdapterQueue::Unbounded,
            AdapterQueue::Pdus(2),
            AdapterQueue::HighWater(Cells(20)),
        ]),
        successive: true,
    }
}
