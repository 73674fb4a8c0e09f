//! Names of a scenario's things in results.

use cellrate_proto::scheduling::Discipline;
use cellrate_scenario::{FlowIndex, NodeIndex, Port, PortIndex, PortQuantity, Quantity, Scenario};

/// "name", or "name (back)" for the direction from the last host to the first.
pub fn flow_name(scenario: &Scenario, flow: FlowIndex) -> String {
    let name = &scenario.connection(flow.connection()).name;
    if flow.is_backward() { [name, " (back)"].concat() } else { name.clone() }
}

/// "name at sw2": the virtual source of a direction at a switch.
pub fn virtual_source_name(scenario: &Scenario, flow: FlowIndex, switch: NodeIndex) -> String {
    [&flow_name(scenario, flow), " at ", &scenario.node(switch).name].concat()
}

/// "sw1->sw2": the port of sw1 towards sw2; "sw1->sw2 (north)" where there are several links between the two.
pub fn port_name(scenario: &Scenario, port: PortIndex) -> String {
    let name = |node: NodeIndex| scenario.node(node).name.as_str();
    let ends = [name(scenario.tail(port.step())), "->", name(scenario.head(port.step()))].concat();
    match &scenario.link(port.link()).label {
        Some(label) => format!("{ends} ({label})"),
        None => ends,
    }
}

/// Names of the congestion control of a port, in a word or two each; none where it does nothing.
pub fn control_names(port: &Port) -> Vec<String> {
    let algorithm = match &port.custom {
        Some(custom) => Some(custom.name.clone()),
        None => port.control.algorithm.form().map(|form| form.title.to_owned()),
    };
    let efci = port.control.efci.map(|_| "EFCI".to_owned());
    let becn = port.control.becn.map(|_| "BECN".to_owned());
    let vs_vd = port.vs_vd.map(|_| "VS/VD".to_owned());
    let [guaranteed, abr, ubr] =
        port.frame_discards().map(|policy| policy.map(|policy| policy.title().to_owned()));
    let of = |name: Option<String>, class: &str| name.map(|name| [&name, " of ", class].concat());
    let frame_discard =
        ubr.into_iter().chain(of(abr, "ABR")).chain(of(guaranteed, "CBR and VBR")).collect::<Vec<_>>();
    let ecn = port.ecn.map(|marking| marking.title().to_owned());
    let queueing = match port.queueing.discipline {
        Discipline::Fifo => None,
        Discipline::RoundRobin => Some("round robin".to_owned()),
        Discipline::DeficitRoundRobin { .. } => Some("DRR".to_owned()),
        Discipline::WeightedFair => Some("WF2Q+".to_owned()),
    };
    let weights = port.queueing.class_weights.map(|_| "weighted classes".to_owned());
    let rest = efci
        .into_iter()
        .chain(ecn)
        .chain(becn)
        .chain(vs_vd)
        .chain(frame_discard)
        .chain(queueing)
        .chain(weights);
    algorithm.into_iter().chain(rest).collect()
}

/// Name, entity and unit of a series.
pub fn describe(scenario: &Scenario, quantity: Quantity) -> (String, String, &'static str) {
    match quantity {
        Quantity::Flow { quantity, flow } => {
            let (name, unit) = quantity.name_and_unit().unwrap_or_default();
            (name.to_owned(), flow_name(scenario, flow), unit)
        }
        Quantity::VirtualSource { quantity, flow, switch } => {
            let (name, unit) = quantity.name_and_unit().unwrap_or_default();
            (name.to_owned(), virtual_source_name(scenario, flow, switch), unit)
        }
        Quantity::Port { quantity, port } => {
            let (name, unit) = match quantity {
                PortQuantity::Metric(place) => {
                    let port = scenario.port(port);
                    let place = usize::from(place);
                    // Units of algorithms that are not built in are not known.
                    match &port.custom {
                        Some(custom) => (custom.figures.get(place).map_or("metric", String::as_str), ""),
                        None => {
                            let figure = port.control.algorithm.figures().get(place);
                            figure.map_or(("metric", ""), |figure| (figure.name, figure.unit))
                        }
                    }
                }
                quantity => quantity.name_and_unit().unwrap_or_default(),
            };
            (name.to_owned(), port_name(scenario, port), unit)
        }
        Quantity::Demand { quantity, demand } => {
            let (name, unit) = quantity.name_and_unit().unwrap_or_default();
            let demand = scenario.demands.get(demand as usize);
            (name.to_owned(), demand.map(|demand| demand.name.clone()).unwrap_or_default(), unit)
        }
    }
}
