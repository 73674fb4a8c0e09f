//! Networks in which kernel and judge once did not agree: each is tried always.

use super::*;

/// Networks in which kernel and judge once did not agree, each with the cause.
const ONCE_DIFFERENT: [(Network, u64); 8] = [
    // An FRM left sooner than a spacing after the cell before it, because ACR had grown, and came before a BRM that was
    // answered as if it had not.
    (random_bottleneck, 90_047),
    // A cell that arrives after the end was on the link before one that was awaited, and was taken for that.
    (random_crowd, 90_031),
    // What a host sends ahead of time was put on the lane of a direction that never sends, which has the host's port in
    // common with it.
    (random_scenario, 320_692),
    // Idle intervals were passed over while contributions of connections still faded, because the number of active ones
    // was worked out in another way.
    (random_tcp_bottleneck, 530_149),
    // ABR connections at a port that marks packets, and has no algorithm, were taken for one: all their PDUs together.
    (random_modern_tcp, 5_001_473),
    // A BRM that left a shared host at once, out of rate, came to its port after a cell that stood there with the
    // earliest instant that it could have had, not with its own.
    (with_congestion, 5_005_675),
    (random_clients, 900_000_845), // Of a source that was asked for turns nothing was left.
    // The last cell of a request was lost where the queue of its connection was full, and with it the mark.
    (with_some_calls, 950_001_686),
];

#[test]
fn the_kernel_and_the_judge_agree_where_they_once_did_not() {
    for (network, number) in ONCE_DIFFERENT {
        let scenario = network(number);
        let result = run_on(&scenario, NonZeroUsize::MIN, &mut |_| ControlFlow::Continue(()))
            .expect("the run ends well");
        assert_eq!(difference(&scenario, &result, &judge(&scenario, None)), None, "{}", scenario.name);
    }
}
