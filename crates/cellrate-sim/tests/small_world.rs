//! Stories of a few nodes, driven to their end.

mod world;

use cellrate_proto::Duration;
use world::*;

#[test]
fn one_greedy_source_settles_at_the_target_utilization() {
    let mut world = n_sources(1, Duration::from_ms(5), Duration::from_ms(400));
    world.acr_of(0);
    let result = world.run();
    let acr = *result.series[0].values.last().unwrap();
    let target = 0.9 * OC3.to_cell_rate().as_cells_per_s();
    assert!((acr / target - 1.0).abs() < 0.01, "{acr} against {target}");
}

#[test]
fn fifteen_greedy_sources_share_alike() {
    let world = n_sources(15, Duration::from_ms(5), Duration::from_secs(1));
    let result = world.run();
    let share = 0.9 * OC3.to_cell_rate().as_cells_per_s() / 15.0;
    for row in result.summary.vcs.iter().filter(|row| !row.vc.ends_with("(back)")) {
        let acr = row.final_acr.unwrap();
        assert!((acr / share - 1.0).abs() < 0.02, "{}: {acr} against {share}", row.vc);
        assert_eq!(row.dropped, 0);
    }
}

#[test]
#[ignore]
fn speed() {
    for (name, access) in [("W1", Duration::from_ms(5)), ("W2", Duration::from_us(10))] {
        let world = n_sources(
            15,
            access,
            Duration::from_ms(std::env::var("MS").map_or(10_000, |v| v.parse().unwrap())),
        );
        let start = std::time::Instant::now();
        let result = world.run();
        let s = start.elapsed().as_secs_f64();
        let run = &result.summary.run;
        println!(
            "{name}: {} hops, {} events, {s:.3} s, {:.1} M hops/s",
            run.cell_hops,
            run.events,
            run.cell_hops as f64 / s / 1e6
        );
        for row in result.summary.vcs.iter().take(4) {
            println!("{} {} {:?}", row.vc, row.sent, row.final_acr);
        }
        for row in result.summary.ports.iter().take(2) {
            println!("{row:?}");
        }
    }
}
