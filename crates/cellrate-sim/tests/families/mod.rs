//! Families of random networks that are made of several kinds.

use cellrate_scenario::Scenario;

use crate::random_tcp::options::{of_today, random_modern_tcp};
use crate::random_tcp::{random_tcp, random_tcp_bottleneck};
use crate::random_world::becn::notified;
use crate::random_world::categories::{of_several_categories, random_categories};
use crate::random_world::chains::random_chain;
use crate::random_world::changing::changing;
use crate::random_world::channels::with_paths;
use crate::random_world::clients::random_clients;
use crate::random_world::conditioning::{bursting, conditioned};
use crate::random_world::congested::congested;
use crate::random_world::cramped::cramped;
use crate::random_world::flows::with_calls;
use crate::random_world::frame_discard::discarding;
use crate::random_world::hosts::random_shared_hosts;
use crate::random_world::in_band::in_band;
use crate::random_world::loopback::looped_back;
use crate::random_world::parallel::in_parallel;
use crate::random_world::parts::in_parts;
use crate::random_world::police::policed;
use crate::random_world::queueing::taking_turns;
use crate::random_world::segments::segmented;
use crate::random_world::series::recorded_densely;
use crate::random_world::trees::branched;
use crate::random_world::{
    random_bottleneck, random_fair_shares, random_scenario, random_thresholds, random_throng,
};

/// A random network, by its number.
pub type Network = fn(u64) -> Scenario;

/// Networks of every kind with destinations that are congested, some with switches that segment loops.
pub fn with_congestion(number: u64) -> Scenario {
    let scenario = match number % 6 {
        0 => with_trees(number),
        1 => random_shared_hosts(number),
        _ => of_kind(number)(number),
    };
    congested(if number % 6 == 5 { segmented(scenario, number) } else { scenario }, number)
}

/// Networks of every kind with virtual paths.
pub fn with_some_paths(number: u64) -> Scenario {
    with_paths(of_kind(number)(number), number)
}

/// Networks of every kind with loopback cells, some with policers, BRMs of switches or segmented loops.
pub fn with_loopback(number: u64) -> Scenario {
    let scenario = match number % 7 {
        0 => random_shared_hosts(number),
        1 => random_modern_tcp(number),
        2 => discarding(of_kind(number)(number), number),
        _ => of_kind(number)(number),
    };
    let scenario = match number % 5 {
        0 => policed(scenario, number),
        1 => segmented(scenario, number),
        2 => notified(scenario, number),
        3 => taking_turns(scenario, number),
        _ => congested(scenario, number),
    };
    looped_back(scenario, number)
}

/// Networks whose sources without feedback shape and mark what they send, many of them with policers.
pub fn random_conditioned(number: u64) -> Scenario {
    let mut scenario = match number % 6 {
        0 => random_categories(number),
        1 => of_several_categories(random_tcp_bottleneck(number), number),
        2 => of_several_categories(random_shared_hosts(number), number),
        _ => discarding(random_tcp(number), number),
    };
    if number.is_multiple_of(5) {
        scenario = taking_turns(scenario, number);
    }
    if number.is_multiple_of(4) {
        scenario = looped_back(scenario, number);
    }
    conditioned(if number.is_multiple_of(3) { scenario } else { policed(scenario, number) }, number)
}

/// Networks of many kinds, with policers.
pub fn random_policed(number: u64) -> Scenario {
    let mut scenario = match number % 12 {
        8 => random_thresholds(number),
        9 => random_categories(number),
        10 => random_fair_shares(number),
        11 => discarding(random_tcp(number), number),
        _ => of_kind(number)(number),
    };
    if number.is_multiple_of(5) {
        scenario = segmented(scenario, number);
    }
    if number.is_multiple_of(7) {
        scenario = notified(scenario, number);
    }
    if number.is_multiple_of(3) {
        scenario = taking_turns(scenario, number);
    }
    if number % 11 == 3 {
        scenario = in_parts(scenario, number);
    }
    policed(scenario, number)
}

/// Any network, with links that change.
pub fn with_changes(number: u64) -> Scenario {
    let mut scenario = match number % 13 {
        8 => random_thresholds(number),
        9 => random_categories(number),
        10 => taking_turns(random_scenario(number), number),
        11 => discarding(random_tcp(number), number),
        12 => in_parallel(random_scenario(number), number),
        7 => random_policed(number),
        _ => of_kind(number)(number),
    };
    let is_policed = number % 13 == 7;
    if number.is_multiple_of(5) && !is_policed {
        scenario = segmented(scenario, number);
    }
    if number.is_multiple_of(7) && !is_policed {
        scenario = notified(scenario, number);
    }
    let scenario = changing(scenario, number);
    if number.is_multiple_of(6) { in_parts(scenario, number) } else { scenario }
}

/// Networks of many kinds in which every limit is small.
pub fn with_small_limits(number: u64) -> Scenario {
    let scenario = match number % 12 {
        0 | 1 => random_tcp(number),
        2 => of_today(random_modern_tcp(number), number),
        3 => with_trees(number),
        4 => random_policed(number),
        5 => taking_turns(random_scenario(number), number),
        6 => segmented(random_scenario(number), number),
        7 => with_some_calls(number),
        8 => with_changes(number),
        9 => discarding(random_tcp(number), number),
        10 => random_categories(number),
        _ => random_scenario(number),
    };
    cramped(scenario, number)
}

/// Any network, with calls that come and go.
pub fn with_some_calls(number: u64) -> Scenario {
    let scenario = match number % 13 {
        8 => random_thresholds(number),
        9 => random_categories(number),
        10 => taking_turns(random_scenario(number), number),
        11 => changing(random_scenario(number), number),
        12 => in_parallel(random_scenario(number), number),
        _ => of_kind(number)(number),
    };
    let mut scenario = with_calls(scenario, number);
    if number.is_multiple_of(5) {
        scenario = segmented(scenario, number);
    }
    if number.is_multiple_of(7) {
        scenario = notified(scenario, number);
    }
    if number.is_multiple_of(6) { in_parts(scenario, number) } else { scenario }
}

/// Networks of many kinds, some of whose connections are trees.
pub fn with_trees(number: u64) -> Scenario {
    let mut scenario = match number % 10 {
        7 => random_thresholds(number),
        8 => random_categories(number),
        9 => discarding(random_tcp(number), number),
        3 if number % 40 == 3 => random_shared_hosts(number),
        _ => random_scenario(number),
    };
    if number % 5 == 1 {
        scenario = taking_turns(scenario, number);
    }
    if number % 7 == 2 {
        scenario = segmented(scenario, number);
    }
    if number % 7 == 3 {
        scenario = notified(scenario, number);
    }
    if number % 6 == 4 {
        scenario = in_parallel(scenario, number);
    }
    if number % 11 == 5 {
        scenario = changing(scenario, number);
    }
    if number % 13 == 6 {
        scenario = policed(scenario, number);
    }
    let scenario = branched(scenario, number);
    if number.is_multiple_of(4) { in_parts(scenario, number) } else { scenario }
}

/// Networks of every kind with dense series.
pub fn with_dense_series(number: u64) -> Scenario {
    let scenario = match number % 13 {
        0 | 1 => random_chain(number),
        2 | 3 => random_fair_shares(number),
        4 if number % 39 == 4 => random_throng(number),
        4 => random_thresholds(number),
        5 => random_categories(number),
        6 => with_some_calls(number),
        7 => with_changes(number),
        8 => with_trees(number),
        9 => segmented(of_kind(number / 13)(number), number),
        10 => notified(of_kind(number / 13)(number), number),
        11 => random_bottleneck(number),
        _ => of_kind(number / 13)(number),
    };
    let scenario = recorded_densely(scenario, number);
    if number % 5 == 1 && number % 13 > 8 { in_parts(scenario, number) } else { scenario }
}

/// A network of one of several kinds.
pub fn of_kind(number: u64) -> Network {
    match number % 8 {
        0..4 => random_scenario,
        4 | 5 => random_tcp,
        6 => random_shared_hosts,
        _ => random_bottleneck,
    }
}

/// Networks of every kind with RM values in data cells.
pub fn with_values_in_data(number: u64) -> Scenario {
    let scenario = match number % 17 {
        0 => segmented(of_kind(number / 17)(number), number),
        1 => random_policed(number),
        2 => with_some_calls(number),
        3 => with_changes(number),
        4 => with_small_limits(number),
        5 => with_loopback(number),
        6 => with_some_paths(number),
        7 => taking_turns(random_tcp(number), number),
        8 => with_dense_series(number),
        9 => with_congestion(number),
        10 => random_clients(number),
        11 => notified(random_chain(number), number),
        12 if number % 51 == 12 => random_throng(number),
        12 => random_thresholds(number),
        13 => random_fair_shares(number),
        14 => discarding(random_tcp(number), number),
        15 => of_today(random_modern_tcp(number), number),
        _ => bursting(of_kind(number / 17)(number), number),
    };
    in_band(scenario, number)
}
