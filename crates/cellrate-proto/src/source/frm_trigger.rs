//! Triggers of in-rate FRMs: a count of cells, or the end of a frame.

/// The event that calls for an in-rate FRM, besides Trm.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FrmTrigger {
    /// After Nrm - 1 other cells.
    AfterCells,
    /// After the last cell of a frame, which has not left.
    AfterFrame,
    /// After the last cell of a frame, which has left.
    FrameEnded,
}
