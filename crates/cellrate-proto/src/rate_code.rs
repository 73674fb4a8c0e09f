//! The 16-bit floating-point rates of RM cells (TM 4.0, 5.10.3.2; the same format as I.371's).

use core::fmt;

use crate::units::CellRate;

/// A rate as an RM cell carries it: one reserved bit (0), `nz`, 5 bits of exponent `e`, 9 bits of mantissa `m`;
/// nz * 2^e * (1 + m/512) cells/s. Neighbouring codes are 1/512 (0.2 %) apart.
///
/// ```
/// use cellrate_proto::{CellRate, RateCode};
/// let code = RateCode::floor(CellRate::new(366_792.45));
/// assert_eq!(code.rate(), CellRate::new(366_592.0)); // 2^18 * (1 + 204/512), not above what was asked
/// assert_eq!(RateCode::floor(CellRate::new(0.9)), RateCode::ZERO);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct RateCode(u16);

const NONZERO: u16 = 1 << 14;
const MANTISSA_BITS: u32 = 9;
const F64_MANTISSA_BITS: u32 = 52;
const F64_EXPONENT_BIAS: u64 = 1023;

impl RateCode {
    /// The code of rate zero.
    pub const ZERO: RateCode = RateCode(0);
    /// The largest rate there is a code for: 2^31 * (1 + 511/512) cells/s.
    pub const MAX: RateCode = RateCode(0x7fff);

    /// The largest code whose rate is not above `rate` (rounds down, so that a switch never grants more than it
    /// computed). Rates below 1 cell/s become zero, rates above the largest code become [`RateCode::MAX`].
    #[inline]
    pub fn floor(rate: CellRate) -> RateCode {
        let rate = rate.as_cells_per_s();
        if rate < 1.0 {
            return RateCode::ZERO;
        }
        if rate >= 4_294_967_296.0 {
            return RateCode::MAX;
        }
        // A double is 2^e * (1 + f/2^52) too: the exponent carries over, and dropping low mantissa bits rounds down.
        let bits = rate.to_bits();
        let exponent = (bits >> F64_MANTISSA_BITS) - F64_EXPONENT_BIAS;
        let mantissa = (bits >> (F64_MANTISSA_BITS - MANTISSA_BITS)) & 0x1ff;
        RateCode(NONZERO | ((exponent as u16) << MANTISSA_BITS) | mantissa as u16)
    }

    /// The rate this code stands for, exactly. With nz = 0 it is zero whatever the other bits.
    #[inline]
    pub fn rate(self) -> CellRate {
        if self.0 & NONZERO == 0 {
            return CellRate::ZERO;
        }
        let exponent = u64::from((self.0 >> MANTISSA_BITS) & 0x1f) + F64_EXPONENT_BIAS;
        let mantissa = u64::from(self.0 & 0x1ff) << (F64_MANTISSA_BITS - MANTISSA_BITS);
        CellRate::new(f64::from_bits((exponent << F64_MANTISSA_BITS) | mantissa))
    }

    /// The code whose 16 bits are `bits`; the reserved top bit is ignored, as a receiver must.
    pub const fn from_bits(bits: u16) -> RateCode {
        RateCode(bits & 0x7fff)
    }

    /// The 16 bits, the reserved one zero.
    pub const fn bits(self) -> u16 {
        self.0
    }
}

impl fmt::Debug for RateCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#06x} ({})", self.0, self.rate())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_decodes_by_the_formula_and_encodes_back_to_itself() {
        for bits in 0..=u16::MAX {
            let code = RateCode::from_bits(bits);
            let (nz, e, m) = ((bits >> 14) & 1, (bits >> 9) & 0x1f, bits & 0x1ff);
            let formula = f64::from(nz) * f64::from(e).exp2() * (1.0 + f64::from(m) / 512.0);
            assert_eq!(code.rate().as_cells_per_s(), formula, "{bits:#06x}");
            let canonical = if nz == 0 { RateCode::ZERO } else { code };
            assert_eq!(RateCode::floor(code.rate()), canonical, "{bits:#06x}");
        }
    }

    #[test]
    fn encoding_never_grants_more_and_loses_less_than_one_part_in_512() {
        for bits in NONZERO..RateCode::MAX.0 {
            let (here, next) = (RateCode(bits).rate(), RateCode(bits + 1).rate());
            let between = CellRate::new((here.as_cells_per_s() + next.as_cells_per_s()) / 2.0);
            assert_eq!(RateCode::floor(between), RateCode(bits));
            assert!(next.as_cells_per_s() / here.as_cells_per_s() <= 1.0 + 1.0 / 512.0);
        }
    }

    #[test]
    fn order_of_codes_is_order_of_rates() {
        for bits in NONZERO..RateCode::MAX.0 {
            assert!(RateCode(bits).rate() < RateCode(bits + 1).rate());
        }
    }

    #[test]
    fn the_ends_of_the_range() {
        assert_eq!(RateCode::floor(CellRate::new(1.0)).bits(), 0x4000);
        assert_eq!(RateCode::floor(CellRate::new(0.999)), RateCode::ZERO);
        assert_eq!(RateCode::floor(CellRate::new(f64::INFINITY)), RateCode::MAX);
        assert_eq!(RateCode::MAX.rate().as_cells_per_s(), 2_147_483_648.0 * (1.0 + 511.0 / 512.0));
    }
}
