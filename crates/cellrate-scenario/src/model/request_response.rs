//! Requests and responses.

use cellrate_proto::{CellRate, Duration, Time};

use super::{ClockOffset, TrafficKind};

/// The closed-loop bursty model of paper uili, section 7.2.1: in each cycle the client sends requests, the server
/// answers each as soon as it has come in whole, and the next cycle begins some time after the last answer has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestResponse {
    /// Length of a request [cells, at least 1; 16 in the paper].
    pub request: u32,
    /// Length of a response [cells, at least 1].
    pub response: u32,
    /// Requests in a cycle [at least 1; 1 in the paper].
    pub requests: u32,
    /// From the end of one request to the beginning of the next in the same cycle, as the application hands them over.
    pub request_gap: Duration,
    /// From the arrival of a cycle's last response to the next cycle [1 ms in the paper].
    pub cycle_gap: Duration,
    /// From the arrival of a request to the beginning of its response [0 in the paper].
    pub server_time: Duration,
    /// Cells per second of a burst as the application hands it to its adapter [PCR in the paper].
    pub rate: CellRate,
    /// The first cycle.
    pub start: Time,
    /// No cycle at or after this.
    pub end: Time,
    /// How many bursts of each direction are listed one by one, from the first on; all of them are in the quantiles.
    pub record: u32,
}

impl TrafficKind for RequestResponse {
    fn delay(&mut self, phase: Duration) {
        self.start = self.start.saturating_add(phase);
        self.end = self.end.saturating_add(phase);
    }

    fn scale(&mut self, offset: ClockOffset) {
        self.rate = offset.of_rate(self.rate);
    }

    fn octets(&self) -> u64 {
        32 * u64::from(self.requests)
    }
}
