//! Connections by the thousand of which few send at any time, and some never.

use cellrate_proto::{BitRate, CellRate, Cells, Duration, Time};
use cellrate_scenario::traffic::{Constant, Greedy, GreedyWindow};
use cellrate_scenario::*;
use cellrate_sim::random::{Owner, Random, Stream};

use super::{Generator, Style, vary_switches};
use crate::world::World;

/// One to three thousand connections over a few hosts and two or three switches. A sixth never send, most of the others
/// have a cell or a few now and then, and one or two send all the time.
pub fn random_silent(number: u64) -> Scenario {
    let dice = Random::new(number, Stream::Traffic(Owner::named("silent")));
    let mut generator = Generator { dice, style: Style::Mixed };
    let mut world = World::new(Duration::from_ms(generator.pick(&[5, 20, 60])));
    world.scenario.seed = number;
    world.scenario.name = format!("random silence {number}");
    let line = BitRate::from_bps(generator.pick(&[25_600_000, 155_520_000, 622_080_000]));
    world.control = generator.control(line);
    let switches = 2 + generator.below(2) as usize;
    let us = Duration::from_us;
    for from in 1..switches {
        let delay = generator.pick(&[us(10), us(300), us(2_000)]);
        world.link(&format!("sw{}", from - 1), &format!("sw{from}"), line, delay);
    }
    let hosts = 1 + generator.below(6) as usize;
    for host in 0..hosts {
        let delay = generator.pick(&[Duration::ZERO, us(5), us(400)]);
        world.link(&format!("h{host}"), "sw0", line, delay);
        world.link(&format!("sw{}", switches - 1), &format!("g{host}"), line, delay);
    }
    let names: Vec<String> = (0..switches).map(|switch| format!("sw{switch}")).collect();
    let duration = world.scenario.duration;
    for index in 0..1_000 + generator.below(2_000) {
        let [source, sink] = ["h", "g"].map(|kind| format!("{kind}{}", generator.below(hosts as u64)));
        let ways = std::iter::once(&source).chain(&names).chain([&sink]);
        let path: Vec<&str> = ways.map(String::as_str).collect();
        let traffic = generator.rarely(duration, index < 2);
        let name = format!("vc{index}");
        let connection = match generator.below(3) {
            0 => {
                let category = generator.pick(&[Category::Cbr, Category::Ubr]);
                world.other(&name, category, &path, Traffic::Greedy(Greedy::default()))
            }
            _ => world.abr(&name, &path, Traffic::Greedy(Greedy::default())),
        };
        connection.forward.traffic = traffic;
        if generator.one_in(40) {
            connection.backward.traffic = generator.rarely(duration, false);
        }
    }
    vary_switches(&mut world.scenario, number);
    world.scenario
}

impl Generator {
    /// Traffic of hardly any cells; all the time if the connection is a busy one.
    fn rarely(&mut self, duration: Duration, is_busy: bool) -> Option<Traffic> {
        let greedy = |windows| Some(Traffic::Greedy(Greedy { windows }));
        if is_busy {
            return greedy(Vec::new());
        }
        match self.below(6) {
            0 => None,
            1 => greedy(vec![GreedyWindow { start: Time::NEVER, end: Time::NEVER, cells: Some(Cells(1)) }]),
            2 | 3 => {
                let start = self.instant(duration);
                greedy(vec![GreedyWindow { start, end: Time::NEVER, cells: Some(Cells(1 + self.below(3))) }])
            }
            _ => {
                let rate = CellRate::new(self.pick(&[1.0, 20.0, 90.0]));
                Some(Traffic::Constant(Constant { rate, start: self.instant(duration), end: Time::NEVER }))
            }
        }
    }
}
