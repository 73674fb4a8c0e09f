//! Kinds of traffic: what all of them say of themselves, and the choice among them.

use std::fmt;

use cellrate_proto::declaration::Shape;
use cellrate_proto::{CellRate, Duration, Time};

use super::Traffic;
use crate::text::error::Fault;
use crate::text::reading::optional;
use crate::text::tree::{Node, Table};
use crate::text::{check, quantity};
use crate::values::{ClockOffset, Period};

/// A kind of traffic as a scenario writes it.
pub(crate) trait Declared: TrafficKind + Sized {
    /// Its `type`, a sentence on it, and its keys.
    const SHAPE: Shape;

    /// Its table as the traffic of a call, which has no start and no end of its own; with it goes
    /// [`for_call`](TrafficKind::for_call). Default none: calls do not send it.
    const FOR_CALLS: Option<Shape> = None;

    /// The traffic that a table describes, which has been checked against the keys, of a sender with this peak rate.
    ///
    /// # Errors
    /// A key that is missing, or values that do not fit together.
    fn read(node: &Node, table: &Table, peak: CellRate) -> Result<Self, Fault>;
}

/// Open-loop traffic that says itself when its cells come.
pub trait Generated: TrafficKind + Sized {
    /// Its cells. `D` is where chance comes from.
    type Cells<D: Draws>: Generate;

    /// The cells, none of which has left. `draws` is asked for where chance decides.
    fn cells<D: Draws>(&self, draws: impl FnOnce() -> D) -> Self::Cells<D>;
}

/// Traffic as a scenario has to know it. A kind that does not answer is taken for one of which nothing is known
/// beforehand, which holds for any.
pub trait TrafficKind {
    /// Makes everything later by `phase`.
    fn delay(&mut self, phase: Duration);

    /// Makes rates true that the host keeps by its own clock, which is fast by `offset`. Default: it names no rate.
    fn scale(&mut self, offset: ClockOffset) {
        let _ = offset;
    }

    /// The instants at which it begins or ends, or its rate changes. Default none.
    fn changes(&self) -> Vec<Time> {
        Vec::new()
    }

    /// Whether it has data at `at`, as far as that is known beforehand. Default true.
    fn sends_at(&self, at: Time) -> bool {
        let _ = at;
        true
    }

    /// The one rate of a sender that may send at `peak`, from the start of the traffic to the end of the run. Default
    /// none.
    fn rate(&self, peak: CellRate) -> Option<CellRate> {
        let _ = peak;
        None
    }

    /// The rate of such a sender at `at`, an instant at which it [sends](TrafficKind::sends_at), where that says more
    /// than [`rate`](TrafficKind::rate). Default none.
    fn rate_at(&self, at: Time, peak: CellRate) -> Option<CellRate> {
        let _ = (at, peak);
        None
    }

    /// Its mean rate, if that is known. Default none.
    fn mean_rate(&self) -> Option<CellRate> {
        None
    }

    /// Whether a sender with a constant peak sends at one rate, or not at all, from `from` to `to`. Default false.
    fn is_steady(&self, from: Time, to: Time) -> bool {
        let _ = (from, to);
        false
    }

    /// The least distance of its cells where it is kept to the picosecond, zero where they may come together. Default
    /// none.
    fn fixed_spacing(&self) -> Option<Duration> {
        None
    }

    /// Whether its cells come at instants that depend on nothing but itself, or are always there: then a port to which
    /// only such traffic comes may be worked out ahead, where ends of PDUs need not be seen. Default false.
    fn is_autonomous(&self) -> bool {
        false
    }

    /// Memory that it takes in a run beyond what every direction takes \[octets\]. Default 0.
    fn octets(&self) -> u64 {
        0
    }

    /// Gives traffic of this kind for a call that lasts from `start` to `end`. Default none: calls do not send it.
    fn for_call(&self, start: Time, end: Time) -> Option<Traffic> {
        let _ = (start, end);
        None
    }
}

/// Makes the times of traffic that has data from its field `start` on until its field `end`, within the `impl` of
/// [`TrafficKind`].
macro_rules! sends_from_start_to_end {
    () => {
        fn delay(&mut self, phase: Duration) {
            self.start = self.start.saturating_add(phase);
            self.end = self.end.saturating_add(phase);
        }

        fn changes(&self) -> Vec<Time> {
            vec![self.start, self.end]
        }

        fn sends_at(&self, at: Time) -> bool {
            self.start <= at && at < self.end
        }
    };
}
pub(super) use sends_from_start_to_end;

/// Data cells as they come, pulled one by one: asked when, from some instant on, one waits, and told when one leaves.
pub trait Generate: Clone + fmt::Debug {
    /// The first instant, not before `from`, at which a cell waits; [`Time::NEVER`] when no cell comes any more.
    fn available_from(&self, from: Time) -> Time;

    /// The waiting cell leaves at `now`.
    fn take(&mut self, now: Time);

    /// Cells that have come by `now` and wait \[cells\]; `None` where nothing queues, because there is data when it can
    /// be sent, and not before.
    fn waiting(&self, now: Time) -> Option<u64>;

    /// How many cells wait at `at`, and will at each `spacing` after that. Zero says nothing, and is the default.
    fn run(&self, at: Time, spacing: Duration) -> u32 {
        let _ = (at, spacing);
        0
    }

    /// `count` cells of a [run](Generate::run), at least one, have left.
    fn take_run(&mut self, count: u32) {
        unreachable!("traffic without runs has none of {count} cells");
    }

    /// Passes over cells that came before `start` and wait: who begins late does not send them after all.
    fn skip_until(&mut self, start: Time) {
        if self.waiting(Time::ZERO).is_none() {
            return;
        }
        loop {
            let next = self.available_from(Time::ZERO);
            if next >= start {
                return;
            }
            self.take(next);
        }
    }
}

/// A stream of random numbers.
pub trait Draws: Clone + fmt::Debug {
    /// An exponentially distributed time with this mean.
    fn exponential(&mut self, mean: Duration) -> Duration;

    /// A Pareto distributed time with this mean and shape, above 1.
    fn pareto(&mut self, mean: Duration, alpha: f64) -> Duration;

    /// The rest of such a time from an instant that does not depend on it.
    fn pareto_left(&mut self, mean: Duration, alpha: f64) -> Duration;

    /// A number that is uniform from 0 (included) to 1 (not included).
    fn uniform(&mut self) -> f64;

    /// A length of this period.
    fn period(&mut self, period: Period) -> Duration {
        match period {
            Period::Fixed(span) => span,
            Period::Exponential(mean) => self.exponential(mean),
            Period::Pareto(mean, alpha) => self.pareto(mean, alpha),
        }
    }

    /// The rest of a period from an instant that does not depend on it.
    fn period_left(&mut self, period: Period) -> Duration {
        match period {
            Period::Fixed(span) => Duration::from_secs_f64(span.as_secs_f64() * self.uniform()),
            Period::Exponential(mean) => self.exponential(mean),
            Period::Pareto(mean, alpha) => self.pareto_left(mean, alpha),
        }
    }
}

/// The rate of data cells, which must be there.
pub(super) fn required_rate(node: &Node, table: &Table) -> Result<CellRate, Fault> {
    let rate = optional(table, "rate", quantity::positive_cell_rate)?;
    rate.ok_or_else(|| check::missing(node.place, "rate", "such as \"10 Mbps\""))
}

/// A generator of numbers without period in what a test draws (Steele, Lea, Flood: SplitMix64, OOPSLA 2014).
#[cfg(test)]
#[derive(Clone, Debug)]
pub(crate) struct SplitMix(pub u64);

#[cfg(test)]
impl Draws for SplitMix {
    fn exponential(&mut self, mean: Duration) -> Duration {
        Duration::from_secs_f64(-mean.as_secs_f64() * (1.0 - self.uniform()).ln())
    }

    fn pareto(&mut self, mean: Duration, alpha: f64) -> Duration {
        let least = mean.as_secs_f64() * (alpha - 1.0) / alpha;
        Duration::from_secs_f64(least * (1.0 - self.uniform()).powf(-1.0 / alpha))
    }

    fn pareto_left(&mut self, mean: Duration, alpha: f64) -> Duration {
        let least = mean.as_secs_f64() * (alpha - 1.0) / alpha;
        let drawn = self.uniform();
        Duration::from_secs_f64(match drawn * alpha < alpha - 1.0 {
            true => drawn * mean.as_secs_f64(),
            false => least * (alpha * (1.0 - drawn)).powf(-1.0 / (alpha - 1.0)),
        })
    }

    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((word ^ (word >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Nothing is drawn in a test whose traffic is not left to chance.
#[cfg(test)]
#[derive(Clone, Debug)]
pub(crate) struct NoDraws;

#[cfg(test)]
impl Draws for NoDraws {
    fn exponential(&mut self, mean: Duration) -> Duration {
        unreachable!("nothing is drawn, and not with a mean of {mean}");
    }

    fn pareto(&mut self, mean: Duration, _: f64) -> Duration {
        self.exponential(mean)
    }

    fn pareto_left(&mut self, mean: Duration, _: f64) -> Duration {
        self.exponential(mean)
    }

    fn uniform(&mut self) -> f64 {
        unreachable!("nothing is drawn");
    }
}

/// Makes everything that chooses among kinds of traffic by enum. Of `others` it needs the variant with what it holds,
/// and the type that declares itself.
macro_rules! kinds {
    (
        open_loop { $($module:ident::$name:ident),+ $(,)? }
        others { $($(#[$about:meta])* $other:ident($holder:ty) of $declared:ty),+ $(,)? }
    ) => {
        $(pub use $module::$name;)+

        /// Traffic of a sending end.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Traffic {
            $(
                #[doc = concat!("[`struct@", stringify!($name), "`].")]
                $name($name),
            )+
            $(
                $(#[$about])*
                $other($holder),
            )+
            /// Calls of a [demand](crate::Demand), one after the other: each sends this while it lasts, from its
            /// beginning on. It has a form [for calls](TrafficKind::for_call).
            Call(Arc<Traffic>),
            /// Flows of a [demand](crate::Demand), one after the other: each sends its octets as fast as the sender
            /// may.
            Transfers(Datagrams),
            /// Virtual channels that share the ACR of the sender, which is that of a virtual path.
            Channels(Box<[Channel]>),
        }

        /// Declarations of open-loop traffic, in the order of the list: `type`, meaning and keys.
        pub const SHAPES: &[Shape] = &[$(<$name as Declared>::SHAPE),+];

        /// Declarations of what calls may send, each beside its `type`, in the order of the list.
        pub(crate) const FOR_CALLS: &[(&str, Option<Shape>)] =
            &[$((<$name as Declared>::SHAPE.name, <$name as Declared>::FOR_CALLS)),+];

        /// Declarations of the others, in the order of the list.
        pub(crate) const OTHERS: &[Shape] = &[$(<$declared as Declared>::SHAPE),+];

        impl Traffic {
            /// The traffic of this `type` that a checked table describes, of a sender with this peak rate; `None` where
            /// there is none.
            pub(crate) fn declared(
                name: &str,
                node: &Node,
                table: &Table,
                peak: CellRate,
            ) -> Option<Result<Traffic, Fault>> {
                $(if name == <$name as Declared>::SHAPE.name {
                    return Some(<$name as Declared>::read(node, table, peak).map(Traffic::$name));
                })+
                $(if name == <$declared as Declared>::SHAPE.name {
                    let read = <$declared as Declared>::read(node, table, peak);
                    return Some(read.map(|traffic| Traffic::$other(traffic.into())));
                })+
                None
            }

            /// Its kind, which says what is known of it.
            pub fn kind(&self) -> &dyn TrafficKind {
                match self {
                    $(Traffic::$name(traffic) => traffic,)+
                    $(Traffic::$other(traffic) => <$holder as Borrow<$declared>>::borrow(traffic),)+
                    Traffic::Call(call) => call,
                    Traffic::Transfers(datagrams) => datagrams,
                    Traffic::Channels(channels) => channels,
                }
            }

            /// Its kind, to change it.
            pub fn kind_mut(&mut self) -> &mut dyn TrafficKind {
                match self {
                    $(Traffic::$name(traffic) => traffic,)+
                    $(Traffic::$other(traffic) => <$holder as BorrowMut<$declared>>::borrow_mut(traffic),)+
                    Traffic::Call(call) => call,
                    Traffic::Transfers(datagrams) => datagrams,
                    Traffic::Channels(channels) => channels,
                }
            }

            /// The cells of open-loop traffic, none of which has left; `None` for any other. `draws` is asked for where
            /// chance decides.
            pub fn generator<D: Draws>(&self, draws: impl FnOnce() -> D) -> Option<Generator<D>> {
                match self {
                    $(Traffic::$name(traffic) => Some(Generator::$name(Box::new(traffic.cells(draws)))),)+
                    $(Traffic::$other(_) => None,)+
                    Traffic::Call(_) | Traffic::Transfers(_) | Traffic::Channels(_) => None,
                }
            }
        }

        /// Cells of open-loop traffic.
        #[derive(Clone, Debug)]
        pub enum Generator<D: Draws> {
            $(
                #[doc = concat!("Those of [`struct@", stringify!($name), "`].")]
                $name(Box<<$name as Generated>::Cells<D>>),
            )+
        }

        impl<D: Draws> Generate for Generator<D> {
            #[inline]
            fn available_from(&self, from: Time) -> Time {
                match self { $(Generator::$name(cells) => cells.available_from(from),)+ }
            }

            #[inline]
            fn take(&mut self, now: Time) {
                match self { $(Generator::$name(cells) => cells.take(now),)+ }
            }

            fn waiting(&self, now: Time) -> Option<u64> {
                match self { $(Generator::$name(cells) => cells.waiting(now),)+ }
            }

            #[inline]
            fn run(&self, at: Time, spacing: Duration) -> u32 {
                match self { $(Generator::$name(cells) => cells.run(at, spacing),)+ }
            }

            #[inline]
            fn take_run(&mut self, count: u32) {
                match self { $(Generator::$name(cells) => cells.take_run(count),)+ }
            }
        }
    };
}
pub(super) use kinds;
