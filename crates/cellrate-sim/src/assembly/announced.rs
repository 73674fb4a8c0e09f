//! Bursts of conversations whose last cell bears a mark: the end that receives them has nothing to do before it comes.

use cellrate_scenario::{Buffers, FlowIndex, PortIndex, Scenario, Traffic};

use crate::cell::SEQUENCE_MASK;
use crate::mechanisms::{Mechanism, Mechanisms};

/// Connections whose requests and responses end with a [marked](crate::cell::Cell::ends_pdu) cell; `tapped` are ports
/// whose cells are seen.
pub(super) struct Announced<'a> {
    pub scenario: &'a Scenario,
    pub tapped: &'a [PortIndex],
    pub mechanisms: Mechanisms,
}

impl Announced<'_> {
    /// Whether bursts of the connection of `flow` do. Where a cell may be lost, a later one may complete a burst; and
    /// the mark is for the simulator alone, so that no port on the way may look for ends of PDUs.
    pub(super) fn has(&self, flow: FlowIndex) -> bool {
        let connection = self.scenario.connection(flow.connection());
        let Some(Traffic::RequestResponse(model)) = &connection.forward.traffic else { return false };
        let longest = u64::from(model.request.max(model.response));
        self.mechanisms.has(Mechanism::AnnouncedBursts)
            && longest <= SEQUENCE_MASK
            && self.tapped.is_empty()
            && connection.policing.is_empty()
            && [flow, flow.other()].into_iter().all(|flow| self.loses_nothing(flow))
    }

    fn loses_nothing(&self, flow: FlowIndex) -> bool {
        self.scenario.steps(flow).all(|step| {
            let port = self.scenario.port(step.port());
            let link = self.scenario.link(step.link);
            port.buffers == Buffers::default()
                && port.queueing.room.is_none()
                && port.vs_vd.is_none_or(|mode| mode.buffer.is_none())
                && port.frame_discards().iter().all(Option::is_none)
                && port.ecn.is_none()
                && link.line.loss == 0.0
                && link.line.loss_bursts.is_none()
                && link.line.outages.is_empty()
                && !link.is_changing()
        })
    }
}

#[cfg(test)]
mod tests {
    use cellrate_scenario::Document;

    use super::*;

    /// A client and a server behind a switch, with these keys of the switch, the link behind it and the connection.
    fn scenario(switch: &str, link: &str, vc: &str) -> Scenario {
        let text = format!(
            "name = \"ask\"\nduration = \"1 ms\"\n[defaults.link]\nrate = \"155.52 Mbps\"\n\
             [[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\n\
             [[switch]]\nname = \"sw\"\n{switch}\n[[link]]\nbetween = [\"a\", \"sw\"]\nlength = \"1 km\"\n\
             [[link]]\nbetween = [\"sw\", \"b\"]\nlength = \"1 km\"\n{link}\n\
             [[vc]]\nname = \"web\"\npath = [\"a\", \"sw\", \"b\"]\n{vc}\n"
        );
        Document::parse(&text, "ask").expect("it reads").resolve().expect("it resolves")
    }

    fn asking_for(cells: u64) -> String {
        format!(
            "traffic = {{ type = \"request-response\", response = \"{cells} cells\", cycle_gap = \"1 ms\" }}"
        )
    }

    fn is_announced(scenario: &Scenario, tapped: &[PortIndex]) -> bool {
        Announced { scenario, tapped, mechanisms: Mechanisms::default() }.has(FlowIndex(0))
    }

    #[test]
    fn bursts_are_announced_where_no_cell_is_lost_and_nobody_looks_for_ends_of_pdus() {
        let announced = |switch: &str, link: &str, category: &str| {
            let vc = format!("category = \"{category}\"\n{}", asking_for(20));
            is_announced(&scenario(switch, link, &vc), &[])
        };
        assert!(announced("", "", "abr"));
        assert!(!announced("buffers = { abr = \"100 cells\" }", "", "abr"));
        assert!(announced("queueing = { type = \"round-robin\" }", "", "abr"));
        assert!(!announced("queueing = { type = \"round-robin\", room = \"10 cells\" }", "", "abr"));
        assert!(announced("vs_vd = {}", "", "abr"));
        assert!(!announced("vs_vd = { buffer = \"10 cells\" }", "", "abr"));
        assert!(!announced("frame_discard = { type = \"partial\" }", "", "ubr"));
        assert!(!announced("ecn = { threshold = \"10 cells\" }", "", "ubr"));
        assert!(!announced("", "loss = 0.001", "abr"));
        assert!(!announced("", "loss_bursts = { begin = 0.001, end = 0.5 }", "abr"));
        assert!(!announced("", "changes = [{ at = \"0.5 ms\", delay = \"1 ms\" }]", "abr"));
        assert!(!announced("", "outages = [[\"0.1 ms\", \"0.2 ms\"]]", "abr"));
    }

    #[test]
    fn bursts_are_announced_up_to_as_many_cells_as_have_numbers_of_their_own() {
        let of = |cells| is_announced(&scenario("", "", &asking_for(cells)), &[]);
        assert_eq!([SEQUENCE_MASK, SEQUENCE_MASK + 1].map(of), [true, false]);
    }

    #[test]
    fn other_traffic_is_not_announced() {
        assert!(!is_announced(
            &scenario("", "", "traffic = { type = \"constant\", rate = \"1 Mbps\" }"),
            &[]
        ));
    }

    #[test]
    fn bursts_are_not_announced_where_they_are_policed() {
        let vc = format!("police = {{ action = \"count\" }}\n{}", asking_for(20));
        assert!(!is_announced(&scenario("", "", &vc), &[]));
    }

    #[test]
    fn bursts_are_not_announced_where_cells_are_captured() {
        let scenario = scenario("", "", &asking_for(20));
        let tapped: Vec<PortIndex> = scenario.ports().take(1).collect();
        assert!(!is_announced(&scenario, &tapped));
    }
}
