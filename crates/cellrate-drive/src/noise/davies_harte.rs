//! Exact fractional Gaussian noise by circulant embedding (Davies and Harte, Biometrika 74, 1987): the covariances of
//! n + 1 values, laid in a circle of 2n, have a transform that is nowhere negative; Gaussian noise with that spectrum has
//! these covariances.

use super::fft::{Complex, transform};
use crate::random::Random;

pub fn sequence(count: usize, hurst: f64, random: &mut Random) -> Vec<f64> {
    let circle = 2 * count;
    let mut spectrum: Vec<Complex> =
        (0..circle).map(|k| Complex { re: covariance(k.min(circle - k), hurst), im: 0.0 }).collect();
    transform(&mut spectrum);
    for value in &mut spectrum {
        // Rounding alone can make it negative.
        let amplitude = libm::sqrt(value.re.max(0.0) / circle as f64);
        let [re, im] = random.gaussian_pair();
        *value = Complex { re: amplitude * re, im: amplitude * im };
    }
    transform(&mut spectrum);
    spectrum[..count].iter().map(|value| value.re).collect()
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
