//! The discrete Fourier transform of a power of two of points, by Cooley and Tukey's first algorithm: slower than a
//! library's, but the same to the last bit on every processor.

/// A complex number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Complex {
    pub re: f64,
    pub im: f64,
}

/// X_k = sum over j of x_j exp(-2 pi i j k / n), in place.
pub fn transform(points: &mut [Complex]) {
    let n = points.len();
    assert!(n.is_power_of_two() && n >= 2, "{n} points");
    let shift = usize::BITS - n.trailing_zeros();
    for place in 0..n {
        let mirrored = place.reverse_bits() >> shift;
        if place < mirrored {
            points.swap(place, mirrored);
        }
    }
    let step = -2.0 * std::f64::consts::PI / n as f64;
    let factor = |k: usize| Complex { re: libm::cos(step * k as f64), im: libm::sin(step * k as f64) };
    let factors: Vec<Complex> = (0..n / 2).map(factor).collect();
    let mut half = 1;
    while half < n {
        let stride = n / (2 * half);
        for block in points.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (k, (a, b)) in low.iter_mut().zip(high).enumerate() {
                let w = factors[k * stride];
                let t = Complex { re: b.re * w.re - b.im * w.im, im: b.re * w.im + b.im * w.re };
                *b = Complex { re: a.re - t.re, im: a.im - t.im };
                *a = Complex { re: a.re + t.re, im: a.im + t.im };
            }
        }
        half *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sum_that_defines_it() {
        let n = 32;
        let points: Vec<Complex> =
            (0..n).map(|j| Complex { re: ((j * j) % 7) as f64 - 3.0, im: ((3 * j) % 5) as f64 }).collect();
        let mut fast = points.clone();
        transform(&mut fast);
        for (k, found) in fast.iter().enumerate() {
            let (mut re, mut im) = (0.0, 0.0);
            for (j, x) in points.iter().enumerate() {
                let angle = -2.0 * std::f64::consts::PI * (j * k) as f64 / n as f64;
                re += x.re * angle.cos() - x.im * angle.sin();
                im += x.re * angle.sin() + x.im * angle.cos();
            }
            assert!((found.re - re).abs() < 1e-12 && (found.im - im).abs() < 1e-12, "{k}");
        }
    }
}
