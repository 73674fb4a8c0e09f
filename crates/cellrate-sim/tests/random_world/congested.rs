//! The same networks with destinations that are congested.

use std::sync::Arc;

use cellrate_proto::destination::{CongestedSpan, DestinationCongestion};
use cellrate_proto::{CellRate, Duration, Time};
use cellrate_scenario::{Scenario, Sender};
use cellrate_sim::random::{Owner, Random, Stream};

/// `scenario`, with destinations that are congested for spans of any length, and say so in any way.
pub fn congested(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("dice 21")));
    let mut pick = |count: usize| (dice.uniform() * count as f64) as usize;
    let whole = scenario.duration.as_ps();
    for connection in &mut scenario.connections {
        for flow in [&mut connection.forward, &mut connection.backward] {
            let Sender::Abr(abr) = &mut flow.sender else { continue };
            if pick(3) == 0 {
                continue;
            }
            let pcr = abr.parameters.pcr;
            let (mut spans, mut at) = (Vec::new(), Time::ZERO);
            for _ in 0..[1, 1, 2, 6][pick(4)] {
                let share = |per_mille: usize| Duration::from_ps(whole / 1000 * per_mille as u64 + 1);
                let start = at + if pick(6) == 0 { Duration::ZERO } else { share(pick(300)) };
                let end = start + share([1, 20, 200, 900][pick(4)]);
                let (ci, ni) = (pick(2) == 0, pick(2) == 0);
                let er = [None, Some(CellRate::ZERO), Some(pcr * 0.3), Some(pcr * 0.01)][pick(4)];
                let congestion =
                    DestinationCongestion { congestion_indication: ci, no_increase: ni, explicit_rate: er };
                spans.push(CongestedSpan { start, end, congestion, originates: (ci || ni) && pick(3) > 0 });
                at = end;
            }
            Arc::make_mut(abr).congested = spans.into();
        }
    }
    scenario
}
