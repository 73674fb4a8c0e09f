//! Flows of a size as datagrams that no one answers: how a flow becomes datagrams, one by one, and when all of it has
//! come.

use cellrate_proto::Cells;
use cellrate_scenario::Datagrams;

use super::segment::{Contents, Flags, Segment};
use super::sequence::{Sequence, Span};
use super::sized_flow::{FlowEnd, Over, SizedFlow};

/// Datagrams of one flow, in order.
///
/// A flow may have billions of them, so each is made when it is asked for.
#[derive(Clone, Debug)]
pub struct FlowDatagrams {
    flow: SizedFlow,
    /// The number of the flow among those of its slot.
    number: u64,
    /// The first octet of the flow.
    from: u64,
    /// The first octet of the next datagram.
    next: u64,
    rules: Datagrams,
}

impl FlowDatagrams {
    /// Datagrams of the flow of this number, whose first octet is `from`, by these rules.
    pub fn new(flow: SizedFlow, number: u64, from: u64, rules: Datagrams) -> FlowDatagrams {
        FlowDatagrams { flow, number, from, next: from, rules }
    }

    /// Cells of the whole flow.
    pub fn cells(&self) -> Cells {
        self.rules.cells(self.flow.octets)
    }
}

impl Iterator for FlowDatagrams {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        let end = self.from + self.flow.octets.0;
        let to = Sequence((self.next + self.rules.payload.0).min(end));
        let span = Span { from: Sequence(self.next), to };
        self.next = span.to.0;
        let (from, number, flow) = (Sequence(self.from), self.number, self.flow);
        let contents = match span.to.0 == end {
            _ if span.octets().0 == 0 => return None,
            true => Contents::FlowEnd(Box::new(FlowEnd { span, from, number, flow })),
            false => Contents::Data(span),
        };
        Some(Segment { connection: 0, flags: Flags::default(), stamp: 0, contents })
    }
}

/// Arrivals of the flows of a VC: the octets that came last without a gap.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arriving {
    first: u64,
    end: u64,
    /// Flows that are over.
    over: u64,
}

impl Arriving {
    /// A datagram has come whole. The flow that is over with it, if one is.
    pub fn on_segment(&mut self, segment: &Segment) -> Option<Over> {
        let (span, end) = match &segment.contents {
            Contents::Data(span) => (*span, None),
            Contents::FlowEnd(end) => (end.span, Some(end)),
            _ => return None,
        };
        if span.from.0 != self.end {
            self.first = span.from.0;
        }
        self.end = span.to.0;
        let end = end?;
        let count = end.number - std::mem::replace(&mut self.over, end.number);
        Some(Over { flow: end.flow, whole: end.from.0 >= self.first, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::wire::Encapsulation;
    use cellrate_proto::{Duration, Octets, Time};

    fn flow(octets: u64) -> SizedFlow {
        let (arrived, begins) = (Time::ZERO, Time::ZERO);
        SizedFlow { demand: 0, arrived, begins, octets: Octets(octets), alone: Duration::from_us(1) }
    }

    fn rules() -> Datagrams {
        Datagrams { payload: Octets(100), header: Octets(28), encapsulation: Encapsulation::VcMultiplexed }
    }

    #[test]
    fn a_flow_fills_as_many_datagrams_as_it_needs() {
        let lengths = |octets| -> Vec<u64> {
            FlowDatagrams::new(flow(octets), 1, 1000, rules())
                .map(|datagram| datagram.packet(Octets(0)).0)
                .collect()
        };
        assert_eq!(lengths(1), [1]);
        assert_eq!(lengths(100), [100]);
        assert_eq!(lengths(250), [100, 100, 50]);
    }

    #[test]
    fn a_flow_is_complete_when_all_of_its_datagrams_have_come() {
        let all: Vec<Segment> = [(1, 0, 250), (2, 250, 100), (3, 350, 150)]
            .into_iter()
            .flat_map(|(number, from, octets)| FlowDatagrams::new(flow(octets), number, from, rules()))
            .collect();
        let over = |lost: &[usize]| -> Vec<Over> {
            let mut arriving = Arriving::default();
            let come = all.iter().enumerate().filter(|(place, _)| !lost.contains(place));
            come.filter_map(|(_, datagram)| arriving.on_segment(datagram)).collect()
        };
        let complete = |lost: &[usize]| -> Vec<u64> {
            over(lost).into_iter().filter(|over| over.whole).map(|over| over.flow.octets.0).collect()
        };
        assert_eq!(complete(&[]), [250, 100, 150]);
        assert_eq!(complete(&[0]), [100, 150]);
        assert_eq!(complete(&[1]), [100, 150]);
        assert_eq!(complete(&[2]), [100, 150], "the last datagram of the first flow");
        assert_eq!(complete(&[3]), [250, 150], "all of the second");
        assert_eq!(complete(&[2, 3]), [150]);
        assert_eq!(complete(&[5]), [250, 100]);
        let counts = |lost: &[usize]| over(lost).iter().map(|over| over.count).collect::<Vec<_>>();
        assert_eq!([counts(&[]), counts(&[0])], [[1, 1, 1], [1, 1, 1]], "one that is spoiled is over, too");
        assert_eq!([counts(&[2]), counts(&[2, 3])], [vec![2, 1], vec![3]]);
    }
}
