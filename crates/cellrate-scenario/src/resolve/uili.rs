//! Use-it-or-lose-it policies of sources.

use cellrate_proto::uili::{
    April1995Config, August1995Config, BaselineConfig, BaselineFloor, CountBasedConfig, DecreasePerTime,
    February1995Config, JointConfig, TimeBasedConfig, TimeBasedFloor, UiliConfig,
};

use super::optional;
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::tree::{Node, Table};

/// The policy that a checked table, or a word, describes.
pub(super) fn read(node: &Node) -> Result<UiliConfig, Fault> {
    let empty = Table::default();
    let table = node.table().unwrap_or(&empty);
    let policy = node.text().or(table.text("type")).unwrap_or("none");
    let ratio = |key: &str| optional(table, key, quantity::ratio);
    let rate = |key: &str| optional(table, key, quantity::cell_rate);
    let flag = |key: &str| optional(table, key, check::boolean).map(|flag| flag.unwrap_or(false));
    let config = match policy {
        "february-1995" => {
            let default = February1995Config::default();
            let tof = optional(table, "tof", |node| check::integer(node, 1, i64::from(u32::MAX)))?;
            let tof = tof.map_or(default.tof, |tof| tof as u32);
            UiliConfig::February1995(February1995Config { tof, rdf: ratio("rdf")? })
        }
        "april-1995" => {
            let default = April1995Config::default();
            let tof = ratio("tof")?.unwrap_or(default.tof);
            UiliConfig::April1995(April1995Config { tof, rdf: ratio("rdf")? })
        }
        "august-1995" => {
            let default = August1995Config::default();
            let tof = ratio("tof")?.unwrap_or(default.tof);
            UiliConfig::August1995(August1995Config {
                tof,
                tdf: decrease_per_time(table)?,
                pni: flag("pni")?,
            })
        }
        "baseline" => {
            let default = BaselineConfig::default();
            let floor = match table.text("floor") {
                Some("source-rate-plus-icr") => BaselineFloor::SourceRatePlusIcr,
                _ => BaselineFloor::Icr,
            };
            let tdf = ratio("tdf")?.unwrap_or(default.tdf);
            UiliConfig::Baseline(BaselineConfig { tdf, floor, pni: flag("pni")? })
        }
        "count-based" => {
            let default = CountBasedConfig::default();
            UiliConfig::CountBased(CountBasedConfig {
                tdf: ratio("tdf")?.unwrap_or(default.tdf),
                headroom: rate("headroom")?.unwrap_or(default.headroom),
                pr5: flag("pr5")?,
                delta: rate("delta")?,
            })
        }
        "time-based" => {
            let default = TimeBasedConfig::default();
            UiliConfig::TimeBased(TimeBasedConfig {
                floor: time_based_floor(table)?,
                addf: ratio("addf")?.unwrap_or(default.addf),
                tc: optional(table, "tc", quantity::span)?,
                pni: flag("pni")?,
            })
        }
        "joint" => {
            let tdf = ratio("tdf")?.unwrap_or(JointConfig::default().tdf);
            UiliConfig::Joint(JointConfig { tdf, pni: flag("pni")? })
        }
        _ => UiliConfig::None,
    };
    check::configuration(config.check(), |name| table.node(name), node.place)?;
    Ok(config)
}

fn decrease_per_time(table: &Table) -> Result<DecreasePerTime, Fault> {
    match (table.node("tdf"), table.node("tdff")) {
        (Some(tdf), Some(_)) => {
            Err(Fault::new(tdf.place, "the policy has both tdf and tdff", "Write one of them"))
        }
        (Some(tdf), None) => quantity::ratio(tdf).map(DecreasePerTime::PerSecond),
        (None, Some(tdff)) if quantity::ratio(tdff)? == 0.0 => Ok(DecreasePerTime::Derived(None)),
        (None, Some(tdff)) => check::power_of_two(tdff).map(|tdff| DecreasePerTime::Derived(Some(tdff))),
        (None, None) => Ok(August1995Config::default().tdf),
    }
}

fn time_based_floor(table: &Table) -> Result<TimeBasedFloor, Fault> {
    match (table.text("floor"), table.node("tof")) {
        (Some("multiple"), tof) => {
            let tof = tof.map(quantity::ratio).transpose()?.unwrap_or(2.0);
            Ok(TimeBasedFloor::IcrOrMultiple { tof })
        }
        (_, Some(tof)) => {
            let remedy = "Add floor = \"multiple\", or leave tof out";
            Err(Fault::new(tof.place, "tof has no effect without floor = \"multiple\"", remedy))
        }
        (_, None) => Ok(TimeBasedFloor::IcrPlusSourceRate),
    }
}
