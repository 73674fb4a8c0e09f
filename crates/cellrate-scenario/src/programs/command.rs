//! Any program.

use cellrate_proto::Duration;
use cellrate_proto::declaration::{Kind, Shape, Table};

use super::Program;
use crate::text::check;
use crate::text::error::{Fault, Place};
use crate::text::tree::{Node, Table};
use crate::text::written::{Written, from_node, setting};

/// Any program, on `host`. In its words {host} and {peer} are addresses, {folder} is where its files are kept, and
/// where it runs. One with a / in its name is looked for from the scenario's folder on.
#[derive(Clone, Debug, PartialEq, Eq, Table)]
#[table(name = "command", written)]
pub struct Command {
    /// The program and its arguments.
    #[key(kind = Kind::List(&Kind::Text, 1))]
    pub words: Vec<String>,
    /// Whether it is started before the network's time begins, awaited until it is ready, and stopped at the end;
    /// `start` has no meaning then.
    #[key(default = "false")]
    pub background: bool,
    /// Sign that it is ready; one of the keys.
    #[key(default = "at once")]
    pub ready: Option<Ready>,
    /// Time after which a program that is not ready has failed.
    #[key(default = "10 s")]
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

/// When a program is ready.
#[derive(Table)]
#[table(name = "ready", written)]
struct ReadyKeys {
    /// Ready when it listens at this TCP port.
    #[key(default = "none", kind = Kind::Integer(1, 65_535))]
    port: Option<u32>,
    /// Ready when a line of its output contains this text.
    #[key(default = "none")]
    pattern: Option<String>,
    /// Ready when this file exists.
    #[key(default = "none")]
    file: Option<String>,
}

setting!(Ready => Ready, Kind::Table(&ReadyKeys::SHAPE), false);

from_node! {
    Ready: ready;
}

impl Program for Command {
    const SHAPE: Shape = Command::SHAPE;

    fn read(table: &Table, place: Place) -> Result<Command, Fault> {
        if table.node("words").is_none() {
            return Err(check::missing(place, "words", "the program and its arguments"));
        }
        Command::read(&Written::new(table, place))
    }
}

fn ready(node: &Node) -> Result<Ready, Fault> {
    let ReadyKeys { port, pattern, file } = ReadyKeys::read(&Written::of(node))?;
    match (port, pattern, file) {
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
