//! Fractional Gaussian noise: sequences of mean 0 and variance 1 that are long-range dependent with a given Hurst
//! parameter.
//!
//! Every function here computes with additions, multiplications and `libm`'s functions in a fixed order, so that the
//! same seed gives the same sequence on every machine.

mod davies_harte;
mod fft;
mod paxson;
#[cfg(test)]
mod whittle;

use cellrate_scenario::NoiseMethod;

use crate::random::Random;

/// The spectrum of fractional Gaussian noise: most of the work, which all sequences of a method, a length and a Hurst
/// parameter have in common.
#[derive(Debug)]
pub enum Spectrum {
    /// Eigenvalues of the covariance.
    DaviesHarte(davies_harte::Spectrum),
    /// Power of each frequency.
    Paxson(paxson::Spectrum),
}

impl Spectrum {
    /// The spectrum of sequences of `count` values, a power of two from 4 on, with this Hurst parameter (from 0.5 to
    /// below 1). It is made for their first `values`, beyond which a sequence takes longer.
    pub fn new(method: NoiseMethod, count: usize, values: usize, hurst: f64) -> Spectrum {
        match method {
            NoiseMethod::DaviesHarte => Spectrum::DaviesHarte(davies_harte::Spectrum::new(count, hurst)),
            NoiseMethod::Paxson => Spectrum::Paxson(paxson::Spectrum::new(count, values, hurst)),
        }
    }

    /// The first `values` of a sequence of mean 0 and variance 1. As many numbers are drawn as for all of it.
    pub fn sequence(&self, random: &mut Random, values: usize) -> Vec<f64> {
        match self {
            Spectrum::DaviesHarte(spectrum) => spectrum.sequence(random, values),
            Spectrum::Paxson(spectrum) => spectrum.sequence(random, values),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Owner, Stream};

    const METHODS: [NoiseMethod; 2] = [NoiseMethod::DaviesHarte, NoiseMethod::Paxson];

    fn random(seed: u64) -> Random {
        Random::new(seed, Stream::Rates(Owner::named("vc"), 0))
    }

    /// 20 sequences of 2^16 values each.
    fn recovers(method: NoiseMethod) {
        for hurst in [0.6, 0.7, 0.8, 0.9] {
            let spectrum = Spectrum::new(method, 1 << 16, 1 << 16, hurst);
            for seed in 0..20 {
                let found = whittle::estimate(&spectrum.sequence(&mut random(seed), 1 << 16));
                assert!((found - hurst).abs() < 0.03, "{method:?}, seed {seed}: {found} for {hurst}");
            }
        }
    }

    #[test]
    fn the_hurst_parameter_of_the_exact_method_is_recovered() {
        recovers(NoiseMethod::DaviesHarte);
    }

    #[test]
    fn the_hurst_parameter_of_paxsons_method_is_recovered() {
        recovers(NoiseMethod::Paxson);
    }

    #[test]
    fn the_marginal_has_mean_0_and_variance_1_over_all_sequences() {
        for method in METHODS {
            let (mut sum, mut squares, mut above) = (0.0, 0.0, 0);
            let (sequences, length) = (200, 1 << 10);
            let spectrum = Spectrum::new(method, length, length, 0.7);
            for seed in 0..sequences {
                for value in spectrum.sequence(&mut random(seed), length) {
                    sum += value;
                    squares += value * value;
                    above += u32::from(value > 1.0);
                }
            }
            let count = (sequences as usize * length) as f64;
            // The mean of 1024 values has deviation 1024^(H - 1) = 0.125, that of 200 such 0.009.
            assert!((sum / count).abs() < 0.035, "{method:?}: mean {}", sum / count);
            assert!((squares / count - 1.0).abs() < 0.05, "{method:?}: variance {}", squares / count);
            // P(x > 1) = 0.1587 of a normal distribution.
            assert!((f64::from(above) / count - 0.1587).abs() < 0.01, "{method:?}: {above} above 1");
        }
    }

    #[test]
    fn the_exact_method_has_the_covariance_it_should() {
        // gamma(1) = (2^2H - 2) / 2 = 0.5157 for H = 0.8.
        let mut products = 0.0;
        let (sequences, length) = (300, 1 << 9);
        let spectrum = Spectrum::new(NoiseMethod::DaviesHarte, length, length, 0.8);
        for seed in 0..sequences {
            let values = spectrum.sequence(&mut random(seed), length);
            products += values.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() / (length - 1) as f64;
        }
        let covariance = products / sequences as f64;
        assert!((covariance - 0.5157).abs() < 0.03, "{covariance}");
    }

    #[test]
    fn the_beginning_of_a_sequence_is_that_of_the_whole_one() {
        for method in METHODS {
            for (made_for, values) in [(16, 16), (1 << 10, 1 << 10), (16, 1 << 9), (1 << 11, 100)] {
                let spectrum = Spectrum::new(method, 1 << 11, made_for, 0.8);
                let [mut of_part, mut of_whole] = [random(1), random(1)];
                let part = spectrum.sequence(&mut of_part, values);
                assert_eq!(part, spectrum.sequence(&mut of_whole, 1 << 11)[..values], "{method:?}");
                assert_eq!(of_part.bits(), of_whole.bits(), "the same numbers are drawn");
            }
        }
    }

    #[test]
    fn golden_values_hold_on_every_machine() {
        let first = METHODS
            .map(|method| Spectrum::new(method, 64, 64, 0.8).sequence(&mut random(1), 64)[..2].to_vec());
        assert_eq!(first, GOLDEN);
    }

    const GOLDEN: [[f64; 2]; 2] = [
        [-0.886_021_186_201_416_9, -0.293_146_730_710_945_4],
        [1.331_724_824_710_349_3, 2.566_314_149_133_621],
    ];
}
