//! Consolidation of BRMs at the branch points of a switch: its algorithms, their keys, and how they are read.

use cellrate_proto::consolidation::{Consolidation, ConsolidationConfig};
use cellrate_proto::declaration::{Key, Shape, Tagged, key, written};

use crate::keys::{FRACTION, SHARE, SPAN};
use crate::text::error::Fault;
use crate::text::reading::optional;
use crate::text::tree::Table;
use crate::text::{check, quantity};

const TIMEOUT_KEY: Key = key(
    "timeout",
    SPAN,
    "\"1 s\"",
    "A branch that has sent no BRM for so long after an FRM is not waited for.",
);
const OVERLOAD_FACTOR_KEY: Key = key(
    "overload_factor",
    SHARE,
    "1",
    "There is overload when the least ER is below so many times the ER that went up last.",
);

const PROBABILITY_KEY: Key =
    key("probability", FRACTION, "0.5", "0 waits for all branches, 1 passes the first BRM.");

/// Makes the algorithm of the core, with the probability that its table gives.
type Make = fn(f64) -> Consolidation;

/// Algorithms by their `type`: a sentence on each, its keys, and what it is in the core.
const ALGORITHMS: [(Shape, Make); 8] = [
    (
        Shape {
            name: "turn-around",
            about: "Each FRM is answered at once, with the least ER that has come since the answer before (Roberts).",
            keys: &[],
        },
        |_| Consolidation::TurnAround,
    ),
    (
        Shape {
            name: "turn-around-informed",
            about: "As turn-around, but only if a BRM has come since the answer before (Tzeng and Siu).",
            keys: &[],
        },
        |_| Consolidation::TurnAroundInformed,
    ),
    (
        Shape {
            name: "pass-first",
            about: "The first BRM after an FRM goes up, with the least ER that has come since the one before (Ren, Siu and Suzuki).",
            keys: &[],
        },
        |_| Consolidation::PassFirst,
    ),
    (
        Shape {
            name: "probabilistic",
            about: "After an FRM, the BRM that completes the reports of all branches goes up, and each BRM before it with a probability (after Jiang, Zegura and Ammar).",
            keys: &[PROBABILITY_KEY, TIMEOUT_KEY],
        },
        Consolidation::Probabilistic,
    ),
    (
        Shape {
            name: "wait-for-all",
            about: "The BRM that completes the reports of all branches goes up.",
            keys: &[TIMEOUT_KEY],
        },
        |_| Consolidation::WaitForAll,
    ),
    (
        Shape {
            name: "fast-overload",
            about: "As wait-for-all, and a BRM that shows overload goes up at once (Fahmy et al., AF 97-0615).",
            keys: &[OVERLOAD_FACTOR_KEY, TIMEOUT_KEY],
        },
        |_| Consolidation::FastOverload,
    ),
    (
        Shape {
            name: "ratio-control",
            about: "As fast-overload, and each extra BRM is made up for later, when one is left out (Fahmy et al., AF 97-0615).",
            keys: &[OVERLOAD_FACTOR_KEY, TIMEOUT_KEY],
        },
        |_| Consolidation::RatioControl,
    ),
    (
        Shape {
            name: "immediate-rate",
            about: "As ratio-control, and ports answer BRMs as they come from the branches, not as one goes up (Fahmy et al., AF 97-0615).",
            keys: &[OVERLOAD_FACTOR_KEY, TIMEOUT_KEY],
        },
        |_| Consolidation::ImmediateRate,
    ),
];

pub(crate) const CONSOLIDATION: Tagged = Tagged {
    name: "consolidation",
    default: None,
    variants: &{
        let mut variants = [(ALGORITHMS[0].0.name, ALGORITHMS[0].0); ALGORITHMS.len()];
        let mut i = 0;
        while i < variants.len() {
            variants[i] = (ALGORITHMS[i].0.name, ALGORITHMS[i].0);
            i += 1;
        }
        variants
    },
};

/// How a switch consolidates, if its table says so.
pub(crate) fn read(switch: &Table) -> Result<Option<ConsolidationConfig>, Fault> {
    let Some((node, table)) = switch.node("consolidation").and_then(|node| Some((node, node.table()?)))
    else {
        return Ok(None);
    };
    let default = ConsolidationConfig::default();
    let probability = optional(table, "probability", quantity::ratio)?
        .unwrap_or(const { written::ratio(PROBABILITY_KEY.default) });
    let chosen = ALGORITHMS.iter().find(|(shape, _)| Some(shape.name) == table.text("type"));
    let config = ConsolidationConfig {
        algorithm: chosen.map_or(default.algorithm, |(_, algorithm)| algorithm(probability)),
        overload_factor: optional(table, "overload_factor", quantity::ratio)?
            .unwrap_or(default.overload_factor),
        timeout: optional(table, "timeout", quantity::span)?.unwrap_or(default.timeout),
    };
    check::configuration(config.check(), |name| table.node(name), node.place)?;
    Ok(Some(config))
}
