//! Over which time figures count.

use cellrate_proto::{Duration, Time};

use crate::model::{Measuring, Span, Window};
use crate::text::check;
use crate::text::error::Fault;
use crate::text::quantity;
use crate::text::reading::{instant, optional};
use crate::text::tree::{Node, Table};

/// Most windows of a scenario: what has been counted by either end of each is kept.
const MOST_WINDOWS: usize = 64;

pub(super) fn read(root: &Table, duration: Duration) -> Result<Measuring, Fault> {
    let end = Time::ZERO + duration;
    let warm_up = optional(root, "warm_up", quantity::time)?.unwrap_or(Duration::ZERO);
    if let Some(node) = root.node("warm_up").filter(|_| warm_up >= duration) {
        let message = format!("the warm-up, {warm_up}, leaves nothing of the run, which takes {duration}");
        return Err(Fault::new(node.place, message, "Write a shorter warm-up, or a longer duration"));
    }
    let mut measuring = Measuring { warm_up, windows: Vec::new() };
    for (node, table) in root.tables("window") {
        if measuring.windows.len() == MOST_WINDOWS {
            let message = format!("there are more than {MOST_WINDOWS} windows");
            return Err(Fault::new(
                node.place,
                message,
                "Record a series where more instants are of interest",
            ));
        }
        let Some(name) = table.node("name") else { return Err(check::missing(node.place, "name", "")) };
        let window = Window { name: check::text(name)?.to_string(), span: span(node, table, warm_up, end)? };
        if measuring.windows.iter().any(|other| other.name == window.name) {
            let message = format!("there is another window \"{}\"", window.name);
            return Err(Fault::new(name.place, message, "Give each a name of its own"));
        }
        measuring.windows.push(window);
    }
    Ok(measuring)
}

/// A live run measures all of its time. No warm-up is one of 0 s, which takes back that of a file; no window is an
/// empty list.
pub(super) fn refuse(root: &Table) -> Result<(), Fault> {
    let warm_up = match root.node("warm_up") {
        Some(node) if quantity::time(node)? > Duration::ZERO => Some(node.place),
        _ => None,
    };
    let window = root.tables("window").next().map(|(window, _)| window.place);
    let Some(place) = warm_up.or(window) else { return Ok(()) };
    Err(Fault::new(
        place,
        "warm_up and window need a simulation: a live run measures all of its time",
        "Leave them out (--set warm_up=\"0 s\" --set window=[] take back those of a file), or record a series and cut it",
    ))
}

fn span(entry: &Node, table: &Table, warm_up: Duration, end: Time) -> Result<Span, Fault> {
    let start = optional(table, "from", instant)?.unwrap_or(Time::ZERO + warm_up);
    let until = optional(table, "until", instant)?.unwrap_or(end);
    let place = |key| table.node(key).map_or(entry.place, |node| node.place);
    if until > end {
        let message = format!("it ends at {until}, after the run, which ends at {end}");
        return Err(Fault::new(place("until"), message, "Write an earlier end, or a longer duration"));
    }
    if until <= start {
        let key = if table.node("until").is_some() { "until" } else { "from" };
        let message = format!("its end, {until}, is not after its beginning, {start}");
        return Err(Fault::new(place(key), message, "Write a later `until`, or an earlier `from`"));
    }
    Ok(Span { start, end: until })
}
