//! Consolidation of BRMs at the branch points of a switch.

use cellrate_proto::consolidation::{Consolidation, ConsolidationConfig};

use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::optional;
use crate::text::tree::Table;

/// How a switch consolidates, if its table says so.
pub(super) fn read(switch: &Table) -> Result<Option<ConsolidationConfig>, Fault> {
    let Some((node, table)) = switch.node("consolidation").and_then(|node| Some((node, node.table()?)))
    else {
        return Ok(None);
    };
    let default = ConsolidationConfig::default();
    let probability = optional(table, "probability", quantity::ratio)?.unwrap_or(0.5);
    let config = ConsolidationConfig {
        algorithm: match table.text("type") {
            Some("turn-around") => Consolidation::TurnAround,
            Some("turn-around-informed") => Consolidation::TurnAroundInformed,
            Some("pass-first") => Consolidation::PassFirst,
            Some("probabilistic") => Consolidation::Probabilistic(probability),
            Some("wait-for-all") => Consolidation::WaitForAll,
            Some("fast-overload") => Consolidation::FastOverload,
            Some("immediate-rate") => Consolidation::ImmediateRate,
            _ => default.algorithm,
        },
        overload_factor: optional(table, "overload_factor", quantity::ratio)?
            .unwrap_or(default.overload_factor),
        timeout: optional(table, "timeout", quantity::span)?.unwrap_or(default.timeout),
    };
    check::configuration(config.check(), |name| table.node(name), node.place)?;
    Ok(Some(config))
}
