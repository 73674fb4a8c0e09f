//! Supplies of sending ends: those that a live run has too ([`CommonSupply`]), and those that only a simulation has.
//! [`Conversation`] alone is also told what arrives at its end, because that is what it answers.

mod call;
mod conversation;

use cellrate_proto::{CellRate, Duration, Time};
use cellrate_scenario::traffic::Generate;
use cellrate_scenario::{AdapterQueue, Datagrams, Flow, FlowIndex, Scenario, Traffic};

use crate::cell::Cell;
use crate::transport::Adapter;
pub use call::Calls;
use cellrate_engine::channels::Channels;
use cellrate_engine::plugins::{MissingPlugin, Plugins};
use cellrate_engine::processing::ProcessingTimes;
use cellrate_engine::random::{Owner, Random, Stream};
pub use cellrate_engine::supply::{CellSupply, CommonSupply};
use cellrate_engine::traffic::Mpeg2;
pub use cellrate_engine::traffic::{Burst, Frame, Frames, TrafficSource, Video};
pub use conversation::Conversation;

/// The data that one direction of a connection has to send.
#[derive(Debug)]
pub enum Supply {
    /// Always more.
    Endless,
    /// One that both worlds have.
    Common(CommonSupply<Cell>),
    /// Requests, or the responses to them.
    Conversation(Box<Conversation>),
    /// Segments of TCP, data or ACKs.
    Adapter(Box<Adapter>),
    /// Frames in datagrams.
    Frames(Box<Frames>),
    /// An MPEG-2 transport stream.
    Mpeg2(Box<Mpeg2>),
    /// Virtual channels of a virtual path.
    Channels(Box<Channels>),
    /// Calls, one after the other.
    Calls(Box<Calls>),
}

/// Direction that a supply feeds, with the facts about it that a supply may want.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    /// Its scenario; the seed of all randomness is there.
    pub scenario: &'a Scenario,
    /// The direction. Its name finds its streams.
    pub flow: FlowIndex,
    /// Time that its first line takes for a cell.
    pub cell_time: Duration,
    /// The end of the run.
    pub end: Time,
    /// Whether the last cell of each request and response bears the mark of the end of a PDU, for the end that receives
    /// it.
    pub marks_bursts: bool,
    /// Plugins of the run.
    pub plugins: Plugins<'a>,
}

impl Supply {
    /// Supply of one direction, ACKs of the TCP of the other direction included.
    ///
    /// # Errors
    /// Where the run was not given its traffic.
    pub fn new(site: Site<'_>) -> Result<Supply, MissingPlugin> {
        let Site { scenario, flow, cell_time, end, marks_bursts, plugins } = site;
        let (seed, other) = (scenario.seed, &scenario.flow(flow.other()).traffic);
        let Flow { sender, traffic, .. } = scenario.flow(flow);
        let owner = || Owner::flow(scenario, flow);
        let random = || Random::new(seed, Stream::Traffic(owner()));
        let adapter = |tcp| {
            let processing = ProcessingTimes::of(scenario, flow);
            Supply::Adapter(Box::new(Adapter::of(tcp, cell_time).with_processing(processing)))
        };
        if let Some(channels) = Channels::new(scenario, flow) {
            return Ok(Supply::Channels(Box::new(channels)));
        }
        Ok(match traffic {
            Some(Traffic::Tcp(tcp)) => adapter(tcp),
            Some(Traffic::Mpeg2(model)) => Supply::Mpeg2(Box::new(Mpeg2::new(model, random(), end))),
            Some(Traffic::Frames(frames)) => {
                Supply::Frames(Box::new(Frames::new(frames, sender.icr(), random(), end)))
            }
            None => match other {
                Some(Traffic::RequestResponse(model)) if flow.is_backward() => Supply::Conversation(
                    Box::new(Conversation::server(model, cell_time).marking(marks_bursts)),
                ),
                Some(Traffic::Tcp(tcp)) => adapter(tcp),
                _ => Supply::Common(CommonSupply::Nothing),
            },
            Some(Traffic::Greedy(greedy)) if greedy.windows.is_empty() => Supply::Endless,
            Some(Traffic::RequestResponse(model)) => {
                Supply::Conversation(Box::new(Conversation::client(model, cell_time).marking(marks_bursts)))
            }
            Some(Traffic::Transfers(Datagrams { header, encapsulation, .. })) => {
                let adapter = Adapter::new(*header, *encapsulation, AdapterQueue::Unbounded, cell_time);
                Supply::Adapter(Box::new(adapter))
            }
            Some(Traffic::Call(model)) => Supply::Calls(Box::new(Calls::new(model, seed, owner()))),
            Some(_) => match CommonSupply::of_traffic(scenario, flow, end, plugins)? {
                Some(common) => Supply::Common(common),
                None => unreachable!("traffic that is not of both worlds has its own supply"),
            },
        })
    }

    /// Data cell number `sequence` of the other direction (modulo 2^30), or of that channel of a path, which left at
    /// `sent`, arrived at this end. Whether that brought data to send: then the next transmission may be sooner.
    #[inline]
    pub fn on_delivered(&mut self, now: Time, sequence: u32, sent: Time) -> bool {
        match self {
            Supply::Channels(channels) => {
                channels.on_delivered(now, sequence, sent);
                false
            }
            Supply::Conversation(conversation) => conversation.on_delivered(now, sequence),
            _ => false,
        }
    }

    /// The frames, if this is a supply of them.
    pub fn frames(&self) -> Option<&Frames> {
        if let Supply::Frames(frames) = self { Some(frames) } else { None }
    }

    /// The channels of a path, if it is one.
    #[inline]
    pub fn channels(&self) -> Option<&Channels> {
        if let Supply::Channels(channels) = self { Some(channels) } else { None }
    }

    /// The conversation, if this is one.
    pub fn conversation(&self) -> Option<&Conversation> {
        match self {
            Supply::Conversation(conversation) => Some(conversation),
            _ => None,
        }
    }

    #[inline(never)]
    fn available_later(&self, from: Time) -> Time {
        match self {
            Supply::Endless => from,
            Supply::Common(common) => common.available_from(from),
            Supply::Conversation(conversation) => conversation.next().max(from),
            // What is in the queue came before `from`, and may have to be processed yet.
            Supply::Adapter(adapter) => {
                if adapter.waiting() > 0 {
                    from.max(adapter.ready())
                } else {
                    Time::NEVER
                }
            }
            Supply::Frames(frames) => frames.next().max(from),
            Supply::Mpeg2(stream) => stream.next().max(from),
            Supply::Channels(channels) => channels.available_from(from),
            Supply::Calls(calls) => calls.present().available_from(from),
        }
    }

    /// How many cells wait at `at`, and will at each `spacing` after that, as long as nothing arrives at this end, and
    /// whether the last of them is the last of its PDU. Zero says nothing.
    pub fn run(&self, at: Time, spacing: Duration) -> (u32, bool) {
        match self {
            Supply::Endless => (u32::MAX, false),
            Supply::Common(CommonSupply::Generated(cells)) => (cells.run(at, spacing), false),
            Supply::Adapter(adapter) if at < adapter.ready() => (0, false),
            Supply::Adapter(adapter) => (adapter.run(), true),
            Supply::Calls(calls) => calls.present().run(at, spacing),
            Supply::Conversation(conversation) => conversation.run(at, spacing),
            _ => (0, false),
        }
    }

    /// `count` cells of a [run](Supply::run) have left, the last one at `last`.
    pub fn take_run(&mut self, count: u32, last: Time) {
        match self {
            Supply::Endless => {}
            Supply::Common(CommonSupply::Generated(cells)) => cells.take_run(count),
            Supply::Adapter(adapter) => adapter.take_run(count, last),
            Supply::Calls(calls) => calls.present_mut().take_run(count, last),
            Supply::Conversation(conversation) => conversation.take_run(count, last),
            _ => unreachable!("other traffic has no runs"),
        }
    }

    /// The waiting cell leaves at `now`; whether it is the last of its PDU.
    #[inline(always)]
    pub fn take(&mut self, now: Time) -> bool {
        match self {
            Supply::Endless => {}
            Supply::Adapter(adapter) => return adapter.take(now),
            other => return other.take_other(now),
        }
        false
    }

    #[inline(never)]
    fn take_other(&mut self, now: Time) -> bool {
        match self {
            Supply::Common(common) => return common.take(now).is_some_and(|cell| cell.ends_pdu()),
            Supply::Endless => {}
            Supply::Conversation(conversation) => return conversation.take(now),
            Supply::Adapter(adapter) => return adapter.take(now),
            Supply::Frames(frames) => return frames.take(now),
            Supply::Mpeg2(stream) => return stream.take(),
            Supply::Channels(channels) => channels.take(now),
            Supply::Calls(calls) => return calls.present_mut().take(now),
        }
        false
    }

    /// The calls, if this is a supply of them, to begin one.
    pub fn calls_mut(&mut self) -> Option<&mut Calls> {
        if let Supply::Calls(calls) = self { Some(calls) } else { None }
    }

    /// The queue of PDUs, if this is one.
    pub fn adapter(&self) -> Option<&Adapter> {
        if let Supply::Adapter(adapter) = self { Some(adapter) } else { None }
    }

    /// The adapter, to change it.
    pub fn adapter_mut(&mut self) -> Option<&mut Adapter> {
        if let Supply::Adapter(adapter) = self { Some(adapter) } else { None }
    }
}

impl CellSupply for Supply {
    #[inline(always)]
    fn available_from(&self, from: Time) -> Time {
        match self {
            Supply::Endless => from,
            // A direction that has none but RM cells.
            Supply::Common(CommonSupply::Nothing) => Time::NEVER,
            Supply::Adapter(adapter) if adapter.waiting() > 0 => from.max(adapter.ready()),
            other => other.available_later(from),
        }
    }

    fn waiting(&self, now: Time) -> Option<u64> {
        match self {
            Supply::Endless => None,
            Supply::Common(common) => common.waiting(now),
            Supply::Conversation(conversation) => Some(conversation.waiting(now)),
            Supply::Adapter(adapter) => Some(adapter.waiting()),
            Supply::Frames(frames) => Some(frames.waiting(now)),
            Supply::Mpeg2(stream) => Some(stream.waiting(now)),
            Supply::Channels(channels) => channels.waiting(now),
            Supply::Calls(calls) => calls.present().waiting(now),
        }
    }

    #[inline]
    fn on_acr(&mut self, now: Time, acr: CellRate) {
        match self {
            Supply::Frames(frames) => frames.on_acr(now, acr),
            Supply::Common(common) => common.on_acr(now, acr),
            _ => {}
        }
    }
}
