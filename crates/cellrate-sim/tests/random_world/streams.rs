//! MPEG-2 transport streams.

use super::*;

impl Generator {
    /// A transport stream with a little room for everything, so that something goes wrong within a few milliseconds.
    pub(super) fn transport_stream(&mut self, peak: CellRate, start: Time, end: Time) -> Traffic {
        let rate =
            BitRate::from_bps((peak.to_bit_rate().as_bps() as f64 * self.pick(&[0.2, 0.6, 0.9])) as u64);
        let packet = Duration::from_secs_f64(1504.0 / rate.as_bps() as f64);
        let longest = packet * self.pick(&[2, 3, 5, 16]);
        let pictures = self.pick(&[200_u64, 1000, 3000]);
        // Octets that the rate carries from picture to picture.
        let each = (rate.as_bps() as f64 / 8.0 / pictures as f64).max(1.0);
        let size = |part: f64| Octets(((part * each) as u64).max(1));
        use Picture::{Bidirectional, Intra, Predicted};
        let gops: [&[Picture]; 3] =
            [&[Intra], &[Intra, Predicted], &[Intra, Bidirectional, Bidirectional, Predicted]];
        Traffic::Mpeg2(Box::new(Mpeg2Traffic {
            gop: self.pick(&gops).into(),
            pictures_per_second: FrameRate::whole(pictures),
            sizes: [size(1.5), size(0.6), size(0.2)],
            deviation: self.pick(&[0.0, 0.3]),
            rate,
            control: if self.one_in(2) {
                RateControl::Constant
            } else {
                RateControl::Buffer { drains_in: longest * self.pick(&[1, 4]) }
            },
            reference_interval: [packet * 2, longest],
            packing: self.pick(&[Packing::Pairs, Packing::References]),
            clock_offset: self.pick(&[0.0, -20.0, 1000.0]),
            decoder: Mpeg2Decoder {
                frequency: self.pick(&[0.02, 5.0, 100.0]),
                damping: self.pick(&[0.3, 0.7, 2.0]),
                clock_offset: self.pick(&[0.0, 15.0, -1000.0]),
                delay: Duration::from_us(self.pick(&[100, 1000, 4000])),
                buffer: size(self.pick(&[0.5, 2.0, 8.0])),
            },
            start,
            end,
            record: 0,
        }))
    }
}
