//! Any program.

use cellrate_proto::Duration;
use cellrate_proto::declaration::{Kind, Shape, key, required};

use super::Program;
use crate::keys::SPAN;
use crate::text::error::{Fault, Place};
use crate::text::reading::{optional, or_default};
use crate::text::tree::{Node, Table};
use crate::text::{check, quantity};

/// Any program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Started before the network's time begins, and stopped at the end.
    pub background: bool,
    /// Sign that it is ready.
    pub ready: Option<Ready>,
    /// How long that may take.
    pub ready_within: Duration,
}

/// When a program is ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ready {
    /// Ready when it listens at this TCP port.
    Port(u16),
    /// A line of its output has this in it.
    Pattern(String),
    /// Ready when this file exists.
    File(String),
}

const READY: Shape = Shape {
    name: "ready",
    about: "When a program is ready.",
    keys: &[
        key("port", Kind::Integer(1, 65_535), "none", "Ready when it listens at this TCP port."),
        key("pattern", Kind::Text, "none", "Ready when a line of its output contains this text."),
        key("file", Kind::Text, "none", "Ready when this file exists."),
    ],
};

impl Program for Command {
    const SHAPE: Shape = Shape {
        name: "command",
        about: "Any program, on `host`. In its words {host} and {peer} are addresses, {folder} is where its files are kept, and where it runs. One with a / in its name is looked for from the scenario's folder on.",
        keys: &[
            required("words", Kind::List(&Kind::Text, 1), "The program and its arguments."),
            key(
                "background",
                Kind::Boolean,
                "false",
                "Whether it is started before the network's time begins, awaited until it is ready, and stopped at the end; `start` has no meaning then.",
            ),
            key("ready", Kind::Table(&READY), "at once", "Sign that it is ready; one of the keys."),
            key("ready_within", SPAN, "\"10 s\"", "Time after which a program that is not ready has failed."),
        ],
    };

    fn read(table: &Table, place: Place) -> Result<Command, Fault> {
        let Some(words) = table.node("words") else {
            return Err(check::missing(place, "words", "the program and its arguments"));
        };
        let words: Result<Vec<String>, Fault> =
            check::list(words)?.iter().map(|node| check::text(node).map(str::to_string)).collect();
        Ok(Command {
            words: words?,
            background: or_default(table, &Self::SHAPE, "background", check::boolean)?,
            ready: optional(table, "ready", ready)?,
            ready_within: or_default(table, &Self::SHAPE, "ready_within", quantity::span)?,
        })
    }
}

fn ready(node: &Node) -> Result<Ready, Fault> {
    let empty = Table::default();
    let table = node.table().unwrap_or(&empty);
    let text = |key: &str| optional(table, key, |node| check::text(node).map(str::to_string));
    let port = optional(table, "port", |node| check::integer(node, 1, 65_535))?;
    match (port, text("pattern")?, text("file")?) {
        (Some(port), None, None) => Ok(Ready::Port(port as u16)),
        (None, Some(pattern), None) => Ok(Ready::Pattern(pattern)),
        (None, None, Some(file)) => Ok(Ready::File(file)),
        (port, pattern, file) => {
            let given =
                [port.is_some(), pattern.is_some(), file.is_some()].into_iter().filter(|is| *is).count();
            let message = format!("ready has {given} of the keys port, pattern and file, and takes one");
            Err(Fault::new(node.place, message, "Write one of port, pattern and file"))
        }
    }
}
