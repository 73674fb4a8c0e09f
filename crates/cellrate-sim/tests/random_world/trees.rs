//! Random networks with connections that are trees.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use cellrate_proto::Duration;
use cellrate_proto::consolidation::{Consolidation, ConsolidationConfig};
use cellrate_scenario::*;
use cellrate_sim::random::{Owner, Random, Stream};

/// `scenario`, with branches at some of its connections, and series of what comes to their leaves.
pub fn branched(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dice 14")));
    let mut pick = |count: usize| (dice.uniform() * count as f64) as usize;
    let mut configs: BTreeMap<NodeIndex, ConsolidationConfig> = BTreeMap::new();
    let whole = pick(2) == 0;
    let (mut connections, mut anew, mut trees) = (Vec::new(), Vec::new(), BTreeSet::new());
    for old in scenario.connections.clone() {
        let index = connections.len();
        anew.push(index as u32);
        connections.push(old.clone());
        if !can_branch(&scenario, &old) || !whole && pick(3) == 0 {
            continue;
        }
        for _ in 0..[1, 1, 2, 3, 5][pick(5)] {
            let Some((from, hop, path)) = branch(&scenario, &connections, index, &mut pick) else { break };
            let switch = scenario.tail(path[0]);
            let config = *configs.entry(switch).or_insert_with(|| consolidation(&mut pick));
            let leaf = &scenario.nodes[scenario.head(path[path.len() - 1]).0 as usize].name;
            connections[index].backward.traffic = None;
            trees.insert(index);
            connections.push(Connection {
                name: format!("{} to {leaf}", old.name),
                path,
                forward: Flow { traffic: None, ..old.forward.clone() },
                backward: Flow { traffic: None, ..old.backward.clone() },
                branch: Some(Branch { from: ConnectionIndex(from as u32), hop, consolidation: config }),
                policing: Vec::new(),
                loopbacks: Vec::new(),
                ..old.clone()
            });
        }
    }
    scenario.connections = connections;
    for probe in &mut scenario.probes {
        if let Quantity::Flow { flow, .. } | Quantity::VirtualSource { flow, .. } = &mut probe.quantity {
            let index = ConnectionIndex(anew[flow.connection().0 as usize]);
            *flow = FlowIndex::of(index, flow.is_backward());
        }
    }
    // Nothing comes back from leaves but BRMs.
    scenario.probes.retain(|probe| match probe.quantity {
        Quantity::Flow { flow, .. } => {
            !(flow.is_backward() && trees.contains(&(flow.connection().0 as usize)))
        }
        _ => true,
    });
    let mut probes = Vec::new();
    for (index, connection) in (0..).map(ConnectionIndex).zip(&scenario.connections) {
        if connection.branch.is_none() || pick(2) == 0 {
            continue;
        }
        use FlowQuantity::{Delay, Drops, MaxDelay, Received};
        let quantity = [Received, Delay, MaxDelay, Drops][pick(4)];
        let at_changes = quantity == Received && pick(2) == 0;
        let every = if at_changes { Every::Change } else { Every::Interval(Duration::from_us(650)) };
        let flow = FlowIndex::of(index, false);
        probes.push(Probe { quantity: Quantity::Flow { quantity, flow }, every });
    }
    scenario.probes.extend(probes);
    scenario
}

/// Whether its cells may be copied.
fn can_branch(scenario: &Scenario, connection: &Connection) -> bool {
    let has = |flow: &Flow, refused: bool| {
        matches!(
            flow.traffic,
            Some(
                Traffic::Tcp(_)
                    | Traffic::Frames(_)
                    | Traffic::Mpeg2(_)
                    | Traffic::RequestResponse(_)
                    | Traffic::Call(_)
                    | Traffic::Channels(_)
            )
        ) || refused && flow.traffic.is_none()
    };
    let is_plain = |step: &Step| is_plain(scenario, *step);
    !has(&connection.forward, true)
        && !has(&connection.backward, false)
        && connection.policing.iter().all(|policing| !policing.backward)
        && (connection.category != Category::Abr || connection.path.iter().all(is_plain))
}

/// Whether neither port of the link segments loops or originates BRMs.
fn is_plain(scenario: &Scenario, step: Step) -> bool {
    let ports = &scenario.links[step.link.0 as usize].ports;
    ports.iter().all(|port| port.vs_vd.is_none() && port.control.becn.is_none())
}

/// A way from a switch of the tree that begins with connection `trunk` to a host that it does not reach yet: the
/// connection that it leaves, the hop of that, and its links.
fn branch(
    scenario: &Scenario,
    connections: &[Connection],
    trunk: usize,
    pick: &mut impl FnMut(usize) -> usize,
) -> Option<(usize, usize, Vec<Step>)> {
    let tree = &connections[trunk..];
    let nodes: BTreeSet<NodeIndex> = tree
        .iter()
        .flat_map(|c| &c.path)
        .flat_map(|step| [scenario.tail(*step), scenario.head(*step)])
        .collect();
    let mut places = Vec::new();
    for (number, connection) in tree.iter().enumerate() {
        places.extend((1..connection.path.len()).map(|hop| (trunk + number, hop)));
    }
    if places.is_empty() {
        return None;
    }
    let (from, hop) = places[pick(places.len())];
    let switch = scenario.tail(connections[from].path[hop]);
    let is_abr = connections[trunk].category == Category::Abr;
    let mut ways: VecDeque<Vec<Step>> = VecDeque::from([vec![]]);
    let (mut seen, mut found) = (nodes, Vec::new());
    while let Some(way) = ways.pop_front() {
        let at = way.last().map_or(switch, |step: &Step| scenario.head(*step));
        for (index, link) in (0..).zip(&scenario.links) {
            for end in 0..2_u8 {
                let step = Step { link: LinkIndex(index), end };
                let head = link.ends[1 - usize::from(end)];
                let is_free = !is_abr || is_plain(scenario, step);
                if link.ends[usize::from(end)] != at || !is_free || !seen.insert(head) {
                    continue;
                }
                let longer = [&way[..], &[step]].concat();
                match scenario.nodes[head.0 as usize].kind {
                    NodeKind::Host => found.push(longer),
                    NodeKind::Switch => ways.push_back(longer),
                }
            }
        }
    }
    (!found.is_empty()).then(|| (from, hop, found.swap_remove(pick(found.len()))))
}

fn consolidation(pick: &mut impl FnMut(usize) -> usize) -> ConsolidationConfig {
    use Consolidation::*;
    let algorithms = [
        TurnAround,
        TurnAroundInformed,
        PassFirst,
        Probabilistic(0.5),
        WaitForAll,
        FastOverload,
        RatioControl,
        ImmediateRate,
    ];
    ConsolidationConfig {
        algorithm: algorithms[pick(8)],
        overload_factor: [1.0, 1.0, 0.75][pick(3)],
        timeout: Duration::from_ms([1, 20, 1_000][pick(3)]),
    }
}
