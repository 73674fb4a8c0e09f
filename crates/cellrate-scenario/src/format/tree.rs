//! The keys of trees: branches of a connection, and how branch points consolidate.

use cellrate_proto::declaration::{Key, Kind, Shape, Tagged, key};

use crate::keys::{FRACTION, SHARE, SPAN};

pub(super) const BRANCHES_KEY: Key = key(
    "branches",
    Kind::List(&Kind::List(&Kind::Reference, 2), 1),
    "none",
    "Ways to further leaves, which make the connection a tree (docs/guides/trees.md): each from a switch that the path or a way before it passes, where cells are copied, to a host of its own. \"vc1 to d2\" in results and probes is the way to d2.",
);

pub(super) const CONSOLIDATION_KEY: Key = key(
    "consolidation",
    Kind::Tagged(&CONSOLIDATION),
    "{ type = \"ratio-control\" }",
    "Feedback consolidation of ABR trees that branch at this switch: which BRM goes up, and when (docs/guides/trees.md).",
);

const TIMEOUT_KEY: Key = key(
    "timeout",
    SPAN,
    "\"1 s\"",
    "A branch from which no BRM has come for so long after an FRM is not waited for.",
);
const OVERLOAD_FACTOR_KEY: Key = key(
    "overload_factor",
    SHARE,
    "1",
    "Overload is a least ER below so many times the one that went up last.",
);

const CONSOLIDATION: Tagged = Tagged {
    name: "consolidation",
    default: None,
    variants: &[
        (
            "turn-around",
            Shape {
                name: "turn-around",
                about: "Each FRM is answered at once, with the least ER that has come since the answer before (Roberts).",
                keys: &[],
            },
        ),
        (
            "turn-around-informed",
            Shape {
                name: "turn-around-informed",
                about: "As turn-around, but only if a BRM has come since the answer before (Tzeng and Siu).",
                keys: &[],
            },
        ),
        (
            "pass-first",
            Shape {
                name: "pass-first",
                about: "The first BRM after an FRM goes up, with the least ER that has come since the one before (Ren, Siu and Suzuki).",
                keys: &[],
            },
        ),
        (
            "probabilistic",
            Shape {
                name: "probabilistic",
                about: "After an FRM the BRM goes up with which all branches have reported, and each before it with a probability (after Jiang, Zegura and Ammar).",
                keys: &[
                    key("probability", FRACTION, "0.5", "0 waits for all branches, 1 passes the first BRM."),
                    TIMEOUT_KEY,
                ],
            },
        ),
        (
            "wait-for-all",
            Shape {
                name: "wait-for-all",
                about: "The BRM goes up with which all branches have reported.",
                keys: &[TIMEOUT_KEY],
            },
        ),
        (
            "fast-overload",
            Shape {
                name: "fast-overload",
                about: "As wait-for-all, and a BRM that tells of overload goes up at once (Fahmy et al., AF 97-0615).",
                keys: &[OVERLOAD_FACTOR_KEY, TIMEOUT_KEY],
            },
        ),
        (
            "ratio-control",
            Shape {
                name: "ratio-control",
                about: "As fast-overload, and for each BRM too many one is saved later (Fahmy et al., AF 97-0615).",
                keys: &[OVERLOAD_FACTOR_KEY, TIMEOUT_KEY],
            },
        ),
        (
            "immediate-rate",
            Shape {
                name: "immediate-rate",
                about: "As ratio-control, and ports answer BRMs as they come from the branches, not as one goes up (Fahmy et al., AF 97-0615).",
                keys: &[OVERLOAD_FACTOR_KEY, TIMEOUT_KEY],
            },
        ),
    ],
};
