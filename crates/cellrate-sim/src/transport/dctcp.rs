//! DCTCP (RFC 8257): the window gives way by as much as there is congestion, not by half.

use cellrate_proto::Octets;

use super::sequence::Sequence;

/// g: the weight of the last window in the estimate (RFC 8257, section 4.2).
const GAIN: f64 = 1.0 / 16.0;

/// The state of DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    /// The estimate of the share of octets that meet congestion [0 to 1].
    alpha: f64,
    /// Octets acknowledged in this window of data.
    acknowledged: u64,
    /// Octets of them acknowledged with ECE.
    marked: u64,
    /// Where this window of data ends.
    window_end: Sequence,
}

impl Default for Dctcp {
    /// Before anything is known a mark halves the window (RFC 8257, section 4.1).
    fn default() -> Dctcp {
        Dctcp { alpha: 1.0, acknowledged: 0, marked: 0, window_end: Sequence::START }
    }
}

impl Dctcp {
    /// An ACK of everything before `next`, `acknowledged` octets more than before, with ECE or not; everything before
    /// `sent` has been sent (RFC 8257, section 3.3, steps 1 to 7).
    pub fn on_acknowledged(&mut self, next: Sequence, acknowledged: Octets, echo: bool, sent: Sequence) {
        self.acknowledged += acknowledged.0;
        self.marked += if echo { acknowledged.0 } else { 0 };
        if next <= self.window_end {
            return;
        }
        if self.acknowledged > 0 {
            let share = self.marked as f64 / self.acknowledged as f64;
            self.alpha = self.alpha * (1.0 - GAIN) + GAIN * share;
        }
        (self.acknowledged, self.marked, self.window_end) = (0, 0, sent);
    }

    /// The share of a window that is left after a mark (RFC 8257, section 3.3, step 9).
    pub fn left(&self) -> f64 {
        1.0 - self.alpha / 2.0
    }

    /// The estimate of the share of octets that meet congestion.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Windows of ten segments of 100 octets, each segment acknowledged by itself, the first `marked` ones with ECE.
    fn window(dctcp: &mut Dctcp, number: u64, marked: u64) {
        for segment in 1..=10 {
            let next = 1000 * number + 100 * segment;
            let sent = Sequence(1000 * (number + 1) + 100 * segment);
            dctcp.on_acknowledged(Sequence(next), Octets(100), segment <= marked, sent);
        }
    }

    #[test]
    fn the_estimate_is_that_of_the_rfc_a_step_per_window() {
        let mut dctcp = Dctcp::default();
        assert_eq!(dctcp.left(), 0.5, "the first mark halves");
        // Its first ACK ends the window of nothing that it begins with, and is all of that.
        dctcp.on_acknowledged(Sequence(100), Octets(100), false, Sequence(1100));
        assert_eq!(dctcp.alpha(), 15.0 / 16.0);
        // Octets 100 to 1100 and the first segment beyond them: 11 segments, of which 4 are marked.
        for segment in 2..=12 {
            let next = Sequence(100 * segment);
            dctcp.on_acknowledged(next, Octets(100), segment % 3 == 0, Sequence(100 * segment + 1000));
            let expected = if segment < 12 { 15.0 / 16.0 } else { 225.0 / 256.0 + 4.0 / 11.0 / 16.0 };
            assert!((dctcp.alpha() - expected).abs() < 1e-12, "{segment}: {}", dctcp.alpha());
        }
    }

    #[test]
    fn the_estimate_goes_to_the_share_that_is_marked() {
        let mut dctcp = Dctcp::default();
        (0..200).for_each(|number| window(&mut dctcp, number, 3));
        assert!((dctcp.alpha() - 0.3).abs() < 0.01, "{}", dctcp.alpha());
        (200..400).for_each(|number| window(&mut dctcp, number, 0));
        assert!(dctcp.alpha() < 1e-3 && dctcp.left() > 0.999);
    }
}
