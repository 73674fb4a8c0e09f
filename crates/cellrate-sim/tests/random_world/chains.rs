//! Switches close to one another, in a row or in a ring: cells go over many of them within one cluster.

use cellrate_proto::parameters::PowerOfTwo;
use cellrate_proto::{BitRate, Cells, Duration};
use cellrate_scenario::*;
use cellrate_sim::random::{Owner, Random, Stream};
use std::sync::Arc;

use super::switches::{answer_by_queue, vary_switches};
use super::{COMMENSURABLE, Generator, OTHER, Style};
use crate::world::{World, greedy, parameters, square_wave};

/// The network of this number: up to seven switches, and up to ten connections over as many of them as they like.
pub fn random_chain(number: u64) -> Scenario {
    let dice = Random::new(number, Stream::Traffic(Owner::named("chain")));
    let mut generator = Generator { dice, style: Style::Erica };
    generator.style = generator.pick(&[Style::Erica, Style::Erica, Style::RelativeRate]);
    let rates = [&COMMENSURABLE[1..], &OTHER[2..]].concat();
    let mut world = World::new(Duration::from_ms(4 + generator.below(12)));
    world.scenario.seed = number;
    world.scenario.name = format!("random chain {number}");
    let switches = 2 + generator.below(6);
    let is_ring = switches > 2 && generator.one_in(3);
    let alike = generator.one_in(2).then(|| BitRate::from_bps(generator.pick(&rates)));
    let link = |generator: &mut Generator, world: &mut World, a: &str, b: &str| {
        let rate = alike.unwrap_or_else(|| BitRate::from_bps(generator.pick(&rates)));
        let us = Duration::from_us;
        let delay = generator.pick(&[Duration::ZERO, rate.cell_time(), us(10), us(60)]);
        world.control = generator.control(rate);
        // A port that marks cells keeps a real queue, and all before it have events.
        world.control.efci = world.control.efci.filter(|_| generator.one_in(20));
        world.link(a, b, rate, delay);
    };
    for at in 0..switches - u64::from(!is_ring) {
        link(&mut generator, &mut world, &format!("sw{at}"), &format!("sw{}", (at + 1) % switches));
    }
    for index in 0..1 + generator.below(10) {
        let from = generator.below(switches);
        let over = generator.below(switches);
        let at = |hop: u64| if is_ring { (from + hop) % switches } else { (from + hop).min(switches - 1) };
        let mut path: Vec<u64> = (0..=over).map(at).collect();
        path.dedup();
        if generator.one_in(3) {
            path.reverse();
        }
        let names: Vec<String> = path.iter().map(|at| format!("sw{at}")).collect();
        // Some hosts have several connections.
        let [source, sink] = ["s", "d"].map(|end| {
            let host = if generator.one_in(6) { 0 } else { index };
            let at = if end == "s" { path[0] } else { path[path.len() - 1] };
            format!("{end}{at}of{host}")
        });
        for (host, at) in [(&source, &names[0]), (&sink, &names[names.len() - 1])] {
            if world.scenario.nodes.iter().all(|node| node.name != *host) {
                link(&mut generator, &mut world, host, at);
            }
        }
        let path: Vec<&str> =
            std::iter::once(&source).chain(&names).chain([&sink]).map(String::as_str).collect();
        let name = format!("vc{index}");
        if generator.one_in(4) {
            let category = generator.pick(&[Category::Cbr, Category::Ubr]);
            let on = Duration::from_us(50 + generator.below(900));
            let connection = world.other(&name, category, &path, greedy());
            if let Sender::Peak(rate) = &mut connection.forward.sender {
                *rate = *rate * generator.pick(&[0.03, 0.2, 0.4]);
                let traffic = square_wave(*rate * 0.9, on, on);
                connection.forward.traffic = Some(if generator.one_in(2) { greedy() } else { traffic });
            }
            continue;
        }
        let connection = world.abr(&name, &path, greedy());
        if generator.one_in(4) {
            connection.backward.traffic = Some(greedy());
        }
        let parameters = parameters(connection);
        parameters.nrm = generator.pick(&[4, 8, 32]);
        parameters.rif = PowerOfTwo::from_negative_exponent(generator.below(8) as u8).expect("at most 15");
        parameters.icr = parameters.pcr * generator.pick(&[0.02, 0.1, 0.5]);
    }
    let scenario = &mut world.scenario;
    if generator.one_in(3) {
        // Few can do without room.
        for port in scenario.links.iter_mut().flat_map(|link| &mut link.ports) {
            if generator.one_in(4) {
                let room = Some(Cells(generator.pick(&[1, 4, 40])));
                Arc::make_mut(port).buffers = Buffers { abr: room, ubr: room, ..Buffers::default() };
            }
        }
    }
    for _ in 0..generator.pick(&[0, 0, 1, 4]) {
        look(scenario, &mut generator);
    }
    if generator.one_in(4) {
        answer_by_queue(scenario, number);
    } else {
        vary_switches(scenario, number);
    }
    world.scenario
}

/// A series of a port or of a connection, if there is no such series.
fn look(scenario: &mut Scenario, generator: &mut Generator) {
    let link = LinkIndex(generator.below(scenario.links.len() as u64) as u32);
    let connection = ConnectionIndex(generator.below(scenario.connections.len() as u64) as u32);
    let port = PortIndex::of(link, generator.below(2) as u8);
    let flow = FlowIndex::of(connection, false);
    let is_abr = scenario.connections[connection.0 as usize].category == Category::Abr;
    let quantity = match generator.below(4) {
        0 => Quantity::Port { quantity: PortQuantity::Queue, port },
        1 => Quantity::Port { quantity: PortQuantity::Utilization, port },
        2 if is_abr => Quantity::Flow { quantity: FlowQuantity::Acr, flow },
        _ => Quantity::Flow { quantity: FlowQuantity::Received, flow },
    };
    let every = Every::Interval(Duration::from_us(20 + generator.below(400)));
    if scenario.probes.iter().all(|probe| probe.quantity != quantity) {
        scenario.probes.push(Probe { quantity, every });
    }
}
