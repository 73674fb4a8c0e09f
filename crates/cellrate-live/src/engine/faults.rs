//! Faults put on lines for tests.

use cellrate_engine::random::Random;
use cellrate_proto::wire::PAYLOAD_OCTETS;

use super::cell::Cell;

/// Faults put on every line for tests [probabilities, 0 to 1; default 0].
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Faults {
    /// That one bit of an RM cell's payload is wrong at the far end.
    pub rm_damage: f64,
    /// That a data cell is lost.
    pub data_loss: f64,
    /// That a datagram is lost.
    pub datagram_loss: f64,
    /// That a datagram is sent twice.
    pub duplicate: f64,
    /// That a datagram is sent after the one that follows it.
    pub reorder: f64,
}

/// Faults that a test puts on a line, beside those of the scenario.
#[derive(Debug)]
pub(crate) struct InjectedFaults {
    pub rates: Faults,
    pub random: Random,
}

impl InjectedFaults {
    /// Damages or loses a cell that the line carries, or as an error one that it loses, by chance; whether an RM cell
    /// was damaged.
    pub fn strike(&mut self, carried: Result<Cell, Cell>) -> (Result<Cell, Cell>, bool) {
        let (Ok(mut cell) | Err(mut cell)) = carried;
        if cell.is_oam() {
            return (carried, false);
        }
        if !cell.is_rm() {
            let loses = self.rates.data_loss > 0.0 && self.random.uniform() < self.rates.data_loss;
            return (if loses { Err(cell) } else { carried }, false);
        }
        let damages = self.rates.rm_damage > 0.0 && self.random.uniform() < self.rates.rm_damage;
        if damages {
            let bit = (self.random.uniform() * (8 * PAYLOAD_OCTETS) as f64) as usize;
            cell.payload[bit / 8] ^= 0x80 >> (bit % 8);
        }
        (carried.map(|_| cell).map_err(|_| cell), damages)
    }
}
