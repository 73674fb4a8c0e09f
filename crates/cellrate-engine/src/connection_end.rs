//! One end of a connection: the ABR source of the direction that it sends, the destination of the other one, the data
//! that wait to be sent, OAM loopback, and the counts of all of that.
//!
//! It speaks in values of the protocol: which kind of cell leaves, what an RM cell says. Either world makes its own
//! cells of that, three words in a simulation and 53 octets on a wire, and keeps beside the end what is its own: plans
//! of cells that will leave and a stack of TCP there, packets of a real host here.

use cellrate_proto::{CellRate, Destination, Direction, Duration, Emission, RateCode, RmCell, Source, Time};
use cellrate_scenario::{FlowIndex, Scenario};

use crate::histogram::{Histogram, Recording};
use crate::loopback::{LoopbackContents, LoopbackEnd};
use crate::pacer::Pacer;
use crate::plugins::{MissingPlugin, Plugins};
use crate::segments::VirtualEnd;
use crate::set_up;
use crate::supply::CellSupply;

/// Counts of the cells of the direction that an end sends, and of the RM cells of the one that it receives; OAM cells
/// are its [loopback's](LoopbackEnd).
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct EndCounts {
    /// RM cells by [`RmCount`], modulo 2^32.
    rm: [u32; 4],
    /// How often each count came to 2^32: 48 bits with the count. Every second cell at the highest PCR, for the 213
    /// days that time can be told, takes no more.
    rm_carried: [u16; 4],
    /// Data cells sent.
    pub data_sent: u64,
}

/// Kinds of RM cells that an end counts.
#[derive(Clone, Copy, Debug)]
pub enum RmCount {
    /// FRMs that came as cells of their own.
    ForwardReceived,
    /// BRMs that came.
    BackwardReceived,
    /// FRMs that left as cells of their own.
    ForwardSent,
    /// BRMs that left, in rate or out of it.
    BackwardSent,
}

impl EndCounts {
    /// Counts one more RM cell.
    #[inline(always)]
    pub fn count(&mut self, what: RmCount) {
        let (sum, carries) = self.rm[what as usize].overflowing_add(1);
        self.rm[what as usize] = sum;
        if carries {
            self.carry(what);
        }
    }

    #[cold]
    fn carry(&mut self, what: RmCount) {
        self.rm_carried[what as usize] += 1;
    }

    /// RM cells of a kind.
    pub fn rm(&self, what: RmCount) -> u64 {
        u64::from(self.rm_carried[what as usize]) << u32::BITS | u64::from(self.rm[what as usize])
    }

    /// Data and RM cells sent.
    pub fn sent(&self) -> u64 {
        self.data_sent + self.rm(RmCount::ForwardSent) + self.rm(RmCount::BackwardSent)
    }
}

/// One end of a connection, with the data that `S` supplies.
///
/// Fields that a cell touches as it arrives come first, then those that it touches as it leaves. A large network has
/// very many ends: so they are small, and what few of them have is elsewhere.
#[derive(Debug)]
#[repr(C)]
pub struct ConnectionEnd<S> {
    /// Delays of the data cells of the other direction. `None` until there is one: most connections of a large network
    /// send data one way only.
    delays: Option<Box<Histogram>>,
    /// The destination of the other direction.
    destination: Destination,
    /// Counts of cells.
    pub counts: EndCounts,
    /// The first hop of the direction that it sends, in the table of hops of its world.
    pub first_hop: u32,
    /// MCR of the direction that it sends, and of the other.
    pub mcr: [RateCode; 2],
    /// The data that it sends.
    pub supply: S,
    /// When it sends.
    pub pacer: Pacer,
    /// OAM loopback, if the connection has any.
    pub loopback: Option<Box<LoopbackEnd>>,
}

impl<S: CellSupply> ConnectionEnd<S> {
    /// An end of these parts, without loopback, which sends by the hop `first_hop`.
    pub fn new(
        pacer: Pacer,
        supply: S,
        destination: Destination,
        first_hop: u32,
        mcr: [CellRate; 2],
    ) -> ConnectionEnd<S> {
        ConnectionEnd {
            delays: None,
            destination,
            counts: EndCounts::default(),
            first_hop,
            mcr: mcr.map(RateCode::floor),
            supply,
            pacer,
            loopback: None,
        }
    }

    /// The end that sends `flow` from its host.
    pub fn at_host(scenario: &Scenario, flow: FlowIndex, pacer: Pacer, supply: S, first_hop: u32) -> Self {
        let [out, back] = [scenario.flow(flow), scenario.flow(flow.other())];
        let (destination, mcr) = (set_up::destination_at_host(back), [out.sender.mcr(), back.sender.mcr()]);
        let loopback = LoopbackEnd::of(scenario, flow).map(Box::new);
        ConnectionEnd { loopback, ..ConnectionEnd::new(pacer, supply, destination, first_hop, mcr) }
    }

    /// The end inside a switch that segments the control loops of a connection, whose direction begins at the hop
    /// `first_hop`.
    ///
    /// # Errors
    /// Where its source has a policy that the run was not given.
    pub fn in_switch(
        scenario: &Scenario,
        end: &VirtualEnd,
        supply: S,
        first_hop: u32,
        plugins: Plugins<'_>,
    ) -> Result<Self, MissingPlugin> {
        let [out, back] = [scenario.flow(end.flow), scenario.flow(end.flow.other())];
        let (pacer, destination) = (Pacer::new(scenario, end.flow, plugins)?, set_up::destination(back));
        let mcr = [out.sender.mcr(), back.sender.mcr()];
        Ok(ConnectionEnd::new(pacer, supply, destination, first_hop + end.step as u32, mcr))
    }

    /// When it sends next, not before `now`.
    #[inline(always)]
    pub fn next_transmission(&self, now: Time) -> Time {
        self.pacer.next_transmission(now, |from| self.supply.available_from(from))
    }

    /// The smallest time between two cells.
    #[inline(always)]
    pub fn spacing(&self) -> Duration {
        self.pacer.spacing()
    }

    /// Whether the next transmission may be a turned-around RM cell.
    #[inline]
    pub fn may_turn_around(&self) -> bool {
        self.source().is_some_and(Source::has_waiting_brm)
    }

    /// The ABR source, if there is one.
    #[inline]
    pub fn source(&self) -> Option<&Source> {
        self.pacer.source()
    }

    /// Sends a data cell at `now`, the instant of the [next transmission](ConnectionEnd::next_transmission), if it is
    /// an ABR source's turn to send one: false where anything else may leave ([`transmit`](ConnectionEnd::transmit)).
    /// The cell is to be taken from the supply.
    #[inline(always)]
    pub fn transmit_data(&mut self, now: Time) -> bool {
        let is_data = self.pacer.transmit_data(now);
        self.counts.data_sent += u64::from(is_data);
        is_data
    }

    /// The cell that leaves at `now`, the instant of the [next transmission](ConnectionEnd::next_transmission): there
    /// something waits, and unless it is an RM cell it is data, which are to be taken from the supply.
    #[inline(always)]
    pub fn transmit(&mut self, now: Time) -> Option<Emission> {
        let data_waiting = self.supply.available_from(now) <= now;
        let emission = self.pacer.transmit(now, data_waiting, |acr| self.supply.on_acr(now, acr))?;
        match emission {
            Emission::Data | Emission::DataWithRm(_) => self.counts.data_sent += 1,
            Emission::ForwardRm(_) => self.counts.count(RmCount::ForwardSent),
            Emission::BackwardRm(_) => self.counts.count(RmCount::BackwardSent),
        }
        Some(emission)
    }

    /// A data cell of the other direction has come, so long after it left its source.
    #[inline(always)]
    pub fn receive_data(&mut self, efci: bool, delay: Duration) {
        self.destination.on_data(efci);
        self.delays.get_or_insert_default().record(delay);
    }

    /// For data cells of the other direction that are received many at a time: where their delays are recorded, and
    /// who takes their EFCI state.
    #[inline(always)]
    pub fn receive_many(&mut self) -> (Recording<'_>, &mut Destination) {
        (self.delays.get_or_insert_default().recording(), &mut self.destination)
    }

    /// The answer to an FRM that comes at `arrives`, the next cell of its direction to do so. It depends on the order
    /// of cells alone, and [leaves](ConnectionEnd::answer) when that instant has come.
    #[inline]
    pub fn turn_around(&mut self, arrives: Time, frm: &RmCell) -> RmCell {
        self.destination.on_time(arrives);
        self.destination.turn_around(frm)
    }

    /// An FRM has come, and `answer` is what it was [turned around](ConnectionEnd::turn_around) to, which waits for its
    /// turn. Returns a BRM that leaves at once, out of rate; `None`, too, at an end without an ABR source, to which no
    /// FRM comes.
    #[inline]
    pub fn answer(&mut self, answer: RmCell) -> Option<RmCell> {
        self.counts.count(RmCount::ForwardReceived);
        self.answer_in_band(answer)
    }

    /// Values that came in a data cell are answered as an FRM is; the cell has been counted as data.
    #[inline]
    pub fn answer_in_band(&mut self, answer: RmCell) -> Option<RmCell> {
        let source = self.pacer.source_mut()?;
        let at_once = self.destination.schedule(answer, source)?;
        self.counts.count(RmCount::BackwardSent);
        Some(at_once)
    }

    /// A BRM has come at `now`, which the source obeys.
    #[inline]
    pub fn obey(&mut self, now: Time, brm: &RmCell) {
        self.pacer.on_backward_rm(now, brm, |acr| self.supply.on_acr(now, acr));
        self.counts.count(RmCount::BackwardReceived);
    }

    /// An RM cell comes at `now`: a BRM is obeyed, an FRM answered. Returns a BRM that leaves at once, out of rate.
    pub fn receive_rm(&mut self, now: Time, rm: &RmCell) -> Option<RmCell> {
        match rm.direction {
            Direction::Backward => {
                self.obey(now, rm);
                None
            }
            Direction::Forward => {
                let answer = self.turn_around(now, rm);
                self.answer(answer)
            }
        }
    }

    /// ER that values in data cells of the other direction ask for.
    #[inline]
    pub fn asked_in_band(&self) -> RateCode {
        self.destination.asked_in_band()
    }

    /// The first instant from `now` on at which the destination has a BRM of its own to send (destination rule 5).
    pub fn next_report(&self, now: Time) -> Time {
        self.destination.next_origination(now)
    }

    /// The BRM that the destination sends at such an instant, out of rate.
    pub fn report(&mut self, now: Time) -> Option<RmCell> {
        self.destination.on_time(now);
        let brm = self.destination.originate(now, self.mcr[1].rate())?;
        self.counts.count(RmCount::BackwardSent);
        Some(brm)
    }

    /// The first instant from `now` on at which a loopback request or a BRM of the destination's own leaves.
    pub fn next_unasked(&self, now: Time) -> Time {
        self.loopback.as_ref().map_or(Time::NEVER, |own| own.next()).min(self.next_report(now))
    }

    /// The loopback request that leaves at `now`, if there is one: at once, beside what the source sends.
    pub fn request_loopback(&mut self, now: Time) -> Option<LoopbackContents> {
        self.loopback.as_mut()?.request(now)
    }

    /// A loopback cell has come at `now`: the reply that leaves at once, if it was a request.
    pub fn on_loopback(&mut self, now: Time, contents: LoopbackContents) -> Option<LoopbackContents> {
        self.loopback.as_mut()?.receive(now, contents)
    }

    /// Cells sent, OAM cells among them.
    pub fn sent(&self) -> u64 {
        self.counts.sent() + self.loopback.as_ref().map_or(0, |own| own.sent)
    }

    /// Data cells of the other direction that have come.
    pub fn data_delivered(&self) -> u64 {
        self.delays.as_deref().map_or(0, Histogram::total)
    }

    /// Cells of the other direction that have come, OAM cells among them.
    pub fn delivered(&self) -> u64 {
        let oam = self.loopback.as_ref().map_or(0, |own| own.received);
        let rm = [RmCount::ForwardReceived, RmCount::BackwardReceived].map(|what| self.counts.rm(what));
        self.data_delivered() + rm[0] + rm[1] + oam
    }

    /// Delays of the data cells of the other direction, if there was one.
    pub fn delays(&self) -> Option<&Histogram> {
        self.delays.as_deref()
    }

    /// Delays of what has come, for who ends an interval of theirs.
    pub fn delays_mut(&mut self) -> Option<&mut Histogram> {
        self.delays.as_deref_mut()
    }

    /// Takes the delays: nothing is known of data cells of the other direction any more.
    pub fn take_delays(&mut self) -> Option<Box<Histogram>> {
        self.delays.take()
    }

    /// The destination of the other direction.
    pub fn destination_mut(&mut self) -> &mut Destination {
        &mut self.destination
    }

    /// The least and the largest delay and the integral of ACR begin anew at `now`.
    pub fn begin_maxima(&mut self, now: Time) {
        self.pacer.begin_integral(now);
        if let Some(delays) = &mut self.delays {
            delays.begin_extremes();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::supply::CommonSupply;

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_us(us)
    }

    fn end(pacer: Pacer) -> ConnectionEnd<CommonSupply<()>> {
        ConnectionEnd::new(
            pacer,
            CommonSupply::Nothing,
            Destination::default(),
            0,
            [CellRate::new(1000.0), CellRate::ZERO],
        )
    }

    #[test]
    fn rm_cells_are_counted_beyond_32_bits() {
        let mut counts = EndCounts { data_sent: 5, rm: [0, 9, u32::MAX, u32::MAX], rm_carried: [0, 0, 3, 0] };
        for what in [RmCount::ForwardSent, RmCount::BackwardSent, RmCount::BackwardReceived] {
            counts.count(what);
        }
        let all = [
            RmCount::ForwardReceived,
            RmCount::BackwardReceived,
            RmCount::ForwardSent,
            RmCount::BackwardSent,
        ];
        assert_eq!(all.map(|what| counts.rm(what)), [0, 10, 4 << 32, 1 << 32]);
        assert_eq!(counts.sent(), (5 << 32) + 5);
    }

    #[test]
    fn an_end_where_no_data_arrives_has_no_histogram() {
        let mut end = end(Pacer::Peak { spacing: Duration::from_us(10), earliest: Time::ZERO });
        assert!(end.delays().is_none() && end.data_delivered() == 0);
        end.receive_data(false, Duration::from_ms(3));
        assert_eq!((end.delays().and_then(Histogram::max_s), end.data_delivered()), (Some(0.003), 1));
    }

    #[test]
    fn an_answer_waits_for_its_turn_and_one_out_of_rate_leaves_at_once() {
        use cellrate_proto::AbrParameters;
        use cellrate_proto::uili::UiliConfig;

        let source = Source::new(AbrParameters::new(CellRate::new(100_000.0)), &UiliConfig::None);
        let mut end = end(Pacer::Abr(source, crate::acr_integral::AcrIntegral::default()));
        let frm = |out_of_rate| RmCell {
            direction: Direction::Forward,
            backward_notification: false,
            congestion_indication: false,
            no_increase: false,
            explicit_rate: RateCode::floor(CellRate::new(50_000.0)),
            current_cell_rate: RateCode::ZERO,
            minimum_cell_rate: RateCode::ZERO,
            out_of_rate,
        };
        end.receive_data(true, Duration::from_us(7));
        assert_eq!(end.receive_rm(at(1), &frm(false)), None);
        assert!(end.may_turn_around());
        let first = end.next_transmission(at(2));
        assert!(!end.transmit_data(first), "no data wait");
        assert!(matches!(end.transmit(first), Some(Emission::ForwardRm(_))), "the first cell is an FRM");
        let second = end.next_transmission(first);
        let Some(Emission::BackwardRm(brm)) = end.transmit(second) else { panic!("an answer waits") };
        assert!(brm.congestion_indication && !brm.out_of_rate, "it carries the EFCI state of the data");
        let at_once = end.receive_rm(second, &frm(true)).expect("it leaves at once");
        assert!(at_once.direction == Direction::Backward && at_once.out_of_rate && !end.may_turn_around());
        assert_eq!((end.sent(), end.delivered()), (3, 3));
        // What it answered to the other end comes as an order to this one.
        end.obey(second, &RmCell { explicit_rate: RateCode::floor(CellRate::new(25_000.0)), ..brm });
        assert!(end.source().is_some_and(|source| source.acr() <= CellRate::new(25_000.0)));
        assert_eq!((end.sent(), end.delivered()), (3, 4));
    }
}
