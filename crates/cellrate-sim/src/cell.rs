//! A cell inside the simulator: three words, copied, never boxed.

use cellrate_engine::loopback::LoopbackContents;
use cellrate_engine::served::PortCell;
use cellrate_proto::{Direction, Duration, RateCode, RmCell, Time};

/// A cell on its way over a link.
///
/// ```text
/// word   63 62           47           32 31  30 29 28 27  26 25 24       0
///        +-+--------------+-------------+---+--+--+--+---+--+-+----------+
/// RM     |0|   CCR (15)   |   ER (15)   |DIR|BN|NI|CI|CLP|1 |0| hop (25) |
/// data   |0|      sequence number (30)  | 0 |CE|U |E |CLP|0 |0| hop (25) |
/// both   |0|   CCR (15)   |  low 15 bits| 0 |CE|U |E |CLP|1 |1| hop (25) |
/// OAM    |0|      correlation tag (30)  | 0 |1 |RE|SE|CLP|1 |0| hop (25) |
///        +-+--------------+-------------+---+--+--+--+---+--+-+----------+
/// ```
///
/// A data cell that carries RM values (`rm = "in-band"`) is both: an RM cell to whatever looks for those, and data to
/// queues and counts. The high 15 bits of its number are the top bits of `sent`, which is why such runs are
/// [short](LONGEST_IN_BAND). It asks for PCR, as every FRM does, with CI = NI = 0: no switch writes into a cell on its
/// way forward.
///
/// An OAM loopback cell is what no RM cell is: forward with BN = 1. RE says that it is a reply, SE that it goes along a
/// segment; where cells of a connection are looked at on their way, it is an RM cell that asks and grants nothing.
///
/// The top bit marks what is not a cell: a [`Stretch`](crate::stretch::Stretch) in a list of cells.
///
/// MCR is the same in every RM cell of a direction and stays with the connection; the reserved top bit of a rate code
/// is always zero and is not kept. `hop` is the link that the cell crosses, as an index into the table of hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// When its last bit reaches the far end of the link.
    pub arrives: Time,
    /// When it left its source; in a data cell with RM values, [with](Cell::left) bits of its number.
    pub sent: Time,
    word: u64,
}

/// Most hops that a network may have, all directions of all connections together.
pub const MAX_HOPS: usize = 1 << HOP_BITS;

/// The longest time for which a network may run that has data cells with RM values.
pub const LONGEST_IN_BAND: Duration = Duration::from_ps((1 << NUMBER_SHIFT) - 1);

const HOP_BITS: u32 = 25;
const HOP_MASK: u64 = (1 << HOP_BITS) - 1;
const IN_BAND: u64 = 1 << 25;
const RM: u64 = 1 << 26;
const CLP: u64 = 1 << 27;
const CONGESTION: u64 = 1 << 28;
const USER_OR_NI: u64 = 1 << 29;
const CE_OR_BN: u64 = 1 << 30;
const BACKWARD: u64 = 1 << 31;
const ER_SHIFT: u32 = 32;
const CCR_SHIFT: u32 = 47;
/// Set in no cell on a link: see [`Cell::answered_early`].
const ANSWERED: u64 = 1 << 62;
const MARK: u64 = 1 << 63 | RM | BACKWARD;
/// The place in `sent` of the high bits of a number.
const NUMBER_SHIFT: u32 = 49;
const LOW_NUMBER_BITS: u32 = 15;
const RATE_MASK: u64 = 0x7fff;
/// The bits of a data cell's number in its direction that it carries.
pub(crate) const SEQUENCE_MASK: u64 = (1 << 30) - 1;

/// Which cells have to be events on their way to a deferred port: bits of the octet above [`SIGNIFICANT_SHIFT`] of a
/// cell's word, one of which such a cell has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Significance(u8);

const SIGNIFICANT_SHIFT: u32 = 24;

impl Significance {
    /// Before a host: RM cells, and data cells that end a PDU, because the host may answer.
    pub const BEFORE_HOST: Significance = Significance(((RM | USER_OR_NI) >> SIGNIFICANT_SHIFT) as u8);
    /// Before a port behind which those are [awaited](crate::kernel::deferred::awaited): BRMs alone, because a port in
    /// the other direction is looked at.
    pub const AWAITED: Significance = Significance((BACKWARD >> SIGNIFICANT_SHIFT) as u8);
    /// Before another cluster: BRMs, because a port in the other direction is looked at.
    pub const BEFORE_CLUSTER: Significance = Significance((BACKWARD >> SIGNIFICANT_SHIFT) as u8);

    /// On the way to a port that sources share: none. BRMs are when they have left it.
    pub const NONE: Significance = Significance(0);

    /// Whether ends of PDUs are among them.
    pub fn of_pdu_ends(self) -> bool {
        self.0 & (USER_OR_NI >> SIGNIFICANT_SHIFT) as u8 != 0
    }
}

impl PortCell for Cell {
    #[inline]
    fn is_rm(&self) -> bool {
        self.word & (RM | IN_BAND) == RM && self.loopback().is_none()
    }

    #[inline]
    fn is_data(&self) -> bool {
        Cell::is_data(self)
    }

    #[inline]
    fn clp(&self) -> bool {
        Cell::clp(self)
    }

    #[inline]
    fn ends_pdu(&self) -> bool {
        Cell::ends_pdu(self)
    }

    #[inline]
    fn mark_efci(&mut self) {
        Cell::mark_efci(self);
    }

    #[inline]
    fn mark_packet(&mut self) {
        Cell::mark_packet(self);
    }

    #[inline]
    fn arrive_at(&mut self, at: Time) {
        self.arrives = at;
    }
}

impl Cell {
    /// Placeholder where no cell is.
    pub const NOTHING: Cell = Cell { arrives: Time::ZERO, sent: Time::ZERO, word: 0 };

    /// Data cell number `sequence` of its direction (modulo 2^30); `end_of_pdu` is the AAL user bit.
    #[inline]
    pub fn data(sent: Time, sequence: u64, end_of_pdu: bool) -> Cell {
        let user = if end_of_pdu { USER_OR_NI } else { 0 };
        Cell { arrives: sent, sent, word: (sequence & SEQUENCE_MASK) << ER_SHIFT | user }
    }

    /// A resource management cell.
    pub fn resource_management(sent: Time, rm: &RmCell) -> Cell {
        let bit = |set: bool, mask: u64| if set { mask } else { 0 };
        let word = RM
            | bit(rm.out_of_rate, CLP)
            | bit(rm.congestion_indication, CONGESTION)
            | bit(rm.no_increase, USER_OR_NI)
            | bit(rm.backward_notification, CE_OR_BN)
            | bit(rm.direction == Direction::Backward, BACKWARD)
            | u64::from(rm.explicit_rate.bits()) << ER_SHIFT
            | u64::from(rm.current_cell_rate.bits()) << CCR_SHIFT;
        Cell { arrives: sent, sent, word }
    }

    /// This data cell with RM values in it, whose CCR is this.
    pub fn carrying(self, current_cell_rate: RateCode) -> Cell {
        debug_assert!(!self.is_rm() && self.sent.as_ps() >> NUMBER_SHIFT == 0);
        let number = u64::from(self.sequence());
        let low = number & ((1 << LOW_NUMBER_BITS) - 1);
        let word = self.word & !(SEQUENCE_MASK << ER_SHIFT)
            | RM
            | IN_BAND
            | low << ER_SHIFT
            | u64::from(current_cell_rate.bits()) << CCR_SHIFT;
        let high = number >> LOW_NUMBER_BITS;
        Cell { sent: Time::from_ps(self.sent.as_ps() | high << NUMBER_SHIFT), word, ..self }
    }

    /// When it left its source.
    #[inline]
    pub fn left(&self) -> Time {
        match self.is_in_band() {
            true => Time::from_ps(self.sent.as_ps() & ((1 << NUMBER_SHIFT) - 1)),
            false => self.sent,
        }
    }

    /// The data of a cell that carries RM values, without them.
    pub fn data_alone(self) -> Cell {
        debug_assert!(self.is_in_band());
        let low = self.word >> ER_SHIFT & ((1 << LOW_NUMBER_BITS) - 1);
        let number = self.sent.as_ps() >> NUMBER_SHIFT << LOW_NUMBER_BITS | low;
        let word = self.word & !(SEQUENCE_MASK << ER_SHIFT | RM | IN_BAND) | number << ER_SHIFT;
        Cell { sent: self.left(), word, ..self }
    }

    /// The RM values of a data cell as an FRM, which asks for `asked`; it is still told from a cell of its own.
    pub fn values_alone(self, asked: RateCode) -> Cell {
        debug_assert!(self.is_in_band());
        let word = self.word & !(RATE_MASK << ER_SHIFT | CONGESTION | USER_OR_NI | CE_OR_BN)
            | u64::from(asked.bits()) << ER_SHIFT;
        Cell { sent: self.left(), word, ..self }
    }

    /// This cell as one of a channel of a virtual path, whose number it bears; an RM cell is the path's and stays.
    #[inline]
    pub fn of_channel(self, channel: u32) -> Cell {
        if self.is_in_band() {
            return self.data_alone().of_channel(channel).carrying(self.current_cell_rate());
        }
        if self.is_rm() {
            return self;
        }
        let word = self.word & !(SEQUENCE_MASK << ER_SHIFT) | u64::from(channel) << ER_SHIFT;
        Cell { word, ..self }
    }

    /// An OAM loopback cell.
    pub fn oam(sent: Time, contents: LoopbackContents) -> Cell {
        let LoopbackContents { tag, is_reply, is_segment } = contents;
        let bit = |set: bool, mask: u64| if set { mask } else { 0 };
        let kind = RM | CE_OR_BN | bit(is_reply, USER_OR_NI) | bit(is_segment, CONGESTION);
        Cell { arrives: sent, sent, word: kind | (u64::from(tag) & SEQUENCE_MASK) << ER_SHIFT }
    }

    /// The contents of an OAM loopback cell, if this is one.
    #[inline]
    pub fn loopback(&self) -> Option<LoopbackContents> {
        (self.word & (RM | IN_BAND | CE_OR_BN | BACKWARD) == RM | CE_OR_BN).then(|| LoopbackContents {
            tag: self.sequence(),
            is_reply: self.word & USER_OR_NI != 0,
            is_segment: self.word & CONGESTION != 0,
        })
    }

    /// A marker entry in a list of cells: neither a data cell, as its [way](Cell::way) tells, nor an FRM.
    pub(crate) const fn mark(arrives: Time, sent: Time, number: u32) -> Cell {
        Cell { arrives, sent, word: MARK | (number as u64) << ER_SHIFT }
    }

    /// The number of a [mark](Cell::mark), if this is one.
    #[inline(always)]
    pub(crate) fn marked(&self) -> Option<u32> {
        (self.word >> 63 != 0).then_some((self.word >> ER_SHIFT & SEQUENCE_MASK) as u32)
    }

    /// All there is of it.
    pub(crate) const fn to_words(self) -> [u64; 3] {
        [self.arrives.as_ps(), self.sent.as_ps(), self.word]
    }

    /// The cell with these [words](Cell::to_words).
    pub(crate) const fn from_words([arrives, sent, word]: [u64; 3]) -> Cell {
        Cell { arrives: Time::from_ps(arrives), sent: Time::from_ps(sent), word }
    }

    /// The hop being crossed.
    #[inline]
    pub fn hop(&self) -> usize {
        (self.word & HOP_MASK) as usize
    }

    /// This cell on the hop of number `hop`.
    #[inline]
    pub fn on_hop(self, hop: usize) -> Cell {
        Cell { word: self.word & !HOP_MASK | hop as u64, ..self }
    }

    /// This cell on the hop after the one it is on.
    #[inline]
    pub fn on_next_hop(self) -> Cell {
        Cell { word: self.word + 1, ..self }
    }

    /// This cell on a link whose far end it reaches at `arrives`.
    #[inline]
    pub fn arriving(self, arrives: Time) -> Cell {
        Cell { arrives, ..self }
    }

    /// Way that two cells share that matter to counters only: the hop, whether it is an RM cell, and whether it ends a
    /// PDU.
    #[inline]
    pub fn way(&self) -> u64 {
        self.word & (HOP_MASK | RM | USER_OR_NI)
    }

    /// The [way](Cell::way) of a data cell amid its PDU that takes the same hop.
    #[inline]
    pub fn way_of_data(&self) -> u64 {
        self.word & HOP_MASK
    }

    /// Whether this is a data cell, amid its PDU or the end of one, on that [way](Cell::way_of_data).
    #[inline]
    pub fn is_data_on(&self, way: u64) -> bool {
        self.word & (HOP_MASK | RM) == way
    }

    /// Whether this is an RM cell on its way to the destination.
    #[inline]
    pub fn is_forward_rm(&self) -> bool {
        self.word & (RM | BACKWARD) == RM
    }

    /// Whether this is an RM cell, or a data cell that carries RM values.
    #[inline]
    pub fn is_rm(&self) -> bool {
        self.word & RM != 0
    }

    /// Whether this is a data cell that carries RM values.
    #[inline]
    pub fn is_in_band(&self) -> bool {
        self.word & IN_BAND != 0
    }

    /// Whether this is a data cell, with RM values or without.
    #[inline]
    pub fn is_data(&self) -> bool {
        self.word & (RM | IN_BAND) != RM
    }

    /// CLP: whether the cell is out of rate, or tagged.
    #[inline]
    pub fn clp(&self) -> bool {
        self.word & CLP != 0
    }

    /// This cell with CLP = 1.
    #[inline]
    pub fn tagged(self) -> Cell {
        Cell { word: self.word | CLP, ..self }
    }

    /// EFCI of a data cell.
    #[inline]
    pub fn efci(&self) -> bool {
        self.word & CONGESTION != 0
    }

    /// EFCI := 1 in a data cell.
    #[inline]
    pub fn mark_efci(&mut self) {
        self.word |= CONGESTION;
    }

    /// This data cell with EFCI = 0.
    #[inline]
    pub fn without_efci(self) -> Cell {
        Cell { word: self.word & !CONGESTION, ..self }
    }

    /// Whether the IP packet of a data cell that begins or ends a PDU was marked: CE (RFC 3168).
    #[inline]
    pub fn is_marked(&self) -> bool {
        self.word & CE_OR_BN != 0
    }

    /// Says in the first or last data cell of a PDU that its packet is marked.
    #[inline]
    pub fn mark_packet(&mut self) {
        self.word |= CE_OR_BN;
    }

    /// The AAL user bit of a data cell: the last one of its AAL5 PDU. Inside the simulator, where it is not seen, the
    /// last cell of a request or response bears it as well (`assembly::announced`).
    #[inline]
    pub fn ends_pdu(&self) -> bool {
        self.word & USER_OR_NI != 0
    }

    /// The number of a data cell in its direction, modulo 2^30.
    #[inline]
    pub fn sequence(&self) -> u32 {
        (self.word >> ER_SHIFT & SEQUENCE_MASK) as u32
    }

    /// Whether this is not just a data cell amid its PDU: only others are ever significant.
    #[inline(always)]
    pub(crate) fn is_special(&self) -> bool {
        self.word & (RM | USER_OR_NI) != 0
    }

    /// Whether its arrival has to be an event on a way where cells of this `significance` do.
    #[inline]
    pub(crate) fn is_significant(&self, significance: Significance) -> bool {
        (self.word >> SIGNIFICANT_SHIFT) as u8 & significance.0 != 0
    }

    /// This BRM as a switch has answered it before it joins the queue of the port that it leaves by. It waits in a
    /// list, and is not an event until it is [on its way](Cell::on_its_way) again.
    #[inline]
    pub(crate) fn answered_early(self) -> Cell {
        Cell { word: self.word & !BACKWARD | ANSWERED, ..self }
    }

    /// Whether this is a BRM that was [answered early](Cell::answered_early).
    #[inline]
    pub(crate) fn is_answered_early(&self) -> bool {
        self.word & ANSWERED != 0
    }

    /// The cell as it goes on, whether it was [answered early](Cell::answered_early) or not.
    #[inline(always)]
    pub(crate) fn on_its_way(self) -> Cell {
        let word = self.word & !ANSWERED | (self.word & ANSWERED) >> (ANSWERED / BACKWARD).trailing_zeros();
        Cell { word, ..self }
    }

    /// Whether this is an RM cell on its way back to its source.
    #[inline]
    pub fn is_backward_rm(&self) -> bool {
        // No data cell has this bit.
        self.word & BACKWARD != 0
    }

    /// The data cell that leaves `spacing` after this one.
    #[inline]
    pub fn followed_by(self, spacing: Duration) -> Cell {
        // The number is followed by a zero bit, which takes the carry of the last one.
        let word = (self.word + (1 << ER_SHIFT)) & !(1 << 62);
        Cell { arrives: self.arrives + spacing, sent: self.sent + spacing, word }
    }

    /// The word of the data cell behind this one on the same hop, if that is amid its PDU.
    #[inline]
    pub(crate) fn word_behind(&self) -> u64 {
        (self.word + (1 << ER_SHIFT)) & !(1 << 62 | CE_OR_BN | USER_OR_NI)
    }

    /// This data cell as the last one of its PDU.
    #[inline]
    pub(crate) fn ending_pdu(self) -> Cell {
        Cell { word: self.word | USER_OR_NI, ..self }
    }

    /// The data cell that is `count` behind this one, if they arrive one every `gap` and left one every `spacing`.
    #[inline]
    pub fn followed_by_others(self, count: u32, gap: Duration, spacing: Duration) -> Cell {
        let word = (self.word + (u64::from(count) << ER_SHIFT)) & !(0b11 << 62);
        let times = u64::from(count);
        Cell { arrives: self.arrives + gap * times, sent: self.sent + spacing * times, word }
    }

    /// The data cell that arrives at `arrives`, `count` before this one and not the last of its PDU, where all of them
    /// take as long on the link.
    #[inline]
    pub fn before_by(self, count: u32, arrives: Time) -> Cell {
        let on_link = self.arrives.as_ps().wrapping_sub(self.sent.as_ps());
        // The number lies between zero bits, which take what is borrowed.
        let word = self.word.wrapping_sub(u64::from(count) << ER_SHIFT) & !(0b11 << 62 | USER_OR_NI);
        Cell { arrives, sent: Time::from_ps(arrives.as_ps().wrapping_sub(on_link)), word }
    }

    /// ER of an RM cell.
    #[inline]
    pub fn explicit_rate(&self) -> RateCode {
        RateCode::from_bits((self.word >> ER_SHIFT & RATE_MASK) as u16)
    }

    /// CCR of an RM cell.
    #[inline]
    pub fn current_cell_rate(&self) -> RateCode {
        RateCode::from_bits((self.word >> CCR_SHIFT & RATE_MASK) as u16)
    }

    /// DIR of an RM cell.
    #[inline]
    pub fn direction(&self) -> Direction {
        if self.word & BACKWARD != 0 { Direction::Backward } else { Direction::Forward }
    }

    /// All that an RM cell says, with the MCR of its connection.
    pub fn to_rm(self, minimum_cell_rate: RateCode) -> RmCell {
        RmCell {
            direction: self.direction(),
            backward_notification: self.word & CE_OR_BN != 0,
            congestion_indication: self.word & CONGESTION != 0,
            no_increase: self.word & USER_OR_NI != 0,
            explicit_rate: self.explicit_rate(),
            current_cell_rate: self.current_cell_rate(),
            minimum_cell_rate,
            out_of_rate: self.word & CLP != 0,
        }
    }

    /// This RM cell with what a switch wrote into it.
    #[inline]
    pub fn with_feedback(
        self,
        explicit_rate: RateCode,
        congestion_indication: bool,
        no_increase: bool,
    ) -> Cell {
        let mut word = self.word & !(RATE_MASK << ER_SHIFT) | u64::from(explicit_rate.bits()) << ER_SHIFT;
        if congestion_indication {
            word |= CONGESTION;
        }
        if no_increase {
            word |= USER_OR_NI;
        }
        Cell { word, ..self }
    }

    /// A forward RM cell with the contents of `answer`, still marked as forward, and as values of a data cell if it is
    /// [those](Cell::values_alone).
    pub fn answered_by(self, answer: &RmCell) -> Cell {
        let word = Cell::resource_management(self.sent, answer).word & !BACKWARD;
        Cell { word: word | self.word & (HOP_MASK | IN_BAND), ..self }
    }

    /// CI and NI of an RM cell.
    #[inline]
    pub fn indications(&self) -> (bool, bool) {
        (self.word & CONGESTION != 0, self.word & USER_OR_NI != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::CellRate;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_rm_cell_keeps_everything_it_says(
            backward: bool, bn: bool, ci: bool, ni: bool, clp: bool,
            er in 0_u16..0x8000, ccr in 0_u16..0x8000, mcr in 0_u16..0x8000, hop in 0..MAX_HOPS,
        ) {
            let rm = RmCell {
                direction: if backward { Direction::Backward } else { Direction::Forward },
                backward_notification: bn,
                congestion_indication: ci,
                no_increase: ni,
                explicit_rate: RateCode::from_bits(er),
                current_cell_rate: RateCode::from_bits(ccr),
                minimum_cell_rate: RateCode::from_bits(mcr),
                out_of_rate: clp,
            };
            let cell = Cell::resource_management(Time::ZERO, &rm).on_hop(hop);
            prop_assert!(cell.is_rm());
            prop_assert_eq!(cell.hop(), hop);
            prop_assert_eq!(cell.to_rm(rm.minimum_cell_rate), rm);
        }

        #[test]
        fn a_data_cell_keeps_its_number_and_its_bits(sequence: u64, end: bool, hop in 0..MAX_HOPS) {
            let mut cell = Cell::data(Time::ZERO, sequence, end).on_hop(hop);
            prop_assert!(!cell.is_rm() && !cell.efci());
            cell.mark_efci();
            prop_assert!(cell.efci() && !cell.is_marked());
            cell.mark_packet();
            prop_assert!(cell.is_marked() && !cell.is_backward_rm());
            prop_assert_eq!(cell.ends_pdu(), end);
            prop_assert_eq!(u64::from(cell.sequence()), sequence & SEQUENCE_MASK);
            prop_assert_eq!(cell.hop(), hop);
        }
    }

    proptest! {
        #[test]
        fn a_data_cell_with_rm_values_keeps_both(
            number: u64, end: bool, marked: bool, efci: bool, tagged: bool, asked in 0_u16..0x8000,
            ccr in 0_u16..0x8000, hop in 0..MAX_HOPS, channel in 0_u32..9, sent in 0..=LONGEST_IN_BAND.as_ps(),
        ) {
            let (asked, ccr) = (RateCode::from_bits(asked), RateCode::from_bits(ccr));
            let changed = |mut cell: Cell| {
                if efci { cell.mark_efci() }
                if marked { cell.mark_packet() }
                if tagged { cell.tagged() } else { cell }
            };
            let data = Cell::data(Time::from_ps(sent), number, end).on_hop(hop);
            let both = changed(data.carrying(ccr));
            prop_assert_eq!((both.data_alone(), both.left()), (changed(data), data.sent));
            prop_assert_eq!(both.of_channel(channel).data_alone(), changed(data).of_channel(channel));
            let kinds = (both.is_forward_rm(), both.is_data(), both.loopback());
            prop_assert_eq!(kinds, (true, true, None));
            prop_assert!(!PortCell::is_rm(&both) && both.is_special() && !both.is_data_on(both.way_of_data()));
            prop_assert_eq!((both.current_cell_rate(), both.ends_pdu(), both.hop()), (ccr, end, hop));
            let values = RmCell {
                direction: Direction::Forward,
                backward_notification: false,
                congestion_indication: false,
                no_increase: false,
                explicit_rate: asked,
                current_cell_rate: ccr,
                minimum_cell_rate: RateCode::ZERO,
                out_of_rate: tagged,
            };
            let alone = both.values_alone(asked);
            prop_assert_eq!((alone.to_rm(RateCode::ZERO), alone.sent), (values, data.sent));
            prop_assert!(alone.is_in_band() && alone.answered_by(&values).is_in_band());
        }
    }

    #[test]
    fn a_loopback_cell_keeps_what_it_says_and_is_neither_data_nor_rm_to_a_port() {
        for (tag, is_reply, is_segment) in
            [(0, false, true), (SEQUENCE_MASK as u32, true, false), (5, true, true)]
        {
            let contents = LoopbackContents { tag, is_reply, is_segment };
            let cell = Cell::oam(Time::ZERO, contents).on_hop(MAX_HOPS - 1).tagged();
            assert_eq!((cell.loopback(), cell.hop()), (Some(contents), MAX_HOPS - 1));
            assert!(!PortCell::is_data(&cell) && !PortCell::is_rm(&cell) && !cell.is_backward_rm());
            assert!(!cell.ends_pdu() || is_reply, "which nobody asks for");
        }
        let backward = RmCell {
            direction: Direction::Backward,
            backward_notification: true,
            congestion_indication: false,
            no_increase: false,
            explicit_rate: RateCode::MAX,
            current_cell_rate: RateCode::ZERO,
            minimum_cell_rate: RateCode::ZERO,
            out_of_rate: true,
        };
        assert_eq!(Cell::resource_management(Time::ZERO, &backward).loopback(), None);
    }

    #[test]
    fn the_number_after_the_last_one_is_zero() {
        let last = Cell::data(Time::from_ps(7), SEQUENCE_MASK, false).on_hop(MAX_HOPS - 1);
        let next = last.followed_by(Duration::from_ps(3));
        assert_eq!(next, Cell::data(Time::from_ps(10), 0, false).on_hop(MAX_HOPS - 1));
        assert_eq!(next.followed_by(Duration::from_ps(3)).sequence(), 1);
    }

    #[test]
    fn feedback_replaces_er_and_only_sets_bits() {
        let rm = RmCell {
            direction: Direction::Backward,
            backward_notification: false,
            congestion_indication: true,
            no_increase: false,
            explicit_rate: RateCode::MAX,
            current_cell_rate: RateCode::floor(CellRate::new(1000.0)),
            minimum_cell_rate: RateCode::ZERO,
            out_of_rate: false,
        };
        let lower = RateCode::floor(CellRate::new(500.0));
        let cell = Cell::resource_management(Time::ZERO, &rm).with_feedback(lower, false, true);
        let expected = RmCell { explicit_rate: lower, no_increase: true, ..rm };
        assert_eq!(cell.to_rm(RateCode::ZERO), expected);
    }
}
