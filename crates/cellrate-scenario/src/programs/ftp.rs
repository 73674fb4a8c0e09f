//! Bulk data.

use cellrate_proto::Octets;
use cellrate_proto::declaration::{Kind, Shape, key};

use super::Program;
use crate::keys::OCTETS;
use crate::text::error::{Fault, Place};
use crate::text::reading::{optional, some_octets};
use crate::text::tree::{Node, Table};

/// A file from vsftpd, fetched with curl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ftp {
    /// Its length; `None` is more than can be sent.
    pub size: Option<Octets>,
}

impl Program for Ftp {
    const SHAPE: Shape = Shape {
        name: "ftp",
        about: "Bulk data over TCP: a file from vsftpd, fetched with curl.",
        keys: &[key(
            "size",
            Kind::Or(&[OCTETS, Kind::Choice(&["infinite"])]),
            "\"infinite\"",
            "Length of the file; \"infinite\" is more than can be sent until the end.",
        )],
    };

    fn read(table: &Table, _place: Place) -> Result<Ftp, Fault> {
        Ok(Ftp { size: optional(table, "size", size)?.flatten() })
    }
}

fn size(node: &Node) -> Result<Option<Octets>, Fault> {
    if node.text() == Some("infinite") { Ok(None) } else { some_octets(node).map(Some) }
}
