//! One end of a conversation of requests and responses (paper uili, section 7.2.1).
//!
//! ```text
//! client   request --- gap --- request          (all responses in)  --- cycle gap ---  request ...
//!              \                   \                     ^
//! server        (whole)-response    (whole)-response ----+
//! ```
//!
//! An end holds the bursts that its application has begun to hand over, sends them in order, and is told of each data
//! cell that arrives. A burst is complete when its last cell has arrived, or a later one: cells keep their order, so
//! that what is missing then is lost. A lost last cell with nothing behind it is never missed, and the conversation
//! stops: nothing here is sent twice.

use std::collections::VecDeque;

use cellrate_proto::{Duration, Time};
use cellrate_scenario::RequestResponse;
use cellrate_scenario::traffic::run_of;

use crate::cell::SEQUENCE_MASK;
use cellrate_engine::histogram::Histogram;

/// One end of a conversation.
#[derive(Clone, Debug)]
pub struct Conversation {
    part: Part,
    outgoing: Outgoing,
    incoming: Incoming,
}

/// Part that an end takes in a conversation: its answer to a burst that has arrived.
#[derive(Clone, Debug)]
enum Part {
    Client {
        /// Requests per cycle.
        requests: u32,
        /// Responses of this cycle that have not come yet.
        missing: u32,
        request_gap: Duration,
        cycle_gap: Duration,
        /// No cycle at or after this.
        end: Time,
    },
    Server {
        time: Duration,
    },
}

/// The bursts that an end sends.
#[derive(Clone, Debug)]
struct Outgoing {
    /// Cells of each.
    size: u32,
    /// From one cell to the next as the application hands them over.
    spacing: Duration,
    /// A cell on the first line.
    cell_time: Duration,
    /// When the first cell of each burst that is not sent yet comes.
    waiting: VecDeque<Time>,
    /// Cells of the first of them that have left.
    sent_of_first: u32,
    /// Whether their last cells bear the mark of the end of a PDU.
    marks_last: bool,
    /// When the application has handed over all it has begun.
    free: Time,
    response_times: Histogram,
    completed: u64,
    /// Sum of 1/response time [1/s].
    inverse_sum: f64,
    /// Start and departure of the first bursts, as many as are recorded.
    sent: Vec<(Time, Time)>,
    record: usize,
}

/// The bursts that arrive at an end.
#[derive(Clone, Debug)]
struct Incoming {
    size: u64,
    /// Number of the last data cell that arrived, counted from 1.
    last: u64,
    complete: u64,
    arrivals: Vec<Time>,
    record: u64,
}

impl Conversation {
    /// The end that asks; its first line takes `cell_time` for a cell.
    pub(super) fn client(model: &RequestResponse, cell_time: Duration) -> Conversation {
        let part = Part::Client {
            requests: model.requests,
            missing: 0,
            request_gap: model.request_gap,
            cycle_gap: model.cycle_gap,
            end: model.end,
        };
        let mut client = Conversation {
            part,
            outgoing: Outgoing::new(model.request, model, cell_time),
            incoming: Incoming::new(model.response, model),
        };
        client.begin_cycle(model.start);
        client
    }

    /// The end that answers.
    pub(super) fn server(model: &RequestResponse, cell_time: Duration) -> Conversation {
        Conversation {
            part: Part::Server { time: model.server_time },
            outgoing: Outgoing::new(model.response, model, cell_time),
            incoming: Incoming::new(model.request, model),
        }
    }

    /// This end with the last cell of each burst that it sends [marked](crate::cell::Cell::ends_pdu), or not (default).
    pub(super) fn marking(mut self, marks_last: bool) -> Conversation {
        self.outgoing.marks_last = marks_last;
        self
    }

    pub(super) fn next(&self) -> Time {
        let Outgoing { waiting, spacing, sent_of_first, .. } = &self.outgoing;
        waiting.front().map_or(Time::NEVER, |&start| start + *spacing * u64::from(*sent_of_first))
    }

    /// The waiting cell leaves at `now`; whether it bears the mark of the last one.
    pub(super) fn take(&mut self, now: Time) -> bool {
        self.outgoing.take(now) && self.outgoing.marks_last
    }

    /// How many cells of the first burst wait at `at`, and will at each `spacing` after that; and whether the last of
    /// them bears the mark of the last one.
    pub(super) fn run(&self, at: Time, spacing: Duration) -> (u32, bool) {
        let Outgoing { waiting, size, spacing: gap, sent_of_first, marks_last, .. } = &self.outgoing;
        let Some(&start) = waiting.front() else { return (0, false) };
        let end = start.saturating_add(gap.saturating_mul(u64::from(*size)));
        let left = size - sent_of_first;
        let count = run_of(self.next(), end, *gap, at, spacing).min(left);
        (count, *marks_last && count == left)
    }

    /// `count` cells of a [run](Conversation::run) have left, the last one at `last`.
    pub(super) fn take_run(&mut self, count: u32, last: Time) {
        self.outgoing.sent_of_first += count - 1;
        self.outgoing.take(last);
    }

    pub(super) fn waiting(&self, now: Time) -> u64 {
        let Outgoing { waiting, size, spacing, sent_of_first, .. } = &self.outgoing;
        let arrived = |&start: &Time| {
            if start > now { 0 } else { (now.since(start).div_floor(*spacing) + 1).min(u64::from(*size)) }
        };
        waiting.iter().map(arrived).sum::<u64>().saturating_sub(u64::from(*sent_of_first))
    }

    /// Whether data cell number `sequence` (modulo 2^30), the next one to arrive, makes a burst complete.
    #[inline]
    pub fn completes_burst(&self, sequence: u32) -> bool {
        self.incoming.last_with(sequence) >= self.incoming.completes_at()
    }

    pub(super) fn on_delivered(&mut self, now: Time, sequence: u32) -> bool {
        let complete = self.incoming.on_cell(now, sequence);
        if complete == 0 {
            return false;
        }
        match &mut self.part {
            Part::Server { time } => {
                let begin = now.saturating_add(*time);
                (0..complete).for_each(|_| self.outgoing.push(begin));
                true
            }
            Part::Client { missing, cycle_gap, .. } => {
                *missing = missing.saturating_sub(complete as u32);
                let begin = now.saturating_add(*cycle_gap);
                *missing == 0 && self.begin_cycle(begin)
            }
        }
    }

    /// The requests of a cycle, from `start` on; none when that is the end.
    fn begin_cycle(&mut self, start: Time) -> bool {
        let Part::Client { requests, missing, request_gap, end, .. } = &mut self.part else { return false };
        if start >= *end {
            return false;
        }
        *missing = *requests;
        let mut begin = start;
        for _ in 0..*requests {
            self.outgoing.push(begin);
            begin = self.outgoing.free.saturating_add(*request_gap);
        }
        true
    }

    /// "request" or "response": what this end sends.
    pub fn role(&self) -> &'static str {
        match self.part {
            Part::Client { .. } => "request",
            Part::Server { .. } => "response",
        }
    }

    /// Cells of each burst that this end sends.
    pub fn size(&self) -> u32 {
        self.outgoing.size
    }

    /// Bursts of this end that have left whole.
    pub fn completed(&self) -> u64 {
        self.outgoing.completed
    }

    /// From the arrival of each burst's first cell here to the departure of its last bit.
    pub(crate) fn response_times(&self) -> &Histogram {
        &self.outgoing.response_times
    }

    /// Mean of 1/response time [1/s]; `None` before the first burst has left.
    pub fn mean_inverse_response(&self) -> Option<f64> {
        let Outgoing { completed, inverse_sum, .. } = self.outgoing;
        (completed > 0).then(|| inverse_sum / completed as f64)
    }

    /// Arrival here and departure of the first bursts, as many as are recorded.
    pub fn sent(&self) -> &[(Time, Time)] {
        &self.outgoing.sent
    }

    /// Statistics of bursts begin anew; the single ones stay.
    pub fn begin_statistics(&mut self) {
        self.outgoing.response_times = Histogram::default();
        (self.outgoing.completed, self.outgoing.inverse_sum) = (0, 0.0);
    }

    /// When the first bursts of the other end arrived here whole, as many as are recorded.
    pub fn arrivals(&self) -> &[Time] {
        &self.incoming.arrivals
    }
}

impl Outgoing {
    fn new(size: u32, model: &RequestResponse, cell_time: Duration) -> Outgoing {
        Outgoing {
            size,
            spacing: model.rate.interval(),
            cell_time,
            waiting: VecDeque::new(),
            sent_of_first: 0,
            marks_last: false,
            free: Time::ZERO,
            response_times: Histogram::default(),
            completed: 0,
            inverse_sum: 0.0,
            sent: Vec::new(),
            record: model.record as usize,
        }
    }

    /// The application begins a burst at `start`, or when it has done with the one before.
    fn push(&mut self, start: Time) {
        let start = start.max(self.free);
        self.waiting.push_back(start);
        self.free = start.saturating_add(self.spacing.saturating_mul(u64::from(self.size)));
    }

    /// The waiting cell leaves at `now`; whether it is the last one of its burst.
    fn take(&mut self, now: Time) -> bool {
        self.sent_of_first += 1;
        if self.sent_of_first < self.size {
            return false;
        }
        self.sent_of_first = 0;
        let Some(start) = self.waiting.pop_front() else { return true };
        let departed = now + self.cell_time;
        let span = departed.since(start);
        self.completed += 1;
        self.response_times.record(span);
        self.inverse_sum += 1.0 / span.as_secs_f64();
        if self.sent.len() < self.record {
            self.sent.push((start, departed));
        }
        true
    }
}

impl Incoming {
    fn new(size: u32, model: &RequestResponse) -> Incoming {
        Incoming {
            size: u64::from(size),
            last: 0,
            complete: 0,
            arrivals: Vec::new(),
            record: u64::from(model.record),
        }
    }

    /// Bursts that are complete with this cell.
    #[inline]
    fn on_cell(&mut self, now: Time, sequence: u32) -> u64 {
        self.last = self.last_with(sequence);
        if self.last < self.completes_at() { 0 } else { self.complete(now) }
    }

    /// The number of a data cell that arrives next, by what of it is in the cell.
    #[inline]
    fn last_with(&self, sequence: u32) -> u64 {
        self.last + (u64::from(sequence).wrapping_sub(self.last) & SEQUENCE_MASK)
    }

    /// The number of the cell with which the next burst is complete.
    #[inline]
    fn completes_at(&self) -> u64 {
        (self.complete + 1) * self.size
    }

    fn complete(&mut self, now: Time) -> u64 {
        let complete = self.last / self.size - self.complete;
        for _ in 0..complete.min(self.record.saturating_sub(self.complete)) {
            self.arrivals.push(now);
        }
        self.complete += complete;
        complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cellrate_proto::CellRate;

    /// Cells 100 ps apart; 20 ps on the line.
    fn model() -> RequestResponse {
        RequestResponse {
            request: 2,
            response: 3,
            requests: 1,
            request_gap: Duration::from_ps(50),
            cycle_gap: Duration::from_ps(1_000),
            server_time: Duration::ZERO,
            rate: CellRate::new(1e10),
            start: Time::from_ps(10),
            end: Time::NEVER,
            record: 2,
        }
    }

    const LINE: Duration = Duration::from_ps(20);

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    /// The times of the cells that an end has to send, each sent when it comes.
    fn drain(end: &mut Conversation) -> Vec<u64> {
        let next = || {
            let time = end.next();
            (time != Time::NEVER).then(|| {
                end.take(time);
                time.as_ps()
            })
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn a_cycle_follows_the_last_response_by_the_cycle_gap() {
        let mut client = Conversation::client(&model(), LINE);
        assert_eq!(drain(&mut client), [10, 110]);
        assert!(!client.on_delivered(at(500), 1));
        assert!(!client.on_delivered(at(600), 2));
        assert!(client.on_delivered(at(700), 3));
        assert_eq!(drain(&mut client), [1_700, 1_800]);
    }

    #[test]
    fn a_response_begins_when_the_request_is_whole_and_the_server_is_done() {
        let mut server = Conversation::server(&RequestResponse { server_time: LINE, ..model() }, LINE);
        assert_eq!(server.next(), Time::NEVER);
        assert!(!server.on_delivered(at(500), 1));
        assert!(server.on_delivered(at(600), 2));
        assert_eq!(drain(&mut server), [620, 720, 820]);
    }

    #[test]
    fn requests_of_a_cycle_keep_their_gap_and_all_responses_are_awaited() {
        let mut client = Conversation::client(&RequestResponse { requests: 2, ..model() }, LINE);
        // 2 cells of 100 ps from 10 on, then 50 ps.
        assert_eq!(drain(&mut client), [10, 110, 260, 360]);
        let answers: Vec<bool> =
            (1..=6).map(|cell| client.on_delivered(at(1_000 + cell), cell as u32)).collect();
        assert_eq!(answers, [false, false, false, false, false, true]);
        assert_eq!(client.next(), at(2_006));
    }

    #[test]
    fn a_response_waits_for_the_one_before_it() {
        let mut server = Conversation::server(&model(), LINE);
        for (ps, cell) in [(500, 1), (501, 2), (502, 3), (503, 4)] {
            server.on_delivered(at(ps), cell);
        }
        // The second burst is not handed over before the first: 501 + 3 * 100.
        assert_eq!(server.waiting(at(500)), 0);
        assert_eq!(server.waiting(at(601)), 2);
        assert_eq!(server.waiting(at(100_000)), 6);
        assert_eq!(drain(&mut server), [501, 601, 701, 801, 901, 1_001]);
    }

    #[test]
    fn a_run_is_one_burst_at_most() {
        let mut server = Conversation::server(&model(), LINE);
        for cell in 1..=4 {
            server.on_delivered(at(500 + u64::from(cell)), cell);
        }
        // From 502 on three cells, 100 ps apart, and three more behind them.
        let every = Duration::from_ps(100);
        assert_eq!([501, 502, 9_000].map(|ps| server.run(at(ps), every).0), [0, 3, 3]);
        assert_eq!(server.run(at(520), Duration::from_ps(95)), (3, false), "at 520, 615 and 710");
        assert_eq!(
            server.run(at(511), Duration::from_ps(95)),
            (2, false),
            "the third would leave at 701, and comes at 702"
        );
        let marking = server.clone().marking(true);
        assert_eq!(marking.run(at(520), Duration::from_ps(95)), (3, true));
        assert_eq!(marking.run(at(511), Duration::from_ps(95)), (2, false), "one of the burst is left");
        let mut cell_by_cell = server.clone();
        assert_eq!([502, 602, 702].map(|ps| cell_by_cell.take(at(ps))), [false; 3]);
        let mut marked = marking;
        assert_eq!([502, 602, 702, 802].map(|ps| marked.take(at(ps))), [false, false, true, false]);
        server.take_run(2, at(602));
        assert_eq!(server.run(at(702), every), (1, false));
        server.take_run(1, at(702));
        assert_eq!((server.sent(), server.next()), (cell_by_cell.sent(), cell_by_cell.next()));
        assert_eq!(server.sent(), [(at(502), at(722))]);
    }

    #[test]
    fn a_burst_is_complete_with_its_last_cell_or_one_behind_it() {
        let mut client = Conversation::client(&model(), LINE);
        assert_eq!([1, 2, 3, 4].map(|cell| client.completes_burst(cell)), [false, false, true, true]);
        client.on_delivered(at(500), 2);
        client.on_delivered(at(600), 4);
        assert_eq!([5, 6].map(|cell| client.completes_burst(cell)), [false, true]);
    }

    #[test]
    fn no_cycle_begins_at_the_end() {
        for (end, more) in [(1_700, false), (1_701, true)] {
            let mut client = Conversation::client(&RequestResponse { end: at(end), ..model() }, LINE);
            drain(&mut client);
            assert_eq!(client.on_delivered(at(700), 3), more);
        }
    }

    #[test]
    fn the_response_time_is_from_first_arrival_to_last_bit() {
        let mut client = Conversation::client(&model(), LINE);
        client.take(at(400));
        client.take(at(500));
        assert_eq!(client.sent(), [(at(10), at(520))]);
        assert_eq!((client.completed(), client.response_times().max_s()), (1, Some(510e-12)));
        let inverse = client.mean_inverse_response().unwrap();
        assert!((inverse * 510e-12 - 1.0).abs() < 1e-12, "{inverse}");
    }

    #[test]
    fn single_bursts_are_listed_up_to_the_record_and_counted_beyond() {
        let mut server = Conversation::server(&model(), LINE);
        for cell in 1..=8 {
            server.on_delivered(at(1_000 * cell), cell as u32);
        }
        drain(&mut server);
        assert_eq!(
            (server.completed(), server.sent().len(), server.arrivals()),
            (4, 2, &[at(2_000), at(4_000)][..])
        );
    }

    #[test]
    fn a_lost_cell_ends_its_burst_with_the_next_that_arrives() {
        let mut server = Conversation::server(&model(), LINE);
        server.on_delivered(at(1), 1);
        // Cell 2, the last of the first request, is lost; 3 and 4 are the second.
        assert!(server.on_delivered(at(3), 3));
        assert!(server.on_delivered(at(4), 4));
        assert_eq!(drain(&mut server).len(), 6);
    }

    #[test]
    fn numbers_of_cells_go_on_past_their_30_bits() {
        let mut incoming = Incoming::new(2, &model());
        incoming.last = SEQUENCE_MASK - 1;
        incoming.complete = incoming.last / 2;
        assert_eq!(incoming.on_cell(at(1), SEQUENCE_MASK as u32), 0);
        assert_eq!(incoming.on_cell(at(2), 0), 1);
        assert_eq!(incoming.last, SEQUENCE_MASK + 1);
    }
}
