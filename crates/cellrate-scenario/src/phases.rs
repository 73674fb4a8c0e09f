//! Bursts that ABR sources without a rate always meet when they ask for one.
//!
//! A source whose ACR is below TCR asks by out-of-rate FRMs, one every 1/TCR = 100 ms (TM 4.0, source rule 11). Where
//! bursts of CBR and VBR leave nothing of what a port hands out while they last, and come back at a whole part of those
//! 100 ms, all that a source asks finds the port as the first FRM found it: if that was within a burst, the source
//! stays at 0 for ever, though the line is idle between bursts.

use cellrate_proto::Duration;
use cellrate_proto::parameters::TCR;

use crate::model::{Category, FlowIndex, PortIndex, Scenario, Sender, Traffic};
use crate::values::Period;

/// A port at which sources may ask in vain for ever.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AskedInVain {
    /// The port.
    pub port: PortIndex,
    /// ABR connections that leave there, and have no MCR of TCR or more.
    pub connections: usize,
    /// From one burst to the next.
    pub period: Duration,
}

/// The ports of `scenario` where sources that have come to ACR 0 may never hear of a rate again.
pub fn asked_in_vain(scenario: &Scenario) -> Vec<AskedInVain> {
    let mut through: Vec<Vec<FlowIndex>> = vec![Vec::new(); scenario.ports().len()];
    for flow in scenario.flows().filter(|&flow| scenario.flow(flow).traffic.is_some()) {
        scenario.steps(flow).for_each(|step| through[step.port().index()].push(flow));
    }
    let by_load = |port: &PortIndex| scenario.port(*port).control.algorithm.hands_out_rates();
    scenario
        .ports()
        .filter(by_load)
        .filter_map(|port| judge(scenario, port, &through[port.index()]))
        .collect()
}

fn judge(scenario: &Scenario, port: PortIndex, through: &[FlowIndex]) -> Option<AskedInVain> {
    let asks = |flow: &&FlowIndex| match &scenario.flow(**flow).sender {
        Sender::Abr(abr) => abr.parameters.mcr.as_cells_per_s() < TCR,
        Sender::Peak(_) => false,
    };
    let connections = through.iter().filter(asks).count();
    let config = scenario.port(port);
    if connections == 0 || config.queueing.class_weights.is_some() {
        return None;
    }
    let handed_out = scenario.link(port.link()).rate.to_cell_rate() * config.target_utilization();
    let (mut always, mut bursts) = (0.0, Vec::<(Duration, f64)>::new());
    for &flow in through {
        let connection = scenario.connection(flow.connection());
        let (Category::Cbr | Category::Vbr, Sender::Peak(peak)) =
            (connection.category, &scenario.flow(flow).sender)
        else {
            continue;
        };
        match &scenario.flow(flow).traffic {
            Some(Traffic::OnOff(on_off)) => {
                let (Period::Fixed(on), Period::Fixed(off)) = (on_off.on, on_off.off) else { continue };
                let (period, rate) = (on.saturating_add(off), on_off.rate.min(*peak).as_cells_per_s());
                match bursts.iter_mut().find(|(other, _)| *other == period) {
                    Some((_, sum)) => *sum += rate,
                    None => bursts.push((period, rate)),
                }
            }
            Some(traffic) => {
                always += traffic.kind().rate(*peak).map_or(0.0, |rate| rate.as_cells_per_s());
            }
            None => {}
        }
    }
    let asking = Duration::from_secs_f64(1.0 / TCR).as_ps();
    let returns = |period: Duration| period > Duration::ZERO && asking.is_multiple_of(period.as_ps());
    let fills = |rate: f64| always + rate >= handed_out.as_cells_per_s();
    let (period, _) = bursts.into_iter().find(|&(period, rate)| returns(period) && fills(rate))?;
    Some(AskedInVain { port, connections, period })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;

    /// ABR beside bursts of this rate at 90 % of 149.76 Mb/s.
    fn found(rate: &str, on: &str, off: &str, abr: &str) -> Vec<(usize, Duration)> {
        let text = format!(
            "name = \"t\"\nduration = \"1 s\"\ndefaults.link = {{ rate = \"149.76 Mbps\", delay = \"10 us\" }}\n\
             defaults.switch.algorithm = {{ type = \"erica\" }}\n\
             host = [{{ name = \"a\" }}, {{ name = \"b\" }}, {{ name = \"d\" }}]\nswitch = [{{ name = \"sw\" }}]\n\
             link = [{{ between = [\"a\", \"sw\"] }}, {{ between = [\"b\", \"sw\"] }}, {{ between = [\"sw\", \"d\"] }}]\n\
             vc = [{{ name = \"v{{i}}\", count = 2, path = [\"a\", \"sw\", \"d\"], abr = {{ {abr} }} }},\n\
             {{ name = \"x\", category = \"vbr\", path = [\"b\", \"sw\", \"d\"],\n\
             traffic = {{ type = \"on-off\", rate = \"{rate}\", on = {on}, off = {off} }} }}]\n"
        );
        let scenario = Document::parse(&text, "t")
            .and_then(|document| document.resolve())
            .unwrap_or_else(|e| panic!("{e}"));
        asked_in_vain(&scenario).iter().map(|found| (found.connections, found.period)).collect()
    }

    #[test]
    fn bursts_that_fill_the_line_at_a_whole_part_of_the_time_between_questions_are_found() {
        let (five, ten) = ("\"5 ms\"", Duration::from_ms(10));
        assert_eq!(found("140 Mbps", five, five, ""), [(2, ten)]);
        assert_eq!(found("130 Mbps", five, five, ""), [], "they leave some of it");
        assert_eq!(found("140 Mbps", five, "\"5.4 ms\"", ""), [], "they come at other times");
        assert_eq!(found("140 Mbps", five, "{ exponential = \"5 ms\" }", ""), []);
        assert_eq!(found("140 Mbps", five, five, "mcr = \"1 Mbps\""), [], "they are never below TCR");
    }
}
