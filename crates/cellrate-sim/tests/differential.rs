//! The kernel against the judge ([`reference`]) on random networks.
//!
//! `CELLRATE_DIFFERENTIAL=100000 cargo test --release -p cellrate-sim --test differential` tries so many of them
//! instead of the default; `CELLRATE_DIFFERENTIAL_FIRST=4711` begins with that one, so both together repeat a failure.
//!
//! With TCP both drive the same stacks and adapters; which PDUs come whole, when a segment counts and when a timer does
//! is each one's own.
//!
//! Everything has to be equal to the last bit: every count, every delay, every instant and value of every series, among
//! them the arrival of each data cell, each FRM and BRM and each change of ACR. Only where floating-point numbers are
//! added or multiplied in another order may the last digits differ: mean ACR (a sum of so many terms: 1e-11), and the
//! series of rates and utilizations (one product: 1e-12). Quantiles of delays are rounded by the kernel's histogram: 1
//! %, as documented. The number of events is the scheduler's own affair, but the same on any number of threads.

mod families;
mod once_different;
mod plain;
mod random_tcp;
mod random_world;
mod reference;
mod world;

use cellrate_proto::Duration;
use cellrate_proto::switch::{SwitchAlgorithm, SwitchAlgorithmConfig};
use cellrate_scenario::{CustomAlgorithm, FlowQuantity, PortQuantity, Quantity, Scenario};
use cellrate_sim::mechanisms::Mechanism;
use cellrate_sim::{
    AlgorithmPort, BranchPointSummary, CompletionSummary, FlowSummary, FrameSummary, RunResult, Simulation,
    Summary, TransportStreamSummary, VirtualSourceSummary, run, run_on,
};
use families::{
    Network, of_kind, random_conditioned, random_policed, with_changes, with_congestion, with_dense_series,
    with_loopback, with_small_limits, with_some_calls, with_some_paths, with_trees, with_values_in_data,
};
use plain::sources::{own_sources, plugins};
use plain::threads::other_events;
use random_tcp::options::{of_today, random_modern_tcp};
use random_tcp::{random_tcp, random_tcp_bottleneck, random_tcp_shared_hosts};
use random_world::becn::notified;
use random_world::categories::{of_several_categories, random_categories};
use random_world::chains::random_chain;
use random_world::clients::random_clients;
use random_world::conditioning::bursting;
use random_world::frame_discard::discarding;
use random_world::hosts::random_shared_hosts;
use random_world::parallel::in_parallel;
use random_world::parts::in_parts;
use random_world::queueing::taking_turns;
use random_world::segments::segmented;
use random_world::silent::random_silent;
use random_world::trees::branched;
use random_world::{
    random_bottleneck, random_crowd, random_fair_shares, random_scenario, random_thresholds, random_throng,
};
use reference::{
    CALL_FLAWS, CHANGING_FLAWS, CHANNEL_FLAWS, CONDITIONING_FLAWS, CONGESTED_FLAWS, FLAWS, FLOW_FLAWS, Flaw,
    Judgement, LOOPBACK_FLAWS, MARKING_FLAWS, POLICE_FLAWS, TCP_FLAWS, TREE_FLAWS, close, derived_difference,
    forget_fair_shares, judge, same_channels, same_completions, same_distribution, same_frames, same_stream,
    same_tcp, tcp_since,
};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::sync::Arc;

// Each flaw that the judge can have is told by a network in the first three quarters of those of its kind.
const DEFAULT_COUNT: u64 = 600;
const DEFAULT_THRESHOLDS_COUNT: u64 = 60;
const DEFAULT_CUSTOM_COUNT: u64 = 120;
const DEFAULT_TCP_COUNT: u64 = 150;
const DEFAULT_MODERN_COUNT: u64 = 40;
const DEFAULT_CROWD_COUNT: u64 = 4;
const DEFAULT_BOTTLENECK_COUNT: u64 = 60;
const DEFAULT_TCP_BOTTLENECK_COUNT: u64 = 20;
const DEFAULT_CHAIN_COUNT: u64 = 100;
const DEFAULT_FAIR_COUNT: u64 = 60;
const DEFAULT_THRONG_COUNT: u64 = 40;
const DEFAULT_SHARED_COUNT: u64 = 20;
const DEFAULT_TCP_SHARED_COUNT: u64 = 20;
const DEFAULT_SEGMENTS_COUNT: u64 = 120;
const DEFAULT_BECN_COUNT: u64 = 120;
const DEFAULT_CONGESTED_COUNT: u64 = 48;
const DEFAULT_LOOPBACK_COUNT: u64 = 32;
const DEFAULT_DISCARD_COUNT: u64 = 60;
const DEFAULT_POLICED_COUNT: u64 = 200;
const DEFAULT_CONDITIONED_COUNT: u64 = 80;
const DEFAULT_TURNS_COUNT: u64 = 70;
const DEFAULT_PARTS_COUNT: u64 = 100;
const DEFAULT_PARALLEL_COUNT: u64 = 100;
const DEFAULT_CHANGING_COUNT: u64 = 120;
const DEFAULT_CRAMPED_COUNT: u64 = 240;
const DEFAULT_CALLS_COUNT: u64 = 180;
const DEFAULT_OWN_COUNT: u64 = 100;
const DEFAULT_TREES_COUNT: u64 = 160;
const DEFAULT_CATEGORIES_COUNT: u64 = 60;
const DEFAULT_TCP_CATEGORIES_COUNT: u64 = 20;
const DEFAULT_SERIES_COUNT: u64 = 80;
const DEFAULT_CLIENTS_COUNT: u64 = 80;
const DEFAULT_IN_BAND_COUNT: u64 = 170;
const DEFAULT_SILENT_COUNT: u64 = 12;

#[test]
fn the_kernel_and_the_judge_agree_on_random_networks() {
    agree(random_scenario, DEFAULT_COUNT, 1);
}

#[test]
fn the_kernel_and_the_judge_agree_on_random_networks_with_tcp() {
    agree(random_tcp, DEFAULT_TCP_COUNT, 1);
}

#[test]
fn the_kernel_and_the_judge_agree_on_tcp_with_its_options() {
    agree(random_modern_tcp, DEFAULT_MODERN_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_on_tcp_of_today() {
    agree(|number| of_today(random_modern_tcp(number), number), DEFAULT_MODERN_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_on_sources_before_one_line() {
    // Each is as much work as ten others.
    agree(random_bottleneck, DEFAULT_BOTTLENECK_COUNT, 10);
}

#[test]
fn the_kernel_and_the_judge_agree_on_switches_close_to_one_another() {
    agree(random_chain, DEFAULT_CHAIN_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_on_sources_that_share_fairly() {
    // Each is as much work as ten others.
    agree(random_fair_shares, DEFAULT_FAIR_COUNT, 10);
}

#[test]
fn the_kernel_and_the_judge_agree_on_very_many_sources_before_one_line() {
    // Each is as much work as twenty others.
    agree(random_throng, DEFAULT_THRONG_COUNT, 20);
}

#[test]
fn the_kernel_and_the_judge_agree_on_sources_that_share_hosts() {
    // Each is as much work as ten others.
    agree(random_shared_hosts, DEFAULT_SHARED_COUNT, 10);
}

#[test]
fn the_kernel_and_the_judge_agree_on_tcp_at_shared_hosts() {
    agree(random_tcp_shared_hosts, DEFAULT_TCP_SHARED_COUNT, 10);
}

#[test]
fn the_kernel_and_the_judge_agree_on_tcp_before_one_line() {
    agree(random_tcp_bottleneck, DEFAULT_TCP_BOTTLENECK_COUNT, 10);
}

#[test]
fn the_kernel_and_the_judge_agree_on_several_categories_before_one_line() {
    agree(random_categories, DEFAULT_CATEGORIES_COUNT, 10);
}

#[test]
fn the_kernel_and_the_judge_agree_on_tcp_among_several_categories() {
    let network = |number| of_several_categories(random_tcp_bottleneck(number), number);
    agree(network, DEFAULT_TCP_CATEGORIES_COUNT, 10);
}

#[test]
fn the_kernel_and_the_judge_agree_on_answers_that_hang_on_the_queue() {
    // Each is as much work as ten others.
    agree(random_thresholds, DEFAULT_THRESHOLDS_COUNT, 10);
}

#[test]
fn the_kernel_and_the_judge_agree_where_switches_segment_loops() {
    agree(|number| segmented(of_kind(number)(number), number), DEFAULT_SEGMENTS_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_where_switches_originate_brms() {
    let network = |number: u64| {
        let kinds: [Network; 3] = [random_categories, random_chain, random_tcp];
        let scenario = kinds.get(number as usize % 9).copied().unwrap_or(of_kind(number))(number);
        let scenario = if number.is_multiple_of(5) { segmented(scenario, number) } else { scenario };
        notified(if number % 5 > 1 { taking_turns(scenario, number) } else { scenario }, number)
    };
    agree(network, DEFAULT_BECN_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_where_destinations_are_congested() {
    agree(with_congestion, DEFAULT_CONGESTED_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_where_ends_send_loopback_cells() {
    agree(with_loopback, DEFAULT_LOOPBACK_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_where_channels_share_a_virtual_path() {
    agree(with_some_paths, DEFAULT_LOOPBACK_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_where_switches_discard_frames() {
    let network = |number: u64| {
        let kinds: [Network; 4] = [random_tcp, random_tcp, random_tcp_bottleneck, random_tcp_shared_hosts];
        discarding(if number % 9 == 8 { random_scenario } else { kinds[number as usize % 4] }(number), number)
    };
    agree(network, DEFAULT_DISCARD_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_where_connections_and_categories_take_turns() {
    let network = |number: u64| {
        let scenario = match number % 8 {
            0 => random_categories(number),
            1 if number % 32 == 1 => of_several_categories(random_tcp_bottleneck(number), number),
            2 => discarding(random_tcp(number), number),
            3 => notified(segmented(random_scenario(number), number), number),
            4 => random_tcp(number),
            _ => random_scenario(number),
        };
        taking_turns(scenario, number)
    };
    agree(network, DEFAULT_TURNS_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_where_switches_police_what_comes() {
    agree(random_policed, DEFAULT_POLICED_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_where_sources_shape_and_mark() {
    agree(random_conditioned, DEFAULT_CONDITIONED_COUNT, 4);
    agree(|number| bursting(of_kind(number)(number), number), DEFAULT_CONDITIONED_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_on_parts_of_a_run() {
    let network = |number: u64| {
        let mut scenario = match number % 11 {
            8 => random_thresholds(number),
            9 => random_categories(number),
            10 => random_throng(number),
            _ => of_kind(number)(number),
        };
        if number.is_multiple_of(5) {
            scenario = segmented(scenario, number);
        }
        if number.is_multiple_of(7) {
            scenario = notified(scenario, number);
        }
        in_parts(scenario, number)
    };
    agree(network, DEFAULT_PARTS_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_where_links_are_parallel() {
    let network = |number: u64| {
        let scenario = if number % 9 == 8 { random_categories(number) } else { of_kind(number)(number) };
        let scenario = in_parallel(scenario, number);
        if number.is_multiple_of(5) { segmented(scenario, number) } else { scenario }
    };
    agree(network, DEFAULT_PARALLEL_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_where_links_change() {
    agree(with_changes, DEFAULT_CHANGING_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_where_every_limit_is_small() {
    agree(with_small_limits, DEFAULT_CRAMPED_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_where_calls_come_and_go() {
    agree(with_some_calls, DEFAULT_CALLS_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_where_connections_are_trees() {
    agree(with_trees, DEFAULT_TREES_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_on_clients_that_wait() {
    agree(random_clients, DEFAULT_CLIENTS_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_where_data_cells_carry_rm_values() {
    agree(with_values_in_data, DEFAULT_IN_BAND_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_on_silent_connections_by_the_thousand() {
    // Each is as much work as a hundred others.
    agree(random_silent, DEFAULT_SILENT_COUNT, 100);
}

#[test]
fn the_kernel_and_the_judge_agree_on_dense_series() {
    agree(with_dense_series, DEFAULT_SERIES_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_on_sources_that_are_given() {
    let network = |number: u64| {
        let scenario = own_sources(of_kind(number)(number), number);
        if number.is_multiple_of(7) { segmented(scenario, number) } else { scenario }
    };
    agree(network, DEFAULT_OWN_COUNT, 4);
}

#[test]
fn the_kernel_and_the_judge_agree_without_each_mechanism() {
    // Of each kind of network that a mechanism has a part in, so many.
    let each = count(2, 300);
    let several = |number: u64| of_several_categories(random_tcp_bottleneck(number), number);
    let kinds: [&dyn Fn(u64) -> Scenario; 11] = [
        &random_scenario,
        &random_chain,
        &random_tcp,
        &random_bottleneck,
        &random_fair_shares,
        &random_shared_hosts,
        &random_throng,
        &random_categories,
        &several,
        &|number| notified(segmented(random_scenario(number), number), number),
        &|number| branched(random_scenario(number), number),
    ];
    let mut failures = Vec::new();
    for number in first()..first() + each {
        for (kind, network) in kinds.iter().enumerate() {
            let scenario = network(number);
            let judgement = judge(&scenario, None);
            for mechanism in Mechanism::ALL {
                let simulation = Simulation::of(&scenario).with(plugins()).without(mechanism);
                let result = simulation.run(&mut |_| ControlFlow::Continue(())).expect("the run ends well");
                let different = difference(&scenario, &result, &judgement);
                failures
                    .extend(different.map(|text| {
                        format!("\nkind {kind}, {number}, without {}: {text}", mechanism.name())
                    }));
            }
        }
    }
    assert!(failures.is_empty(), "kernel against judge:{}", failures.concat());
}

#[test]
fn the_kernel_and_the_judge_agree_on_many_connections() {
    // Each is as much work as a hundred others.
    agree(random_crowd, DEFAULT_CROWD_COUNT, 100);
}

#[test]
fn algorithms_that_are_given_agree_with_the_judge_that_has_them_built_in() {
    let mut custom_ports = 0;
    for number in first()..first() + count(DEFAULT_CUSTOM_COUNT, 4) {
        let network = if number.is_multiple_of(8) { random_thresholds } else { random_scenario };
        let scenario = network(number);
        let (custom, configs) = as_custom(&scenario);
        custom_ports += configs.len();
        let make = |algorithm: &CustomAlgorithm, port: AlgorithmPort<'_>| {
            plain::plain(&configs[algorithm.name.parse::<usize>().expect("a number")], port.link_rate)
        };
        let threads = NonZeroUsize::new(1 + number as usize % 3).expect("not zero");
        let simulation = Simulation::of(&custom).on_threads(threads).with_algorithms(&make);
        let mut result = simulation.run(&mut |_| ControlFlow::Continue(())).expect("the run ends well");
        let mut judgement = judge(&scenario, None);
        forget_fair_shares(&mut result.summary, &mut judgement.derived);
        assert_eq!(difference(&scenario, &result, &judgement), None, "network {number}");
    }
    assert!(custom_ports > 0);
}

#[test]
fn an_answer_that_hangs_on_the_cells_before_an_frm_is_that_of_the_judge() {
    for number in first()..first() + count(DEFAULT_CUSTOM_COUNT / 4, 10) {
        assert_eq!(with_counting(number, false), None, "network {number}");
    }
}

/// The check has teeth: an algorithm whose promise is not kept does not give what the judge gives.
#[test]
fn a_promise_that_is_not_kept_is_found() {
    let found = (first()..first() + 200).any(|number| with_counting(number, true).is_some());
    assert!(found, "200 networks, and none of them notices");
}

/// Where network `number` with an algorithm that counts cells differs from the judge, who takes no promises.
fn with_counting(number: u64, breaks_a_promise: bool) -> Option<String> {
    let (mut scenario, _) = as_custom(&random_thresholds(number));
    scenario
        .probes
        .retain(|probe| !matches!(probe.quantity, Quantity::Port { quantity: PortQuantity::Metric(_), .. }));
    let make = |_: &CustomAlgorithm, _: AlgorithmPort<'_>| -> Option<Box<dyn SwitchAlgorithm + Send>> {
        Some(Box::new(plain::Counting::promising(breaks_a_promise)))
    };
    let simulation = Simulation::of(&scenario).with_algorithms(&make);
    let result = simulation.run(&mut |_| ControlFlow::Continue(())).expect("the run ends well");
    difference(&scenario, &result, &judge(&scenario, None))
}

/// The same network with the algorithms of its ports given, not built in: each is called by its place in the list.
fn as_custom(scenario: &Scenario) -> (Scenario, Vec<SwitchAlgorithmConfig>) {
    let (mut custom, mut configs) = (scenario.clone(), Vec::new());
    for port in custom.links.iter_mut().flat_map(|link| &mut link.ports) {
        let port = Arc::make_mut(port);
        let config = std::mem::take(&mut port.control.algorithm);
        if config == SwitchAlgorithmConfig::None {
            continue;
        }
        let figures = config.figures().iter().map(|figure| figure.name.to_owned()).collect();
        port.custom = Some(Arc::new(CustomAlgorithm {
            name: configs.len().to_string(),
            figures,
            parameters: Vec::new(),
        }));
        configs.push(config);
    }
    (custom, configs)
}

/// A number that the environment gives.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is {text:?}; it must be a number")))
}

/// The number of the first network.
fn first() -> u64 {
    number("CELLRATE_DIFFERENTIAL_FIRST").unwrap_or(0)
}

/// How many networks to try of a kind of which each is as much work as `work` of the simplest.
fn count(default: u64, work: u64) -> u64 {
    number("CELLRATE_DIFFERENTIAL").map_or(default, |count| count.div_ceil(work))
}

fn agree(network: impl Fn(u64) -> Scenario, default_count: u64, work: u64) {
    let (first, count) = (first(), count(default_count, work));
    let (mut hops, mut segments, mut again, mut pages) = (0, 0, 0, 0);
    let (mut relayed, mut originated, mut refused, mut cut) = (0, 0, 0, 0);
    let (mut conforming, mut tagged, mut discarded, mut sooner) = (0, 0, 0, 0);
    let mut failures = Vec::new();
    for number in first..first + count {
        let scenario = network(number);
        // Some on one thread, some on several.
        let threads = NonZeroUsize::new(1 + number as usize % 3).expect("not zero");
        let simulation = Simulation::of(&scenario).on_threads(threads).with(plugins());
        let result = simulation.run(&mut |_| ControlFlow::Continue(())).expect("the run ends well");
        hops += result.summary.run.cell_hops;
        segments += result.summary.tcp.iter().map(|row| row.segments).sum::<u64>();
        again += result.summary.tcp.iter().map(|row| row.retransmitted).sum::<u64>();
        relayed += result.summary.virtual_sources.iter().map(|row| row.data_sent).sum::<u64>();
        originated += result.summary.ports.iter().map(|row| row.backward_rm_originated).sum::<u64>();
        refused += result.summary.ports.iter().map(|row| row.pdus_refused).sum::<u64>();
        cut += result.summary.ports.iter().map(|row| row.pdus_cut).sum::<u64>();
        conforming += result.summary.policing.iter().map(|row| row.conforming).sum::<u64>();
        tagged += result.summary.policing.iter().map(|row| row.tagged).sum::<u64>();
        discarded += result.summary.policing.iter().map(|row| row.discarded).sum::<u64>();
        sooner += result.summary.ports.iter().map(|row| row.tagged_dropped).sum::<u64>();
        pages += result.summary.pages.iter().map(|row| row.count).sum::<u64>();
        failures.extend(difference(&scenario, &result, &judge(&scenario, None)).map(|text| (number, text)));
        failures.extend(other_events(&scenario, threads, &result).map(|text| (number, text)));
    }
    println!(
        "{count} networks, {hops} cell hops, {segments} segments, {again} of them again, {pages} pages, {relayed} cells relayed, \
         {originated} BRMs originated, {refused} PDUs refused, {cut} cut, {conforming} cells conforming, {tagged} tagged, \
         {discarded} discarded, {sooner} tagged ones lost sooner"
    );
    let shown: String =
        failures.iter().take(20).map(|(number, text)| format!("\n{number}: {text}")).collect();
    assert!(
        failures.is_empty(),
        "{} of {count} networks differ; kernel against judge:{shown}",
        failures.len()
    );
}

/// Each flaw has the number of a network that told when it was written; where that tells no more, another is looked
/// for.
#[test]
fn a_judge_with_a_wrong_rule_is_found_out() {
    let groups: [(&[(Flaw, u64)], Network); 12] = [
        (&FLAWS, random_scenario),
        (&TCP_FLAWS, random_tcp),
        (&POLICE_FLAWS, random_policed),
        (&CHANGING_FLAWS, with_changes),
        (&CALL_FLAWS, with_some_calls),
        (&FLOW_FLAWS, with_some_calls),
        (&TREE_FLAWS, with_trees),
        (&MARKING_FLAWS, random_modern_tcp),
        (&LOOPBACK_FLAWS, with_loopback),
        (&CHANNEL_FLAWS, with_some_paths),
        (&CONGESTED_FLAWS, with_congestion),
        (&CONDITIONING_FLAWS, random_conditioned),
    ];
    // CELLRATE_FLAW=Loopback tries those alone whose names have that in them.
    let wanted = std::env::var("CELLRATE_FLAW").unwrap_or_default();
    let of_all = groups.iter().flat_map(|&(flaws, network)| flaws.iter().map(move |&flaw| (flaw, network)));
    for ((flaw, known), network) in of_all.filter(|((flaw, _), _)| format!("{flaw:?}").contains(&wanted)) {
        let tells = |&number: &u64| {
            let scenario = network(number);
            let result = kernel(&scenario);
            difference(&scenario, &result, &judge(&scenario, Some(flaw))).is_some()
                && difference(&scenario, &result, &judge(&scenario, None)).is_none()
        };
        let found = std::iter::once(known).chain(0..DEFAULT_COUNT).find(tells);
        println!("{flaw:?}: network {found:?} tells");
        assert!(found.is_some(), "{flaw:?} is not noticed");
    }
}

fn kernel(scenario: &Scenario) -> RunResult {
    run(scenario, &mut |_| ControlFlow::Continue(())).expect("the run ends well")
}

/// The first thing in which the two differ.
fn difference(scenario: &Scenario, kernel: &RunResult, judge: &Judgement) -> Option<String> {
    let summary = &kernel.summary;
    if summary.vcs.len() != judge.vcs.len() || summary.ports.len() != judge.ports.len() {
        return Some(format!("rows: {summary:#?} against {:#?} {:#?}", judge.vcs, judge.ports));
    }
    for (kernel, judge) in summary.ports.iter().zip(&judge.ports) {
        if kernel != judge {
            return Some(format!("{kernel:?} against {judge:?}"));
        }
    }
    for ((kernel, row), delays) in summary.vcs.iter().zip(&judge.vcs).zip(&judge.delays) {
        if !same_flow(kernel, row) || !same_delays(kernel, delays) {
            return Some(format!("{kernel:?} against {row:?}, {delays:?}"));
        }
    }
    if let Some(text) = windows_difference(scenario, summary, judge) {
        return Some(text);
    }
    if let Some(text) = virtual_sources_difference(&summary.virtual_sources, &judge.virtual_sources) {
        return Some(text);
    }
    if summary.policing != judge.policing {
        return Some(format!("policing: {:#?} against {:#?}", summary.policing, judge.policing));
    }
    if let Some(text) = branch_points_difference(&summary.branch_points, &judge.branch_points) {
        return Some(text);
    }
    if !same_channels(&summary.channels, &judge.channels) {
        return Some(format!("channels: {:#?} against {:#?}", summary.channels, judge.channels));
    }
    if summary.loopbacks != judge.loopbacks {
        return Some(format!("loopbacks: {:#?} against {:#?}", summary.loopbacks, judge.loopbacks));
    }
    if summary.tcp.len() != judge.tcp.len() {
        return Some(format!("TCP: {:#?} against {:#?}", summary.tcp, judge.tcp));
    }
    for (place, (kernel, row)) in summary.tcp.iter().zip(&judge.tcp).enumerate() {
        let before = judge.tcp_before.as_ref().map(|rows| &rows[place]);
        let judge = &tcp_since(row, before);
        if !same_tcp(kernel, judge) {
            return Some(format!("{kernel:?} against {judge:?}"));
        }
    }
    let is_unlike = |(kernel, judge): (&FrameSummary, &FrameSummary)| !same_frames(kernel, judge);
    if summary.frames.len() != judge.frames.len() || summary.frames.iter().zip(&judge.frames).any(is_unlike) {
        return Some(format!("frames: {:#?} against {:#?}", summary.frames, judge.frames));
    }
    let (streams, judged) = (&summary.transport_streams, &judge.transport_streams);
    let differ =
        |(kernel, judge): (&TransportStreamSummary, &TransportStreamSummary)| !same_stream(kernel, judge);
    if streams.len() != judged.len() || streams.iter().zip(judged).any(differ) {
        return Some(format!("transport streams: {streams:#?} against {judged:#?}"));
    }
    let is_unlike =
        |(kernel, judge): (&CompletionSummary, &CompletionSummary)| !same_completions(kernel, judge);
    if summary.completions.len() != judge.completions.len()
        || summary.completions.iter().zip(&judge.completions).any(is_unlike)
    {
        return Some(format!("completions: {:#?} against {:#?}", summary.completions, judge.completions));
    }
    if summary.flows != judge.flows {
        return Some(format!("flows: {:#?} against {:#?}", summary.flows, judge.flows));
    }
    if let Some(text) = derived_difference(summary, &judge.derived) {
        return Some(text);
    }
    if summary.run.cell_hops != judge.cell_hops {
        return Some(format!("cell hops: {} against {}", summary.run.cell_hops, judge.cell_hops));
    }
    for ((probe, kernel), (times_ps, values)) in scenario.probes.iter().zip(&kernel.series).zip(&judge.series)
    {
        let tolerance = match probe.quantity {
            Quantity::Flow { quantity: FlowQuantity::SourceRate, .. }
            | Quantity::Port { quantity: PortQuantity::Utilization, .. } => 1e-12,
            _ => 0.0,
        };
        let ours = kernel.times_ps.iter().zip(&kernel.values);
        let theirs = times_ps.iter().zip(values);
        let is_negative_zero = |value: f64| value.to_bits() == (-0.0_f64).to_bits();
        let unlike = ours
            .zip(theirs)
            .position(|((t, v), (u, w))| t != u || !close(*v, *w, tolerance) || is_negative_zero(*v));
        let shorter = kernel.times_ps.len().min(times_ps.len());
        let place = unlike.or((kernel.times_ps.len() != times_ps.len()).then_some(shorter));
        if let Some(place) = place {
            let near = |times: &[u64], values: &[f64]| {
                let from = place.saturating_sub(2);
                let pairs = times.iter().copied().zip(values.iter().copied());
                pairs.skip(from).take(5).collect::<Vec<_>>()
            };
            return Some(format!(
                "{} of {} {:?} at {place}: {:?} against {:?}",
                kernel.probe,
                kernel.entity,
                probe.every,
                near(&kernel.times_ps, &kernel.values),
                near(times_ps, values),
            ));
        }
    }
    None
}

fn same_flow(kernel: &FlowSummary, judge: &FlowSummary) -> bool {
    let within = |a: Option<f64>, b: Option<f64>, tolerance| match (a, b) {
        (Some(a), Some(b)) => close(a, b, tolerance),
        (a, b) => a == b,
    };
    let exact = FlowSummary {
        mean_acr: judge.mean_acr,
        p50_delay_s: judge.p50_delay_s,
        p99_delay_s: judge.p99_delay_s,
        delays: None,
        ..kernel.clone()
    };
    exact == *judge
        && within(kernel.mean_acr, judge.mean_acr, 1e-11)
        && within(kernel.p50_delay_s, judge.p50_delay_s, 0.01)
        && within(kernel.p99_delay_s, judge.p99_delay_s, 0.01)
}

/// Whether the distribution of delays is that of the judge's delays, which stand in order.
fn same_delays(kernel: &FlowSummary, delays: &[u64]) -> bool {
    let steps = kernel.delays.as_ref().map_or(Vec::new(), |delays| delays.distribution());
    let judge: Vec<_> = delays.iter().map(|&ps| Duration::from_ps(ps)).zip(1..).collect();
    same_distribution(&steps, &judge)
}

/// The first row of a virtual source in which the two differ.
fn virtual_sources_difference(
    kernel: &[VirtualSourceSummary],
    judge: &[VirtualSourceSummary],
) -> Option<String> {
    let same = |kernel: &VirtualSourceSummary, judge: &VirtualSourceSummary| {
        let exact = VirtualSourceSummary { mean_acr: judge.mean_acr, ..kernel.clone() };
        exact == *judge && close(kernel.mean_acr, judge.mean_acr, 1e-11)
    };
    let differs = kernel.len() != judge.len() || kernel.iter().zip(judge).any(|(k, j)| !same(k, j));
    differs.then(|| format!("virtual sources: {kernel:#?} against {judge:#?}"))
}

/// The rows of branch points, if they differ.
fn branch_points_difference(kernel: &[BranchPointSummary], judge: &[BranchPointSummary]) -> Option<String> {
    let same = |kernel: &BranchPointSummary, judge: &BranchPointSummary| {
        let exact = BranchPointSummary { mean_excess: judge.mean_excess, ..kernel.clone() };
        exact == *judge && close(kernel.mean_excess, judge.mean_excess, 1e-11)
    };
    let differs = kernel.len() != judge.len() || kernel.iter().zip(judge).any(|(k, j)| !same(k, j));
    differs.then(|| format!("branch points: {kernel:#?} against {judge:#?}"))
}

/// The first row of a window in which the two differ.
fn windows_difference(scenario: &Scenario, summary: &Summary, judge: &Judgement) -> Option<String> {
    let (mut vcs, mut ports) = (summary.vc_windows.iter(), summary.port_windows.iter());
    for (window, (flows, judged_ports)) in scenario.measuring.windows.iter().zip(&judge.windows) {
        for flow in flows {
            let kernel = vcs.next().filter(|row| row.window == window.name).map(|row| &row.row);
            if kernel.is_none_or(|kernel| kernel.delays.is_some() || !same_flow(kernel, flow)) {
                return Some(format!("{window:?}: {kernel:?} against {flow:?}"));
            }
        }
        for port in judged_ports {
            let kernel = ports.next().filter(|row| row.window == window.name).map(|row| &row.row);
            if kernel != Some(port) {
                return Some(format!("{window:?}: {kernel:?} against {port:?}"));
            }
        }
    }
    let mut policing = summary.policing_windows.iter();
    for (window, rows) in scenario.measuring.windows.iter().zip(&judge.policing_windows) {
        for row in rows {
            let kernel = policing.next().filter(|row| row.window == window.name).map(|row| &row.row);
            if kernel != Some(row) {
                return Some(format!("{window:?}: {kernel:?} against {row:?}"));
            }
        }
    }
    (vcs.len() + ports.len() + policing.len() > 0).then(|| "more rows of windows than the judge has".into())
}
