//! Numbers with units, as network people write them: `155.52 Mbps`, `5 ms`, `1024 kB`, `25 %`, `1/16`, `1000 km`.

use std::borrow::Cow;

use cellrate_proto::declaration::Dimension;
use cellrate_proto::units::BITS_PER_CELL;
use cellrate_proto::{BitRate, CellRate, Cells, Duration, Octets};

use crate::text::error::Fault;
use crate::text::lines;
use crate::text::tree::{Node, Value};
use crate::values::ClockOffset;

/// The longest time a scenario may name: later instants still fit into 64 bits of picoseconds when some are added.
const LONGEST: f64 = 100.0 * 86_400.0 * 1e12;
/// The fastest line, in bit/s: a cell takes 42.4 ps of it.
const FASTEST: f64 = 10e12;

/// Units of a dimension: name, factor to the base unit as a whole number and a power of ten.
pub(crate) struct Unit(&'static str, f64, i32);

/// Cells are counted from octets: 53 of them, whatever a cell carries.
const OCTETS_PER_CELL: f64 = 53.0;

/// How numbers of a dimension are written.
pub(crate) trait Notation {
    /// Its units.
    fn units(self) -> &'static [Unit];
    /// Noun for it in messages.
    fn noun(self) -> &'static str;
    /// How one is written, for remedies and the documentation.
    fn how(self) -> &'static str;
    /// The unit a bare number was probably meant in.
    fn likely_unit(self) -> &'static str;
    /// A pattern for the JSON Schema: it lets through whatever [`read`] accepts as a string.
    fn pattern(self) -> String;
}

impl Notation for Dimension {
    fn units(self) -> &'static [Unit] {
        match self {
            Dimension::Time => &[
                Unit("ps", 1.0, 0),
                Unit("ns", 1.0, 3),
                Unit("us", 1.0, 6),
                Unit("\u{b5}s", 1.0, 6),
                Unit("\u{3bc}s", 1.0, 6),
                Unit("ms", 1.0, 9),
                Unit("s", 1.0, 12),
                Unit("min", 60.0, 12),
            ],
            Dimension::Rate | Dimension::LineRate => &[
                Unit("bps", 1.0, 0),
                Unit("kbps", 1.0, 3),
                Unit("Mbps", 1.0, 6),
                Unit("Gbps", 1.0, 9),
                Unit("Tbps", 1.0, 12),
                Unit("bit/s", 1.0, 0),
                Unit("kbit/s", 1.0, 3),
                Unit("Mbit/s", 1.0, 6),
                Unit("Gbit/s", 1.0, 9),
                Unit("b/s", 1.0, 0),
                Unit("kb/s", 1.0, 3),
                Unit("Mb/s", 1.0, 6),
                Unit("Gb/s", 1.0, 9),
                Unit("cells/s", BITS_PER_CELL as f64, 0),
            ],
            Dimension::Octets => &[
                Unit("octets", 1.0, 0),
                Unit("octet", 1.0, 0),
                Unit("B", 1.0, 0),
                Unit("kB", 1.0, 3),
                Unit("MB", 1.0, 6),
                Unit("GB", 1.0, 9),
                Unit("KiB", 1024.0, 0),
                Unit("MiB", 1_048_576.0, 0),
                Unit("GiB", 1_073_741_824.0, 0),
            ],
            Dimension::Cells => &[
                Unit("cells", OCTETS_PER_CELL, 0),
                Unit("cell", OCTETS_PER_CELL, 0),
                Unit("octets", 1.0, 0),
                Unit("B", 1.0, 0),
                Unit("kB", 1.0, 3),
                Unit("MB", 1.0, 6),
                Unit("GB", 1.0, 9),
                Unit("KiB", 1024.0, 0),
                Unit("MiB", 1_048_576.0, 0),
            ],
            Dimension::Length => &[Unit("km", 1.0, 0), Unit("m", 1.0, -3)],
            Dimension::Offset => &[Unit("ppb", 1.0, 0), Unit("ppm", 1.0, 3), Unit("%", 1.0, 7)],
            Dimension::Angle => &[Unit("deg", 1.0, 0)],
            Dimension::Ratio => &[Unit("%", 1.0, -2)],
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Dimension::Time => "a time",
            Dimension::Rate | Dimension::LineRate => "a rate",
            Dimension::Cells => "a number of cells",
            Dimension::Octets => "a number of octets",
            Dimension::Length => "a length",
            Dimension::Offset => "the offset of a clock",
            Dimension::Angle => "an angle",
            Dimension::Ratio => "a ratio",
        }
    }

    fn how(self) -> &'static str {
        match self {
            Dimension::Time => "a string such as \"5 ms\", with ps, ns, us, ms, s or min",
            Dimension::Rate => "a string such as \"149.76 Mbps\", with bps, kbps, Mbps, Gbps or cells/s",
            Dimension::LineRate => "a string such as \"155.52 Mbps\", with bps, kbps, Mbps, Gbps or cells/s",
            Dimension::Cells => {
                "a string such as \"4096 cells\" or \"1024 kB\", with cells, octets, B, kB, MB, KiB or MiB"
            }
            Dimension::Octets => {
                "a string such as \"1460 octets\" or \"64 KiB\", with octets, B, kB, MB, GB, KiB, MiB or GiB"
            }
            Dimension::Length => "a string such as \"1000 km\", with km or m",
            Dimension::Offset => "a string such as \"20 ppm\" or \"-5 ppm\", with ppm, ppb or %",
            Dimension::Angle => "a string such as \"25 deg\", with deg",
            Dimension::Ratio => "a ratio such as \"90 %\", 0.9 or \"1/16\"",
        }
    }

    fn likely_unit(self) -> &'static str {
        match self {
            Dimension::Time => "ms",
            Dimension::Rate | Dimension::LineRate => "Mbps",
            Dimension::Cells => "cells",
            Dimension::Octets => "octets",
            Dimension::Length => "km",
            Dimension::Offset => "ppm",
            Dimension::Angle => "deg",
            Dimension::Ratio => "",
        }
    }

    fn pattern(self) -> String {
        let number = r"\+?[0-9][0-9_]*(\.[0-9_]+)?([eE][+-]?[0-9]+)?";
        if self == Dimension::Ratio {
            return format!(r"^\s*{number}\s*(%|/\s*{number})?\s*$");
        }
        let units: Vec<&str> = self.units().iter().map(|unit| unit.0).collect();
        let sign = if self == Dimension::Offset { "-?" } else { "" };
        let amount = format!(r"{sign}{number}\s*({})", units.join("|"));
        if is_rate(self) {
            let lines: Vec<&str> = lines::names().collect();
            return format!(r"^\s*({amount}|{})\s*$", lines.join("|"));
        }
        format!(r"^\s*{amount}\s*$")
    }
}

/// Whether names of [lines] stand for amounts of this dimension.
fn is_rate(dimension: Dimension) -> bool {
    matches!(dimension, Dimension::Rate | Dimension::LineRate)
}

/// Reads an amount in the base unit of its dimension: ps, bit/s, octets, km, or none.
fn read(node: &Node, dimension: Dimension) -> Result<f64, Fault> {
    let fault = |message: String| Fault::new(node.place, message, format!("Write {}", dimension.how()));
    let bare = match &node.value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        Value::Text(_) => None,
        _ => return Err(fault(format!("{} is due here, not {}", dimension.noun(), node.kind()))),
    };
    if let Some(number) = bare {
        if dimension != Dimension::Ratio {
            let message = format!("{number} has no unit; {} is due here", dimension.noun());
            let remedy = format!("Write \"{number} {}\", or {}", dimension.likely_unit(), dimension.how());
            return Err(Fault::new(node.place, message, remedy));
        }
        return not_negative(node, number, dimension);
    }
    let text = node.text().unwrap_or_default();
    let quoted = || shortened(text);
    let Some((number, rest)) = split_number(text.trim()) else {
        if is_rate(dimension) {
            if let Some(bits) = lines::rate(text.trim()) {
                return Ok(bits);
            }
            if let Some(name) = lines::name_like(text) {
                let message = format!("\"{}\" is not {}", quoted(), dimension.noun());
                return Err(Fault::new(node.place, message, format!("Did you mean the line \"{name}\"?")));
            }
        }
        return Err(fault(format!("\"{}\" is not {}", quoted(), dimension.noun())));
    };
    if dimension == Dimension::Ratio {
        let value = match rest.strip_prefix('/') {
            Some(divisor) => match split_number(divisor.trim()) {
                Some((divisor, "")) if number.value(0) >= 0.0 && divisor.value(0) > 0.0 => {
                    number.value(0) / divisor.value(0)
                }
                _ => return Err(fault(format!("\"{}\" is not a ratio", quoted()))),
            },
            None if rest.is_empty() => number.value(0),
            None if rest == "%" => number.value(-2),
            None => return Err(fault(format!("\"{rest}\" is not a unit of a ratio"))),
        };
        return not_negative(node, value, dimension);
    }
    if rest.is_empty() {
        let message = format!("\"{}\" has no unit; {} is due here", quoted(), dimension.noun());
        let remedy = format!("Write \"{} {}\", or {}", text.trim(), dimension.likely_unit(), dimension.how());
        return Err(Fault::new(node.place, message, remedy));
    }
    let units = dimension.units();
    let Some(unit) = units.iter().find(|unit| unit.0 == rest) else {
        let message = format!("\"{}\" is not a unit of {}", shortened(rest), dimension.noun());
        let other_case = units.iter().find(|unit| unit.0.eq_ignore_ascii_case(rest));
        let hint = match octet_rate(rest).filter(|_| is_rate(dimension)) {
            Some(unit) => {
                let bits = 8.0 * number.value(0);
                format!("Rates are in bits: {rest} of octets are \"{bits} {unit}\". ")
            }
            None => other_case.map_or(String::new(), |unit| format!("\"{}\"? ", unit.0)),
        };
        return Err(Fault::new(node.place, message, format!("{hint}Write {}", dimension.how())));
    };
    not_negative(node, number.value(unit.2) * unit.1, dimension)
}

fn not_negative(node: &Node, value: f64, dimension: Dimension) -> Result<f64, Fault> {
    if value.is_finite() && dimension == Dimension::Offset {
        return Ok(value);
    }
    if value.is_finite() && value >= 0.0 {
        return Ok(value.abs());
    }
    let what = if value < 0.0 { "is negative" } else { "is out of all range" };
    let message = format!("{} {what}; {} is due here", shortened(&node.plain()), dimension.noun());
    Err(Fault::new(node.place, message, "Write one that is zero or more"))
}

/// Reads a number with its unit from a text that stands by itself, such as an option, in the unit that people have in
/// mind: s, bit/s, cells, octets, km, degrees, parts per billion; a ratio, which may be negative, as it is.
///
/// # Errors
/// A sentence that says how one is written.
///
/// # Examples
/// ```
/// use cellrate_proto::declaration::Dimension;
///
/// assert_eq!(cellrate_scenario::quantity("0.3 ms", Dimension::Time), Ok(0.0003));
/// assert_eq!(cellrate_scenario::quantity("1 MB", Dimension::Cells), Ok(1e6 / 53.0));
/// assert_eq!(cellrate_scenario::quantity("1/16", Dimension::Ratio), Ok(0.0625));
/// assert_eq!(cellrate_scenario::quantity("oc3", Dimension::Rate), Ok(149.76e6));
/// assert!(cellrate_scenario::quantity("9 Mbps", Dimension::Cells).is_err());
/// ```
pub fn quantity(text: &str, dimension: Dimension) -> Result<f64, String> {
    let quoted = format!("'{}'", shortened(text));
    let how = || how_alone(dimension);
    let noun = dimension.noun();
    if let Some(bits) = lines::name_like(text).filter(|_| is_rate(dimension)).and_then(lines::rate) {
        return Ok(bits);
    }
    let split = split_number(text.trim());
    if dimension == Dimension::Ratio {
        let value = split.and_then(|(number, rest)| match rest.strip_prefix('/') {
            Some(divisor) => match split_number(divisor.trim()) {
                Some((divisor, "")) => Some(number.value(0) / divisor.value(0)),
                _ => None,
            },
            None if rest.is_empty() => Some(number.value(0)),
            None if rest == "%" => Some(number.value(-2)),
            None => None,
        });
        return value
            .filter(|value| value.is_finite())
            .ok_or_else(|| format!("{quoted} is not {noun}; {}", how()));
    }
    let Some((number, unit)) = split.filter(|_| !text.trim().starts_with('-')) else {
        return Err(format!("{quoted} is not {noun}; {}", how()));
    };
    if unit.is_empty() {
        return Err(format!("{quoted} has no unit; {}", how()));
    }
    let units = dimension.units();
    let Some(Unit(_, factor, shift)) = units.iter().find(|known| known.0 == unit) else {
        let near = units.iter().find(|known| known.0.eq_ignore_ascii_case(unit));
        let near = near.map_or(String::new(), |known| format!("; \"{}\"?", known.0));
        let unit = shortened(unit);
        return Err(format!("{quoted} is not {noun}: \"{unit}\" is not a unit of one{near}; {}", how()));
    };
    // The decimal point is moved before the number is rounded: "0.3 ms" is the double 0.0003.
    let value = match dimension {
        Dimension::Time => number.value(shift - 12) * factor,
        Dimension::Cells => number.value(*shift) * factor / OCTETS_PER_CELL,
        _ => number.value(*shift) * factor,
    };
    if value.is_finite() { Ok(value) } else { Err(format!("{quoted} is out of all range")) }
}

/// The names of the units of a dimension, in their order.
pub fn units(dimension: Dimension) -> Vec<&'static str> {
    dimension.units().iter().map(|unit| unit.0).collect()
}

/// How a quantity that stands by itself is written: its units, each under its first name, and an example.
fn how_alone(dimension: Dimension) -> String {
    let example = match dimension {
        Dimension::Time => "30 ms",
        Dimension::Rate | Dimension::LineRate => "155.52 Mbps",
        Dimension::Cells => "2000 cells",
        Dimension::Octets => "1 GB",
        Dimension::Length => "1000 km",
        Dimension::Offset => "20 ppm",
        Dimension::Angle => "25 deg",
        Dimension::Ratio => return "write one such as 90 %, 0.9 or 1/16".to_string(),
    };
    let mut first: Vec<&Unit> = Vec::new();
    for unit in dimension.units() {
        if !first.iter().any(|known| (known.1, known.2) == (unit.1, unit.2)) {
            first.push(unit);
        }
    }
    let names: Vec<&str> = first.iter().map(|unit| unit.0).collect();
    format!("write a number and its unit ({}), such as {example}", names.join(", "))
}

/// A span or an instant.
pub(crate) fn time(node: &Node) -> Result<Duration, Fault> {
    let ps = read(node, Dimension::Time)?;
    if ps > LONGEST {
        return Err(Fault::new(
            node.place,
            format!("{} is too long", node.plain()),
            "Write at most 100 days",
        ));
    }
    // Nearest picosecond; the value is a whole number of them for all that is written with at most that many decimals.
    Ok(Duration::from_ps(ps.round() as u64))
}

/// A span above zero.
pub(crate) fn span(node: &Node) -> Result<Duration, Fault> {
    above_zero(node, time(node)?, "no time at all")
}

/// This `value`, which is not to be its zero, `no_such` thing.
fn above_zero<T: Default + PartialEq>(node: &Node, value: T, no_such: &str) -> Result<T, Fault> {
    if value == T::default() {
        return Err(Fault::new(node.place, format!("{} is {no_such}", node.plain()), "Write more than 0"));
    }
    Ok(value)
}

/// A rate of cells; bit rates count 53 octets per cell.
pub(crate) fn cell_rate(node: &Node) -> Result<CellRate, Fault> {
    let bits = read(node, Dimension::Rate)?;
    within_fastest(node, bits)?;
    Ok(CellRate::new(bits / BITS_PER_CELL as f64))
}

/// A rate of cells above zero.
pub(crate) fn positive_cell_rate(node: &Node) -> Result<CellRate, Fault> {
    above_zero(node, cell_rate(node)?, "no rate to send at")
}

/// The rate of a line, to the nearest bit per second; zero where it takes nothing.
pub(crate) fn line_rate_or_none(node: &Node) -> Result<BitRate, Fault> {
    let bits = read(node, Dimension::LineRate)?;
    within_fastest(node, bits)?;
    Ok(BitRate::from_bps(bits.round() as u64))
}

/// The rate of a line, to the nearest bit per second.
pub(crate) fn line_rate(node: &Node) -> Result<BitRate, Fault> {
    let rate = line_rate_or_none(node)?;
    if rate == BitRate::default() {
        return Err(Fault::new(
            node.place,
            format!("a line of {} carries nothing", node.plain()),
            "Write at least 1 bps",
        ));
    }
    Ok(rate)
}

fn within_fastest(node: &Node, bits: f64) -> Result<(), Fault> {
    if bits <= FASTEST {
        return Ok(());
    }
    Err(Fault::new(
        node.place,
        format!("{} is beyond the fastest line", node.plain()),
        "Write at most 10 Tbps",
    ))
}

/// By how much a clock is fast \[ppb\], to the nearest.
pub(crate) fn clock_offset(node: &Node) -> Result<ClockOffset, Fault> {
    let ppb = read(node, Dimension::Offset)?.round();
    if ppb.abs() <= ClockOffset::MOST.as_ppb() as f64 {
        return Ok(ClockOffset::from_ppb(ppb as i64));
    }
    let message = format!("{} is more than a clock may be off", node.plain());
    Err(Fault::new(node.place, message, format!("Write at most {} either way", ClockOffset::MOST)))
}

/// Room in cells; `None` without limit.
pub(crate) fn room(node: &Node) -> Result<Option<Cells>, Fault> {
    if node.text() == Some("infinite") { Ok(None) } else { cells(node).map(Some) }
}

/// An amount of cells; octets are divided by 53 and rounded down.
pub(crate) fn cells(node: &Node) -> Result<Cells, Fault> {
    let octets = read(node, Dimension::Cells)?;
    let cells = octets / OCTETS_PER_CELL;
    let counted_in_cells = node.text().is_some_and(|text| text.contains("cell"));
    if counted_in_cells && cells.fract() != 0.0 {
        return Err(Fault::new(
            node.place,
            format!("{} is not whole", node.plain()),
            "Write a whole number of cells",
        ));
    }
    if cells > 1e15 {
        return Err(Fault::new(
            node.place,
            format!("{} is too much", node.plain()),
            "Write at most 1e15 cells",
        ));
    }
    Ok(Cells(cells as u64))
}

/// An amount of data.
pub(crate) fn octets(node: &Node) -> Result<Octets, Fault> {
    let octets = read(node, Dimension::Octets)?;
    if octets.fract() != 0.0 || octets > 1e15 {
        let what = if octets > 1e15 { "is too much" } else { "is not whole" };
        let message = format!("{} {what}", node.plain());
        return Err(Fault::new(node.place, message, "Write a whole number of octets, at most 1e15"));
    }
    Ok(Octets(octets as u64))
}

/// The delay of a length of line: 5 us per km.
pub(crate) fn length_delay(node: &Node) -> Result<Duration, Fault> {
    const PS_PER_KM: f64 = 5e6;
    let ps = read(node, Dimension::Length)? * PS_PER_KM;
    if ps > LONGEST {
        return Err(Fault::new(node.place, format!("{} is too long", node.plain()), "Write at most 1e9 km"));
    }
    Ok(Duration::from_ps(ps.round() as u64))
}

/// A length \[km\].
pub(crate) fn kilometres(node: &Node) -> Result<f64, Fault> {
    length_delay(node)?;
    read(node, Dimension::Length)
}

/// An elevation above the horizon, from 0 to 90 degrees, in radians.
pub(crate) fn elevation(node: &Node) -> Result<f64, Fault> {
    let degrees = read(node, Dimension::Angle)?;
    if degrees > 90.0 {
        let message = format!("{} is beyond the zenith", node.plain());
        return Err(Fault::new(node.place, message, "Write at most 90 deg"));
    }
    Ok(degrees.to_radians())
}

/// A part or a factor, zero or more.
pub(crate) fn ratio(node: &Node) -> Result<f64, Fault> {
    read(node, Dimension::Ratio)
}

/// The unit of bits per second for one of octets per second, such as "Mbps" for "MBps" and "MB/s".
fn octet_rate(unit: &str) -> Option<&'static str> {
    Some(match unit {
        "Bps" | "B/s" | "octets/s" | "bytes/s" => "bps",
        "kBps" | "kB/s" | "KB/s" | "KBps" => "kbps",
        "MBps" | "MB/s" => "Mbps",
        "GBps" | "GB/s" => "Gbps",
        _ => return None,
    })
}

/// The digits of a number, kept as text so that the decimal point moves exactly.
struct Number<'t> {
    mantissa: Cow<'t, str>,
    exponent: i32,
}

/// Powers of ten that are doubles themselves.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22,
];

impl Number<'_> {
    /// The number times 10^`shift`, rounded once, to the nearest double.
    fn value(&self, shift: i32) -> f64 {
        let exponent = self.exponent.saturating_add(shift);
        self.in_one_step(exponent)
            .unwrap_or_else(|| format!("{}e{exponent}", self.mantissa).parse().unwrap_or(f64::INFINITY))
    }

    /// The mantissa times 10^`exponent`, where its digits and the power are doubles: their product or quotient is
    /// rounded once, and that takes no text.
    fn in_one_step(&self, exponent: i32) -> Option<f64> {
        let (whole, decimals) = self.mantissa.split_once('.').unwrap_or((&self.mantissa, ""));
        let mut digits = 0_u64;
        for digit in whole.bytes().chain(decimals.bytes()) {
            digits = digits.checked_mul(10)?.checked_add(char::from(digit).to_digit(10)?.into())?;
        }
        let number = (digits < 1 << f64::MANTISSA_DIGITS).then_some(digits as f64)?;
        let exponent = exponent.saturating_sub_unsigned(decimals.len() as u32);
        let power = *POWERS.get(exponent.unsigned_abs() as usize)?;
        Some(if exponent < 0 { number / power } else { number * power })
    }
}

/// The number at the start of `text` and what follows it, without the space between.
fn split_number(text: &str) -> Option<(Number<'_>, &str)> {
    let bytes = text.as_bytes();
    let mut at = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let digits = |at: &mut usize| {
        let start = *at;
        while matches!(bytes.get(*at), Some(b'0'..=b'9')) || (*at > start && bytes.get(*at) == Some(&b'_')) {
            *at += 1;
        }
        *at > start
    };
    if !digits(&mut at) {
        return None;
    }
    if bytes.get(at) == Some(&b'.') {
        at += 1;
        if !digits(&mut at) {
            return None;
        }
    }
    let mantissa = match &text[..at] {
        plain if !plain.contains('_') => Cow::Borrowed(plain),
        parted => Cow::Owned(parted.replace('_', "")),
    };
    let mut exponent = 0;
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let mut after = at + 1 + usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let start = at + 1;
        if digits(&mut after) {
            exponent = text[start..after].replace('_', "").parse().ok()?;
            at = after;
        }
    }
    Some((Number { mantissa, exponent }, text[at..].trim_start()))
}

/// A given text, cut where it would fill the message.
pub(crate) fn shortened(text: &str) -> String {
    const SHOWN: usize = 60;
    if text.chars().count() <= SHOWN {
        text.to_string()
    } else {
        text.chars().take(SHOWN).chain(['\u{2026}']).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tree::parse_value;

    fn node(toml: &str) -> Node {
        parse_value(toml, 0, 0).unwrap()
    }

    fn text(text: &str) -> Node {
        node(&format!("{text:?}"))
    }

    #[test]
    fn times_are_exact_to_the_picosecond() {
        for (written, ps) in [
            ("5 ms", 5_000_000_000),
            ("2.831197 us", 2_831_197),
            ("1.5 s", 1_500_000_000_000),
            ("2 min", 120_000_000_000_000),
            ("0.3 ns", 300),
            ("20us", 20_000_000),
            ("1e-3 s", 1_000_000_000),
            ("1_000 \u{b5}s", 1_000_000_000),
        ] {
            assert_eq!(time(&text(written)).unwrap(), Duration::from_ps(ps), "{written}");
        }
    }

    /// Every unit of every dimension with the value of one of it in the base unit, written by hand: ps, bit/s, octets,
    /// km, ppb, degrees, and a part of one. Cells are counted from 53 octets each.
    const EVERY_UNIT: &[(Dimension, &[(&str, f64)])] = &[
        (
            Dimension::Time,
            &[
                ("ps", 1.0),
                ("ns", 1_000.0),
                ("us", 1_000_000.0),
                ("\u{b5}s", 1_000_000.0),
                ("\u{3bc}s", 1_000_000.0),
                ("ms", 1_000_000_000.0),
                ("s", 1_000_000_000_000.0),
                ("min", 60_000_000_000_000.0),
            ],
        ),
        (Dimension::Rate, RATES),
        (Dimension::LineRate, RATES),
        (
            Dimension::Octets,
            &[
                ("octets", 1.0),
                ("octet", 1.0),
                ("B", 1.0),
                ("kB", 1_000.0),
                ("MB", 1_000_000.0),
                ("GB", 1_000_000_000.0),
                ("KiB", 1_024.0),
                ("MiB", 1_048_576.0),
                ("GiB", 1_073_741_824.0),
            ],
        ),
        (
            Dimension::Cells,
            &[
                ("cells", 53.0),
                ("cell", 53.0),
                ("octets", 1.0),
                ("B", 1.0),
                ("kB", 1_000.0),
                ("MB", 1_000_000.0),
                ("GB", 1_000_000_000.0),
                ("KiB", 1_024.0),
                ("MiB", 1_048_576.0),
            ],
        ),
        (Dimension::Length, &[("km", 1.0), ("m", 0.001)]),
        (Dimension::Offset, &[("ppb", 1.0), ("ppm", 1_000.0), ("%", 10_000_000.0)]),
        (Dimension::Angle, &[("deg", 1.0)]),
        (Dimension::Ratio, &[("%", 0.01)]),
    ];

    const RATES: &[(&str, f64)] = &[
        ("bps", 1.0),
        ("kbps", 1_000.0),
        ("Mbps", 1_000_000.0),
        ("Gbps", 1_000_000_000.0),
        ("Tbps", 1_000_000_000_000.0),
        ("bit/s", 1.0),
        ("kbit/s", 1_000.0),
        ("Mbit/s", 1_000_000.0),
        ("Gbit/s", 1_000_000_000.0),
        ("b/s", 1.0),
        ("kb/s", 1_000.0),
        ("Mb/s", 1_000_000.0),
        ("Gb/s", 1_000_000_000.0),
        ("cells/s", 424.0),
    ];

    #[test]
    fn every_unit_has_the_value_that_it_has_in_the_world() {
        for &(dimension, units) in EVERY_UNIT {
            let known: Vec<&str> = dimension.units().iter().map(|unit| unit.0).collect();
            let held: Vec<&str> = units.iter().map(|unit| unit.0).collect();
            assert_eq!(known, held, "{dimension:?}: a unit without a value here, or the other way round");
            for &(unit, value) in units {
                assert_eq!(
                    read(&text(&format!("1 {unit}")), dimension).unwrap(),
                    value,
                    "{dimension:?}: {unit}"
                );
            }
        }
        // As buffers, windows and lines have them in the end.
        let room = |written: &str| cells(&text(written)).unwrap();
        assert_eq!(
            [room("53 KiB"), room("53 kB"), room("53 MiB")],
            [Cells(1024), Cells(1000), Cells(1_048_576)]
        );
        assert_eq!(octets(&text("64 KiB")).unwrap(), Octets(65_536));
        assert_eq!(line_rate(&text("1 Gb/s")).unwrap(), BitRate::from_bps(1_000_000_000));
    }

    #[test]
    fn numbers_are_rounded_once_whatever_way_they_are_read() {
        let mut state = 1_u64;
        let mut any = |below: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) % below
        };
        for _ in 0..20_000 {
            let bits = any(24);
            let factor = 1 + any(1 << bits);
            let mut written = (any(1 << 31) * factor).to_string();
            if any(2) == 0 {
                written = format!("{written}.{:0width$}", any(1000), width = 3 + any(6) as usize);
            }
            let shift = any(30) as i32 - 12;
            let (number, _) = split_number(&written).unwrap();
            let expected: f64 = format!("{written}e{shift}").parse().unwrap();
            assert_eq!(number.value(shift).to_bits(), expected.to_bits(), "{written}e{shift}");
        }
    }

    #[test]
    fn a_rate_of_bits_counts_53_octets_per_cell() {
        // 155.52 Mb/s / 424 bit = 366792.45283... cells/s, the rate of the line itself to the last bit of the double.
        let oc3 = BitRate::from_bps(155_520_000);
        assert_eq!(line_rate(&text("155.52 Mbps")).unwrap(), oc3);
        assert_eq!(cell_rate(&text("155.52 Mbps")).unwrap(), oc3.to_cell_rate());
        assert_eq!(cell_rate(&text("10 cells/s")).unwrap(), CellRate::new(10.0));
        assert_eq!(line_rate(&text("1000 cells/s")).unwrap(), BitRate::from_bps(424_000));
    }

    #[test]
    fn a_line_by_its_name_has_the_rate_that_cells_can_have() {
        assert_eq!(line_rate(&text("OC-3")).unwrap(), BitRate::from_bps(149_760_000));
        assert_eq!(cell_rate(&text(" T1 ")).unwrap(), CellRate::new(1.536e6 / 424.0));
        let fault = line_rate(&text("oc3")).unwrap_err();
        assert_eq!(fault.remedy, "Did you mean the line \"OC-3\"?");
        assert!(time(&text("OC-3")).is_err() && cells(&text("E1")).is_err());
        assert!(Dimension::LineRate.pattern().contains("|OC-3|"));
        for name in lines::names() {
            assert_eq!(quantity(&name.to_lowercase(), Dimension::Rate), Ok(lines::rate(name).unwrap()));
        }
    }

    #[test]
    fn octets_become_whole_cells_rounded_down() {
        // 1024 kB = 1,024,000 octets; / 53 = 19320.75.
        assert_eq!(cells(&text("1024 kB")).unwrap(), Cells(19_320));
        assert_eq!(cells(&text("53 octets")).unwrap(), Cells(1));
        assert_eq!(cells(&text("52 octets")).unwrap(), Cells(0));
        assert_eq!(cells(&text("4096 cells")).unwrap(), Cells(4096));
        assert!(cells(&text("1.5 cells")).is_err());
    }

    #[test]
    fn a_kilometre_takes_five_microseconds() {
        assert_eq!(length_delay(&text("1000 km")).unwrap(), Duration::from_ms(5));
        assert_eq!(length_delay(&text("200 m")).unwrap(), Duration::from_us(1));
    }

    #[test]
    fn ratios_are_percentages_fractions_and_plain_numbers() {
        assert_eq!(ratio(&text("90 %")).unwrap(), 0.9);
        assert_eq!(ratio(&text("1/16")).unwrap(), 0.0625);
        assert_eq!(ratio(&node("0.25")).unwrap(), 0.25);
        assert_eq!(ratio(&node("0")).unwrap(), 0.0);
        assert!(ratio(&text("1/0")).is_err());
        assert!(ratio(&text("10 ms")).is_err());
    }

    #[test]
    fn a_bare_number_is_told_what_to_write() {
        let fault = time(&node("400")).unwrap_err();
        assert_eq!(fault.message, "400 has no unit; a time is due here");
        assert!(fault.remedy.starts_with("Write \"400 ms\""), "{}", fault.remedy);
        assert!(time(&text("400")).unwrap_err().remedy.starts_with("Write \"400 ms\""));
        assert!(cells(&node("10")).unwrap_err().remedy.starts_with("Write \"10 cells\""));
    }

    #[test]
    fn what_is_out_of_range_is_refused_on_its_own_side_of_the_bound() {
        assert!(time(&text("100e0 s")).is_ok());
        assert!(time(&text("8640000 s")).is_ok());
        assert!(time(&text("8640001 s")).is_err());
        assert!(span(&text("1 ps")).is_ok());
        assert!(span(&text("0 ms")).is_err());
        assert!(line_rate(&text("10 Tbps")).is_ok());
        assert!(line_rate(&text("10001 Gbps")).is_err());
        assert!(line_rate(&text("0 Mbps")).is_err());
        assert!(cell_rate(&text("0 Mbps")).is_ok());
        assert!(positive_cell_rate(&text("0 Mbps")).is_err());
        for bad in [
            "-1 ms",
            "1e999 ms",
            "ms",
            "1 parsec",
            ".5 ms",
            "5. ms",
            "1 MS",
            "",
            "\u{2212}1 ms",
            "1e99999999999 s",
        ] {
            assert!(time(&text(bad)).is_err(), "{bad}");
        }
    }
}
