//! The scenarios in `scenarios/`: each parses, resolves, says what it is for, survives storing, and fits the schema.

use crate::support;
use cellrate_proto::units::BITS_PER_CELL;
use cellrate_scenario::{Document, fair, schema};

fn ready() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
        .into_iter()
        .map(|file| {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(file).unwrap())
        })
        .collect()
}

#[test]
fn every_one_resolves_under_its_own_name_and_opens_with_its_purpose() {
    assert!(!ready().is_empty());
    for (name, text) in ready() {
        let document = Document::parse(&text, &name).unwrap_or_else(|error| panic!("{error}"));
        for point in document.points().unwrap_or_else(|error| panic!("{error}")) {
            let scenario = point.document.resolve().unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(scenario.name, name);
            assert!(text.starts_with("# ") && scenario.purpose.len() > 80, "{name}: {}", scenario.purpose);
            assert!(!scenario.probes.is_empty() && !scenario.connections.is_empty());
        }
    }
}

#[test]
fn what_is_stored_resolves_to_the_same_scenario_with_the_same_hash() {
    for (name, text) in ready() {
        let document = Document::parse(&text, &name).unwrap();
        let stored = document.to_toml();
        let again = Document::parse(&stored, &name).unwrap_or_else(|error| panic!("{error}\n{stored}"));
        assert_eq!(again.resolve().unwrap(), document.resolve().unwrap(), "{stored}");
        assert_eq!(again.hash(), document.hash());
    }
}

#[test]
fn every_one_fits_the_schema() {
    let schema = schema();
    for (name, text) in ready() {
        support::validate(&schema, &support::json(&text)).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

#[test]
fn the_bottleneck_of_fifteen_is_shared_equally_and_the_parking_lot_by_four() {
    let rates = |name: &str| -> Vec<f64> {
        let (_, text) = ready().into_iter().find(|(ready, _)| ready == name).unwrap();
        let scenario = Document::parse(&text, name).unwrap().resolve().unwrap();
        fair::max_min(&scenario, None).unwrap().iter().map(|share| share.rate.as_cells_per_s()).collect()
    };
    let line = 149.76e6 / BITS_PER_CELL as f64;
    for (name, flows, shares) in [("greedy-15", 15, 15.0), ("parking-lot", 22, 4.0)] {
        let rates = rates(name);
        assert_eq!(rates.len(), flows);
        for rate in rates {
            assert!((rate - 0.9 * line / shares).abs() < 1e-6 * line, "{name}: {rate}");
        }
    }
}
