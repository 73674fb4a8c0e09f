//! Very many sources before one line.

use cellrate_proto::{Duration, Time};
use cellrate_scenario::traffic::{Greedy, GreedyWindow};
use cellrate_scenario::*;
use cellrate_sim::random::{Owner, Random, Stream};

use super::fair_shares;
use crate::world::{parameters_of, port};

/// A random network with very many sources before a fast line. In most of them rates differ, and in some each source's
/// is its own; in others all send in step.
pub fn random_throng(number: u64) -> Scenario {
    let dice = Random::new(number, Stream::Traffic(Owner::named("dice 5")));
    let mut scenario = fair_shares(number, dice, &[155_520_000, 622_080_000], &[66, 80, 110]);
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dice 6")));
    let spread = [0.0, 0.5, 0.9][(dice.uniform() * 3.0) as usize];
    for connection in &mut scenario.connections {
        let share = 1.0 - spread * dice.uniform();
        for flow in [&mut connection.forward, &mut connection.backward] {
            let Some(parameters) = parameters_of(flow) else { continue };
            parameters.icr = parameters.icr * share;
            parameters.pcr = (parameters.pcr * share).max(parameters.icr);
        }
    }
    if dice.uniform() < 0.25 {
        send_in_step(&mut scenario);
    }
    scenario
}

/// Sources that may answer what comes to them, the last of all.
const ANSWERING: usize = 8;
/// Cell times of a source that its cells take to the far end.
const FAR: u64 = 20;

/// All sources send a cell at the same instants, at a rate that stays what it is, over equal links. What they send
/// differs: some begin later, so that FRMs have their turns at different instants, and the last ones answer FRMs. At
/// the instant at which a BRM comes to the switch, an event, data cells come and FRMs that nobody knew of before, in an
/// order of which the BRM's place is one of the last. For a while no answer to FRMs that have left comes between.
fn send_in_step(scenario: &mut Scenario) {
    let count = scenario.connections.len();
    let rate = scenario.links[0].rate.to_cell_rate() * (0.2 / count as f64);
    let step = rate.interval();
    scenario.duration = step * (3 * FAR);
    for link in &mut scenario.links {
        link.delay = Duration::from_us(10);
    }
    scenario.links[0].delay = step * FAR;
    for end in 0..2 {
        port(scenario, 0, end).buffers = Buffers::default();
    }
    for (index, connection) in scenario.connections.iter_mut().enumerate() {
        let start = Time::ZERO + step * (index as u64 * 5 % 8);
        let window = GreedyWindow { start, end: Time::NEVER, cells: None };
        connection.forward.traffic = Some(Traffic::Greedy(Greedy { windows: vec![window] }));
        let answers = index + ANSWERING >= count;
        connection.backward.traffic = answers.then(|| Traffic::Greedy(Greedy::default()));
        for flow in [&mut connection.forward, &mut connection.backward] {
            let Some(parameters) = parameters_of(flow) else { continue };
            (parameters.pcr, parameters.icr, parameters.nrm) = (rate, rate, 4);
        }
    }
}
