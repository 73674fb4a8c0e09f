//! Links into other processes: cells leave in datagrams and come from them, each at its instant.
//!
//! The instant at which a cell left its neighbour is told by the datagram, where both ends agreed on that. Else it
//! follows from when the datagrams were read: all cells that wait at one wake-up are spread evenly since the last cell
//! before them, over a quantum at most, and never closer than the line allows. On a busy line, and for steady flows,
//! that is the spacing the cells had; the first cells after a pause may seem up to a quantum off. The cell reaches this
//! node after the link's delay, so a datagram that is late by less than that changes nothing.
//!
//! Whether a datagram is one of this run, and the next one, its stamp says (`sequence`).

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use cellrate_engine::names::port_name;
use cellrate_engine::random::{Owner, Random, Stream};
use cellrate_proto::{Duration, Time};
use cellrate_scenario::{NodeIndex, PortIndex, Scenario};
use rustix::net::sockopt::set_socket_recv_buffer_size;

use super::cell::Cell;
use super::clock::unix_ns;
use super::counters::PeerCounters;
use super::error::Error;
use super::faults::Faults;
use super::incoming::Incoming;
use super::machine::Machine;
use super::network::{Network, Outgoing};
use super::options::{Options, Part};
use super::pseudowire::{
    Datagram, FIRST_LABEL, MAX_CELLS, MAX_OCTETS, MAX_STAMPED_CELLS, MAX_TIMED_CELLS, PackedCell, Stamp,
    emit, next_sequence,
};
use super::results::DatagramRow;
use super::sequence::{Implausible, Order};
use super::verdict::LinkFigures;

/// Datagrams that may come beyond what the line carries: they are read late, all at once.
const BUNCHED: u64 = 64;
/// Datagrams read at one wake-up, at most: no flood keeps the engine from its events.
const MAX_BATCH: usize = 512;
/// Room for what comes while the machine stands still \[octets\]; as much of it as the system grants.
const RECEIVE_BUFFER: usize = 4 << 20;
/// How long an RM cell may wait in queues, there and back.
const ANSWERED_WITHIN: Duration = Duration::from_secs(1);
/// A neighbour's clock that is further ahead is not believed.
const MAX_AHEAD: Duration = Duration::from_secs(1);

/// One link.
#[derive(Debug)]
struct Link {
    /// This end's port, and so the label of what it sends.
    port: PortIndex,
    address: SocketAddr,
    /// The socket of this end's node, by its place.
    socket: usize,
    /// Its place among the network's inputs.
    input: usize,
    line: Incoming,
    last_sent: u16,
    order: Order,
    /// When the first RM cell was sent: something comes back of it.
    first_rm: Option<Time>,
    /// When the last cell left the neighbour.
    last_departure: Time,
    /// The cells that came since the last wake-up.
    batch: Vec<Cell>,
    /// A datagram that an injected fault holds back.
    held: Option<Vec<u8>>,
    counters: PeerCounters,
}

/// All links of this process, and a socket for each of its nodes that has any.
#[derive(Debug)]
pub(crate) struct Peers {
    sockets: Vec<UdpSocket>,
    links: Vec<Link>,
    timed: bool,
    /// The run's nonce and when this process began [ns since the Unix epoch], where datagrams are stamped.
    stamp: Option<(u64, u64)>,
    /// Whether this process was there when the run began.
    from_start: bool,
    quantum: Duration,
    faults: Faults,
    random: Random,
    octets: Vec<u8>,
    pub refused: DatagramRow,
}

impl Peers {
    /// The links of the nodes that this process is; `None` where it is the whole network.
    pub fn bind(
        scenario: &Scenario,
        options: &Options<'_>,
        network: &Network,
        quantum: Duration,
        from_start: bool,
    ) -> Result<Option<Peers>, Error> {
        let Part::Nodes { nodes, addresses } = &options.part else { return Ok(None) };
        let addresses = addresses.as_ref().unwrap_or(&scenario.live.addresses);
        let name = |node: NodeIndex| scenario.node(node).name.clone();
        let address = |node: NodeIndex| {
            let address = addresses.get(node.0 as usize).copied().flatten();
            address.ok_or_else(|| Error::NoAddress { node: name(node) })
        };
        let (mut sockets, mut nodes_of_sockets, mut links) = (Vec::new(), Vec::new(), Vec::new());
        for outgoing in &network.outgoing {
            let input = network.inputs.iter().position(|input| input.port == outgoing.port.other());
            let Some(input) = input else { continue };
            let known = nodes_of_sockets.iter().position(|of| *of == outgoing.node);
            let socket = match known {
                Some(socket) => socket,
                None => {
                    let own = address(outgoing.node)?;
                    let refused = |cause| Error::Bind { node: name(outgoing.node), address: own, cause };
                    sockets.push(bind(own).map_err(refused)?);
                    nodes_of_sockets.push(outgoing.node);
                    sockets.len() - 1
                }
            };
            let line = network.inputs[input].line.clone();
            links.push(Link::new(outgoing.port, address(outgoing.neighbour)?, socket, input, line));
        }
        let here = nodes.first().map_or("", |&node| scenario.node(node).name.as_str());
        Ok(Some(Peers {
            sockets,
            links,
            timed: options.timestamps.unwrap_or(scenario.live.timestamps),
            stamp: options.nonce.filter(|_| scenario.live.stamps).map(|nonce| (nonce, unix_ns())),
            from_start,
            quantum,
            faults: options.faults,
            random: Random::new(scenario.seed, Stream::Faults(Owner::named(here))),
            octets: Vec::with_capacity(MAX_OCTETS),
            refused: DatagramRow::default(),
        }))
    }

    /// Become readable when datagrams wait.
    pub fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.sockets.iter().map(AsFd::as_fd)
    }

    /// Sends what has left the ports since the last call. An RM cell is the last of its datagram. At the `end` of the
    /// run neighbours may be gone, and no error is counted.
    pub fn flush(&mut self, outgoing: &mut [Outgoing], end: bool) {
        let errors: Vec<u64> = self.links.iter().map(|link| link.counters.send_errors).collect();
        self.send_all(outgoing);
        if end {
            for (link, errors) in self.links.iter_mut().zip(errors) {
                link.counters.send_errors = errors;
            }
        }
    }

    fn send_all(&mut self, outgoing: &mut [Outgoing]) {
        let most = match (self.timed, self.stamp) {
            (true, _) => MAX_TIMED_CELLS,
            (false, Some(_)) => MAX_STAMPED_CELLS,
            (false, None) => MAX_CELLS,
        };
        for outgoing in outgoing {
            if outgoing.cells.is_empty() {
                continue;
            }
            let of_port = self.links.iter().position(|link| link.port == outgoing.port);
            let Some(link) = of_port else { continue };
            let mut cells = &outgoing.cells[..];
            while !cells.is_empty() {
                let until_rm = cells.iter().position(Cell::is_rm).map_or(cells.len(), |at| at + 1);
                let (now, later) = cells.split_at(until_rm.min(most));
                self.send(link, now);
                cells = later;
            }
            outgoing.cells.clear();
        }
    }

    /// Sends cells that are stamped with their departures.
    fn send(&mut self, link: usize, cells: &[Cell]) {
        let place = &mut self.links[link];
        place.last_sent = next_sequence(place.last_sent);
        let label = FIRST_LABEL + place.port.0;
        let packed = cells.iter().map(|cell| PackedCell {
            header: cell.header,
            payload: &cell.payload,
            departure: Some(cell.arrives),
        });
        emit(&mut self.octets, label, place.last_sent, self.timed, packed);
        if let Some((run, began_ns)) = self.stamp {
            Stamp { run, began_ns, number: place.counters.sent }.append(&mut self.octets);
        }
        place.counters.sent += 1;
        if place.first_rm.is_none() {
            place.first_rm = cells.iter().find(|cell| cell.is_rm()).map(|cell| cell.arrives);
        }
        place.counters.cells_sent += cells.len() as u64;
        let mut strikes = |rate: f64| rate > 0.0 && self.random.uniform() < rate;
        if strikes(self.faults.datagram_loss) {
            return;
        }
        let (twice, back) = (strikes(self.faults.duplicate), strikes(self.faults.reorder));
        if back && place.held.is_none() {
            place.held = Some(self.octets.clone());
            return;
        }
        let held = place.held.take();
        self.transmit(link, twice);
        if let Some(held) = held {
            self.octets = held;
            self.transmit(link, false);
        }
    }

    fn transmit(&mut self, link: usize, twice: bool) {
        let place = &mut self.links[link];
        for _ in 0..if twice { 2 } else { 1 } {
            if self.sockets[place.socket].send_to(&self.octets, place.address).is_err() {
                place.counters.send_errors += 1;
            }
        }
    }

    /// Takes what has come, and puts the cells on their links as of `now`.
    pub fn receive(&mut self, now: Time, machine: &mut Machine<'_>) {
        // One octet more than the longest: what fills it was longer.
        let mut buffer = [0; MAX_OCTETS + 1];
        for socket in 0..self.sockets.len() {
            for _ in 0..MAX_BATCH {
                match self.sockets[socket].recv_from(&mut buffer) {
                    Ok((length, from)) => self.sort(socket, &buffer[..length], from, now),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    // An ICMP error of something sent before; the next call gives what came.
                    Err(_) => {}
                }
            }
        }
        for link in &mut self.links {
            let (mut before, step) = link.spacing(now, self.quantum);
            for mut cell in link.batch.drain(..) {
                let departure = if cell.arrives == Time::NEVER {
                    before.saturating_add(step)
                } else {
                    cell.arrives.min(now.saturating_add(MAX_AHEAD))
                };
                before = departure;
                link.last_departure = departure;
                cell.arrives = link.line.arrival(departure);
                link.counters.late_cells += u64::from(cell.arrives < machine.done());
                machine.on_foreign_cell(link.input, cell);
            }
        }
    }

    /// One datagram from `from`, which came to a socket.
    fn sort(&mut self, socket: usize, octets: &[u8], from: SocketAddr, now: Time) {
        let is_between = |link: &Link| link.address == from && link.socket == socket;
        if !self.links.iter().any(is_between) {
            self.refused.from_strangers += 1;
            return;
        }
        let (octets, stamp) = match self.stamp {
            None => (octets, None),
            Some((run, _)) => match Stamp::split(octets).filter(|(_, stamp)| stamp.run == run) {
                Some((octets, stamp)) => (octets, Some(stamp)),
                None => {
                    self.refused.of_other_runs += 1;
                    return;
                }
            },
        };
        let Ok(datagram) = Datagram::parse(octets, self.timed) else {
            self.refused.malformed += 1;
            return;
        };
        let of_label =
            |link: &&mut Link| is_between(link) && datagram.label == FIRST_LABEL + link.port.other().0;
        let Some(link) = self.links.iter_mut().find(of_label) else {
            self.refused.malformed += 1;
            return;
        };
        match link.takes(datagram.sequence, stamp, now, self.from_start) {
            Ok(true) => {}
            Ok(false) => return,
            Err(Implausible) => {
                self.refused.malformed += 1;
                return;
            }
        }
        link.counters.received += 1;
        link.counters.cells_received += datagram.len() as u64;
        link.batch.extend(datagram.cells().map(|cell| Cell {
            arrives: cell.departure.unwrap_or(Time::NEVER),
            sent: Time::NEVER,
            hop: 0,
            header: cell.header,
            payload: *cell.payload,
        }));
    }

    /// The counters of every link, by this end's port.
    pub fn counters(&self) -> Vec<(PortIndex, PeerCounters)> {
        self.links.iter().map(|link| (link.port, link.counters)).collect()
    }

    /// Figures of each link for the verdict on a run that went on until `end`.
    pub fn figures(&self, scenario: &Scenario, end: Time) -> Vec<LinkFigures> {
        // Longer than there and back on any way.
        let delays =
            scenario.links.iter().fold(Duration::ZERO, |sum, link| sum.saturating_add(link.longest_delay()));
        let answered = ANSWERED_WITHIN.saturating_add(delays.saturating_mul(4));
        let of = |link: &Link| LinkFigures {
            link: port_name(scenario, link.port).replace("->", "-"),
            unanswered: link.counters.received == 0
                && link.first_rm.is_some_and(|first| end.since(first) > answered),
            counters: link.counters,
        };
        self.links.iter().map(of).collect()
    }
}

/// A socket at `address` that never waits.
fn bind(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind(address)?;
    socket.set_nonblocking(true)?;
    // The system may grant less; what does not fit is counted as missing.
    let _ = set_socket_recv_buffer_size(&socket, RECEIVE_BUFFER);
    Ok(socket)
}

impl Link {
    /// A link over which nothing has come or gone.
    fn new(port: PortIndex, address: SocketAddr, socket: usize, input: usize, line: Incoming) -> Link {
        Link {
            port,
            address,
            socket,
            input,
            line,
            last_sent: 0,
            order: Order::default(),
            first_rm: None,
            last_departure: Time::ZERO,
            batch: Vec::new(),
            held: None,
            counters: PeerCounters::default(),
        }
    }

    /// How the cells of the batch that was read at `now` are spaced, and the instant before the first: evenly since the
    /// last cell, or over a quantum if that was longer ago; never closer than the line allows.
    fn spacing(&self, now: Time, quantum: Duration) -> (Time, Duration) {
        let a_quantum_ago = Time::from_ps(now.as_ps().saturating_sub(quantum.as_ps()));
        let before = self.last_departure.max(a_quantum_ago);
        let even = now.since(before).as_ps() / (self.batch.len() as u64).max(1);
        (before, Duration::from_ps(even).max(self.line.cell_time))
    }

    /// Whether a datagram read at `now` is to be taken: it comes after all before it.
    fn takes(
        &mut self,
        sequence: u16,
        stamp: Option<Stamp>,
        now: Time,
        from_start: bool,
    ) -> Result<bool, Implausible> {
        // A datagram has at least one cell.
        let within = |span: Duration| span.as_ps() / self.line.cell_time.as_ps().max(1) + BUNCHED;
        match stamp {
            Some(stamp) => {
                let plausible = within(now.saturating_add(MAX_AHEAD).since(Time::ZERO));
                self.order.admit_stamped(stamp, plausible, from_start, &mut self.counters)
            }
            None => {
                let plausible = within(now.since(self.last_departure));
                Ok(self.order.admit(sequence, plausible, &mut self.counters))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link() -> Link {
        let line = Incoming::constant(Duration::from_us(10));
        Link::new(PortIndex(0), "127.0.0.1:1".parse().unwrap(), 0, 0, line)
    }

    fn spacing(last_us: u64, cells: usize, now_us: u64) -> (u64, u64) {
        let cell = Cell::data(Time::ZERO, 0, 0, &[0; 48], false);
        let at = |us| Time::ZERO + Duration::from_us(us);
        let link = Link { last_departure: at(last_us), batch: vec![cell; cells], ..link() };
        let (before, step) = link.spacing(at(now_us), Duration::from_us(500));
        (before.as_ps() / 1_000_000, step.as_ps() / 1_000_000)
    }

    #[test]
    fn cells_without_instants_are_spread_since_the_last_one_and_never_closer_than_the_line_allows() {
        assert_eq!(spacing(1_000, 5, 1_400), (1_000, 80), "400 us for 5 cells");
        assert_eq!(spacing(1_000, 50, 1_400), (1_000, 10), "the line's cell time");
        assert_eq!(spacing(1_000, 5, 9_000), (8_500, 100), "a quantum after a pause");
        assert_eq!(spacing(1_000, 5, 900), (1_000, 10), "the last ones are ahead");
    }
}
