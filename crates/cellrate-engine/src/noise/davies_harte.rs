//! Exact fractional Gaussian noise by circulant embedding (Davies and Harte, Biometrika 74, 1987): the covariances of
//! n + 1 values, laid in a circle of 2n, have a transform that is nowhere negative; Gaussian noise with that spectrum
//! has these covariances.

use super::fft::{Complex, Transform};
use crate::random::Random;

/// Deviation of each frequency and the transform, which all sequences of a length and Hurst parameter have in common.
#[derive(Debug)]
pub struct Spectrum {
    deviations: Vec<f64>,
    transform: Transform,
}

impl Spectrum {
    pub fn new(count: usize, hurst: f64) -> Spectrum {
        let circle = 2 * count;
        let mut spectrum: Vec<Complex> =
            (0..circle).map(|k| Complex { re: covariance(k.min(circle - k), hurst), im: 0.0 }).collect();
        let transform = Transform::new(circle);
        transform.run(&mut spectrum);
        // Rounding alone can make it negative.
        let deviation = |value: &Complex| libm::sqrt(value.re.max(0.0) / circle as f64);
        Spectrum { deviations: spectrum.iter().map(deviation).collect(), transform }
    }

    pub fn sequence(&self, random: &mut Random) -> Vec<f64> {
        let mut values: Vec<Complex> = Vec::with_capacity(self.deviations.len());
        for deviation in &self.deviations {
            let [re, im] = random.gaussian_pair();
            values.push(Complex { re: deviation * re, im: deviation * im });
        }
        self.transform.run(&mut values);
        values.truncate(self.deviations.len() / 2);
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
