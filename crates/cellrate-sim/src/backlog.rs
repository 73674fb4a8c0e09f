//! Queues that could take longer to transmit than instants can tell: refused before a run, because a port adds up the
//! cell times of what waits.

use std::collections::BTreeMap;

use cellrate_engine::demand::{Asked, Offers};
use cellrate_engine::names::port_name;
use cellrate_proto::Cells;
use cellrate_scenario::{Buffers, Category, ConnectionIndex, Demand, FlowIndex, Scenario, Sender, Traffic};

use crate::error::RunError;

/// Half of what 64 bits of picoseconds hold: 106 days.
const LONGEST_PS: f64 = (1_u64 << 63) as f64;

/// Most flows that are drawn beforehand; with more the bound by peak rates is all that there is.
const MOST_DRAWN: usize = 10_000_000;

/// How often TCP may send a segment in this bound: timeouts double, from 200 ms to a minute, so that more would take a
/// queue of ten minutes.
const TRIES: f64 = 16.0;

/// Whether every port could transmit within 106 days what its connections send at their peak rates in the whole run, or
/// what it has room for. Slots of flows of a size send no more than what is offered to their pair.
///
/// # Errors
/// [`RunError::BacklogTooLong`] for the first port that could not.
pub(crate) fn check(scenario: &Scenario) -> Result<(), RunError> {
    let seconds = scenario.duration.as_secs_f64();
    let at_peak = |flow: FlowIndex| peak_rate(scenario, flow) * seconds;
    let first = check_sent(scenario, &at_peak);
    if first.is_ok() || !scenario.demands.iter().any(Demand::is_sized) {
        return first;
    }
    // Drawn only where it matters.
    let offered = offered(scenario);
    check_sent(scenario, &|flow| match offered.get(&flow.connection()) {
        Some(&cells) => at_peak(flow).min(cells),
        None => at_peak(flow),
    })
}

/// The most cells that flows of a size send over each connection of their pairs, either way, as an equal part of what
/// is offered to the pair; those of calls are left out.
fn offered(scenario: &Scenario) -> BTreeMap<ConnectionIndex, f64> {
    let mut octets: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
    for (count, offer) in Offers::new(scenario).enumerate() {
        if count == MOST_DRAWN {
            return BTreeMap::new();
        }
        if let Asked::Octets(size) = offer.amount {
            let (sum, flows) = octets.entry((offer.demand, offer.pair)).or_default();
            (*sum, *flows) = (*sum + size as f64, *flows + 1.0);
        }
    }
    let sized = scenario.demands.iter().enumerate().filter(|(_, demand)| demand.is_sized());
    let pairs = sized.flat_map(|(number, demand)| {
        demand.pairs.iter().enumerate().map(move |(pair, of_pair)| ((number, pair), of_pair))
    });
    let mut cells = BTreeMap::new();
    for (key, pair) in pairs {
        let (octets, flows) = octets.get(&key).copied().unwrap_or_default();
        for slot in pair.slots.clone().map(ConnectionIndex) {
            let all = cells_of(scenario, slot, octets, flows);
            cells.insert(slot, all / f64::from(pair.slots.end - pair.slots.start));
        }
    }
    cells
}

/// The most cells of so many octets in so many flows, over a connection like this.
fn cells_of(scenario: &Scenario, slot: ConnectionIndex, octets: f64, flows: f64) -> f64 {
    let (payload, header, tries) = match &scenario.flow(FlowIndex::of(slot, false)).traffic {
        Some(Traffic::Transfers(datagrams)) => (datagrams.payload, datagrams.header, 1.0),
        Some(Traffic::Tcp(tcp)) => (tcp.tcp.mss, tcp.tcp.header, TRIES),
        _ => return f64::INFINITY,
    };
    // Each flow has a PDU that is not full, TCP some for its beginning and its end. The trailer of AAL5 has 8 octets,
    // LLC/SNAP too, options of TCP 40 at most.
    let pdus = octets / payload.0 as f64 + 4.0 * flows;
    pdus * ((payload.0 + header.0 + 56).div_ceil(48)) as f64 * tries
}

/// [`check`] by the cells that each direction sends at most.
fn check_sent(scenario: &Scenario, most: &dyn Fn(FlowIndex) -> f64) -> Result<(), RunError> {
    // By port: cells that guaranteed, ABR, and GFR and UBR connections can send through it.
    let mut sent = vec![[0.0; 3]; scenario.ports().len()];
    for flow in scenario.flows() {
        let class = class(scenario.connection(flow.connection()).category);
        let cells = most(flow);
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
    fn flows_of_a_size_send_no_more_than_what_is_offered() {
        // 60 slots of 155.52 Mbps for a million seconds are 700 days of their own line; 12,500 octets every 300 s are
        // 333 bit/s, and every second 100 kbit/s, of which 10 leave.
        let checked = |gap: &str, tcp: &str| {
            let text = format!(
                "name = \"t\"\nduration = \"1000000 s\"\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
                 switch = [{{ name = \"s\" }}]\n[defaults]\nlink.delay = \"1 us\"\n[[link]]\nbetween = [\"a\", \"s\"]\n\
                 rate = \"155.52 Mbps\"\n[[link]]\nbetween = [\"s\", \"b\"]\nrate = \"10 kbps\"\n[[flows]]\nname = \"f\"\n\
                 pairs = [[\"a\", \"b\"]]\narrivals = {{ type = \"poisson\", gap = \"{gap}\" }}\nslots = 60\n\
                 size = {{ type = \"exponential\", mean = \"12500 octets\" }}\ncategory = \"ubr\"\npcr = \"155.52 Mbps\"\n{tcp}"
            );
            let scenario = Document::parse(&text, "t").and_then(|document| document.resolve());
            check(&scenario.unwrap_or_else(|error| panic!("{error}")))
        };
        for tcp in ["", "tcp = {}\n"] {
            assert_eq!(checked("300 s", tcp), Ok(()), "{tcp}");
            let error = checked("1 s", tcp).map_err(|error| error.to_string());
            assert!(error.is_err_and(|error| error.starts_with("port s->b: what its connections may send")));
        }
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
