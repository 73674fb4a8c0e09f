//! Rules by which a switch reduces RIF, RDF, TBE and ICR at set-up: by the round trip as far as it is known, the
//! bottleneck as PCR shows it, and what the switch has left (paper abr-parameters, sections 5.2.1, 5.2.2 and 6.2.1,
//! and its tables of who modifies what by what).
//!
//! The paper says which way a value goes and by what; where it gives no formula, the figure is chosen here and said.

use crate::parameters::PowerOfTwo;
use crate::units::{CellRate, Cells, Duration};

/// Largest TBE that signalling carries \[cells\]: 24 bits.
const MOST_EXPOSURE: u64 = (1 << 24) - 1;

/// Which parameters a switch reduces by the rules of this module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rules {
    /// RIF, to [`largest_rif`]; for switches that set bits, and those that do not mind slow steps.
    pub rif: bool,
    /// RDF, to [`largest_rdf`], as far as RIF was cut, too.
    pub rdf: bool,
    /// TBE, to [`largest_exposure`].
    pub tbe: bool,
    /// ICR, to [`largest_initial_rate`].
    pub icr: bool,
}

/// Rate and room that a switch has left for a connection on the link that it sends on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resources {
    /// Rate that is not promised to others [cells/s].
    pub rate: CellRate,
    /// Room of the buffer of ABR; `None` without limit.
    pub buffer: Option<Cells>,
    /// ABR connections that share both, this one included; at least 1.
    pub sharers: u64,
}

/// BRMs that come back to a source in a round trip at PCR, each a step of RIF or RDF; at least 1 [no unit].
pub fn steps(pcr: CellRate, frtt: Duration, nrm: u32) -> f64 {
    (pcr.as_cells_per_s() * frtt.as_secs_f64() / f64::from(nrm)).max(1.0)
}

/// Largest RIF where switches have no explicit rates, or mind large steps (section 5.2.1): 1/16, and less for speed and
/// round trip. All [`steps`] of a round trip together may add a quarter of PCR (chosen here).
///
/// ```
/// use cellrate_proto::negotiation::rules::largest_rif;
/// use cellrate_proto::{CellRate, Duration};
/// // 365,000 cells/s over 30 ms: 342 steps with Nrm = 32, so 1/1368 and down to 1/2048.
/// let rif = largest_rif(CellRate::new(365_000.0), Duration::from_ms(30), 32);
/// assert_eq!(rif.value(), 1.0 / 2048.0);
/// ```
pub fn largest_rif(pcr: CellRate, frtt: Duration, nrm: u32) -> PowerOfTwo {
    conservative(4.0 * steps(pcr, frtt, nrm))
}

/// Largest RDF there (section 5.2.2): 1/16, and less for speed and round trip. All [`steps`] of a round trip together
/// may take off 1 - e^(-1/2), 40 % (chosen here).
pub fn largest_rdf(pcr: CellRate, frtt: Duration, nrm: u32) -> PowerOfTwo {
    conservative(2.0 * steps(pcr, frtt, nrm))
}

/// The largest power of two up to 1/16 and 1/`parts`; 1/32768 at the least.
fn conservative(parts: f64) -> PowerOfTwo {
    let exponent = (4..15).find(|&k| f64::from(1_u32 << k) >= parts).unwrap_or(15);
    PowerOfTwo::from_negative_exponent(exponent).expect("an exponent from 4 to 15")
}

/// Largest TBE: what is on the way, PCR x FRTT, and what `buffers` hold (section 6.2.1); 24 bits at most. Where it is
/// less, rule 6 is triggered though nothing is wrong.
pub fn largest_exposure(pcr: CellRate, frtt: Duration, buffers: Cells) -> Cells {
    // Rounded up, unless the excess is that of a division.
    let on_the_way = pcr.as_cells_per_s() * frtt.as_secs_f64();
    let whole = libm::ceil(on_the_way - 1e-6 * on_the_way.max(1.0)) as u64;
    Cells(whole.saturating_add(buffers.0).min(MOST_EXPOSURE))
}

/// The rate that a connection can expect where so many share what a link has for ABR: its equal part (section 6.2.1,
/// "the anticipated ACR").
pub fn anticipated_rate(rate: CellRate, sharers: u64) -> CellRate {
    rate * (1.0 / sharers.max(1) as f64)
}

/// Largest ICR (section 6.2.1): the [`anticipated_rate`], and beyond it what fills the connection's part of the buffer
/// in the first round trip (chosen here). Without a round trip or a limit of the buffer none.
pub fn largest_initial_rate(resources: &Resources, frtt: Duration) -> Option<CellRate> {
    let Resources { rate, buffer, sharers } = *resources;
    let of_buffer = buffer.filter(|_| frtt > Duration::ZERO)?.0 as f64 / frtt.as_secs_f64();
    Some(anticipated_rate(rate, sharers) + anticipated_rate(CellRate::new(of_buffer), sharers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(cells_per_s: f64) -> CellRate {
        CellRate::new(cells_per_s)
    }

    #[test]
    fn factors_are_a_sixteenth_until_the_path_has_more_than_some_steps() {
        // 100,000 cells/s with Nrm = 32: 4 steps are 1.28 ms, 8 steps 2.56 ms.
        let at = |us: u64| {
            let frtt = Duration::from_us(us);
            [largest_rif(rate(1e5), frtt, 32), largest_rdf(rate(1e5), frtt, 32)].map(PowerOfTwo::value)
        };
        assert_eq!(at(0), [1.0 / 16.0, 1.0 / 16.0]);
        assert_eq!(at(1_280), [1.0 / 16.0, 1.0 / 16.0]);
        assert_eq!(at(1_281), [1.0 / 32.0, 1.0 / 16.0]);
        assert_eq!(at(2_561), [1.0 / 64.0, 1.0 / 32.0]);
        assert_eq!(at(1_000_000_000), [1.0 / 32_768.0; 2], "the least there is");
    }

    #[test]
    fn exposure_is_what_is_on_the_way_and_in_buffers() {
        // The paper's satellite: 365 cells/ms over 550 ms.
        let frtt = Duration::from_ms(550);
        assert_eq!(largest_exposure(rate(365e3), frtt, Cells(0)), Cells(200_750));
        assert_eq!(largest_exposure(rate(365e3), frtt, Cells(1_000)), Cells(201_750));
        assert_eq!(largest_exposure(rate(1.5), Duration::from_secs(1), Cells(0)), Cells(2));
        assert_eq!(largest_exposure(rate(1e9), frtt, Cells(1)), Cells(MOST_EXPOSURE));
    }

    #[test]
    fn the_initial_rate_is_a_part_of_what_is_left_and_of_what_the_buffer_takes_in_a_round_trip() {
        let resources = Resources { rate: rate(3e5), buffer: Some(Cells(600)), sharers: 3 };
        // 100,000, and 200 cells in 10 ms.
        assert_eq!(largest_initial_rate(&resources, Duration::from_ms(10)), Some(rate(120e3)));
        let without_limit = Resources { buffer: None, ..resources };
        assert_eq!(largest_initial_rate(&without_limit, Duration::from_ms(10)), None);
        assert_eq!(largest_initial_rate(&resources, Duration::ZERO), None);
    }
}
