//! What an output port of a switch is told: buffers, what they lose, the turn of RM cells, EFCI thresholds, BRMs to
//! originate, algorithm.

use std::sync::Arc;

use cellrate_proto::switch::{
    ActiveSources, AgingConfig, AprcConfig, AveragingInterval, BecnConfig, BecnIndication, CapcConfig,
    ConsistentMarkingConfig, ControlFunction, DelayControl, DrainedBy, EfciConfig, EprcaConfig, EricaConfig,
    Fairness, FrameDiscardConfig, LoadAveraging, PhantomConfig, PortControlConfig, QueueControl,
    RelativeRateConfig, StopAndGoConfig, StopAndGoForm, SwitchAlgorithmConfig,
};
use cellrate_proto::{Cells, Duration};

use super::{optional, vs_vd};
use crate::format::{FLOW_QUANTITIES, PORT_QUANTITIES};
use crate::model::{Buffers, CustomAlgorithm, Port, RmCells, parameters};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::tree::{Node, Table};

/// The port that a checked table of `buffers`, `frame_discard`, `rm_cells`, `efci`, `becn`, `algorithm` and `vs_vd`
/// describes.
pub(super) fn read(table: &Table) -> Result<Port, Fault> {
    let empty = Table::default();
    let inner = |key: &str| table.node(key).and_then(Node::table);
    let buffers = inner("buffers").unwrap_or(&empty);
    let room = |key: &str| optional(buffers, key, quantity::room).map(Option::flatten);
    let (becn, vs_vd) = (inner("becn").map(becn).transpose()?, vs_vd::read(table)?);
    if let (Some(node), Some(_), Some(_)) = (table.node("becn"), becn, vs_vd) {
        let message = "a port with vs_vd ends the loops of the sources before it, and says in FRMs that it turns around what becn would";
        return Err(Fault::new(node.place, message, "Turn one of the two off"));
    }
    let buffers = Buffers {
        guaranteed: room("guaranteed")?,
        abr: room("abr")?,
        ubr: room("ubr")?,
        shared: room("shared")?,
    };
    Ok(Port {
        buffers,
        frame_discard: inner("frame_discard")
            .map(|table| frame_discard(table, buffers.room_for_ubr()))
            .transpose()?,
        rm_cells: match table.text("rm_cells") {
            Some("before-data") => RmCells::BeforeData,
            Some("first") => RmCells::First,
            _ => RmCells::InOrder,
        },
        control: PortControlConfig {
            efci: inner("efci").map(efci).transpose()?.flatten(),
            becn,
            algorithm: inner("algorithm").map_or(Ok(SwitchAlgorithmConfig::None), algorithm)?,
        },
        custom: inner("algorithm").map(custom).transpose()?.flatten(),
        vs_vd,
    })
}

/// What the UBR buffer, of so much `room`, does.
fn frame_discard(table: &Table, room: Option<Cells>) -> Result<FrameDiscardConfig, Fault> {
    let threshold = optional(table, "threshold", quantity::cells)?.unwrap_or_default();
    let scale_factor =
        optional(table, "scale_factor", quantity::ratio)?.unwrap_or(FrameDiscardConfig::SCALE_FACTOR);
    let config = match table.text("type") {
        Some("early") => FrameDiscardConfig::Early { threshold },
        Some("selective") => FrameDiscardConfig::Selective { threshold, scale_factor },
        Some("fair") => FrameDiscardConfig::Fair { threshold, scale_factor },
        _ => FrameDiscardConfig::Partial,
    };
    let place = table.node("type").map(|node| node.place).unwrap_or_default();
    check::configuration(config.check(room), |name| table.node(name), place)?;
    Ok(config)
}

fn efci(table: &Table) -> Result<Option<EfciConfig>, Fault> {
    let Some(high) = optional(table, "high", quantity::cells)? else { return Ok(None) };
    let low = optional(table, "low", quantity::cells)?.unwrap_or(high);
    match table.node("low") {
        Some(node) if low > high => {
            let message = format!("{} is above high, which is {high}", node.plain());
            Err(Fault::new(node.place, message, "It must be at most high"))
        }
        _ => Ok(Some(EfciConfig { high, low })),
    }
}

fn becn(table: &Table) -> Result<BecnConfig, Fault> {
    let threshold = optional(table, "threshold", quantity::cells)?.unwrap_or_default();
    let indication = match table.text("sets") {
        Some("ni") => BecnIndication::NoIncrease,
        _ => BecnIndication::Congestion,
    };
    let config = BecnConfig { threshold, indication };
    let place = table.node("threshold").map(|node| node.place).unwrap_or_default();
    check::configuration(config.check(), |name| table.node(name), place)?;
    Ok(config)
}

fn algorithm(table: &Table) -> Result<SwitchAlgorithmConfig, Fault> {
    let config = built_in(table)?;
    let place = table.node("type").map(|node| node.place).unwrap_or_default();
    check::configuration(config.check(), |name| table.node(name), place)?;
    Ok(config)
}

fn built_in(table: &Table) -> Result<SwitchAlgorithmConfig, Fault> {
    Ok(match table.text("type") {
        Some("relative-rate") => {
            let threshold = optional(table, "threshold", quantity::cells)?.unwrap_or_default();
            SwitchAlgorithmConfig::RelativeRate(RelativeRateConfig { threshold })
        }
        Some("stop-and-go") => {
            let threshold = optional(table, "threshold", quantity::cells)?.unwrap_or_default();
            let form = match table.text("form") {
                Some("explicit-rate") => StopAndGoForm::ExplicitRate,
                _ => StopAndGoForm::RelativeRate,
            };
            SwitchAlgorithmConfig::StopAndGo(StopAndGoConfig { threshold, form })
        }
        Some("eprca") => {
            let threshold = optional(table, "threshold", quantity::cells)?.unwrap_or_default();
            let high_threshold = optional(table, "high_threshold", quantity::cells)?;
            let high_threshold = high_threshold.unwrap_or(Cells(threshold.0.saturating_mul(4)));
            let default = EprcaConfig::new(threshold, high_threshold);
            let ratio = |key: &str, default| {
                optional(table, key, quantity::ratio).map(|given| given.unwrap_or(default))
            };
            let config = EprcaConfig {
                average: ratio("average", default.average)?,
                dpf: ratio("dpf", default.dpf)?,
                erf: ratio("erf", default.erf)?,
                mrf: ratio("mrf", default.mrf)?,
                ..default
            };
            SwitchAlgorithmConfig::Eprca(Arc::new(config))
        }
        Some("aprc") => {
            let high_threshold = optional(table, "high_threshold", quantity::cells)?.unwrap_or_default();
            let default = AprcConfig::new(high_threshold);
            let ratio = |key: &str, default| {
                optional(table, key, quantity::ratio).map(|given| given.unwrap_or(default))
            };
            let growth_threshold = optional(table, "growth_threshold", quantity::cells)?;
            SwitchAlgorithmConfig::Aprc(Arc::new(AprcConfig {
                interval_cells: interval_cells(table)?.unwrap_or(default.interval_cells),
                growth_threshold: growth_threshold.unwrap_or(default.growth_threshold),
                high_threshold,
                average: ratio("average", default.average)?,
                dpf: ratio("dpf", default.dpf)?,
                erf: ratio("erf", default.erf)?,
                mrf: ratio("mrf", default.mrf)?,
            }))
        }
        Some("capc") => {
            let default = CapcConfig::new();
            let ratio = |key: &str, default| {
                optional(table, key, quantity::ratio).map(|given| given.unwrap_or(default))
            };
            SwitchAlgorithmConfig::Capc(Arc::new(CapcConfig {
                interval: interval(table, default.interval.time)?,
                target_utilization: ratio("target_utilization", default.target_utilization)?,
                rup: ratio("rup", default.rup)?,
                rdn: ratio("rdn", default.rdn)?,
                eru: ratio("eru", default.eru)?,
                erf: ratio("erf", default.erf)?,
                threshold: optional(table, "threshold", quantity::cells)?.unwrap_or(default.threshold),
            }))
        }
        Some("phantom") => {
            let default = PhantomConfig::new();
            let factor = optional(table, "utilization_factor", quantity::ratio)?;
            let alpha = optional(table, "alpha", quantity::ratio)?;
            SwitchAlgorithmConfig::Phantom(Arc::new(PhantomConfig {
                interval: interval(table, default.interval.time)?,
                utilization_factor: factor.unwrap_or(default.utilization_factor),
                alpha: alpha.unwrap_or(default.alpha),
            }))
        }
        Some("consistent-marking") => {
            let default = ConsistentMarkingConfig::new();
            let share = optional(table, "target_utilization", quantity::ratio)?;
            SwitchAlgorithmConfig::ConsistentMarking(Arc::new(ConsistentMarkingConfig {
                interval: interval(table, default.interval.time)?,
                target_utilization: share.unwrap_or(default.target_utilization),
                fairness: fairness(table),
            }))
        }
        Some("erica") => {
            let mut default = EricaConfig::erica();
            if let Some(share) = optional(table, "target_utilization", quantity::ratio)? {
                default.queue_control = QueueControl::TargetUtilization(share);
            }
            SwitchAlgorithmConfig::Erica(Arc::new(erica(table, default)?))
        }
        Some("erica+") => {
            let mut default = EricaConfig::erica_plus();
            default.queue_control = QueueControl::QueueingDelay(delay_control(table)?);
            SwitchAlgorithmConfig::Erica(Arc::new(erica(table, default)?))
        }
        _ => SwitchAlgorithmConfig::None,
    })
}

/// A probe has an octet for the place of a figure.
const MOST_FIGURES: usize = 255;

/// An algorithm that is not built in, if that is what the table asks for.
fn custom(table: &Table) -> Result<Option<Arc<CustomAlgorithm>>, Fault> {
    if table.text("type") != Some("custom") {
        return Ok(None);
    }
    let mut figures: Vec<String> = Vec::new();
    for node in table.node("figures").map(check::list).transpose()?.unwrap_or_default() {
        let name = check::text(node)?;
        if FLOW_QUANTITIES.contains(&name) || PORT_QUANTITIES.contains(&name) {
            let message = format!("{name} is recorded of every {}", owner(name));
            return Err(Fault::new(node.place, message, "Give the figure another name"));
        }
        if figures.iter().any(|figure| figure == name) {
            return Err(Fault::new(node.place, format!("{name} is there twice"), "Name each figure once"));
        }
        figures.push(name.to_string());
        if figures.len() > MOST_FIGURES {
            let message = format!("there are more than {MOST_FIGURES} figures");
            return Err(Fault::new(node.place, message, "Name fewer"));
        }
    }
    Ok(Some(Arc::new(CustomAlgorithm {
        name: table.text("name").unwrap_or_default().to_string(),
        figures,
        parameters: parameters(table)?,
    })))
}

fn owner(quantity: &str) -> &'static str {
    if PORT_QUANTITIES.contains(&quantity) { "port" } else { "connection" }
}

fn fairness(table: &Table) -> Fairness {
    match table.text("fairness") {
        Some("weighted") => Fairness::Weighted,
        _ => Fairness::Equal,
    }
}

/// What ERICA and ERICA+ have in common, where the table says something else than `default`.
fn erica(table: &Table, default: EricaConfig) -> Result<EricaConfig, Fault> {
    let flag = |key: &str| optional(table, key, check::boolean).map(|flag| flag.unwrap_or(false));
    Ok(EricaConfig {
        interval: interval(table, default.interval.time)?,
        queue_control: default.queue_control,
        delta: optional(table, "delta", quantity::ratio)?.unwrap_or(default.delta),
        active_sources: ActiveSources {
            bidirectional: flag("bidirectional_counting")?,
            decay: optional(table, "activity_decay", quantity::ratio)?,
            effective: flag("effective_number")?,
        },
        load_averaging: load_averaging(table)?,
        immediate_fair_share: flag("immediate_fair_share")?,
        measured_ccr: flag("measured_ccr")?,
        claims_are_use: claims_are_use(table)?,
        aging: table.node("aging").map(aging).transpose()?.flatten(),
        fairness: fairness(table),
    })
}

/// ERICA+'s function of the queueing delay.
fn delay_control(table: &Table) -> Result<DelayControl, Fault> {
    let default = DelayControl::new();
    let ratio =
        |key: &str, default: f64| optional(table, key, quantity::ratio).map(|given| given.unwrap_or(default));
    let t0 = optional(table, "t0", quantity::span)?.unwrap_or(default.t0);
    Ok(DelayControl {
        t0,
        t1: optional(table, "t1", quantity::span)?.unwrap_or(t0),
        a: ratio("a", default.a)?,
        b: ratio("b", default.b)?,
        qdlf: ratio("qdlf", default.qdlf)?,
        function: match table.text("function") {
            Some("step") => ControlFunction::Step,
            Some("linear") => ControlFunction::Linear,
            Some("inverse-hyperbolic") => ControlFunction::InverseHyperbolic,
            _ => ControlFunction::Hyperbolic,
        },
        drained_by: match table.text("drained_by") {
            Some("line") => DrainedBy::Line,
            _ => DrainedBy::Capacity,
        },
    })
}

fn interval(table: &Table, default: Duration) -> Result<AveragingInterval, Fault> {
    let cells = interval_cells(table)?;
    let time = optional(table, "interval", quantity::span)?.unwrap_or(default);
    Ok(AveragingInterval { time, cells })
}

/// Whether what `table` says of the algorithm of a port whose line takes `cell_time` for a cell can be run: intervals
/// that end more often than cells come, and than every microsecond, cost the run more than the cells do.
///
/// # Errors
/// An interval that is too short, with the least that there may be.
pub(super) fn check_interval(table: &Table, cell_time: Duration, port: &str) -> Result<(), Fault> {
    let algorithm = table.node("algorithm").and_then(Node::table);
    let Some(node) = algorithm.and_then(|algorithm| algorithm.node("interval")) else { return Ok(()) };
    let (given, least) = (quantity::span(node)?, cell_time.min(LEAST_INTERVAL));
    if given >= least {
        return Ok(());
    }
    let message = format!("the interval is {given}, and a cell takes {cell_time} on the line of port {port}");
    Err(Fault::new(node.place, message, format!("It must be at least {least}")))
}

/// Least interval of an algorithm, but for lines on which a cell takes less.
const LEAST_INTERVAL: Duration = Duration::from_us(1);

fn interval_cells(table: &Table) -> Result<Option<u32>, Fault> {
    let cells = optional(table, "interval_cells", |node| check::integer(node, 1, i64::from(u32::MAX)))?;
    Ok(cells.map(|cells| cells as u32))
}

fn aging(node: &Node) -> Result<Option<AgingConfig>, Fault> {
    let Some(table) = node.table() else { return Ok(None) };
    let ratio =
        |key: &str, default: f64| optional(table, key, quantity::ratio).map(|given| given.unwrap_or(default));
    let default = AgingConfig::new();
    let config = AgingConfig {
        alpha: ratio("alpha", default.alpha)?,
        delta: ratio("delta", default.delta)?,
        used: ratio("used", default.used)?,
        weight: ratio("weight", default.weight)?,
        floor: optional(table, "floor", quantity::cell_rate)?.unwrap_or(default.floor),
    };
    check::configuration(config.check(), |name| table.node(name.trim_start_matches("aging_")), node.place)?;
    Ok(Some(config))
}

fn load_averaging(table: &Table) -> Result<LoadAveraging, Fault> {
    let alpha = optional(table, "alpha", quantity::ratio)?;
    let how = table.node("load_averaging");
    match (how.and_then(Node::text), alpha) {
        (Some("ratio"), Some(alpha)) => Ok(LoadAveraging::Ratio { alpha }),
        (Some("rates"), Some(alpha)) => Ok(LoadAveraging::Rates { alpha }),
        (Some("components") | None, Some(alpha)) => Ok(LoadAveraging::Components { alpha }),
        (Some("none") | None, None) => Ok(LoadAveraging::None),
        (Some("none"), Some(_)) => {
            let place = table.node("alpha").map(|node| node.place).unwrap_or_default();
            let remedy = "Write load_averaging = \"components\", or leave alpha out";
            Err(Fault::new(place, "alpha has no effect with load_averaging = \"none\"", remedy))
        }
        (Some(_), _) => {
            let place = how.map(|node| node.place).unwrap_or_default();
            Err(check::missing(place, "alpha", "the weight of the newest interval, above 0, at most 1"))
        }
    }
}

/// Whether claims count as use: a setting of ERICA with weights or the effective number, with CCR from RM cells.
fn claims_are_use(table: &Table) -> Result<bool, Fault> {
    let Some(node) = table.node("claims_are_use") else { return Ok(false) };
    let wanted = check::boolean(node)?;
    let is_set = |key: &str| table.node(key).is_some_and(|node| matches!(check::boolean(node), Ok(true)));
    let looks_at_use = fairness(table) == Fairness::Weighted || is_set("effective_number");
    if wanted && !looks_at_use {
        let remedy = "Write fairness = \"weighted\" or effective_number = true, or leave it out";
        return Err(Fault::new(node.place, "claims_are_use has no effect: nobody looks at use", remedy));
    }
    if wanted && is_set("measured_ccr") {
        let remedy = "Leave one of them out";
        return Err(Fault::new(node.place, "claims_are_use has no effect with measured_ccr", remedy));
    }
    Ok(wanted)
}
