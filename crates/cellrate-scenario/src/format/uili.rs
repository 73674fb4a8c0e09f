//! The keys of use-it-or-lose-it policies.

use super::custom::{NAME_KEY, PARAMETERS_KEY};
use super::{FRACTION, Key, Kind, RATE, Range, SPAN, Shape, Tagged, key};

/// The types of [`UILI`] (held by a test), but for "custom": a policy with its defaults may be named alone.
pub(super) const UILI_POLICIES: &[&str] =
    &["none", "february-1995", "april-1995", "august-1995", "baseline", "count-based", "time-based", "joint"];

const PNI_KEY: Key = key(
    "pni",
    Kind::Boolean,
    "false",
    "Prohibit no increase: the next backward RM cell may raise ACR again.",
);
const TOF_KEY: Key = key(
    "tof",
    Kind::Ratio(Range { low: 1.0, high: f64::MAX, low_included: true, high_included: true }),
    "2",
    "A forward RM cell is late when it comes more than tof times nrm/ACR after the last.",
);
const RDF_KEY: Key = key(
    "rdf",
    Kind::Ratio(Range { low: 1.0, high: f64::MAX, low_included: true, high_included: true }),
    "1 / abr.rdf",
    "Divisor of the decrease, as in 1995: 512 where abr.rdf is 1/512.",
);

const fn tdf_key(default: &'static str) -> Key {
    key("tdf", FRACTION, default, "Share of ACR that is lost each time.")
}

pub(super) const UILI: Tagged = Tagged {
    name: "uili",
    default: None,
    variants: &[
        ("none", Shape { name: "none", about: "Nothing beyond rule 5.", keys: &[] }),
        (
            "february-1995",
            Shape {
                name: "february-1995",
                about: "ACR falls with the time without a backward RM cell (paper uili, section 3).",
                keys: &[
                    key(
                        "tof",
                        Kind::Integer(1, u32::MAX as i64),
                        "2",
                        "Forward RM cells without a backward one or a decrease before ACR falls.",
                    ),
                    RDF_KEY,
                ],
            },
        ),
        (
            "april-1995",
            Shape {
                name: "april-1995",
                about: "The harmonic decrease (paper uili, section 3).",
                keys: &[TOF_KEY, RDF_KEY],
            },
        ),
        (
            "august-1995",
            Shape {
                name: "august-1995",
                about: "Rule 5 of the draft of August 1995 (paper uili, section 3).",
                keys: &[
                    TOF_KEY,
                    key(
                        "tdff",
                        Kind::Or(&[Kind::PowerOfTwo, Kind::Ratio(Range::closed(0.0, 0.0))]),
                        "1/8, unless tdf is given",
                        "ACR loses tdff times abr.rdf times (the smallest power of two not below pcr, in cells/s) per second since the last forward RM cell: a power of two from 1/32768 to 1, or 0.",
                    ),
                    key(
                        "tdf",
                        Kind::Ratio(Range {
                            low: 0.0,
                            high: f64::MAX,
                            low_included: true,
                            high_included: true,
                        }),
                        "from tdff",
                        "The same share itself, per second.",
                    ),
                    PNI_KEY,
                ],
            },
        ),
        (
            "baseline",
            Shape {
                name: "baseline",
                about: "Enhanced August 1995 (paper uili, section 4.2).",
                keys: &[
                    tdf_key("1/8"),
                    key(
                        "floor",
                        Kind::Choice(&["icr", "source-rate-plus-icr"]),
                        "\"icr\"",
                        "Below what ACR is not lowered.",
                    ),
                    PNI_KEY,
                ],
            },
        ),
        (
            "count-based",
            Shape {
                name: "count-based",
                about: "Regions A to D with a headroom (paper uili, section 5.2).",
                keys: &[
                    tdf_key("1/8"),
                    key(
                        "headroom",
                        RATE,
                        "\"10 Mbps\"",
                        "How far ACR may exceed the rate of the source, at most 16777215 cells/s.",
                    ),
                    key(
                        "pr5",
                        Kind::Boolean,
                        "false",
                        "The first forward RM cell after an increase lowers nothing.",
                    ),
                    key(
                        "delta",
                        RATE,
                        "ACR/512",
                        "Slot granularity: ACR up to this above the rate of the source counts as used, at most 16777215 cells/s.",
                    ),
                ],
            },
        ),
        (
            "time-based",
            Shape {
                name: "time-based",
                about: "ACR falls with the time since the last forward RM cell (paper uili, section 5.3).",
                keys: &[
                    key(
                        "floor",
                        Kind::Choice(&["icr-plus-source-rate", "multiple"]),
                        "\"icr-plus-source-rate\"",
                        "Below what ACR is not lowered; \"multiple\" is the larger of icr and tof times the rate of the source.",
                    ),
                    key(
                        "tof",
                        Kind::Ratio(Range {
                            low: 1.0,
                            high: f64::MAX,
                            low_included: true,
                            high_included: true,
                        }),
                        "2",
                        "Goes with floor = \"multiple\".",
                    ),
                    key(
                        "addf",
                        Kind::Ratio(Range::above(0.0, f64::MAX)),
                        "2",
                        "Everything unused is lost within the larger of addf times frtt and tbe/pcr.",
                    ),
                    key("tc", SPAN, "from addf", "That time itself."),
                    PNI_KEY,
                ],
            },
        ),
        (
            "joint",
            Shape {
                name: "joint",
                about: "The joint source based policy (paper uili, section 5.4; TM 4.0, appendix I.8).",
                keys: &[tdf_key("1/16"), PNI_KEY],
            },
        ),
        (
            "custom",
            Shape {
                name: "custom",
                about: "A policy that is not built in. The run is given it by its name (docs/guides/sources.md).",
                keys: &[NAME_KEY, PARAMETERS_KEY],
            },
        ),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_that_is_built_in_may_be_named_alone() {
        let built_in = UILI.variants.iter().map(|(tag, _)| *tag).filter(|&tag| tag != "custom");
        assert_eq!(UILI_POLICIES, built_in.collect::<Vec<_>>());
    }
}
