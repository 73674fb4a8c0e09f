//! Promises that an algorithm makes by declaring itself, held for every built-in one.

use cellrate_proto::declaration::{Dimension, Drawn, Kind, Range};
use cellrate_proto::switch::frame_discard;
use cellrate_proto::switch::{
    FIGURES, FORMS, Feedback, Form, FrameDiscardConfig, PortControl, PortControlConfig, Slot,
    SwitchAlgorithmConfig, VcAtPort,
};
use cellrate_proto::uili::{SHAPES, UiliConfig};
use cellrate_proto::{CellRate, Cells, Duration, RateCode, Time};

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
            port.connect(&VcAtPort {
                pcr: CellRate::new(1e5),
                mcr: CellRate::ZERO,
                weight: 1.0,
                round_trip: Duration::ZERO,
            });
        }
        assert!(differing > 10, "{}: {differing}", form.shape.name);
    }
}

/// Four greedy connections around a port: in each averaging interval, or each 1 ms where there is none, they send at
/// their rates and take the ER of a BRM for the next.
struct Loop {
    port: PortControl,
    slots: Vec<Slot>,
    rates: Vec<f64>,
    line: f64,
    queue: f64,
    now: Time,
}

impl Loop {
    fn new(algorithm: SwitchAlgorithmConfig, line: f64) -> Loop {
        let config = PortControlConfig { algorithm, ..PortControlConfig::default() };
        let mut port = PortControl::new(&config, CellRate::new(line));
        let vc = VcAtPort {
            pcr: CellRate::new(100_000.0),
            mcr: CellRate::ZERO,
            weight: 1.0,
            round_trip: Duration::ZERO,
        };
        let slots = (0..4).map(|_| port.connect(&vc)).collect();
        Loop { port, slots, rates: vec![10_000.0; 4], line, queue: 0.0, now: Time::ZERO }
    }

    fn change_line(&mut self, line: f64) {
        self.line = line;
        self.port.set_link_rate(CellRate::new(line));
    }

    fn interval(&mut self) {
        let until = self.port.next_deadline().min(self.now + Duration::from_ms(1));
        let span = until.since(self.now).as_secs_f64();
        self.now = until;
        for (slot, rate) in self.slots.iter().zip(&self.rates) {
            let cells = (rate * span).round() as u64;
            (0..cells).for_each(|_| self.port.on_abr_cell(Time::from_ps(until.as_ps() - 1), *slot));
            self.port.on_forward_rm(Time::from_ps(until.as_ps() - 1), *slot, CellRate::new(*rate));
            self.queue += cells as f64;
        }
        self.queue = (self.queue - self.line * span).max(0.0);
        let queue = Cells(self.queue as u64);
        self.port.end_intervals(until, |_| queue);
        for (slot, rate) in self.slots.iter().zip(&mut self.rates) {
            let mut feedback = Feedback::new(RateCode::MAX, false, false);
            self.port.on_backward_rm(until, *slot, queue, &mut feedback);
            *rate = feedback.explicit_rate().rate().as_cells_per_s().min(100_000.0);
        }
    }

    /// Mean rate of all together over 2,000 intervals, after as many for the loop to settle.
    fn settled(&mut self) -> f64 {
        (0..2_000).for_each(|_| self.interval());
        let mut sum = 0.0;
        for _ in 0..2_000 {
            self.interval();
            sum += self.rates.iter().sum::<f64>();
        }
        sum / 2_000.0
    }
}

/// An algorithm that goes by the rate of its line and does not listen to `on_link_rate` hands out twice too much.
#[test]
fn a_line_that_has_changed_is_handed_out_like_one_that_was_always_so() {
    for form in FORMS {
        let name = form.shape.name;
        let algorithm = plain(form);
        if !algorithm.hands_out_rates() {
            continue;
        }
        let always = Loop::new(algorithm.clone(), 50_000.0).settled();
        let mut changed = Loop::new(algorithm, 100_000.0);
        changed.settled();
        changed.change_line(50_000.0);
        let halved = changed.settled();
        assert!(
            (halved / always - 1.0).abs() < 0.05,
            "{name}: connections get {halved} cells/s together of a line of 50,000 that had 100,000, and {always} of one that \
             always had 50,000; does it implement on_link_rate?"
        );
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

#[test]
fn any_values_within_the_ranges_make_a_policy() {
    let mut state = 11_u64;
    let mut dice = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    for (i, shape) in SHAPES.iter().enumerate() {
        assert!(SHAPES[..i].iter().all(|other| other.name != shape.name), "{}", shape.name);
        let least = UiliConfig::read(shape.name, &Drawn::least(shape.keys)).expect("there is such a policy");
        let mut differing = 0;
        for _ in 0..50 {
            let policy = UiliConfig::drawn(shape, &mut dice);
            assert_eq!(policy.shape().map(|found| found.name), Some(shape.name));
            assert_eq!(policy.check(), Ok(()));
            differing += u32::from(Ok(&policy) != least.as_ref());
        }
        assert!(differing > 10, "{}: {differing}", shape.name);
    }
}

#[test]
fn every_bounded_parameter_of_a_policy_is_refused_just_outside_its_range() {
    let mut refused = 0;
    for shape in SHAPES {
        for key in shape.keys {
            // Wrong values of a policy are refused by its name, whatever else must be there for them to be read.
            let Kind::Ratio(range) = key.kind else { continue };
            if key.name == "tof" && shape.name == "time-based" {
                continue;
            }
            for outside in [range.low - 1e-9, range.high * (1.0 + 1e-9), f64::NAN] {
                let values = Drawn::least(shape.keys).with_ratio(key.name, outside);
                let read = UiliConfig::read(shape.name, &values).expect("there is such a policy");
                let error = read.and_then(|policy| policy.check().map_err(|error| error.name.to_owned()));
                assert_eq!(error, Err(key.name.to_owned()), "{}: {outside}", shape.name);
                refused += 1;
            }
        }
    }
    assert!(refused > 20, "{refused}");
}

/// One page for all of them, which names each with every key.
#[test]
fn every_policy_is_on_the_page() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms/uili.md");
    let page = std::fs::read_to_string(&path).expect("the page of policies");
    for shape in SHAPES {
        assert!(page.contains(&format!("`{}`", shape.name)), "docs/algorithms/uili.md has no {}", shape.name);
        for key in shape.keys {
            let named = page.contains(&format!("`{}`", key.name));
            assert!(named, "docs/algorithms/uili.md says nothing of {} of {}", key.name, shape.name);
        }
    }
}

#[test]
fn any_values_within_the_ranges_make_a_frame_discard() {
    let mut state = 13_u64;
    let mut dice = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let room = Some(Cells(100));
    let mut refused = 0;
    for (i, shape) in frame_discard::SHAPES.iter().enumerate() {
        assert!(frame_discard::SHAPES[..i].iter().all(|other| other.name != shape.name), "{}", shape.name);
        for _ in 0..50 {
            let policy = FrameDiscardConfig::drawn(shape, room, &mut dice).expect("some values are taken");
            assert_eq!((policy.shape().name, policy.check(room)), (shape.name, Ok(())));
        }
        for key in shape.keys {
            let Kind::Ratio(range) = key.kind else { continue };
            for outside in [range.low - 1e-9, range.high * (1.0 + 1e-9), f64::NAN] {
                let order = |key: &str| Cells(if matches!(key, "high" | "threshold") { 9 } else { 5 });
                let least = shape.keys.iter().fold(Drawn::least(shape.keys), |values, key| {
                    if key.required { values.with_cells(key.name, order(key.name)) } else { values }
                });
                let values = least.with_ratio(key.name, outside);
                let read = FrameDiscardConfig::read(shape.name, &values).expect("there is such a policy");
                let error = read.and_then(|policy| policy.check(room).map_err(|error| error.name.to_owned()));
                assert_eq!(error.map(drop), Err(key.name.to_owned()), "{}: {outside}", shape.name);
                refused += 1;
            }
        }
    }
    assert!(refused > 8, "{refused}");
}

/// One page for all of them, which names each with every key.
#[test]
fn every_frame_discard_is_on_the_page() {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/algorithms/frame-discard.md");
    let page = std::fs::read_to_string(&path).expect("the page of frame discard");
    for shape in frame_discard::SHAPES {
        let (name, file) = (shape.name, "docs/algorithms/frame-discard.md");
        assert!(page.contains(&format!("`\"{name}\"`")), "{file} has no {name}");
        for key in shape.keys {
            let named = page.contains(&format!("`{}`", key.name));
            assert!(named, "{file} says nothing of {} of {name}", key.name);
        }
    }
}
