//! Keys of a link that no other table decides.

use cellrate_proto::Time;
use cellrate_proto::declaration::{Dimension, Kind, Range, Table};

use crate::text::check;
use crate::text::error::Fault;
use crate::text::reading::instant;
use crate::text::tree::Node;
use crate::text::written::{from_node, setting};

/// Keys of a link that nothing else of a scenario decides, at the beginning of the run.
#[derive(Clone, Debug, PartialEq, Table)]
#[table(written)]
pub struct LineKeys {
    /// Probability that a cell is lost on the line, either way.
    #[key(default = "0", range = Range::FRACTION)]
    pub loss: f64,
    /// Losses in bursts, in each direction independently; `loss` is the probability between bursts.
    #[key(default = "none")]
    pub loss_bursts: Option<LossBursts>,
    /// Spans [start, end] in which the line is down, either way; in order, apart.
    ///
    /// A cell whose transmission ends within one is lost.
    #[key(default = "[]", as = Outages)]
    pub outages: Vec<Span>,
}

/// A line of two states, good and bad, which may change with each cell (Gilbert and Elliott); it begins good. The share
/// of all cells that find it bad is begin / (begin + end).
#[derive(Clone, Copy, Debug, PartialEq, Table)]
#[table(name = "loss_bursts", written)]
pub struct LossBursts {
    /// Probability that a cell finds the line bad if the cell before it found it good.
    #[key(range = Range::SHARE, missing = "a probability, such as 0.01")]
    pub begin: f64,
    /// Probability that a cell finds the line good if the cell before it found it bad: a burst has 1/end cells on
    /// average.
    #[key(range = Range::SHARE, missing = "a probability, such as 0.01")]
    pub end: f64,
    /// Probability that a cell that finds the line bad is lost.
    #[key(default = "1", range = Range::FRACTION)]
    pub loss: f64,
}

/// From `start` (included) to `end` (not included).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First instant inside.
    pub start: Time,
    /// First instant after.
    pub end: Time,
}

/// Spans in which a line is down.
struct Outages;

setting!(
    Outages => Vec<Span>,
    Kind::List(&Kind::Pair(&Kind::Quantity(Dimension::Time), &Kind::Quantity(Dimension::Time)), 0),
    false
);

from_node! {
    Outages: outages;
}

fn outages(node: &Node) -> Result<Vec<Span>, Fault> {
    let mut spans = Vec::new();
    let mut last_end = Time::ZERO;
    for node in check::list(node)? {
        let [start, end] = check::pair(node)?;
        let span = Span { start: instant(start)?, end: instant(end)? };
        if span.end <= span.start {
            let message = format!("the outage from {} to {} ends before it has begun", span.start, span.end);
            return Err(Fault::new(node.place, message, "Write [start, end], the end after the start"));
        }
        if !spans.is_empty() && span.start <= last_end {
            let message =
                format!("the outage begins at {}, and the one before it ends at {last_end}", span.start);
            return Err(Fault::new(node.place, message, "Write outages in order and apart"));
        }
        last_end = span.end;
        spans.push(span);
    }
    Ok(spans)
}
