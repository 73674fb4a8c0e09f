//! Promises that an algorithm makes by declaring itself, held for every built-in one.

use cellrate_proto::declaration::{Dimension, Drawn, Kind, Range};
use cellrate_proto::switch::{
    FIGURES, FORMS, Form, PortControl, PortControlConfig, SwitchAlgorithmConfig, VcAtPort,
};
use cellrate_proto::{CellRate, Cells};

/// The algorithm with nothing but the keys that must be given.
fn plain(form: &Form) -> SwitchAlgorithmConfig {
    read(form, &Drawn::least(form.shape.keys)).expect("defaults are in range")
}

/// The configuration that these values describe, or the name of what is out of range.
fn read(form: &Form, values: &Drawn) -> Result<SwitchAlgorithmConfig, String> {
    let config = SwitchAlgorithmConfig::read(form.shape.name, values).expect("there is such a form")?;
    config.check().map_err(|error| error.name.to_owned())?;
    Ok(config)
}

fn port(algorithm: SwitchAlgorithmConfig) -> PortControl {
    PortControl::new(
        &PortControlConfig { algorithm, ..PortControlConfig::default() },
        CellRate::new(100_000.0),
    )
}

#[test]
fn names_and_titles_are_of_one_form_each() {
    for (i, form) in FORMS.iter().enumerate() {
        let others = &FORMS[..i];
        assert!(others.iter().all(|other| other.shape.name != form.shape.name), "{}", form.shape.name);
        assert!(others.iter().all(|other| other.title != form.title), "{}", form.title);
        let mut names: Vec<&str> = form.shape.keys.iter().map(|key| key.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), form.shape.keys.len(), "{}: a key is there twice", form.shape.name);
    }
}

#[test]
fn what_is_read_belongs_to_the_form_that_was_asked_for() {
    for form in FORMS {
        assert_eq!(plain(form).form().map(|found| found.shape.name), Some(form.shape.name));
    }
}

#[test]
fn figures_are_offered_as_they_are_declared() {
    for form in FORMS {
        let declared: Vec<&str> = form.figures.iter().map(|figure| figure.name).collect();
        assert_eq!(port(plain(form)).metric_names(), declared, "{}", form.shape.name);
        assert!(form.figures.iter().all(|figure| FIGURES.contains(figure)));
    }
}

/// Ratios whose condition is not a range of its own are refused earlier than at the end of the range.
#[test]
fn every_bounded_parameter_is_refused_just_outside_its_range() {
    let mut refused = 0;
    for form in FORMS {
        for key in form.shape.keys {
            // What gives a weight needs something to weigh, and what is a part of it is with the others.
            let least = Drawn::least(form.shape.keys);
            let mut check = |values: Drawn| {
                assert_eq!(read(form, &values), Err(key.name.into()), "{}: {values:?}", form.shape.name);
                refused += 1;
            };
            match key.kind {
                Kind::Ratio(Range { low, high, low_included, high_included }) => {
                    let inside = |value| read(form, &least.clone().with_ratio(key.name, value));
                    for (end, included) in [(low, low_included), (high, high_included)] {
                        assert_eq!(
                            inside(end).is_ok(),
                            included,
                            "{}: {} is {end}",
                            form.shape.name,
                            key.name
                        );
                        let beyond = if end == low { end - 1e-9 } else { end * (1.0 + 1e-9) };
                        check(least.clone().with_ratio(key.name, beyond));
                    }
                    check(least.clone().with_ratio(key.name, f64::NAN));
                }
                Kind::Quantity(Dimension::Cells) if key.required => {
                    check(least.clone().with_cells(key.name, Cells::ZERO));
                }
                _ => {}
            }
        }
    }
    assert!(refused > 50, "{refused}");
}

#[test]
fn what_must_be_given_is_missed() {
    for form in FORMS {
        for key in form.shape.keys.iter().filter(|key| key.required) {
            let without = Drawn::least(form.shape.keys).without(key.name);
            assert_eq!(read(form, &without), Err(format!("{} is missing", key.name)));
        }
    }
}

#[test]
fn any_values_within_the_ranges_make_a_port() {
    let mut state = 7_u64;
    let mut dice = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    for form in FORMS {
        let mut differing = 0;
        for _ in 0..50 {
            let algorithm = SwitchAlgorithmConfig::drawn(form, None, &mut dice);
            differing += u32::from(algorithm != plain(form));
            assert_eq!(algorithm.form().map(|found| found.shape.name), Some(form.shape.name));
            assert!(
                (0.0..=1.0).contains(&algorithm.target_utilization()) && algorithm.phantom_weight() >= 0.0
            );
            let mut port = port(algorithm);
            port.connect(&VcAtPort { pcr: CellRate::new(1e5), mcr: CellRate::ZERO, weight: 1.0 });
        }
        assert!(differing > 10, "{}: {differing}", form.shape.name);
    }
}

/// One page each, which names every key, or has a link to the page that does.
#[test]
fn every_form_has_its_page() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms");
    let file = |form: &Form| form.shape.name.replace('+', "-plus") + ".md";
    let read = |file: &str| {
        std::fs::read_to_string(docs.join(file))
            .unwrap_or_else(|error| panic!("docs/algorithms/{file}: {error}"))
    };
    let overview = read("README.md");
    for form in FORMS {
        let page = read(&file(form));
        assert!(overview.contains(&format!("({})", file(form))), "the overview has no {}", file(form));
        let others = FORMS.iter().map(file).filter(|other| page.contains(&format!("({other})")));
        let pages: Vec<String> = others.map(|other| read(&other)).chain([page.clone()]).collect();
        for key in form.shape.keys {
            let is_named = pages.iter().any(|page| page.contains(key.name));
            assert!(is_named, "{} says nothing of {}", file(form), key.name);
        }
    }
}
