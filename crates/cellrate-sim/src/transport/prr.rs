//! Proportional rate reduction (RFC 9937, and RFC 6937 before it): how much may leave for each ACK of a recovery.
//!
//! The window goes down to ssthresh over the round trip that a recovery takes, in proportion to what ACKs say has been
//! delivered, and never waits for half of a round trip as RFC 6675 does. Where losses have brought the pipe below
//! ssthresh by themselves, a bound says how fast it may be filled again.

use cellrate_proto::Octets;
use cellrate_scenario::RateReduction;

/// State of a recovery.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prr {
    /// prr_delivered: octets delivered during this recovery.
    delivered: u64,
    /// prr_out: octets sent during it.
    out: u64,
    /// RecoverFS: octets on their way when it began.
    recover_fs: u64,
}

impl Prr {
    /// A recovery begins while so many octets are on their way: all that is outstanding but for what had been reported
    /// before the ACK that tells of the loss (RFC 9937, section 6.2). The worked figures of RFC 6937, section 3.1,
    /// count in this way, too.
    pub fn begin(flight: Octets) -> Prr {
        Prr { delivered: 0, out: 0, recover_fs: flight.0.max(1) }
    }

    /// So much has been sent, for the first time or again.
    pub fn on_sent(&mut self, octets: Octets) {
        self.out += octets.0;
    }

    /// Whether anything has been sent in this recovery.
    pub fn has_sent(&self) -> bool {
        self.out > 0
    }

    /// sndcnt: octets that may leave after an ACK that tells of `delivered` more, with so much in the `pipe`. `safe`:
    /// it acknowledges something new, and tells of no further loss.
    ///
    /// The proportional part is rounded up to whole segments, and of ssthresh only whole ones count: RFC 6937 works its
    /// examples in segments, as Linux counts.
    pub fn on_delivered(
        &mut self,
        bound: RateReduction,
        delivered: Octets,
        [pipe, ssthresh, mss]: [Octets; 3],
        safe: bool,
    ) -> Octets {
        self.delivered += delivered.0;
        let ssthresh = Octets(ssthresh.0 / mss.0 * mss.0);
        let banked = self.delivered.saturating_sub(self.out);
        let count = if pipe > ssthresh {
            let share = u128::from(self.delivered) * u128::from(ssthresh.0);
            let octets = share.div_ceil(u128::from(self.recover_fs)) as u64;
            octets.next_multiple_of(mss.0).saturating_sub(self.out)
        } else {
            let limit = match bound {
                RateReduction::Conservative => banked,
                RateReduction::SlowStart => banked.max(delivered.0) + mss.0,
                RateReduction::SafeAck => banked.max(delivered.0) + if safe { mss.0 } else { 0 },
            };
            limit.min(ssthresh.0 - pipe.0)
        };
        // The first segment is sent again in any case.
        Octets(if self.out == 0 { count.max(mss.0) } else { count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Segments that leave for each ACK of a segment while 20 are outstanding, `lost` of them found lost by the first
    /// ACK of the recovery; ssthresh is 10. The two ACKs before it have let out a new segment each.
    fn sent(bound: RateReduction, lost: u64, acks: usize) -> Vec<u64> {
        let mut prr = Prr::begin(Octets(20 * MSS));
        // 22 sent, two reported; then the loss.
        let mut pipe = 20 - lost;
        let sends = |_| {
            pipe -= 1;
            let parts = [pipe * MSS, 10 * MSS, MSS].map(Octets);
            let count = prr.on_delivered(bound, Octets(MSS), parts, false).0 / MSS;
            prr.on_sent(Octets(count * MSS));
            pipe += count;
            count
        };
        (0..acks).map(sends).collect()
    }

    #[test]
    fn one_loss_lets_a_segment_out_for_every_second_ack() {
        // RFC 6937, section 3.1, first example: R and N in turns with nothing, until the pipe is at ssthresh.
        for bound in [RateReduction::Conservative, RateReduction::SlowStart, RateReduction::SafeAck] {
            let all = sent(bound, 1, 17);
            assert_eq!(all[..14], [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0], "{bound:?}");
            // 19 were on their way, 17 of them have come: the pipe ends at ssthresh.
            assert_eq!((all[14..].to_vec(), 19 + all.iter().sum::<u64>() - 17), (vec![1, 0, 0], 10));
        }
    }

    #[test]
    fn many_losses_are_repaired_as_the_bound_allows() {
        // RFC 6937, section 3.1, second example: 15 of 20 are lost, three ACKs come.
        assert_eq!(sent(RateReduction::Conservative, 15, 3), [1, 1, 1]);
        assert_eq!(sent(RateReduction::SlowStart, 15, 3), [2, 2, 2]);
        // RFC 9937: such ACKs advance nothing, so they are not safe.
        assert_eq!(sent(RateReduction::SafeAck, 15, 3), [1, 1, 1]);
    }

    #[test]
    fn an_ack_that_advances_is_safe_and_lets_a_segment_more_out() {
        let mut prr = Prr::begin(Octets(20 * MSS));
        let parts = [4 * MSS, 10 * MSS, MSS].map(Octets);
        assert_eq!(prr.on_delivered(RateReduction::SafeAck, Octets(MSS), parts, true), Octets(2 * MSS));
        prr.on_sent(Octets(2 * MSS));
        assert_eq!(prr.on_delivered(RateReduction::SafeAck, Octets(3 * MSS), parts, false), Octets(3 * MSS));
        // Never beyond ssthresh.
        let near = [9 * MSS, 10 * MSS, MSS].map(Octets);
        assert_eq!(prr.on_delivered(RateReduction::SafeAck, Octets(3 * MSS), near, true), Octets(MSS));
    }

    #[test]
    fn part_of_a_segment_in_ssthresh_lets_nothing_out() {
        // Half of 30.4 segments: the second ACK brings 2 * 15.2 / 30 of them, which are not two.
        let mut prr = Prr::begin(Octets(30 * MSS));
        let mut sends = |pipe: u64| {
            let parts = [pipe, 15_200, MSS].map(Octets);
            let count = prr.on_delivered(RateReduction::SafeAck, Octets(MSS), parts, false);
            prr.on_sent(count);
            count.0 / MSS
        };
        assert_eq!([28, 28, 27, 27].map(|pipe| sends(pipe * MSS)), [1, 0, 1, 0]);
    }

    #[test]
    fn the_first_segment_leaves_whatever_the_count_is() {
        // The timer has found the loss: no ACK has told of anything.
        let mut prr = Prr::begin(Octets(20 * MSS));
        let parts = [19 * MSS, 10 * MSS, MSS].map(Octets);
        assert_eq!(prr.on_delivered(RateReduction::SafeAck, Octets(0), parts, false), Octets(MSS));
        prr.on_sent(Octets(MSS));
        assert_eq!(prr.on_delivered(RateReduction::SafeAck, Octets(MSS), parts, false), Octets(0));
    }
}
