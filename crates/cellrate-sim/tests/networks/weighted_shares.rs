//! ERICA and consistent marking with weights on the ready scenario `weighted-shares`: each connection has its MCR and,
//! of what is left, a share by weight.

use std::ops::ControlFlow;

use cellrate_proto::units::BITS_PER_CELL;
use cellrate_scenario::{Document, fair};
use cellrate_sim::run;

const SCENARIO: &str = include_str!("../../../../scenarios/weighted-shares.toml");

/// ACR of each connection at these instants [s], and the weighted max-min shares of the whole line while all send
/// [cells/s].
fn rates(text: &str, instants: [f64; 3]) -> (Vec<[f64; 3]>, Vec<f64>) {
    let scenario = Document::parse(text, "weighted-shares").and_then(|document| document.resolve()).unwrap();
    let result = run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap();
    let acr = result.series.iter().filter(|series| series.probe == "acr");
    let at = |times_ps: &[u64], values: &[f64], s: f64| {
        let after = times_ps.partition_point(|&ps| ps as f64 <= s * 1e12);
        values[after - 1]
    };
    let rates = acr.map(|series| instants.map(|s| at(&series.times_ps, &series.values, s)));
    let shares = fair::max_min(&scenario, Some(1.0)).unwrap();
    (rates.collect(), shares.iter().map(|share| share.rate.as_cells_per_s()).collect())
}

#[test]
fn each_has_its_mcr_and_a_share_by_weight_of_what_is_left() {
    let line = 149.76e6 / BITS_PER_CELL as f64;
    let mcr = [20e6 / BITS_PER_CELL as f64, 0.0, 0.0, 0.0];
    let (rates, shares) = rates(SCENARIO, [0.199, 0.399, 0.599]);
    for (at, weights) in [[1.0, 1.0, 2.0, 0.0], [1.0, 1.0, 2.0, 4.0], [1.0, 1.0, 2.0, 0.0]].iter().enumerate()
    {
        let sending: Vec<usize> = (0..4).filter(|&i| weights[i] > 0.0).collect();
        let all: f64 = sending.iter().map(|&i| rates[i][at]).sum();
        // ERICA rests anywhere between U and 1.1 U.
        assert!(all > 0.99 * 0.9 * line && all < 1.01 * 0.99 * line, "{all}");
        let level = (all - mcr[0]) / sending.iter().map(|&i| weights[i]).sum::<f64>();
        for i in sending {
            let share = mcr[i] + weights[i] * level;
            assert!((rates[i][at] - share).abs() < 0.01 * share, "{i} at {at}: {rates:?} and {share}");
        }
    }
    // As the fair shares of the topology have it, which are those of the whole line.
    let level = (line - mcr[0]) / 8.0;
    for (share, (mcr, weight)) in shares.iter().zip([(mcr[0], 1.0), (0.0, 1.0), (0.0, 2.0), (0.0, 4.0)]) {
        assert!((share - mcr - weight * level).abs() < 1e-6 * line);
    }
}

/// Consistent marking hands out its target, so the level of each time is known before.
#[test]
fn consistent_marking_gives_the_same_shares_of_its_target() {
    let text = SCENARIO.replace("type = \"erica\"", "type = \"consistent-marking\"");
    assert_ne!(text, SCENARIO);
    let (line, mcr) = (149.76e6 / BITS_PER_CELL as f64, 20e6 / BITS_PER_CELL as f64);
    let (rates, _) = rates(&text, [0.199, 0.399, 0.599]);
    for (at, fourth) in [0.0, 4.0, 0.0].into_iter().enumerate() {
        let level = (0.9 * line - mcr) / (4.0 + fourth);
        let shares = [mcr + level, level, 2.0 * level, fourth * level];
        for (i, share) in shares.into_iter().enumerate().filter(|(_, share)| *share > 0.0) {
            assert!((rates[i][at] / share - 1.0).abs() < 0.01, "{i} at {at}: {rates:?} and {share}");
        }
    }
}

#[test]
fn without_weights_all_have_the_same() {
    let text = SCENARIO.replace("fairness = \"weighted\"", "fairness = \"equal\"");
    let (rates, _) = rates(&text, [0.199, 0.399, 0.599]);
    for i in 1..3 {
        assert!((rates[i][0] / rates[0][0] - 1.0).abs() < 0.01, "{rates:?}");
    }
    assert!((rates[3][1] / rates[0][1] - 1.0).abs() < 0.01, "{rates:?}");
}
