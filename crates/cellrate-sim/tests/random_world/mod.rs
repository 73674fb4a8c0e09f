//! Random small networks: every mechanism of the simulator, in every company, at sizes that run in milliseconds.
//!
//! Rates of 10, 20 and 40 Mb/s have cell times of 42.4, 21.2 and 10.6 us, so that events meet at the same instant all
//! the time; the other rates share no divisor. Delays reach from nothing to several windows of the kernel.
#![allow(dead_code, reason = "each test file uses its own part")]

pub mod becn;
pub mod categories;
pub mod chains;
pub mod changing;
pub mod channels;
pub mod clients;
pub mod conditioning;
pub mod congested;
pub mod cramped;
pub mod flows;
pub mod frame_discard;
pub mod hosts;
pub mod in_band;
pub mod loopback;
pub mod parallel;
pub mod parts;
mod paths;
pub mod police;
pub mod queueing;
pub mod segments;
pub mod series;
pub mod silent;
mod streams;
mod switches;
mod throngs;
mod traffic;
pub mod trees;

use std::sync::Arc;

use cellrate_proto::parameters::PowerOfTwo;
use cellrate_proto::switch::{
    ActiveSources, AgingConfig, AveragingInterval, DelayControl, EfciConfig, EricaConfig, LoadAveraging,
    PortControlConfig, QueueControl, StopAndGoConfig, StopAndGoForm, SwitchAlgorithmConfig,
};
use cellrate_proto::uili::{SHAPES, UiliConfig};
use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{AbrParameters, BitRate, CellRate, Cells, Duration, Octets, Time};
use cellrate_scenario::traffic::{Constant, Greedy, Limited, OnOff, Timed};
use cellrate_scenario::*;
use cellrate_sim::random::{Owner, Random, Stream};

use crate::world::{World, parameters, parameters_of};
use paths::shortest_path;
use switches::{answer_by_queue, hysteresis, set_clocks_apart, vary_switches};
pub use throngs::random_throng;

/// The network of this number: the same one on every machine.
pub fn random_scenario(number: u64) -> Scenario {
    let mut generator =
        Generator { dice: Random::new(number, Stream::Traffic(Owner::named("dice 0"))), style: Style::Mixed };
    generator.style =
        generator.pick(&[Style::Mixed, Style::Mixed, Style::Efci, Style::RelativeRate, Style::Erica]);
    let mut scenario = generator.scenario(number);
    // Dice of its own, so that every network is what it was before some became quiet.
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dice 1")));
    quieten(&mut scenario, &mut dice);
    if dice.uniform() < 0.12 {
        settle_down(&mut scenario, &mut dice);
    }
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dice 2")));
    if dice.uniform() < 0.25 {
        show_films(&mut scenario, &mut dice);
    }
    traffic::vary(&mut scenario, number);
    vary_switches(&mut scenario, number);
    set_clocks_apart(&mut scenario, number);
    scenario
}

/// CBR and VBR carry compressed video, now of one program and now of more than a small tree has places for.
fn show_films(scenario: &mut Scenario, dice: &mut Random) {
    for connection in &mut scenario.connections {
        let guaranteed = matches!(connection.category, Category::Cbr | Category::Vbr);
        for flow in [&mut connection.forward, &mut connection.backward] {
            let (Sender::Peak(rate), true) = (&flow.sender, guaranteed && flow.traffic.is_some()) else {
                continue;
            };
            let programs = [1, 2, 9, 40][(dice.uniform() * 4.0) as usize];
            let bits = rate.as_cells_per_s() * 424.0 / f64::from(programs);
            let share = |share: f64| BitRate::from_bps((bits * share) as u64 + 1);
            let ms = 0.05 + dice.uniform();
            flow.traffic = Some(Traffic::Video(Box::new(VideoTraffic {
                programs,
                mean: share(0.4),
                deviation: share(0.4),
                hurst: 0.8,
                peak: share(1.5),
                reference_interval: [ms, 3.0 * ms].map(|ms| Duration::from_secs_f64(ms / 1e3)),
                out_of_range: OutOfRange::Ignore,
                method: NoiseMethod::Paxson,
                sequence: None,
                start: Time::ZERO,
                end: Time::NEVER,
            })));
        }
    }
}

/// Many copies of the network of this number side by side, as far from each other as their switches: what the kernel
/// does only where there are hundreds of connections. In some of them sources take turns.
pub fn random_crowd(number: u64) -> Scenario {
    let shares = number % 3 == 2;
    let mut scenario = if shares { random_fair_shares(number) } else { random_scenario(number) };
    if shares {
        scenario.duration = scenario.duration.min(Duration::from_ms(20));
    }
    // Cells between clusters are packed from 128 ways on.
    side_by_side(scenario, if shares { 150 } else { 400 })
}

/// Copies of a network side by side, of so many connections, without series of changes.
fn side_by_side(mut scenario: Scenario, connections: usize) -> Scenario {
    let is_switch =
        |scenario: &Scenario, node: NodeIndex| scenario.nodes[node.0 as usize].kind == NodeKind::Switch;
    for index in 0..scenario.links.len() {
        if scenario.links[index].ends.iter().all(|&end| is_switch(&scenario, end)) {
            scenario.links[index].delay = scenario.links[index].delay.max(Duration::from_us(300));
        }
    }
    scenario.probes.retain(|probe| probe.every != Every::Change);
    let one = scenario.clone();
    for copy in 1..=(connections / one.connections.len()) as u32 {
        let (nodes, links) = (copy * one.nodes.len() as u32, copy * one.links.len() as u32);
        for node in &one.nodes {
            scenario.nodes.push(Node { name: format!("{} of {copy}", node.name), ..node.clone() });
        }
        for link in &one.links {
            let ends = link.ends.map(|end| NodeIndex(end.0 + nodes));
            scenario.links.push(Link { ends, ..link.clone() });
        }
        for connection in &one.connections {
            let moved = |step: &Step| Step { link: LinkIndex(step.link.0 + links), ..*step };
            let path = connection.path.iter().map(moved).collect();
            let name = format!("{} of {copy}", connection.name);
            scenario.connections.push(Connection { name, path, ..connection.clone() });
        }
    }
    scenario
}

/// Sources with a link of their own each, before one line between two switches that are far apart: nothing but trains,
/// and RM cells between them, merged in the order of their keys for windows on end.
pub fn random_bottleneck(number: u64) -> Scenario {
    let dice = Random::new(number, Stream::Traffic(Owner::named("dice 3")));
    let mut generator = Generator { dice, style: Style::Mixed };
    generator.style = generator.pick(&[Style::Erica, Style::Erica, Style::RelativeRate]);
    let rates = [&COMMENSURABLE[1..], &OTHER[2..]].concat();
    let mut world = World::new(Duration::from_ms(10 + generator.below(20)));
    world.scenario.seed = number;
    world.scenario.name = format!("random bottleneck {number}");
    let line = BitRate::from_bps(generator.pick(&rates));
    let us = Duration::from_us;
    let delay = generator.pick(&[us(300), us(1000), us(5000)]);
    world.control = generator.control(line);
    world.control.efci = None;
    world.link("sw0", "sw1", line, delay);
    let alike = generator.one_in(2);
    for index in 0..2 + generator.below(20) {
        let rate = if alike { line } else { BitRate::from_bps(generator.pick(&rates)) };
        let (source, sink) = (format!("h{index}"), format!("g{index}"));
        let delay = generator.pick(&[Duration::ZERO, us(10), us(500)]);
        world.link(&source, "sw0", rate, delay);
        world.link("sw1", &sink, rate.max(line), delay);
        let path = [source.as_str(), "sw0", "sw1", sink.as_str()];
        let greedy = Traffic::Greedy(Greedy::default());
        let connection = world.abr(&format!("vc{index}"), &path, greedy);
        let parameters = parameters(connection);
        parameters.nrm = generator.pick(&[4, 8, 32]);
        parameters.rif = PowerOfTwo::from_negative_exponent(generator.below(8) as u8).expect("at most 15");
        parameters.icr = parameters.pcr * generator.pick(&[0.02, 0.1, 0.5]);
    }
    vary_switches(&mut world.scenario, number);
    world.scenario
}

/// Sources that share one line fairly, or nearly: their cells take turns, round after round, through whole windows and
/// averaging intervals. Rates meet because the switch says so, or stay what they were from the beginning; now and then
/// one source comes later, pauses, or ends, and the others go on.
pub fn random_fair_shares(number: u64) -> Scenario {
    let dice = Random::new(number, Stream::Traffic(Owner::named("dice 4")));
    let lines = [10_000_000, 25_600_000, 40_000_000, 40_000_000, 155_520_000];
    fair_shares(number, dice, &lines, &[2, 2, 3, 4, 5, 8, 12, 15, 16])
}

/// Sources before one line, whose port runs EPRCA, APRC or CAPC: every answer hangs on the queue as it is when the BRM
/// passes.
pub fn random_thresholds(number: u64) -> Scenario {
    let mut scenario =
        if number.is_multiple_of(2) { random_bottleneck(number) } else { random_fair_shares(number) };
    answer_by_queue(&mut scenario, number);
    scenario
}

fn fair_shares(number: u64, dice: Random, lines: &[u64], counts: &[u64]) -> Scenario {
    let mut generator = Generator { dice, style: Style::Erica };
    let us = Duration::from_us;
    let line = BitRate::from_bps(generator.pick(lines));
    // Where all is a multiple of the cell time, samples meet cells.
    let in_step = generator.one_in(3);
    let cells = generator.pick(&[2_500, 5_000, 10_000]);
    let shortest = if counts[0] > 64 { Duration::from_ms(8) } else { Duration::from_ms(50) };
    let duration = (line.cell_time() * cells).max(shortest).min(Duration::from_ms(300));
    let mut world = World::new(duration);
    world.scenario.seed = number;
    world.scenario.name = format!("random fair shares {number}");
    // Below 250 us the switches share a scheduler, and nothing takes turns.
    let far = generator.pick(&[us(10), us(300), us(1000), us(1000), us(5000), us(5000)]);
    let far = if in_step { line.cell_time() * generator.pick(&[50, 200, 500]) } else { far };
    world.control = generator.fair_control(number, line);
    world.link("sw0", "sw1", line, far);
    world.control = PortControlConfig::default();
    if generator.one_in(3) {
        for port in &mut world.scenario.links[0].ports {
            Arc::make_mut(port).buffers.abr = Some(Cells(generator.pick(&[4, 20, 100, 500])));
        }
    }
    let count = generator.pick(counts);
    let mut plan = FairPlan::new(&mut generator, line, count);
    if in_step {
        plan.delay = Some(line.cell_time() * generator.pick(&[0, 1, 30]));
    }
    for index in 0..count {
        generator.fair_source(&mut world, &plan, index);
    }
    if generator.one_in(3) {
        // Somebody beside the second switch sends to the first sink, too: its cells come from two sides.
        world.link("beside", "sw1", line, us(10));
        world.abr("beside", &["beside", "sw1", "g0"], Traffic::Greedy(Greedy::default()));
    }
    for _ in 0..generator.pick(&[0, 0, 2, 5]) {
        let step = if in_step { line.cell_time() } else { Duration::from_ps(1) };
        let probe = generator.fair_probe(count, duration, step);
        if world.scenario.probes.iter().all(|other| other.quantity != probe.quantity) {
            world.scenario.probes.push(probe);
        }
    }
    vary_switches(&mut world.scenario, number);
    world.scenario
}

/// Greedy ABR sources on links that lose nothing, for long enough to be told their rates many times over: rates go up
/// and down while trains of cells are on their way.
fn settle_down(scenario: &mut Scenario, dice: &mut Random) {
    let fastest = scenario.links.iter().map(|link| link.rate).max().expect("there are links");
    scenario.duration = (fastest.cell_time() * 2500).max(Duration::from_ms(8)).min(Duration::from_ms(60));
    for link in &mut scenario.links {
        (link.line.loss, link.line.loss_bursts, link.line.outages) = (0.0, None, vec![]);
        for port in &mut link.ports {
            let port = Arc::make_mut(port);
            (port.buffers, port.rm_cells) = (Buffers::default(), RmCells::InOrder);
        }
    }
    for connection in &mut scenario.connections {
        for flow in [&mut connection.forward, &mut connection.backward] {
            let Sender::Abr(abr) = &mut flow.sender else { continue };
            let abr = Arc::make_mut(abr);
            let parameters = Arc::make_mut(&mut abr.parameters);
            parameters.rif =
                PowerOfTwo::from_negative_exponent((dice.uniform() * 10.0) as u8).expect("at most 15");
            parameters.nrm = 8 << ((dice.uniform() * 4.0) as u32);
            parameters.mcr = CellRate::ZERO;
            parameters.icr = parameters.pcr * [0.05, 0.3, 1.0][(dice.uniform() * 3.0) as usize];
            abr.uili = UiliConfig::None;
            if flow.traffic.is_some() {
                flow.traffic = Some(Traffic::Greedy(Greedy::default()));
            }
        }
    }
}

/// A series of every arrival or every change makes events of what the kernel would otherwise deal with late or early.
/// So most networks have few of them, or none, and are judged by samples and by the end.
fn quieten(scenario: &mut Scenario, dice: &mut Random) {
    let share = [0.0, 0.0, 0.1, 1.0][(dice.uniform() * 4.0) as usize];
    scenario.probes.retain(|probe| probe.every != Every::Change || dice.uniform() < share);
}

struct Generator {
    dice: Random,
    style: Style,
}

/// Style of control in a network: alone, a weak signal is not drowned by a strong one.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    Mixed,
    Efci,
    RelativeRate,
    Erica,
}

/// Rates whose cell times are multiples of one another, and rates that share nothing [bit/s].
const COMMENSURABLE: [u64; 3] = [10_000_000, 20_000_000, 40_000_000];
const OTHER: [u64; 5] = [1_500_000, 6_312_000, 25_600_000, 149_760_000, 155_520_000];

impl Generator {
    fn below(&mut self, n: u64) -> u64 {
        (self.dice.uniform() * n as f64) as u64
    }

    /// One time in `n`.
    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize].clone()
    }

    fn scenario(&mut self, number: u64) -> Scenario {
        let in_step = self.one_in(2);
        let rates: Vec<u64> =
            if in_step { COMMENSURABLE.to_vec() } else { [&COMMENSURABLE[..], &OTHER].concat() };
        // All links alike, or each for itself.
        let rate = self.one_in(3).then(|| self.pick(&rates));
        let delay = if in_step && self.one_in(2) {
            Some(self.pick(&[Duration::ZERO, BitRate::from_bps(10_000_000).cell_time()]))
        } else {
            self.one_in(4).then(|| self.delay(BitRate::from_bps(10_000_000)))
        };
        let mut world = World::new(Duration::from_ms(1));
        world.scenario.seed = number;
        world.scenario.name = format!("random {number}");
        let hosts = self.topology(&mut world, &rates, rate, delay);
        let fastest = world.scenario.links.iter().map(|link| link.rate).max().expect("there are links");
        let cells = self.pick(&[100, 400, 1000, 2500]);
        world.scenario.duration = (fastest.cell_time() * cells).max(Duration::from_ms(3));
        if self.one_in(8) {
            world.scenario.duration = Duration::from_ms(40);
        }
        self.configure_links(&mut world.scenario);
        for index in 0..=self.below(8) {
            self.connection(&mut world, &hosts, index);
        }
        self.probes(&mut world.scenario);
        world.scenario
    }

    /// Switches in a chain, a star or any tree, hosts anywhere on them; or two hosts with a link between them.
    fn topology(
        &mut self,
        world: &mut World,
        rates: &[u64],
        rate: Option<u64>,
        delay: Option<Duration>,
    ) -> Vec<String> {
        let mut link = |this: &mut Generator, a: &str, b: &str| {
            let rate = BitRate::from_bps(rate.unwrap_or_else(|| this.pick(rates)));
            let delay = delay.unwrap_or_else(|| this.delay(rate));
            world.control = this.control(rate);
            let (a, b) = if this.one_in(2) { (a, b) } else { (b, a) };
            world.link(a, b, rate, delay);
        };
        let switches = self.below(5);
        if switches == 0 {
            link(self, "h0", "h1");
            return vec!["h0".into(), "h1".into()];
        }
        let shape = self.below(3);
        for number in 1..switches {
            let parent = match shape {
                0 => number - 1,
                1 => 0,
                _ => self.below(number),
            };
            link(self, &format!("sw{parent}"), &format!("sw{number}"));
        }
        let hosts = 2 + self.below(5);
        for host in 0..hosts {
            let at = self.below(switches);
            link(self, &format!("h{host}"), &format!("sw{at}"));
        }
        (0..hosts).map(|host| format!("h{host}")).collect()
    }

    fn delay(&mut self, rate: BitRate) -> Duration {
        let us = Duration::from_us;
        self.pick(&[
            Duration::ZERO,
            Duration::ZERO,
            rate.cell_time(),
            us(10),
            us(99),
            us(100),
            us(1000),
            us(5000),
        ])
    }

    fn instant(&mut self, within: Duration) -> Time {
        // Half of the instants are round, so that they meet others.
        let ps = self.below(within.as_ps());
        Time::from_ps(if self.one_in(2) { ps } else { ps / 42_400_000 * 42_400_000 })
    }

    fn configure_links(&mut self, scenario: &mut Scenario) {
        let duration = scenario.duration;
        for link in &mut scenario.links {
            if self.one_in(6) {
                link.line.loss = self.pick(&[0.003, 0.05, 0.3]);
            }
            if self.one_in(6) {
                let mut instants: Vec<Time> = (0..4).map(|_| self.instant(duration)).collect();
                instants.sort_unstable();
                instants.dedup();
                let spans = instants.chunks_exact(2).map(|pair| Span { start: pair[0], end: pair[1] });
                link.line.outages = spans.collect();
            }
            let limited = self.one_in(2);
            let rm_cells =
                self.pick(&[RmCells::InOrder, RmCells::InOrder, RmCells::BeforeData, RmCells::First]);
            for port in &mut link.ports {
                let port = Arc::make_mut(port);
                port.rm_cells = rm_cells;
                if limited {
                    port.buffers = self.buffers();
                }
            }
        }
    }

    fn buffers(&mut self) -> Buffers {
        let sizes = [None, None, Some(1), Some(2), Some(10), Some(40)];
        let mut room = || match self.below(60) {
            0 => Some(Cells(0)),
            _ => self.pick(&sizes).map(Cells),
        };
        Buffers { guaranteed: room(), abr: room(), ubr: room(), shared: room(), tagged: None }
    }

    /// Congestion control of a link's ports; hosts do nothing all the same.
    fn control(&mut self, rate: BitRate) -> PortControlConfig {
        let high = self.below(8);
        let marks = self.style == Style::Efci || (self.style == Style::Mixed && self.one_in(2));
        let efci = marks.then(|| EfciConfig {
            high: Cells(high),
            low: Cells(if self.one_in(2) { high } else { self.below(high + 1) }),
        });
        let algorithm = match self.style {
            Style::Mixed => self.below(4),
            Style::Efci => 0,
            Style::RelativeRate => 1,
            Style::Erica => 2,
        };
        let algorithm = match algorithm {
            0 => SwitchAlgorithmConfig::None,
            1 => SwitchAlgorithmConfig::RelativeRate(hysteresis(1 + self.below(10))),
            _ => SwitchAlgorithmConfig::Erica(Arc::new(self.erica(rate))),
        };
        let config = PortControlConfig { efci, algorithm, ..PortControlConfig::default() };
        assert_eq!(config.check(), Ok(()));
        config
    }

    fn erica(&mut self, rate: BitRate) -> EricaConfig {
        let cell_time = rate.cell_time();
        let slots = Duration::from_ps(42_400_000);
        let times = [
            cell_time * 5,
            cell_time * 30,
            slots,
            slots * 5,
            slots * 20,
            Duration::from_ms(1),
            Duration::from_ms(5),
        ];
        let interval = AveragingInterval {
            time: self.pick(&times),
            cells: if self.one_in(2) { Some(self.pick(&[1, 2, 10, 30, 100])) } else { None },
        };
        let alpha = self.pick(&[0.1, 0.5, 1.0]);
        EricaConfig {
            interval,
            queue_control: match self.below(3) {
                0 => QueueControl::erica_plus(),
                1 => QueueControl::QueueingDelay(DelayControl::hyperbolic(cell_time * 4, 1.5, 1.05, 0.3)),
                _ => QueueControl::TargetUtilization(self.pick(&[0.5, 0.9, 1.0])),
            },
            delta: self.pick(&[0.0, 0.1]),
            active_sources: ActiveSources {
                bidirectional: self.one_in(2),
                decay: if self.one_in(3) { Some(0.9) } else { None },
                effective: false,
            },
            load_averaging: match self.below(4) {
                0 => LoadAveraging::Ratio { alpha },
                1 => LoadAveraging::Components { alpha },
                _ => LoadAveraging::None,
            },
            immediate_fair_share: self.one_in(2),
            measured_ccr: self.one_in(3),
            aging: self.one_in(4).then(AgingConfig::new),
            ..EricaConfig::erica()
        }
    }

    fn connection(&mut self, world: &mut World, hosts: &[String], index: u64) {
        let from = self.below(hosts.len() as u64) as usize;
        let to = (from + 1 + self.below(hosts.len() as u64 - 1) as usize) % hosts.len();
        let path = shortest_path(&world.scenario, &hosts[from], &hosts[to]);
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let duration = world.scenario.duration;
        let category = self.pick(&[
            Category::Abr,
            Category::Abr,
            Category::Abr,
            Category::Abr,
            Category::Cbr,
            Category::Vbr,
            Category::Ubr,
        ]);
        let name = format!("vc{index}");
        let connection = match category {
            Category::Abr => world.abr(&name, &path, Traffic::Greedy(Greedy::default())),
            other => world.other(&name, other, &path, Traffic::Greedy(Greedy::default())),
        };
        let two_way = self.one_in(3);
        for (flow, sends) in [(&mut connection.forward, true), (&mut connection.backward, two_way)] {
            let peak = match &mut flow.sender {
                Sender::Abr(abr) => {
                    self.abr(Arc::make_mut(abr));
                    abr.parameters.pcr
                }
                Sender::Peak(rate) => {
                    let share = self.pick(&[1.5, 1.0, 0.7, 0.5, 0.2]);
                    *rate = *rate * share;
                    *rate
                }
            };
            let is_abr = matches!(flow.sender, Sender::Abr(_));
            flow.traffic = sends.then(|| self.traffic(peak, is_abr, duration));
        }
        if self.one_in(5) {
            let peak = match &connection.forward.sender {
                Sender::Abr(abr) => abr.parameters.pcr,
                Sender::Peak(rate) => *rate,
            };
            connection.forward.traffic =
                Some(Traffic::RequestResponse(self.request_response(peak, duration)));
            connection.backward.traffic = None;
        }
    }

    fn request_response(&mut self, peak: CellRate, duration: Duration) -> RequestResponse {
        RequestResponse {
            request: 1 + self.below(20) as u32,
            response: 1 + self.below(60) as u32,
            requests: 1 + self.below(3) as u32,
            request_gap: self.pick(&[Duration::ZERO, Duration::from_us(424)]),
            cycle_gap: self.pick(&[Duration::ZERO, Duration::from_us(424), Duration::from_ms(3)]),
            server_time: self.pick(&[Duration::ZERO, Duration::from_us(100)]),
            rate: peak * self.pick(&[0.3, 1.0, 1.7]),
            start: if self.one_in(2) { Time::ZERO } else { self.instant(duration) },
            end: if self.one_in(2) { Time::NEVER } else { self.instant(duration) },
            record: 0,
        }
    }

    /// No policy, or any that is declared, with any parameters.
    fn uili(&mut self) -> UiliConfig {
        match SHAPES.get(self.below(SHAPES.len() as u64 + 5) as usize) {
            Some(shape) => UiliConfig::drawn(shape, &mut || self.dice.uniform()),
            None => UiliConfig::None,
        }
    }

    fn abr(&mut self, abr: &mut AbrSender) {
        abr.weight = self.pick(&[1.0, 2.0]);
        abr.clear_efci_state = self.one_in(2);
        abr.uili = self.uili();
        abr.waiting_brm = self.pick(&[WaitingBrm::Overwrite, WaitingBrm::SendOutOfRate]);
        let frtt = abr.parameters.frtt;
        // Above the line rate, cells queue at the host and leave it in step with the line.
        let pcr = abr.parameters.pcr * self.pick(&[1.5, 1.5, 1.0, 1.0, 0.5, 0.123]);
        let mcr = pcr * self.pick(&[0.0, 0.0, 0.0, 0.05, 0.5]);
        let icr = match self.below(6) {
            0 => mcr,
            1 => CellRate::new(3.0),
            2 => pcr * 0.05,
            _ => pcr,
        };
        let up_to =
            |this: &mut Generator, k: u64| PowerOfTwo::from_negative_exponent(this.below(k + 1) as u8);
        let parameters = AbrParameters {
            mcr,
            icr: icr.max(mcr).min(pcr),
            nrm: 2 << self.below(8),
            trm: Duration::from_ps(Duration::from_ms(100).as_ps() >> self.below(8)),
            rif: up_to(self, 15).expect("at most 15"),
            rdf: up_to(self, 15).expect("at most 15"),
            adtf: self.pick(&[Duration::from_ms(10), Duration::from_ms(20), Duration::from_ms(500)]),
            tbe: self.pick(&[Cells(10), Cells(200), Cells(16_777_215), Cells(16_777_215)]),
            crm: self.pick(&[None, Some(1), Some(2), Some(7)]),
            cdf: if self.one_in(4) { None } else { up_to(self, 6) },
            frtt: self.pick(&[Duration::ZERO, frtt]),
            ..AbrParameters::new(pcr)
        };
        assert_eq!(parameters.check(), Ok(()));
        abr.parameters = Arc::new(parameters);
    }

    fn traffic(&mut self, peak: CellRate, is_abr: bool, duration: Duration) -> Traffic {
        let start =
            if self.one_in(2) { Time::ZERO } else { self.instant(Duration::from_ps(duration.as_ps() / 3)) };
        let end = if self.one_in(2) { Time::NEVER } else { self.instant(duration) };
        let rate = peak * self.pick(&[0.05, 0.3, 0.5, 1.0, 1.7]);
        match self.below(7) {
            0 | 1 => {
                let mut instants: Vec<Time> =
                    (0..2 * self.pick(&[0, 0, 1, 2])).map(|_| self.instant(duration)).collect();
                instants.sort_unstable();
                instants.dedup();
                let windows = instants.chunks_exact(2).map(|pair| GreedyWindow {
                    start: pair[0],
                    end: pair[1],
                    cells: self.one_in(2).then(|| Cells(1 + self.below(40))),
                });
                Traffic::Greedy(Greedy { windows: windows.collect() })
            }
            2 => {
                let mut instants: Vec<Time> = (0..self.below(4)).map(|_| self.instant(duration)).collect();
                instants.push(start);
                instants.sort_unstable();
                instants.dedup();
                let mut limit = |at| {
                    let limits = [None, Some(CellRate::ZERO), Some(rate), Some(peak * 0.2)];
                    (at, self.pick(&limits))
                };
                Traffic::Limited(Limited { steps: instants.into_iter().map(&mut limit).collect() })
            }
            3 => Traffic::Constant(Constant { rate, start, end }),
            4 => {
                let mut period = || {
                    let span = Duration::from_us(self.pick(&[100, 424, 2_000, 15_000]));
                    if self.one_in(2) { Period::Fixed(span) } else { Period::Exponential(span) }
                };
                let (on, off) = (period(), period());
                Traffic::OnOff(OnOff { rate, on, off, start, end })
            }
            5 if self.one_in(3) => self.transport_stream(peak, start, end),
            5 => Traffic::Frames(Box::new(FramesTraffic {
                frames_per_second: FrameRate::whole(self.pick(&[200, 1000, 3000])),
                lengths: FrameLengths::Gaussian {
                    size: Octets(self.pick(&[100, 400, 2000])),
                    deviation: Octets(self.pick(&[0, 50])),
                },
                datagram: Octets(self.pick(&[48, 300, 9000])),
                header: Octets(28),
                encapsulation: self.pick(&[Encapsulation::LlcSnapIpv4, Encapsulation::VcMultiplexed]),
                follow_acr: (is_abr && self.one_in(2)).then(|| FollowAcr {
                    share: self.pick(&[0.3, 0.9, 1.0]),
                    means: self.one_in(2).then(|| FollowMeans {
                        interval: Duration::from_us(self.pick(&[424, 3000, 10_000])),
                        adapts: self.pick(&[Adaptation::FrameRate, Adaptation::BitRate]),
                    }),
                }),
                frm_at_frame_ends: is_abr && self.one_in(3),
                start,
                end,
                record: 0,
            })),
            _ => {
                let mut cells: Vec<(Time, u32)> =
                    (0..self.below(12)).map(|_| (self.instant(duration), self.below(20) as u32)).collect();
                cells.sort_unstable();
                Traffic::Timed(Timed { cells })
            }
        }
    }

    /// The arrival of every data cell and every change of ACR, and some of everything else. Quantities that are
    /// averages since the last value have no changes; waiting data and losses of a connection are taken at intervals.
    fn probes(&mut self, scenario: &mut Scenario) {
        for index in 0..scenario.connections.len() {
            let connection = ConnectionIndex(index as u32);
            for backward in [false, true] {
                let abr = scenario.connections[index].category == Category::Abr;
                let mut watched = vec![FlowQuantity::Received];
                if abr {
                    watched.extend([FlowQuantity::Acr, FlowQuantity::ForwardRm, FlowQuantity::BackwardRm]);
                }
                for quantity in watched {
                    let quantity = Quantity::Flow { quantity, flow: FlowIndex::of(connection, backward) };
                    scenario.probes.push(Probe { quantity, every: Every::Change });
                }
            }
        }
        // Watching the queue of a port changes how the kernel runs it, so half of the networks do without.
        let watched_ports = self.one_in(2);
        let spans = [
            Duration::from_us(424),
            Duration::from_us(137),
            Duration::from_ps(42_400_000),
            Duration::from_ms(1),
        ];
        for _ in 0..self.below(16) {
            let every =
                Every::Interval(self.pick(&spans).max(Duration::from_ps(scenario.duration.as_ps() / 150)));
            let probe = if self.one_in(2) {
                use FlowQuantity::*;
                let quantities =
                    [Acr, SourceRate, Received, SourceQueue, Drops, ForwardRm, BackwardRm, Delay, MaxDelay];
                let connection = ConnectionIndex(self.below(scenario.connections.len() as u64) as u32);
                let (quantity, backward) = (self.pick(&quantities), self.one_in(2));
                Probe {
                    quantity: Quantity::Flow { quantity, flow: FlowIndex::of(connection, backward) },
                    every,
                }
            } else {
                use PortQuantity::*;
                let metric = Metric(self.below(5) as u8);
                let quantities =
                    [Queue, GuaranteedQueue, AbrQueue, UbrQueue, Utilization, Drops, metric, metric];
                let quantity = self.pick(&quantities);
                // Most often a port on somebody's way, sometimes any.
                let link = LinkIndex(self.below(scenario.links.len() as u64) as u32);
                let connection = self.below(scenario.connections.len() as u64) as usize;
                let port = match self.below(8) {
                    0 => PortIndex::of(link, self.below(2) as u8),
                    _ => self.pick(&scenario.connections[connection].path).port(),
                };
                let change = watched_ports && quantity != Utilization && self.one_in(2);
                let every = if change { Every::Change } else { every };
                Probe { quantity: Quantity::Port { quantity, port }, every }
            };
            // A scenario records each quantity once; the largest delay is of the intervals of a single series.
            let is_taken = |other: &Probe| other.quantity == probe.quantity;
            let largest = matches!(probe.quantity, Quantity::Flow { quantity: FlowQuantity::MaxDelay, .. });
            if !(largest && scenario.probes.iter().any(is_taken)) {
                scenario.probes.push(probe);
            }
        }
    }
}

/// Parameters that the sources of a fair network have in common.
struct FairPlan {
    line: BitRate,
    pcr: CellRate,
    icr: CellRate,
    nrm: u32,
    rif: PowerOfTwo,
    trm: Duration,
    /// One for all, or each its own.
    delay: Option<Duration>,
    /// One source in so many is not like the others, or shares a host with the one before: none, if zero.
    unlike: u64,
    shares_host: bool,
    two_way: u64,
}

impl FairPlan {
    fn new(generator: &mut Generator, line: BitRate, count: u64) -> FairPlan {
        let all = line.to_cell_rate();
        // More than the line takes, exactly as much, or less.
        let pcr = all * (generator.pick(&[1.3, 1.01, 1.0, 0.9, 0.5]) / count as f64);
        let pcr = if generator.one_in(2) { all } else { pcr };
        let icr = pcr.min(all * (generator.pick(&[1.0, 0.5, 1.2]) / count as f64));
        let delays = [Duration::ZERO, Duration::from_us(10), Duration::from_ms(5)];
        FairPlan {
            line,
            pcr,
            icr,
            nrm: generator.pick(&[4, 16, 32, 32, 256]),
            rif: PowerOfTwo::from_negative_exponent(generator.pick(&[0, 0, 4, 8])).expect("at most 15"),
            trm: Duration::from_us(100_000 >> generator.pick(&[0, 0, 5])),
            delay: (!generator.one_in(3)).then(|| generator.pick(&delays)),
            unlike: generator.pick(&[0, 0, 3, 6, 12]),
            shares_host: generator.one_in(8),
            two_way: generator.pick(&[0, 0, 1, 4]),
        }
    }
}

impl Generator {
    /// Every algorithm in turn, with averaging intervals of a few rounds and of very many.
    fn fair_control(&mut self, number: u64, line: BitRate) -> PortControlConfig {
        let cell_time = line.cell_time();
        let time = self.pick(&[cell_time * 100, cell_time * 400, Duration::from_ms(5)]);
        let of_time = EricaConfig { interval: AveragingInterval::of_time(time), ..EricaConfig::erica() };
        let count = self.pick(&[10, 50, 300]);
        let of_cells = AveragingInterval::of_time_or_cells(time, count);
        let threshold = Cells(1 + self.below(60));
        let erica = |config: EricaConfig| SwitchAlgorithmConfig::Erica(Arc::new(config));
        let algorithm = match number % 10 {
            0 => erica(of_time),
            1 => erica(EricaConfig { interval: of_cells, ..of_time }),
            2 => erica(EricaConfig { queue_control: QueueControl::erica_plus(), ..of_time }),
            3 => erica(EricaConfig { measured_ccr: true, ..of_time }),
            4 => erica(EricaConfig { immediate_fair_share: true, ..of_time }),
            5 => erica(EricaConfig { aging: Some(AgingConfig::new()), ..of_time }),
            6 => SwitchAlgorithmConfig::RelativeRate(hysteresis(threshold.0)),
            7 => SwitchAlgorithmConfig::None,
            8 => {
                let form = self.pick(&[StopAndGoForm::RelativeRate, StopAndGoForm::ExplicitRate]);
                SwitchAlgorithmConfig::StopAndGo(StopAndGoConfig { threshold, form })
            }
            _ => erica(self.erica(line)),
        };
        let marks = algorithm == SwitchAlgorithmConfig::None && self.one_in(3);
        let efci = marks.then_some(EfciConfig { high: threshold, low: threshold });
        let config = PortControlConfig { efci, algorithm, ..PortControlConfig::default() };
        assert_eq!(config.check(), Ok(()));
        config
    }

    fn fair_source(&mut self, world: &mut World, plan: &FairPlan, index: u64) {
        let us = Duration::from_us;
        let delay = plan.delay.unwrap_or_else(|| self.pick(&[Duration::ZERO, us(10), us(500), us(5000)]));
        let unlike = plan.unlike > 0 && self.one_in(plan.unlike);
        let (source, mut sink) = (format!("h{index}"), format!("g{index}"));
        // An access link is idle when a cell comes, unless PCR is the line's own.
        world.link(&source, "sw0", plan.line, delay);
        if plan.shares_host && index % 3 == 1 {
            sink = format!("g{}", index - 1);
        } else {
            let scale = if self.one_in(6) { self.pick(&[0.2, 0.7, 4.0]) } else { 1.0 };
            let last = BitRate::from_bps((plan.line.as_bps() as f64 * scale) as u64);
            world.link("sw1", &sink, last, delay);
        }
        let path = [source.as_str(), "sw0", "sw1", sink.as_str()];
        // One may have another switch, and another far line, before it.
        let farther = [source.as_str(), "sw0", "sw1", "sw2", "g"];
        let path = if index == 2 && !plan.shares_host && self.one_in(3) {
            world.link("sw1", "sw2", plan.line, us(1000));
            world.link("sw2", "g", plan.line, us(10));
            &farther[..]
        } else {
            &path[..]
        };
        let duration = world.scenario.duration;
        let traffic =
            if unlike { self.fair_exception(plan, duration) } else { Traffic::Greedy(Greedy::default()) };
        let backward = plan.two_way > 0 && self.one_in(plan.two_way);
        let connection = world.abr(&format!("vc{index}"), path, traffic);
        if backward {
            connection.backward.traffic = Some(Traffic::Greedy(Greedy::default()));
        }
        for flow in [&mut connection.forward, &mut connection.backward] {
            let Some(parameters) = parameters_of(flow) else { continue };
            let share = if unlike { self.pick(&[1.0, 0.999, 0.9, 0.3]) } else { 1.0 };
            parameters.pcr = (plan.pcr * share).min(parameters.pcr);
            parameters.icr = (plan.icr * share).min(parameters.pcr);
            (parameters.nrm, parameters.rif, parameters.trm) = (plan.nrm, plan.rif, plan.trm);
            assert_eq!(parameters.check(), Ok(()));
        }
    }

    /// Traffic of a source that does not always send.
    fn fair_exception(&mut self, plan: &FairPlan, duration: Duration) -> Traffic {
        let always = [Time::ZERO, Time::NEVER];
        let [start, end] = match self.below(5) {
            0 => [self.instant(duration), Time::NEVER],
            1 => [Time::ZERO, self.instant(duration).max(Time::from_ps(1))],
            2 => return Traffic::Timed(Timed { cells: vec![] }),
            3 => always,
            _ => {
                let (on, off) =
                    (Duration::from_ms(1 + self.below(20)), Duration::from_ms(1 + self.below(20)));
                let [on, off] = [on, off].map(Period::Fixed);
                return Traffic::OnOff(OnOff { rate: plan.pcr, on, off, start: always[0], end: always[1] });
            }
        };
        Traffic::Greedy(Greedy { windows: vec![GreedyWindow { start, end, cells: None }] })
    }

    /// A series of samples, one every so many steps: none looks at every cell, or nothing would wait.
    fn fair_probe(&mut self, count: u64, duration: Duration, step: Duration) -> Probe {
        let samples = 20 + self.below(100);
        let every = Every::Interval(step * (duration.as_ps() / samples).div_ceil(step.as_ps()));
        let connection = ConnectionIndex(self.below(count) as u32);
        let quantity = if self.one_in(3) {
            use FlowQuantity::*;
            let quantity = self.pick(&[Acr, SourceRate, Received, ForwardRm, BackwardRm, Delay, MaxDelay]);
            Quantity::Flow { quantity, flow: FlowIndex::of(connection, self.one_in(5)) }
        } else {
            use PortQuantity::*;
            let metric = Metric(self.below(5) as u8);
            let quantity = self.pick(&[Queue, AbrQueue, Utilization, metric]);
            Quantity::Port { quantity, port: PortIndex::of(LinkIndex(self.pick(&[0, 2, 2])), 0) }
        };
        Probe { quantity, every }
    }
}
