//! Frames in datagrams as they are written.

use cellrate_proto::wire::Encapsulation;
use cellrate_proto::{Duration, Octets, Time};
use cellrate_scenario::*;
use tempfile::TempDir;

/// Two hosts and a link, with this connection.
fn resolve(category: &str, traffic: &str, more: &str) -> Result<Scenario, ScenarioError> {
    document(category, traffic, more).and_then(|document| document.resolve())
}

fn document(category: &str, traffic: &str, more: &str) -> Result<Document, ScenarioError> {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\nhost = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         link = [{{ between = [\"a\", \"b\"], rate = \"155.52 Mbps\", length = \"1 km\" }}]\n\
         [[vc]]\nname = \"v\"\ncategory = \"{category}\"\npath = [\"a\", \"b\"]\n\
         traffic = {{ type = \"frames\", {traffic} }}\n{more}"
    );
    Document::parse(&text, "t")
}

fn frames(traffic: &str) -> FramesTraffic {
    frames_of(&resolve("abr", traffic, "").unwrap_or_else(|error| panic!("{error}")))
}

fn frames_of(scenario: &Scenario) -> FramesTraffic {
    match &scenario.connections[0].forward.traffic {
        Some(Traffic::Frames(frames)) => (**frames).clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn clock_and_size_are_enough() {
    let plain = frames("frames_per_second = 24, size = \"40 kB\"");
    let expected = FramesTraffic {
        frames_per_second: FrameRate::whole(24),
        lengths: FrameLengths::Gaussian { size: Octets(40_000), deviation: Octets(0) },
        datagram: Octets(1472),
        header: Octets(28),
        encapsulation: Encapsulation::LlcSnapIpv4,
        follow_acr: None,
        frm_at_frame_ends: false,
        start: Time::ZERO,
        end: Time::NEVER,
        record: 0,
    };
    assert_eq!(plain, expected);
    let other = frames(
        "frames_per_second = 50, size = \"172 octets\", deviation = \"172 octets\", datagram = \"65000 octets\", \
         header = \"40 octets\", encapsulation = \"vc-mux\", record = 7, follow_acr = {}",
    );
    assert_eq!(other.lengths, FrameLengths::Gaussian { size: Octets(172), deviation: Octets(172) });
    assert_eq!((other.datagram, other.header), (Octets(65_000), Octets(40)));
    assert_eq!((other.encapsulation, other.record), (Encapsulation::VcMultiplexed, 7));
    assert_eq!(other.follow_acr, Some(FollowAcr { share: 0.9, means: None }));
    let share = frames("frames_per_second = 1, size = \"1 octet\", follow_acr = { share = \"31/32\" }");
    assert_eq!(share.follow_acr, Some(FollowAcr { share: 0.96875, means: None }));
    for (adapts, expected) in [
        ("", Adaptation::FrameRate),
        (", adapts = \"frame-rate\"", Adaptation::FrameRate),
        (", adapts = \"bit-rate\"", Adaptation::BitRate),
    ] {
        let keys = format!(
            "frames_per_second = 1, size = \"1 octet\", follow_acr = {{ interval = \"1 s\"{adapts} }}"
        );
        let means = Some(FollowMeans { interval: Duration::from_secs(1), adapts: expected });
        assert_eq!(frames(&keys).follow_acr, Some(FollowAcr { share: 0.9, means }));
    }
}

#[test]
fn what_could_not_be_sent_is_refused() {
    for (category, traffic, more, expected) in [
        ("abr", "size = \"1 kB\"", "", "frames_per_second"),
        (
            "abr",
            "frames_per_second = 24, size = \"1 kB\", follow_acr = { adapts = \"bit-rate\" }",
            "",
            "adapts needs interval",
        ),
        ("abr", "frames_per_second = 24", "", "size"),
        ("abr", "frames_per_second = 0, size = \"1 kB\"", "", "0.001 or more, at most 10000"),
        ("abr", "frames_per_second = 24, size = \"0 octets\"", "", "from 1 octet to 16 MiB"),
        ("abr", "frames_per_second = 24, size = \"16777217 octets\"", "", "from 1 octet to 16 MiB"),
        (
            "abr",
            "frames_per_second = 24, size = \"1 kB\", deviation = \"1001 octets\"",
            "",
            "at most the size",
        ),
        (
            "abr",
            "frames_per_second = 24, size = \"1 kB\", datagram = \"0 octets\"",
            "",
            "from 1 to 65000 octets",
        ),
        ("abr", "frames_per_second = 24, size = \"1 kB\", header = \"121 octets\"", "", "at most 120 octets"),
        ("abr", "frames_per_second = 24, size = \"1 kB\", follow_acr = { share = 0 }", "", "above 0"),
        (
            "ubr",
            "frames_per_second = 24, size = \"1 kB\", follow_acr = { share = 1 }",
            "",
            "a ubr connection has no ACR to follow",
        ),
        (
            "abr",
            "frames_per_second = 24, size = \"1 kB\"",
            "reverse = { traffic = { type = \"tcp\" } }\n",
            "another vc",
        ),
    ] {
        let message = match resolve(category, traffic, more) {
            Ok(_) => panic!("it resolves: {traffic}"),
            Err(error) => error.to_string(),
        };
        assert!(message.contains(expected), "{traffic}: {message}");
    }
    assert!(resolve("ubr", "frames_per_second = 10000, size = \"16 MiB\"", "").is_ok());
}

/// A folder with these files, gone with what this returns.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in files {
        std::fs::write(folder.path().join(file), text).unwrap();
    }
    folder
}

fn trace(lengths: &[u32], first: FirstOfTrace) -> FrameLengths {
    FrameLengths::Trace { lengths: lengths.into(), first }
}

#[test]
fn a_trace_is_a_list_or_what_a_file_holds() {
    let listed = frames("frames_per_second = 25, trace = { sizes = [1000, 0, 16777216], first = 3 }");
    assert_eq!(listed.lengths, trace(&[1000, 0, 16_777_216], FirstOfTrace::At(2)));
    // As they are published: bits in lines, or columns with a head.
    let bits = "% a film\n# its frames\n\n8000\n8001\r\n0\n";
    let columns = "No  Type  Time[ms]  Length[byte]\n1\tI\t0\t5000\n2, B, 40.0, 700.0\n3; P; 80; 1500\n";
    let folder = folder(&[("bits.txt", bits), ("columns.txt", columns)]);
    let taken = |traffic: &str| {
        let mut document = document("ubr", &format!("frames_per_second = 25, {traffic}"), "").unwrap();
        document.read_files(folder.path()).unwrap_or_else(|error| panic!("{error}"));
        let scenario = document.resolve().unwrap_or_else(|error| panic!("{error}"));
        // Stored, it is whole without the file.
        let stored = Document::parse(&document.to_toml(), "stored").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(frames_of(&stored.resolve().unwrap()), frames_of(&scenario));
        assert_eq!(stored.hash(), document.hash());
        frames_of(&scenario).lengths
    };
    let of_bits = taken("trace = { file = \"bits.txt\", unit = \"bits\", first = \"random\" }");
    assert_eq!(of_bits, trace(&[1000, 1001, 0], FirstOfTrace::Random));
    assert_eq!(
        taken("trace = { file = \"./columns.txt\", column = 4 }"),
        trace(&[5000, 700, 1500], FirstOfTrace::At(0))
    );
}

#[test]
fn members_of_a_group_have_one_trace_and_a_setting_reads_another() {
    let folder = folder(&[("one", "10\n20\n"), ("other", "30\n")]);
    let text = "name = \"t\"\nduration = \"1 s\"\nhost = [{ name = \"a\" }, { name = \"b\" }]\n\
                link = [{ between = [\"a\", \"b\"], rate = \"155.52 Mbps\", length = \"1 km\" }]\n\
                [[vc]]\nname = \"v{i}\"\ncount = 2\npath = [\"a\", \"b\"]\n\
                traffic = { type = \"frames\", frames_per_second = 25, trace = { file = \"one\", first = [1, 2] } }\n\
                [[sweep]]\nset = \"vc.v{i}.traffic.trace.file\"\nvalues = [\"one\", \"other\"]\n";
    let mut document = Document::parse(text, "t").unwrap_or_else(|error| panic!("{error}"));
    let unread = document.resolve().unwrap_err();
    assert_eq!(
        (unread.line(), unread.message()),
        (9, "file needs a scenario that is read from a file itself: its place is as seen from there")
    );
    document.read_files(folder.path()).unwrap_or_else(|error| panic!("{error}"));
    let lengths = |document: &Document, place: usize| {
        let scenario = document.resolve().unwrap_or_else(|error| panic!("{error}"));
        let Some(Traffic::Frames(frames)) = &scenario.connections[place].forward.traffic else { panic!() };
        frames.lengths.clone()
    };
    assert_eq!(lengths(&document, 0), trace(&[10, 20], FirstOfTrace::At(0)));
    assert_eq!(lengths(&document, 1), trace(&[10, 20], FirstOfTrace::At(1)));
    let hash = document.hash();
    document.set("vc.v{i}.traffic.trace.first", "1").unwrap();
    let mut points = document.points().unwrap();
    assert!(points[1].document.resolve().is_err(), "its file has not been read");
    points.iter_mut().for_each(|point| point.document.read_files(folder.path()).unwrap());
    assert_eq!(lengths(&points[0].document, 1), trace(&[10, 20], FirstOfTrace::At(0)));
    assert_eq!(lengths(&points[1].document, 1), trace(&[30], FirstOfTrace::At(0)));
    assert_ne!(document.hash(), hash);
}

#[test]
fn what_is_no_trace_is_refused_with_file_and_line() {
    let files =
        [("words", "1 x\n2 y\n"), ("long", "16777217\n"), ("nothing", "# a film\n\n"), ("half", "1\n2.5\n")];
    let folder = folder(&files);
    for (keys, message, remedy) in [
        ("file = \"missing\"", "missing cannot be read: No such file", "from the folder of the scenario"),
        ("file = \"words\", column = 2", "line 1 of words: \"x\" is not a whole number", "from column 2"),
        ("file = \"words\", column = 3", "line 1 of words: it has 2 columns", "from column 3"),
        ("file = \"long\"", "line 1 of long: a frame of 16777217 octets is longer than 16 MiB", "column 1"),
        ("file = \"half\"", "line 2 of half: \"2.5\" is not a whole number", "`unit`"),
        ("file = \"nothing\"", "there are no frames in nothing", "one in each line"),
    ] {
        let traffic = format!("frames_per_second = 25, trace = {{ {keys} }}");
        let mut document = document("ubr", &traffic, "").unwrap();
        let before = document.hash();
        let error = document.read_files(folder.path()).expect_err(keys);
        assert!(error.message().contains(message) && error.remedy().contains(remedy), "{error}");
        assert_eq!((error.line(), error.key()), (9, "vc.v.traffic.trace.file"), "{error}");
        assert_eq!(document.hash(), before);
    }
    for (traffic, expected) in [
        ("trace = { sizes = [0, 0] }", "all frames of the trace have a length of 0"),
        ("trace = { sizes = [1, 2], first = 3 }", "3 is out of range"),
        ("trace = { sizes = [-1] }", "-1 is out of range"),
        ("trace = { first = 1 }", "the key \"file\" is missing"),
        ("size = \"1 kB\", trace = { sizes = [1] }", "trace cannot go with size or deviation"),
        ("deviation = \"1 kB\", trace = { sizes = [1] }", "trace cannot go with size or deviation"),
    ] {
        let traffic = format!("frames_per_second = 25, {traffic}");
        let error = resolve("ubr", &traffic, "").expect_err(&traffic);
        assert!(error.message().contains(expected), "{error}");
    }
}

#[test]
fn a_rate_of_frames_is_what_is_written_to_the_last_frame() {
    let rate = |written: &str| {
        let traffic = format!("frames_per_second = {written}, size = \"1 kB\"");
        frames(&traffic).frames_per_second
    };
    for (written, frames, seconds) in [
        ("25", 25, 1),
        ("29.97", 2997, 100),
        ("7.5", 15, 2),
        ("\"30000/1001\"", 30_000, 1001),
        ("\"24000/1001\"", 24_000, 1001),
        ("14.985", 2997, 200),
    ] {
        assert_eq!(rate(written), FrameRate { frames, seconds }, "{written}");
    }
    assert_eq!(rate("\"30000/1001\"").after(300).as_ps(), 10_010_000_000_000);
    for written in ["0", "10001", "\"1/0\"", "-1"] {
        assert!(resolve("ubr", &format!("frames_per_second = {written}, size = \"1 kB\""), "").is_err());
    }
}

#[test]
fn lengths_with_commas_are_refused_and_empty_cells_and_marks_are_passed_over() {
    let files = [
        ("thousands", "1,500\n2,700\n"),
        ("tenths", "100,5\n"),
        ("empty", "1;;700\n2;;800\n"),
        ("marked", "\u{feff}1500\n2700\n"),
        ("columns", "1,1500\n2,2700\n"),
    ];
    let folder = folder(&files);
    let taken = |keys: &str| {
        let traffic = format!("frames_per_second = 25, trace = {{ {keys} }}");
        let mut document = document("ubr", &traffic, "").unwrap();
        document.read_files(folder.path()).map_err(|error| error.to_string())?;
        Ok::<_, String>(frames_of(&document.resolve().unwrap()).lengths)
    };
    for file in ["thousands", "tenths"] {
        let error = taken(&format!("file = \"{file}\"")).unwrap_err();
        assert!(error.contains("has a comma between digits"), "{error}");
    }
    let at_0 = FirstOfTrace::At(0);
    assert_eq!(taken("file = \"empty\", column = 3").unwrap(), trace(&[700, 800], at_0));
    assert!(
        taken("file = \"empty\", column = 2").unwrap_err().contains("line 1 of empty: column 2 is empty")
    );
    assert_eq!(taken("file = \"marked\"").unwrap(), trace(&[1500, 2700], at_0));
    assert_eq!(taken("file = \"columns\", column = 2").unwrap(), trace(&[1500, 2700], at_0));
}

#[cfg(unix)]
#[test]
fn only_regular_files_of_the_scenarios_own_folder_are_read() {
    let own = folder(&[("film", "10\n")]);
    let other = folder(&[("secret", "root:x:0:1\n"), ("film", "20\n")]);
    let (own, other) = (own.path(), other.path());
    std::os::unix::fs::symlink(other.join("secret"), own.join("linked")).unwrap();
    let taken = |file: &str, allowed: &[std::path::PathBuf]| {
        let traffic = format!("frames_per_second = 25, trace = {{ file = {file:?} }}");
        let mut document = document("ubr", &traffic, "").unwrap();
        document.read_files_from(own, allowed).map_err(|error| error.to_string())?;
        Ok::<_, String>(frames_of(&document.resolve().unwrap()).lengths)
    };
    let outside = other.join("secret").display().to_string();
    for file in ["linked", &outside, "/dev/zero", "../no-such-file", "/etc/no-such-file"] {
        let error = taken(file, &[]).unwrap_err();
        assert!(error.contains("is not in the folder of the scenario"), "{error}");
        assert!(!error.contains("root:x"), "{error}");
    }
    let film = other.join("film").display().to_string();
    assert_eq!(taken(&film, &[other.into()]).unwrap(), trace(&[20], FirstOfTrace::At(0)));
    // Errors about what was allowed say where, and not what.
    let error = taken(&outside, &[other.into()]).unwrap_err();
    assert!(error.contains("secret: what stands there is not a whole number"), "{error}");
    assert!(!error.contains("root:x"), "{error}");
    // A device is no file, allowed or not; the folder itself is none either.
    let error = taken("/dev/zero", &["/dev".into()]).unwrap_err();
    assert!(error.contains("is not a regular file"), "{error}");
    assert!(taken(".", &[]).unwrap_err().contains("is not a regular file"));
}

#[test]
fn a_codec_of_speech_says_clock_size_and_header() {
    let packets = |keys: &str| {
        let frames = frames(keys);
        let FrameLengths::Gaussian { size, deviation } = frames.lengths else { panic!("{frames:?}") };
        assert_eq!((deviation, frames.header), (Octets(0), Octets(40)));
        (frames.frames_per_second.frames, frames.frames_per_second.seconds, size.0)
    };
    for (codec, expected) in [
        ("g711", (50, 1, 160)),
        ("g729", (50, 1, 20)),
        ("g723.1-6.3", (100, 3, 24)),
        ("g723.1-5.3", (100, 3, 20)),
        ("gsm", (50, 1, 33)),
    ] {
        assert_eq!(packets(&format!("codec = \"{codec}\"")), expected, "{codec}");
    }
    assert_eq!(packets("codec = \"g729\", packet = \"60 ms\""), (50, 3, 60));
    assert_eq!(packets("codec = \"g711\", packet = \"10 ms\""), (100, 1, 80));
    assert_eq!(frames("codec = \"gsm\", header = \"28 octets\"").header, Octets(28));
    for (keys, expected) in [
        ("codec = \"gsm\", packet = \"30 ms\"", "a multiple of 20 ms"),
        ("codec = \"gsm\", packet = \"220 ms\"", "at most 200 ms"),
        ("codec = \"gsm\", size = \"33 octets\"", "Leave size out, or codec"),
        ("codec = \"gsm\", frames_per_second = 50", "Leave frames_per_second out, or codec"),
        ("frames_per_second = 50, size = \"1 kB\", packet = \"20 ms\"", "packet needs codec"),
        ("codec = \"g728\"", "Write \"g711\" or \"g729\""),
    ] {
        let error = resolve("abr", keys, "").unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
