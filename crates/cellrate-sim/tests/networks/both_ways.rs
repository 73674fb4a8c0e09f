//! ABR both ways over one line: what a run settles at is what the fair shares say, backward RM cells accounted for.

use std::ops::ControlFlow;

use cellrate_scenario::Document;
use cellrate_scenario::fair::max_min;

/// The rates of x (one way) and y (the other), with these Nrm, at the end of a run over what is fair.
fn settled(algorithm: &str, nrm: [u32; 2]) -> Vec<f64> {
    let text = format!(
        "name = \"t\"\nduration = \"500 ms\"\n\
         defaults.link = {{ rate = \"149.76 Mbps\", length = \"10 km\" }}\n\
         defaults.switch.algorithm = {{ {algorithm} }}\n\
         host = [{{ name = \"a\" }}, {{ name = \"b\" }}, {{ name = \"c\" }}, {{ name = \"d\" }}]\n\
         switch = [{{ name = \"sw1\" }}, {{ name = \"sw2\" }}]\n\
         link = [{{ between = [\"a\", \"sw1\"] }}, {{ between = [\"b\", \"sw1\"] }}, {{ between = [\"c\", \"sw2\"] }}, \
         {{ between = [\"d\", \"sw2\"] }}, {{ between = [\"sw1\", \"sw2\"], rate = \"50 Mbps\" }}]\n\
         vc = [{{ name = \"x\", path = [\"a\", \"sw1\", \"sw2\", \"c\"], abr = {{ nrm = {}, rif = 1, icr = \"5 Mbps\" }} }}, \
         {{ name = \"y\", path = [\"d\", \"sw2\", \"sw1\", \"b\"], abr = {{ nrm = {}, rif = 1, icr = \"5 Mbps\" }} }}]\n",
        nrm[0], nrm[1]
    );
    let scenario = Document::parse(&text, "t").and_then(|document| document.resolve()).unwrap();
    let fair = max_min(&scenario, None).unwrap();
    let result = cellrate_sim::run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap();
    let acr =
        |vc: &str| result.summary.vcs.iter().find(|row| row.vc == vc).and_then(|row| row.final_acr).unwrap();
    [acr("x"), acr("y")].iter().zip(fair).map(|(acr, share)| acr / share.rate.as_cells_per_s()).collect()
}

#[test]
fn two_flows_that_meet_settle_at_what_backward_rm_cells_leave() {
    // Each leaves one cell in 32 to the backward RM cells of the other: 3 % less than the line alone would give, and a
    // rate code resolves 0.2 %.
    for ratio in settled("type = \"consistent-marking\"", [32, 32]) {
        assert!((ratio - 1.0).abs() < 0.01, "{ratio}");
    }
}
