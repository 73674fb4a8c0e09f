//! Indices of the things of a resolved scenario: their places in its lists.

use crate::model::{Connection, Flow, Link, Node, Port, Scenario, Step};

/// Index into [`Scenario::nodes`](crate::Scenario::nodes).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeIndex(pub u32);

/// Index into [`Scenario::links`](crate::Scenario::links).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkIndex(pub u32);

/// Index into [`Scenario::connections`](crate::Scenario::connections).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionIndex(pub u32);

/// One direction of a connection: forward from the first host of its path to the last, or backward.
///
/// Lists of all directions have them in the order of the connections, forward before backward.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowIndex(pub u32);

impl FlowIndex {
    /// A direction of `connection`.
    pub const fn of(connection: ConnectionIndex, backward: bool) -> FlowIndex {
        FlowIndex(2 * connection.0 + backward as u32)
    }

    /// The connection that it is a direction of.
    pub const fn connection(self) -> ConnectionIndex {
        ConnectionIndex(self.0 / 2)
    }

    /// Whether it is the backward one.
    pub const fn is_backward(self) -> bool {
        self.0 % 2 == 1
    }

    /// The other direction of the same connection.
    pub const fn other(self) -> FlowIndex {
        FlowIndex(self.0 ^ 1)
    }

    /// Its place in lists of all directions.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// An output port: that of one end of a link.
///
/// Lists of all ports have them in the order of the links, `ports[0]` before `ports[1]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PortIndex(pub u32);

impl PortIndex {
    /// `link.ports[end]`.
    pub const fn of(link: LinkIndex, end: u8) -> PortIndex {
        PortIndex(2 * link.0 + end as u32)
    }

    /// Ports at both ends of `links`, in order.
    pub(crate) fn all(
        links: &[Link],
    ) -> impl DoubleEndedIterator<Item = PortIndex> + ExactSizeIterator + use<> {
        (0..2 * links.len() as u32).map(PortIndex)
    }

    /// The link that it sends over.
    pub const fn link(self) -> LinkIndex {
        LinkIndex(self.0 / 2)
    }

    /// The end of the link that it sends from: 0 or 1.
    pub const fn end(self) -> u8 {
        (self.0 % 2) as u8
    }

    /// The step over its link.
    pub const fn step(self) -> Step {
        Step { link: self.link(), end: self.end() }
    }

    /// The port at the other end of the same link.
    pub const fn other(self) -> PortIndex {
        PortIndex(self.0 ^ 1)
    }

    /// Its place in lists of all ports.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Step {
    /// The port that it leaves by.
    pub const fn port(self) -> PortIndex {
        PortIndex::of(self.link, self.end)
    }

    /// The step over this link the other way.
    pub const fn turned(self) -> Step {
        self.port().other().step()
    }
}

impl Connection {
    /// One of its two directions.
    pub fn flow(&self, backward: bool) -> &Flow {
        if backward { &self.backward } else { &self.forward }
    }

    /// The links that a direction crosses, in its order.
    pub fn steps(&self, backward: bool) -> impl DoubleEndedIterator<Item = Step> + ExactSizeIterator {
        (0..self.path.len()).map(move |hop| self.step(backward, hop))
    }

    /// The one at hop `hop` of a direction, counted from 0.
    ///
    /// # Panics
    /// When there are not so many.
    pub fn step(&self, backward: bool, hop: usize) -> Step {
        if backward { self.path[self.path.len() - 1 - hop].turned() } else { self.path[hop] }
    }
}

/// Whoever looks something up in a scenario has its index from there: another one may panic.
impl Scenario {
    /// A host or switch.
    pub fn node(&self, node: NodeIndex) -> &Node {
        &self.nodes[node.0 as usize]
    }

    /// A link.
    pub fn link(&self, link: LinkIndex) -> &Link {
        &self.links[link.0 as usize]
    }

    /// A connection.
    pub fn connection(&self, connection: ConnectionIndex) -> &Connection {
        &self.connections[connection.0 as usize]
    }

    /// Both directions of all connections, in order.
    pub fn flows(&self) -> impl DoubleEndedIterator<Item = FlowIndex> + ExactSizeIterator + use<> {
        (0..2 * self.connections.len() as u32).map(FlowIndex)
    }

    /// A direction of a connection.
    pub fn flow(&self, flow: FlowIndex) -> &Flow {
        self.connection(flow.connection()).flow(flow.is_backward())
    }

    /// The links that a direction crosses, in its order.
    pub fn steps(&self, flow: FlowIndex) -> impl DoubleEndedIterator<Item = Step> + ExactSizeIterator {
        self.connection(flow.connection()).steps(flow.is_backward())
    }

    /// The one at hop `hop` of a direction, counted from 0.
    pub fn step(&self, flow: FlowIndex, hop: usize) -> Step {
        self.connection(flow.connection()).step(flow.is_backward(), hop)
    }

    /// The ports at both ends of all links, in order.
    pub fn ports(&self) -> impl DoubleEndedIterator<Item = PortIndex> + ExactSizeIterator + use<> {
        PortIndex::all(&self.links)
    }

    /// An output port.
    pub fn port(&self, port: PortIndex) -> &Port {
        &self.link(port.link()).ports[usize::from(port.end())]
    }

    /// The node that `step` leaves.
    pub fn tail(&self, step: Step) -> NodeIndex {
        self.link(step.link).ends[usize::from(step.end)]
    }

    /// The node that `step` reaches.
    pub fn head(&self, step: Step) -> NodeIndex {
        self.tail(step.turned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_and_ports_are_numbered_in_pairs() {
        let flow = FlowIndex::of(ConnectionIndex(3), true);
        assert_eq!((flow.index(), flow.connection(), flow.is_backward()), (7, ConnectionIndex(3), true));
        assert_eq!(flow.other(), FlowIndex::of(ConnectionIndex(3), false));
        let port = PortIndex::of(LinkIndex(2), 1);
        assert_eq!((port.index(), port.link(), port.end(), port.step().port()), (5, LinkIndex(2), 1, port));
        assert_eq!(port.other(), PortIndex::of(LinkIndex(2), 0));
        assert_eq!(port.step().turned(), port.other().step());
    }
}
