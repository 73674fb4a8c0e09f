//! Fair buffer allocation (FBA; Heinanen, Kilkki, 1995; Goyal and others, ATM Forum 96-1269).

use super::{BuiltIn, FirstCell};
use crate::declaration::{Range, Shape, Table};
use crate::units::Cells;

/// While there are more cells than a threshold, PDUs of connections are refused that have more of them than others,
/// by a limit that falls as the buffer fills.
///
/// 0.8 is, of the values of Z that the reference tries, the one that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Table)]
pub struct Fair {
    /// R: PDUs are refused while there are more cells of the categories in the port; less than their room in
    /// `buffers`.
    pub threshold: Cells,
    /// Z: a connection is refused PDUs if it has more than Z (K - R) / (X - R) times that average, with K cells of
    /// room, the threshold R, and X cells there.
    #[key(default = "0.8", range = Range::POSITIVE)]
    pub scale_factor: f64,
}

impl BuiltIn for Fair {
    const SHAPE: Shape = Shape {
        name: "fair",
        about: "Fair buffer allocation (FBA): as selective, and the part shrinks as the buffer fills. The buffer has to be limited.",
        keys: Fair::KEYS,
    };
    const TITLE: &'static str = "FBA";
    const NEEDS_LIMIT: bool = true;

    fn highest(&self) -> Option<(&'static str, Cells)> {
        Some(("threshold", self.threshold))
    }

    fn refuses(&self, first: &FirstCell, _draw: impl FnOnce() -> f64) -> bool {
        let (queue, threshold) = (first.queue, self.threshold.0);
        if queue <= threshold {
            return false;
        }
        let (above, spare) = (queue - threshold, first.room - threshold);
        first.weighed() * above as f64 > self.scale_factor * queue as f64 * spare as f64
    }
}
