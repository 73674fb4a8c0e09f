//! RM values in data cells: what they cost and what they tell, and what cannot be had with them.

use std::ops::ControlFlow;

use cellrate_scenario::{Document, Scenario};
use cellrate_sim::tap;
use cellrate_sim::{RunError, RunResult, run};

/// Two sources before a line of 100,000 cells/s, 2 ms there and back, with these parameters of ABR.
fn scenario(abr: &str, duration: &str) -> Scenario {
    let text = format!(
        "name = \"in band\"\nduration = \"{duration}\"\nwarm_up = \"500 ms\"\n\
         defaults.link = {{ rate = \"100000 cells/s\", delay = \"5 us\" }}\ndefaults.abr = {{ {abr} }}\n\
         switch = [{{ name = \"sw1\", algorithm = {{ type = \"rcp\" }} }}, {{ name = \"sw2\" }}]\n\
         host = [{{ name = \"s{{i}}\", count = 2 }}, {{ name = \"d{{i}}\", count = 2 }}]\n\
         link = [{{ between = [\"s{{i}}\", \"sw1\"], count = 2 }}, {{ between = [\"sw1\", \"sw2\"], delay = \"990 us\" }},\n\
           {{ between = [\"sw2\", \"d{{i}}\"], count = 2 }}]\n\
         vc = [{{ name = \"vc{{i}}\", path = [\"s{{i}}\", \"sw1\", \"sw2\", \"d{{i}}\"], count = 2 }}]\n"
    );
    Document::parse(&text, "in-band.toml").and_then(|document| document.resolve()).unwrap()
}

fn ran(abr: &str) -> RunResult {
    run(&scenario(abr, "1500 ms"), &mut |_| ControlFlow::Continue(())).unwrap()
}

#[test]
fn a_line_is_full_of_data_and_what_is_asked_for_costs_nothing() {
    let slow = "icr = \"1000 cells/s\", rif = 1";
    let data = |result: &RunResult| -> u64 {
        result.summary.vcs.iter().filter(|row| row.data_sent > 0).map(|row| row.data_delivered).sum()
    };
    let own = ran(slow);
    for nrm in [1, 32] {
        let result = ran(&format!("{slow}, rm = \"in-band\", nrm = {nrm}"));
        let [forward, back] = ["vc1", "vc1 (back)"]
            .map(|name| result.summary.vcs.iter().find(|row| row.vc == name).expect("there is one"));
        // No FRM leaves there; back, where nothing but BRMs is sent, one does in each Trm, and is answered.
        assert_eq!(forward.forward_rm_sent, 0, "Nrm {nrm}");
        assert_eq!((back.forward_rm_sent, back.data_sent), (10, 0), "Nrm {nrm}");
        assert!(forward.sent.abs_diff(forward.data_sent + 10) <= 1, "Nrm {nrm}: {forward:?}");
        // A BRM for each Nrm-th, but for those on their way at either end of what is measured.
        let answered = forward.data_sent.div_ceil(nrm);
        assert!(answered.abs_diff(forward.backward_rm_received) < 100, "Nrm {nrm}: {answered}, {forward:?}");
        let share = data(&result) as f64 / 100_000.0;
        assert!((0.99..=1.0).contains(&share), "Nrm {nrm}: {share}");
        let of_share = result.summary.shares.iter().filter_map(|row| row.of_fair_share);
        assert!(of_share.into_iter().all(|share| (share - 1.0).abs() < 0.02), "{:?}", result.summary.shares);
        // A cell in 32 is what FRMs of their own cost.
        let gain = data(&result) as f64 / data(&own) as f64;
        assert!((gain / (32.0 / 31.0) - 1.0).abs() < 0.01, "Nrm {nrm}: {gain}");
    }
}

#[test]
fn cells_of_no_octets_are_captured_nowhere_on_their_way_and_at_other_ports() {
    let scenario = scenario("rm = \"in-band\"", "1 s");
    let ports = tap::ports(&scenario);
    let error = tap::check(&scenario, &ports).unwrap_err().to_string();
    assert!(
        error.contains("data cells of vc \"vc1\" carry RM values") && error.contains("own-cells"),
        "{error}"
    );
    let own = self::scenario("rm = \"own-cells\"", "1 s");
    assert_eq!(tap::check(&own, &tap::ports(&own)), Ok(()));
}

#[test]
fn a_run_that_is_longer_than_its_cells_can_tell_is_refused() {
    let longest = scenario("rm = \"in-band\"", "562949953421311 ps");
    assert_eq!(cellrate_sim::check(&longest), Ok(()));
    let longer = scenario("rm = \"in-band\"", "562949953421312 ps");
    let error = cellrate_sim::check(&longer).unwrap_err();
    assert!(matches!(error, RunError::TooLongInBand { .. }), "{error:?}");
    assert!(error.to_string().contains("at most 562.9 s"), "{error}");
    assert_eq!(cellrate_sim::check(&scenario("", "562949953421312 ps")), Ok(()));
}
