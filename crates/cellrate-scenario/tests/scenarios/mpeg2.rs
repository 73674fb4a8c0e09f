//! Traffic of type "mpeg2".

use cellrate_proto::{BitRate, Duration, Octets};
use cellrate_scenario::*;

fn resolve(category: &str, keys: &str) -> Result<Scenario, String> {
    let text = format!(
        "name = \"mpeg2\"\nduration = \"1 s\"\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         link = [{{ between = [\"a\", \"b\"], rate = \"10 Mbps\", length = \"1 km\" }}]\n\
         [[vc]]\nname = \"vc\"\npath = [\"a\", \"b\"]\ncategory = \"{category}\"\ntraffic = {{ type = \"mpeg2\", {keys} }}\n"
    );
    Document::parse(&text, "mpeg2").and_then(|document| document.resolve()).map_err(|error| error.to_string())
}

fn stream(keys: &str) -> Mpeg2Traffic {
    let scenario = resolve("vbr", keys).unwrap_or_else(|error| panic!("{error}"));
    match scenario.connections[0].forward.traffic.clone() {
        Some(Traffic::Mpeg2(stream)) => *stream,
        other => panic!("{other:?}"),
    }
}

#[test]
fn defaults_are_those_of_the_paper_and_the_standard() {
    let of = stream("rate = \"5 Mbps\"");
    assert_eq!((of.rate, of.gop.len(), of.record), (BitRate::from_bps(5_000_000), 12, 0));
    assert_eq!(
        of.gop[..4],
        [Picture::Intra, Picture::Bidirectional, Picture::Bidirectional, Picture::Predicted]
    );
    // 25,000 octets in a picture's time.
    assert_eq!(of.sizes, [112_500, 18_750, 5_000].map(Octets));
    assert_eq!(of.reference_interval, [20, 100].map(Duration::from_ms));
    assert_eq!((of.control, of.packing), (RateControl::Constant, Packing::Pairs));
    assert_eq!((of.decoder.delay, of.decoder.buffer), (Duration::from_ms(300), Octets(229_376)));
}

#[test]
fn every_key_is_read() {
    let of = stream(
        "rate = \"2 Mbps\", gop = \"IPB\", pictures_per_second = \"30000/1001\", i = \"9 kB\", p = \"3 kB\", b = \"1 kB\", \
         deviation = 0.25, rate_control = \"buffer\", drains_in = \"60 ms\", reference_interval = [\"30 ms\", \"40 ms\"], \
         packing = \"references\", clock_offset = \"-12.5 ppm\", record = 7, start = \"1 ms\", end = \"900 ms\", \
         decoder = { frequency = 0.1, damping = 1, clock_offset = \"3 ppm\", delay = \"80 ms\", buffer = \"50 kB\" }",
    );
    assert_eq!(of.pictures_per_second, FrameRate { frames: 30_000, seconds: 1001 });
    assert_eq!((of.sizes, of.deviation), ([9_000, 3_000, 1_000].map(Octets), 0.25));
    assert_eq!(of.control, RateControl::Buffer { drains_in: Duration::from_ms(60) });
    assert_eq!((of.packing, of.clock_offset, of.record), (Packing::References, -12.5, 7));
    let decoder = Mpeg2Decoder {
        frequency: 0.1,
        damping: 1.0,
        clock_offset: 3.0,
        delay: Duration::from_ms(80),
        buffer: Octets(50_000),
    };
    assert_eq!(of.decoder, decoder);
}

#[test]
fn what_could_not_work_is_refused() {
    for (keys, expected) in [
        ("", "rate"),
        ("rate = \"5 Mbps\", gop = \"IXB\"", "letters I, P and B"),
        ("rate = \"5 Mbps\", gop = \"\"", "letters I, P and B"),
        ("rate = \"1 Mbps\", i = \"112500 octets\", p = \"18750 octets\", b = \"5 kB\"", "take"),
        ("rate = \"5 Mbps\", drains_in = \"1 ms\"", "rate_control"),
        ("rate = \"5 Mbps\", reference_interval = [\"20 ms\", \"101 ms\"]", "at most 100 ms"),
        ("rate = \"5 Mbps\", reference_interval = [\"30 ms\", \"20 ms\"]", "shorter one first"),
        ("rate = \"150 kbps\"", "no two transport packets"),
        ("rate = \"5 Mbps\", reference_interval = [\"600 us\", \"1 ms\"]", "no two transport packets"),
        ("rate = \"5 Mbps\", i = \"0 octets\"", "i"),
        ("rate = \"5 Mbps\", clock_offset = \"1001 ppm\"", "clock"),
        ("rate = \"5 Mbps\", decoder = { frequency = 2 }", "does not settle"),
    ] {
        let message = match resolve("vbr", keys) {
            Ok(_) => panic!("it resolves: {keys}"),
            Err(message) => message,
        };
        assert!(message.contains(expected), "{keys}: {message}");
    }
    for category in ["abr", "cbr", "ubr"] {
        assert!(resolve(category, "rate = \"5 Mbps\"").is_ok(), "{category}");
    }
}
