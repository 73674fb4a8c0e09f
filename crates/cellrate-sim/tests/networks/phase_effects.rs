//! Like senders with clocks that are exactly alike, and what independent clocks do about it.

use std::ops::ControlFlow;

use cellrate_scenario::Document;
use cellrate_sim::RunResult;

/// Two hosts with `traffic` before one line, whose UBR buffer has 400 cells, for `duration`, with `clocks`.
fn run(traffic: &str, duration: &str, clocks: &str, seed: u64) -> RunResult {
    let text = format!(
        "name = \"t\"\nduration = \"{duration}\"\nseed = {seed}\ndefaults.clocks = \"{clocks}\"\n\
         defaults.link = {{ rate = \"149.76 Mbps\", length = \"10 km\" }}\n\
         host = [{{ name = \"s{{i}}\", count = 2 }}, {{ name = \"d\" }}]\n\
         switch = [{{ name = \"sw\", buffers = {{ ubr = \"400 cells\" }}, frame_discard = {{ type = \"partial\" }} }}]\n\
         link = [{{ between = [\"s{{i}}\", \"sw\"], count = 2 }}, {{ between = [\"sw\", \"d\"] }}]\n\
         vc = [{{ name = \"v{{i}}\", count = 2, path = [\"s{{i}}\", \"sw\", \"d\"], category = \"ubr\", traffic = {{ {traffic} }} }}]\n"
    );
    let scenario = Document::parse(&text, "t").and_then(|document| document.resolve()).unwrap();
    cellrate_sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// Throughput of both [Mb/s], and how many rows say that phases decided.
fn outcome(result: &RunResult) -> ([f64; 2], usize) {
    let of = |vc: &str| {
        let row = result.summary.vcs.iter().find(|row| row.vc == vc).unwrap();
        row.throughput_bps / 1e6
    };
    ([of("v1"), of("v2")], result.summary.phase_effects.len())
}

const TCP: &str = "type = \"tcp\", preset = \"reno\"";
const GREEDY: &str = "type = \"greedy\"";
const CONSTANT: &str = "type = \"constant\", rate = \"100 Mbps\"";

#[test]
fn exact_clocks_shut_one_of_two_out_and_the_run_says_so() {
    for (traffic, duration) in [(GREEDY, "300 ms"), (CONSTANT, "300 ms"), (TCP, "10 s")] {
        let result = run(traffic, duration, "exact", 1);
        let ([one, other], rows) = outcome(&result);
        assert!(one.min(other) < 0.55 * one.max(other), "{traffic}: {one} and {other}");
        assert_eq!(rows, 1, "{traffic}");
        let row = &result.summary.phase_effects[0];
        assert_eq!((row.port.as_str(), row.vcs), ("sw->d", 2), "{traffic}");
        assert!(row.decided <= row.lost && row.starved_loss > row.favoured_loss, "{row:?}");
    }
}

#[test]
fn independent_clocks_shut_nobody_out_and_nothing_is_said() {
    for seed in 1..=3 {
        // Phases slide by each other in some 100 ms; what time-outs of TCP do is no effect of phases.
        for (traffic, duration, least) in [(GREEDY, "2 s", 0.1), (CONSTANT, "2 s", 0.7), (TCP, "2 s", 0.0)] {
            let ([one, other], rows) = outcome(&run(traffic, duration, "independent", seed));
            let share = one.min(other) / one.max(other);
            assert!(share >= least, "{traffic}, seed {seed}: {one} and {other}");
            assert_eq!(rows, 0, "{traffic}, seed {seed}");
        }
    }
}

#[test]
fn equal_losses_of_exact_clocks_are_no_effect() {
    // A third sender at another rate takes both by turns: the losses of the like ones are nearly equal, or there are
    // none at all at less than the line.
    let result = run("type = \"constant\", rate = \"50 Mbps\"", "100 ms", "exact", 1);
    assert_eq!(outcome(&result).1, 0);
}
