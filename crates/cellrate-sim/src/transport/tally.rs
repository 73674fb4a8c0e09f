//! Tally of one end of a TCP connection, and of several one after the other.

use cellrate_proto::{Duration, Octets};

use super::duplex::Duplex;
use super::receiver::Receiver;
use super::sender::{Sender, SenderStatistics};

/// Counts of an end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Statistics of what it sent; `completed` is that of the last.
    pub statistics: SenderStatistics,
    /// Octets of it that it knows have come.
    pub acknowledged: Octets,
    /// Octets that its application has read.
    pub delivered: Octets,
    /// Marked segments that have come to it.
    pub marked: u64,
    /// cwnd of the last connection.
    pub cwnd: Octets,
    /// DCTCP's estimate of the last one that has any.
    pub alpha: Option<f64>,
    /// Smoothed round-trip time of the last one that has measured any.
    pub smoothed: Option<Duration>,
}

impl Tally {
    /// A sender by itself.
    pub fn of(sender: &Sender) -> Tally {
        Tally {
            statistics: *sender.statistics(),
            acknowledged: sender.acknowledged(),
            delivered: Octets::ZERO,
            marked: 0,
            cwnd: sender.window(),
            alpha: sender.alpha(),
            smoothed: sender.rto().smoothed(),
        }
    }

    /// A connection is over.
    pub fn add(&mut self, connection: &Duplex) {
        self.add_sender(connection.sender());
        self.delivered += connection.delivered();
        self.marked += connection.marked();
    }

    /// A receiver is done.
    pub fn add_receiver(&mut self, receiver: &Receiver) {
        self.delivered += receiver.delivered();
        self.marked += receiver.marked();
    }

    /// A sender is done.
    pub fn add_sender(&mut self, sender: &Sender) {
        self.statistics.add(sender.statistics());
        self.acknowledged += sender.acknowledged();
        self.cwnd = sender.window();
        self.alpha = sender.alpha().or(self.alpha);
        self.smoothed = sender.rto().smoothed().or(self.smoothed);
    }

    /// The tally with a connection that is not over.
    pub fn with(mut self, connection: Option<&Duplex>) -> Tally {
        connection.iter().for_each(|connection| self.add(connection));
        self
    }
}
