//! Sources without feedback that shape and mark what they send, and ABR sources behind a leaky bucket.

use std::sync::Arc;

use cellrate_scenario::{Category, Conditioning, Marking, MarkingRule, Scenario, Sender, Shaping};
use cellrate_sim::random::{Owner, Random, Stream};

/// `scenario` with shapers and markers at some of its sources that have no feedback.
pub fn conditioned(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("conditioning")));
    let mut pick = |count: usize| (dice.uniform() * count as f64) as usize;
    for connection in &mut scenario.connections {
        if connection.category == Category::Abr || connection.branch.is_some() {
            continue;
        }
        for backward in [false, true] {
            if !connection.carries_data(backward) || pick(4) == 0 {
                continue;
            }
            let has_frames = connection.carries_pdus(backward);
            let pcr = connection.flow(backward).sender.pcr();
            let mut bucket = || {
                let scr = pcr * [0.02, 0.1, 0.5, 0.9, 1.0][pick(5)];
                Shaping { scr, mbs: [1, 2, 5, 40, 200][pick(5)] }
            };
            let [shaper, marker] = [bucket(), bucket()];
            let rule = match pick(3) {
                0 => MarkingRule::Share([0.01, 0.3, 0.9, 1.0][pick(4)]),
                1 => MarkingRule::Every([1, 2, 3, 7][pick(4)]),
                _ => MarkingRule::Bucket(marker),
            };
            let whole_frames = has_frames && pick(3) > 0;
            let conditioning = Conditioning {
                shaping: (pick(2) == 0).then_some(shaper),
                marking: (pick(3) > 0).then_some(Marking { rule, whole_frames }),
            };
            let flow = if backward { &mut connection.backward } else { &mut connection.forward };
            flow.conditioning = Some(Box::new(conditioning));
        }
    }
    scenario
}

/// `scenario` with leaky buckets before most of its ABR sources.
pub fn bursting(mut scenario: Scenario, number: u64) -> Scenario {
    let mut dice = Random::new(number, Stream::Traffic(Owner::named("buckets")));
    let mut pick = |count: usize| (dice.uniform() * count as f64) as usize;
    for connection in &mut scenario.connections {
        for flow in [&mut connection.forward, &mut connection.backward] {
            if let Sender::Abr(abr) = &mut flow.sender {
                Arc::make_mut(abr).mbs = [1, 2, 3, 16, 32, 500][pick(6)];
            }
        }
    }
    scenario
}
