//! A live run from beginning to end: build, run by the wall clock, account.

use std::net::Ipv4Addr;
use std::ops::ControlFlow;
use std::sync::Arc;

use cellrate_engine::names::flow_name;
use cellrate_proto::{Duration, Time};
use cellrate_scenario::{FlowIndex, Scenario};
use rustix::event::{PollFd, PollFlags};

use super::changes::Changes;
use super::clock::{Clock, cpu_ns, thread_cpu_ns, wait};
use super::error::Error;
use super::machine::Machine;
use super::network::Network;
use super::offers::Offers;
use super::options::{Host, Options, Part, Progress, Route, Stop, default_quantum};
use super::peer::Peers;
use super::results::{Ending, Outcome, outcome};
use super::sampler::{Recording, probes};
use super::verdict::{Canary, Lateness, Measured, judge, precise_timers};

/// How often the caller is told of progress, at most.
const REPORT_EVERY: Duration = Duration::from_ms(50);
/// Packets taken from a host at one wake-up, at most: no host keeps the others waiting.
const MAX_PACKETS: usize = 64;
/// The longest packet there is \[octets\].
const MAX_PACKET_OCTETS: usize = 65_535;
/// Where the destination address stands in an IPv4 packet.
const DESTINATION: std::ops::Range<usize> = 16..20;

/// Runs `scenario` by the wall clock and returns what was found.
///
/// Everything is done by the calling thread, and takes as long as the scenario's duration.
///
/// # Errors
/// [`Error::Interrupted`] when the progress function said so; what cannot be built or bound, before anything runs.
pub fn run(scenario: &Scenario, mut options: Options<'_>) -> Result<Outcome, Error> {
    precise_timers();
    let quantum = options.quantum.or(scenario.live.quantum).unwrap_or_else(|| default_quantum(scenario));
    let network = Network::build(scenario, &options)?;
    let clock = Clock::new(options.start_unix_ns);
    let catch_up = options.catch_up.unwrap_or(scenario.live.catch_up);
    // A process that is there in time begins at zero, and catches up if woken late; a later one begins where the others
    // are.
    let start = if clock.now() > Time::ZERO + catch_up { clock.now() } else { Time::ZERO };
    let peers = Peers::bind(scenario, &options, &network, quantum, start == Time::ZERO)?;
    let router = Router::new(&options.routes, &options.hosts, &network);
    let recording = Recording::new(&probes(scenario, &network, options.series_every), scenario, &network);
    let end = Time::ZERO + scenario.duration;
    let (hosts, tap) = (std::mem::take(&mut options.hosts), options.tap.take());

    let mut progress = options.progress.take();
    await_start(&clock, &mut progress)?;
    if start >= end {
        return Err(Error::TooLate { late_s: clock.ago_s(end) });
    }
    let mut drive = Drive {
        machine: Machine::new(network, recording, hosts, tap, [start, end])?,
        peers,
        offers: options.offers.take(),
        changes: options.changes.clone(),
        router,
        clock,
        lateness: Lateness::default(),
        quantum,
        catch_up,
        end,
        watched: options.watched,
        buffer: vec![0; MAX_PACKET_OCTETS],
    };
    let canary = Canary::start();
    let before = (Clock::new(None), thread_cpu_ns(), cpu_ns());
    let ended = drive.run(&mut progress)?;
    let wall = before.0.now().since(Time::ZERO);
    let peers = drive.peers.as_ref().map(Peers::counters).unwrap_or_default();
    let measured = Measured {
        quantum,
        slipped: drive.clock.slipped(),
        wall_ns: wall.as_ps() / 1_000,
        thread_cpu_ns: thread_cpu_ns() - before.1,
        process_cpu_ns: cpu_ns() - before.2,
        stalls: canary.stop(),
        links: drive.peers.as_ref().map(|peers| peers.figures(scenario, ended)).unwrap_or_default(),
        malformed: drive.peers.as_ref().map_or(0, |peers| peers.refused.malformed),
    };
    drive.machine.check_conservation(|flow| flow_name(scenario, flow))?;
    let nodes = match &options.part {
        Part::Whole => Vec::new(),
        Part::Nodes { nodes, .. } => nodes.iter().map(|&node| scenario.node(node).name.clone()).collect(),
    };
    let ending = Ending {
        scenario,
        nodes,
        start,
        end: ended,
        wall_s: wall.as_secs_f64(),
        timing: judge(&drive.lateness, &measured, &options.thresholds),
        peers,
        datagrams: drive.peers.as_ref().map(|peers| peers.refused),
    };
    Ok(outcome(drive.machine, ending))
}

type Report<'a> = Option<Box<dyn FnMut(Progress) -> ControlFlow<Stop> + Send + 'a>>;

/// Tells the caller; whether to go on.
fn report(progress: &mut Report<'_>, so_far: Progress) -> ControlFlow<Stop> {
    progress.as_mut().map_or(ControlFlow::Continue(()), |progress| progress(so_far))
}

fn await_start(clock: &Clock, progress: &mut Report<'_>) -> Result<(), Error> {
    loop {
        let left = clock.until_start();
        if left == Duration::ZERO {
            return Ok(());
        }
        let nothing = Progress { fraction: 0.0, now: Time::ZERO, recent: Vec::new() };
        if report(progress, nothing).is_break() {
            return Err(Error::Interrupted);
        }
        wait(&mut [], left.min(REPORT_EVERY));
    }
}

/// A machine, its clock and its outside.
struct Drive<'a> {
    machine: Machine<'a>,
    peers: Option<Peers>,
    offers: Option<Arc<Offers>>,
    changes: Option<Arc<Changes>>,
    router: Router,
    clock: Clock,
    lateness: Lateness,
    quantum: Duration,
    catch_up: Duration,
    end: Time,
    /// Whether the caller is told what series have recorded.
    watched: bool,
    buffer: Vec<u8>,
}

impl Drive<'_> {
    /// Runs to the end, or to where the caller stops it; returns when that was.
    fn run(&mut self, progress: &mut Report<'_>) -> Result<Time, Error> {
        let mut next_report = Time::ZERO;
        loop {
            let now = self.tell_time().min(self.end);
            self.machine.run_until(now);
            if let Some(offers) = &self.offers {
                offers.publish(self.machine.network.offered());
            }
            if let Some(peers) = &mut self.peers {
                peers.flush(&mut self.machine.network.outgoing, now >= self.end);
            }
            if now >= self.end {
                return Ok(self.end);
            }
            if let Some(changes) = &self.changes {
                changes.take().iter().for_each(|change| self.machine.change_link(change));
            }
            let busy = self.take_packets();
            if let Some(peers) = &mut self.peers {
                peers.receive(now, &mut self.machine);
            }
            if now >= next_report {
                next_report = now + REPORT_EVERY;
                if let Some(changes) = &self.changes {
                    changes.publish(self.machine.link_states());
                }
                match report(progress, self.so_far(now)) {
                    ControlFlow::Continue(()) => {}
                    ControlFlow::Break(Stop::Finish) => return Ok(now),
                    ControlFlow::Break(Stop::Discard) => return Err(Error::Interrupted),
                }
            }
            if !busy {
                self.sleep(now, next_report);
            }
        }
    }

    fn so_far(&mut self, now: Time) -> Progress {
        let fraction = now.as_ps() as f64 / self.end.as_ps() as f64;
        let recent = if self.watched { self.machine.recording.recent(now) } else { Vec::new() };
        Progress { fraction, now, recent }
    }

    /// Logical time now. What cannot be caught up with is passed over, unless other processes share the clock.
    fn tell_time(&mut self) -> Time {
        let now = self.clock.now();
        let due = self.machine.next_event();
        if due >= now {
            return now;
        }
        let late = now.since(due);
        self.lateness.note(late, self.quantum);
        if late <= self.catch_up || self.peers.is_some() {
            return now;
        }
        let over = late - self.catch_up;
        self.clock.slip(over);
        Time::from_ps(now.as_ps() - over.as_ps())
    }

    /// Takes the packets that hosts have sent; whether some may be left.
    fn take_packets(&mut self) -> bool {
        let mut more = false;
        for host in 0..self.machine.hosts.len() {
            let mut taken = 0;
            while taken < MAX_PACKETS {
                match self.machine.hosts[host].device.receive(&mut self.buffer) {
                    Ok(None) => break,
                    Ok(Some(length)) => {
                        let packet = &mut self.buffer[..length];
                        self.machine.on_packet(host, self.router.adapter(host, packet), packet);
                    }
                    Err(_) => {
                        self.machine.host_counters[host].device_errors += 1;
                        break;
                    }
                }
                taken += 1;
            }
            more |= taken == MAX_PACKETS;
        }
        more
    }

    /// Waits for the next event, but at least one quantum after `now`, so that events come in batches; or until
    /// something comes from outside.
    fn sleep(&self, now: Time, next_report: Time) {
        let due = self.machine.next_event().max(now + self.quantum);
        let wake = due.min(next_report.max(now + self.quantum)).min(self.end);
        let left = wake.since(self.clock.now());
        if left == Duration::ZERO {
            return;
        }
        let devices = self.machine.hosts.iter().map(|host| host.device.as_fd());
        let mut fds: Vec<PollFd<'_>> = devices
            .chain(self.peers.iter().flat_map(Peers::fds))
            .map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN))
            .collect();
        wait(&mut fds, left);
    }
}

/// Which adapter a host's packets go to.
struct Router {
    /// By attached host: destination and adapter, sorted.
    tables: Vec<Vec<(Ipv4Addr, u32)>>,
}

impl Router {
    fn new(routes: &[Route], hosts: &[Host], network: &Network) -> Router {
        let tables = hosts.iter().map(|host| {
            let mut table: Vec<(Ipv4Addr, u32)> = Vec::new();
            for route in routes.iter().filter(|route| route.host == host.node) {
                // The direction that begins at this host.
                let begins = |flow: FlowIndex| {
                    let reception = network.sending(flow)?.reception.as_ref()?;
                    let at = hosts.get(reception.host as usize)?;
                    network.sender(flow).filter(|_| at.node == host.node)
                };
                let flows = [false, true].map(|backward| FlowIndex::of(route.connection, backward));
                if let Some(sender) = flows.into_iter().find_map(begins)
                    && !table.iter().any(|(destination, _)| *destination == route.destination)
                {
                    table.push((route.destination, sender));
                }
            }
            table.sort_unstable();
            table
        });
        Router { tables: tables.collect() }
    }

    /// The adapter for `packet`, which the attached host number `host` sends.
    fn adapter(&self, host: usize, packet: &[u8]) -> Option<u32> {
        let octets: [u8; 4] = packet.get(DESTINATION)?.try_into().ok()?;
        let is_ipv4 = packet.first()? >> 4 == 4;
        let table = &self.tables[host];
        let place =
            table.binary_search_by_key(&Ipv4Addr::from(octets), |&(destination, _)| destination).ok()?;
        is_ipv4.then(|| table[place].1)
    }
}
