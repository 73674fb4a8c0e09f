//! Admission by equivalent bandwidth, on the ready scenario `equivalent-bandwidth`: how many sources are let in is
//! worked out by hand, and what they lose is measured.

use std::ops::ControlFlow;

use cellrate_scenario::Document;
use cellrate_sim::run;

const SCENARIO: &str = include_str!("../../../../scenarios/equivalent-bandwidth.toml");

/// Connections that are admitted, and the share of their cells that finds no room before the line.
fn admitted(admission: &str) -> (usize, f64) {
    let mut document = Document::parse(SCENARIO, "equivalent-bandwidth").unwrap();
    document.set("admission", admission).unwrap();
    let scenario = document.resolve().unwrap();
    assert_eq!(scenario.connections.len() + scenario.refused.len(), 100);
    let summary = run(&scenario, &mut |_| ControlFlow::Continue(())).unwrap().summary;
    let [sent, dropped] = [
        summary.vcs.iter().map(|row| row.sent).sum::<u64>(),
        summary.vcs.iter().map(|row| row.dropped).sum(),
    ];
    assert!(sent > 1_000_000);
    println!("{admission}: {} admitted, {dropped} of {sent} cells lost", scenario.connections.len());
    (scenario.connections.len(), dropped as f64 / sent as f64)
}

#[test]
fn as_many_are_admitted_as_keep_their_loss() {
    // N of them need 1.0011 N + 3.4609 sqrt(9.0085 N) Mb/s: 148.8 with 65, and 150.5 with one more.
    let (count, loss) = admitted("{ equivalent_bandwidth = { loss = 0.001 } }");
    assert!(count == 65 && loss < 0.001, "{count}: {loss}");
    // 5.0787 standard deviations: 149.4 Mb/s with 46, 151.5 with 47. Some two million cells cannot show 1e-6.
    let (count, loss) = admitted("{ equivalent_bandwidth = { loss = 0.000001 } }");
    assert!(count == 46 && loss < 0.0001, "{count}: {loss}");
    // By means all are admitted, and lose more.
    let (count, loss) = admitted("true");
    assert!(count == 100 && loss > 0.001, "{count}: {loss}");
}
