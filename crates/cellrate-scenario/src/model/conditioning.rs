//! Conditioning of what a sender without feedback sends: a shaper that holds cells to a contract, and a marker that
//! sets CLP.

use cellrate_proto::declaration::{Dimension, Kind, Range, Table, words};
use cellrate_proto::policing::contract::{Contract, Coupling, Definition};
use cellrate_proto::{CellRate, Duration};

/// A leaky bucket at the source: each cell leaves at the earliest instant at which the peak and the sustainable rate
/// find it conforming, with no delay variation tolerance (TM 4.0, 5.5; docs/algorithms/policing.md).
#[derive(Clone, Copy, Debug, PartialEq, Table)]
#[table(name = "shaping", written)]
pub struct Shaping {
    /// Sustainable cell rate, at most PCR of the sender.
    #[key(kind = Kind::Positive(Dimension::Rate), missing = "the sustainable cell rate, such as \"10 Mbps\"")]
    pub scr: CellRate,
    /// Maximum burst size in cells: so many may leave at PCR.
    #[key(missing = "the maximum burst size in cells")]
    pub mbs: u32,
}

impl Shaping {
    /// The contract that it keeps, of a sender with this peak rate.
    pub fn contract(&self, pcr: CellRate) -> Contract {
        let (definition, coupling) = (Definition::Vbr1, Coupling::Coupled);
        Contract { definition, pcr, cdvt: Duration::ZERO, scr: self.scr, mbs: self.mbs.into(), coupling }
    }
}

/// Data cells that the source itself sends with CLP = 1: a share of them, every n-th, or those that a leaky bucket of
/// the host refuses (docs/algorithms/policing.md).
#[derive(Clone, Copy, Debug, PartialEq, Table)]
#[table(name = "tagging", written)]
pub struct Tagging {
    /// Probability that a cell, or a frame, has CLP = 1, each independently of the others.
    #[key(default = "required: this, every or scr", range = Range::SHARE)]
    pub share: Option<f64>,
    /// Every so many cells, or frames, one has CLP = 1: the last of them.
    #[key(default = "required: this, share or scr")]
    pub every: Option<u32>,
    /// Sustainable cell rate of the bucket, at most PCR of the sender: cells with CLP = 0 conform to it.
    #[key(default = "required: this, share or every", kind = Kind::Positive(Dimension::Rate))]
    pub scr: Option<CellRate>,
    /// Maximum burst size of the bucket in cells.
    #[key(default = "required with scr")]
    pub mbs: Option<u32>,
    /// Unit that is tagged: single cells, or whole AAL5 frames, by their first cell. With `scr` frames conform by the
    /// F-GCRA of GFR.
    #[key(default = "\"frames\" for gfr, else \"cells\"")]
    pub of: Option<TaggedUnit>,
}

words! {
    /// The unit that a source tags.
    pub enum TaggedUnit {
        /// Single cells.
        Cells = "cells",
        /// All cells of an AAL5 frame alike.
        Frames = "frames",
    }
}

/// Shaper and marker of a sender without feedback, beyond its peak rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Conditioning {
    /// The shaper, if there is one.
    pub shaping: Option<Shaping>,
    /// The marker, if there is one.
    pub marking: Option<Marking>,
}

/// A marker as a run needs it: which cells have CLP = 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marking {
    /// The rule.
    pub rule: MarkingRule,
    /// Whether all cells of a frame are alike.
    pub whole_frames: bool,
}

/// The rule by which cells or frames have CLP = 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MarkingRule {
    /// Each with this probability.
    Share(f64),
    /// The last of every so many.
    Every(u32),
    /// Cells or frames that do not conform to a bucket of this rate and burst.
    Bucket(Shaping),
}

impl Conditioning {
    /// The leaky buckets of shaper and marker, to change them.
    pub fn buckets_mut(&mut self) -> impl Iterator<Item = &mut Shaping> {
        let of_marker = match &mut self.marking {
            Some(Marking { rule: MarkingRule::Bucket(bucket), .. }) => Some(bucket),
            _ => None,
        };
        self.shaping.iter_mut().chain(of_marker)
    }
}
