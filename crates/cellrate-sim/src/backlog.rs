//! Queues that could take longer to transmit than instants can tell: refused before a run, because a port adds up the
//! cell times of what waits.

use cellrate_proto::Cells;
use cellrate_scenario::{Buffers, Category, FlowIndex, Scenario, Sender};

use crate::error::RunError;
use cellrate_engine::names::port_name;

/// Half of what 64 bits of picoseconds hold: 106 days.
const LONGEST_PS: f64 = (1_u64 << 63) as f64;

/// Whether every port could transmit within 106 days what its connections send at their peak rates in the whole run, or
/// what it has room for.
///
/// # Errors
/// [`RunError::BacklogTooLong`] for the first port that could not.
pub(crate) fn check(scenario: &Scenario) -> Result<(), RunError> {
    let seconds = scenario.duration.as_secs_f64();
    // By port: cells that guaranteed, ABR, and GFR and UBR connections can send through it.
    let mut sent = vec![[0.0; 3]; scenario.ports().len()];
    for flow in scenario.flows() {
        let class = class(scenario.connection(flow.connection()).category);
        let cells = peak_rate(scenario, flow) * seconds;
        scenario.steps(flow).for_each(|step| sent[step.port().index()][class] += cells);
    }
    for (port, sent) in scenario.ports().zip(sent) {
        let Buffers { guaranteed, abr, ubr, shared, .. } = scenario.port(port).buffers;
        let room = |limit: Option<Cells>| limit.map_or(f64::INFINITY, |cells| cells.0 as f64);
        let waiting =
            sent.into_iter().zip([guaranteed, abr, ubr]).map(|(cells, limit)| cells.min(room(limit)));
        let cells = waiting.sum::<f64>().min(room(shared));
        let longest_ps = cells * scenario.link(port.link()).fastest_rate().cell_time().as_ps() as f64;
        if longest_ps > LONGEST_PS {
            let port = port_name(scenario, port);
            return Err(RunError::BacklogTooLong { port, days: (longest_ps / 86_400e12) as u64 });
        }
    }
    Ok(())
}

const fn class(category: Category) -> usize {
    match category {
        Category::Cbr | Category::Vbr => 0,
        Category::Abr => 1,
        Category::Gfr | Category::Ubr => 2,
    }
}

/// The most that a direction of a connection sends [cells/s]. ABR sends BRMs where it has no data.
fn peak_rate(scenario: &Scenario, flow: FlowIndex) -> f64 {
    let connection = scenario.connection(flow.connection());
    match &scenario.flow(flow).sender {
        Sender::Peak(_) if !connection.carries_data(flow.is_backward()) && !connection.carries_packets() => {
            0.0
        }
        sender => sender.pcr().as_cells_per_s(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_scenario::Document;

    /// 10 Mbps before a line of 1 kbps, whose cells take 0.424 s each, with these lines in `[defaults]`.
    fn checked(duration: &str, defaults: &str) -> Result<(), RunError> {
        let text = format!(
            "name = \"t\"\nduration = \"{duration}\"\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\nswitch = [{{ name = \"s\" }}]\n\
             link = [{{ between = [\"a\", \"s\"], rate = \"155.52 Mbps\" }}, {{ between = [\"s\", \"b\"], rate = \"1 kbps\" }}]\n\
             vc = [{{ name = \"v\", path = [\"a\", \"s\", \"b\"], category = \"ubr\", pcr = \"10 Mbps\", traffic = {{ type = \"greedy\" }} }}]\n\
             [defaults]\nlink.delay = \"1 us\"\n{defaults}\n"
        );
        let scenario = Document::parse(&text, "t").and_then(|document| document.resolve());
        check(&scenario.unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn a_queue_of_more_than_106_days_is_refused() {
        // 10 Mbps / 424 bits * 0.424 s are 10,000 s of queue per second: 9.22e6 s after 922.3 s.
        assert_eq!(checked("922 s", ""), Ok(()));
        let error = checked("923 s", "").unwrap_err();
        assert!(error.to_string().starts_with("port s->b: what its connections may send"), "{error}");
        assert_eq!(checked("2000 s", "switch.buffers = { ubr = \"4096 cells\" }"), Ok(()));
    }
}
