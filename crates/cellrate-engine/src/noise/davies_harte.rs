//! Exact fractional Gaussian noise by circulant embedding (Davies and Harte, Biometrika 74, 1987): the covariances of
//! n + 1 values, laid in a circle of 2n, have a transform that is nowhere negative; Gaussian noise with that spectrum
//! has these covariances.

use super::fft::{Complex, transform};
use crate::random::Random;

/// Deviation of each frequency, which all sequences of a length and Hurst parameter have in common.
#[derive(Debug)]
pub struct Spectrum(Vec<f64>);

impl Spectrum {
    pub fn new(count: usize, hurst: f64) -> Spectrum {
        let circle = 2 * count;
        let mut spectrum: Vec<Complex> =
            (0..circle).map(|k| Complex { re: covariance(k.min(circle - k), hurst), im: 0.0 }).collect();
        transform(&mut spectrum);
        // Rounding alone can make it negative.
        Spectrum(spectrum.iter().map(|value| libm::sqrt(value.re.max(0.0) / circle as f64)).collect())
    }

    pub fn sequence(&self, random: &mut Random) -> Vec<f64> {
        let mut values: Vec<Complex> = Vec::with_capacity(self.0.len());
        for amplitude in &self.0 {
            let [re, im] = random.gaussian_pair();
            values.push(Complex { re: amplitude * re, im: amplitude * im });
        }
        transform(&mut values);
        values.truncate(self.0.len() / 2);
        values.iter().map(|value| value.re).collect()
    }
}

/// Covariance of two values `lag` apart: half the second difference of |lag|^2H.
fn covariance(lag: usize, hurst: f64) -> f64 {
    let power = |k: f64| libm::pow(k, 2.0 * hurst);
    let lag = lag as f64;
    0.5 * (power(lag + 1.0) - 2.0 * power(lag) + power((lag - 1.0).abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covariances_are_those_of_the_definition() {
        assert_eq!(covariance(0, 0.8), 1.0);
        assert!((covariance(1, 0.8) - 0.515_716_566).abs() < 1e-9);
        assert!(covariance(5, 0.5).abs() < 1e-12, "white noise");
    }
}
