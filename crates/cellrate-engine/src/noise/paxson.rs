//! Fractional Gaussian noise from an approximate spectrum (Paxson, Fast Approximation of Self-Similar Network Traffic,
//! LBL-36750, 1995): each frequency gets its power times an exponential variable of mean 1 and a uniform phase, and the
//! inverse transform is the sequence. Its mean over the whole sequence is 0.

use super::fft::{Complex, Transform};
use crate::random::Random;

/// Power of each frequency and the transform, which all sequences of a length and Hurst parameter have in common.
#[derive(Debug)]
pub struct Spectrum {
    /// From the first frequency on.
    power: Vec<f64>,
    /// The power of both sides together, which is the variance.
    total: f64,
    transform: Transform,
}

impl Spectrum {
    pub fn new(count: usize, hurst: f64) -> Spectrum {
        let half = count / 2;
        let frequency = |j: usize| 2.0 * std::f64::consts::PI * j as f64 / count as f64;
        let power: Vec<f64> = (1..=half).map(|j| density(frequency(j), hurst)).collect();
        let total = 2.0 * power.iter().sum::<f64>() - power[half - 1];
        Spectrum { power, total, transform: Transform::new(count) }
    }

    pub fn sequence(&self, random: &mut Random) -> Vec<f64> {
        let half = self.power.len();
        let count = 2 * half;
        let mut spectrum = vec![Complex::default(); count];
        for (j, power) in (1..=half).zip(&self.power) {
            let amplitude = libm::sqrt(power / self.total * -libm::log(1.0 - random.uniform()));
            let (sine, cosine) = libm::sincos(2.0 * std::f64::consts::PI * random.uniform());
            let value = Complex { re: amplitude * cosine, im: amplitude * sine };
            if j == half {
                // This one is its own mirror image, and so a real number; of twice the power to keep its share.
                spectrum[j] = Complex { re: value.re * std::f64::consts::SQRT_2, im: 0.0 };
            } else {
                spectrum[j] = value;
                spectrum[count - j] = Complex { re: value.re, im: -value.im };
            }
        }
        self.transform.run(&mut spectrum);
        spectrum.iter().map(|value| value.re).collect()
    }
}

/// Power of fractional Gaussian noise at the angular frequency `lambda`, up to a factor that does not depend on it for
/// a given H: Paxson's approximation, equations (4) to (8), within 0.5 % from H = 0.5 on.
pub fn density(lambda: f64, hurst: f64) -> f64 {
    let (d, d_prime) = (-2.0 * hurst - 1.0, -2.0 * hurst);
    let a = |k: f64| 2.0 * k * std::f64::consts::PI + lambda;
    let b = |k: f64| 2.0 * k * std::f64::consts::PI - lambda;
    let powers = |k: f64, exponent: f64| libm::pow(a(k), exponent) + libm::pow(b(k), exponent);
    let three = powers(1.0, d) + powers(2.0, d) + powers(3.0, d);
    let tail = (powers(3.0, d_prime) + powers(4.0, d_prime)) / (8.0 * hurst * std::f64::consts::PI);
    let sum = (1.0002 - 0.000_134 * lambda) * (three + tail - libm::pow(2.0, -7.65 * hurst - 7.4));
    let factor = 2.0
        * libm::sin(std::f64::consts::PI * hurst)
        * libm::tgamma(2.0 * hurst + 1.0)
        * (1.0 - libm::cos(lambda));
    factor * (libm::pow(lambda, d) + sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_density_is_the_infinite_sum_within_half_a_percent() {
        for hurst in [0.5, 0.6, 0.8, 0.9] {
            for lambda in [0.01_f64, 0.3, 1.0, 2.0, std::f64::consts::PI] {
                let d = -2.0 * hurst - 1.0;
                let term = |k: i32| {
                    let k = 2.0 * std::f64::consts::PI * f64::from(k);
                    libm::pow(k + lambda, d) + libm::pow(k - lambda, d)
                };
                let sum = libm::pow(lambda, d) + (1..20_000).map(term).sum::<f64>();
                let exact = 2.0
                    * (std::f64::consts::PI * hurst).sin()
                    * libm::tgamma(2.0 * hurst + 1.0)
                    * (1.0 - lambda.cos())
                    * sum;
                let found = density(lambda, hurst);
                assert!((found / exact - 1.0).abs() < 0.005, "H {hurst}, {lambda}: {found} for {exact}");
            }
        }
    }

    #[test]
    fn white_noise_is_flat() {
        // H = 0.5 is white: the same power at every frequency.
        let ratio = density(3.0, 0.5) / density(0.1, 0.5);
        assert!((ratio - 1.0).abs() < 0.005, "{ratio}");
    }
}
