//! Flows and calls that come and go: pairs, the connections that carry them, and what is refused.

use cellrate_proto::admission::Request;
use cellrate_proto::{Duration, Octets, Time};
use cellrate_scenario::{
    Amount, Arrivals, Category, Demand, DemandQuantity, Document, Every, Law, Probe, Quantity, Scenario,
    Traced, Traffic,
};

/// a, b and c around two switches, with these flows.
fn resolved(head: &str, flows: &str) -> Result<Scenario, String> {
    Document::parse(&text(head, flows), "t.toml")
        .and_then(|document| document.resolve())
        .map_err(|error| error.to_string())
}

fn text(head: &str, flows: &str) -> String {
    format!(
        "name = \"t\"\nduration = \"1 s\"\n{head}\n\
         host = [{{ name = \"a\" }}, {{ name = \"b\" }}, {{ name = \"c\" }}]\n\
         switch = [{{ name = \"s1\" }}, {{ name = \"s2\" }}]\n\
         link = [{{ between = [\"a\", \"s1\"] }}, {{ between = [\"s1\", \"s2\"] }}, {{ between = [\"s2\", \"b\"] }}, \
         {{ between = [\"s1\", \"c\"] }}]\n\
         defaults.link = {{ rate = \"10 Mbps\", length = \"100 km\" }}\n\
         [[vc]]\nname = \"v\"\npath = [\"c\", \"s1\", \"s2\", \"b\"]\n\
         [[flows]]\nname = \"f\"\n{flows}"
    )
}

fn demand(head: &str, flows: &str) -> (Demand, Scenario) {
    let scenario = resolved(head, flows).unwrap_or_else(|error| panic!("{error}"));
    (scenario.demands[0].clone(), scenario)
}

const ARRIVALS: &str = "arrivals = { type = \"poisson\", gap = \"1 ms\" }\n";
const HOLDING: &str = "holding = { mean = \"20 ms\" }\n";
const CBR: &str = "category = \"cbr\"\ncall = { type = \"constant\", rate = \"1 Mbps\" }\n";

#[test]
fn a_pair_has_its_connections_behind_the_others_over_the_shortest_way() {
    let (demand, scenario) =
        demand("", &format!("pairs = [[\"a\", \"b\"]]\nslots = 3\n{ARRIVALS}{HOLDING}{CBR}"));
    let [pair] = &demand.pairs[..] else { panic!("{demand:?}") };
    assert_eq!((pair.slots.clone(), pair.weight, pair.set_up), (1..4, 1.0, Duration::ZERO));
    assert!(pair.bookings.is_empty(), "nobody asks for admission");
    let names: Vec<&str> = scenario.connections.iter().map(|connection| &*connection.name).collect();
    assert_eq!(names, ["v", "f 1", "f 2", "f 3"]);
    let slot = &scenario.connections[1];
    assert_eq!((slot.category, slot.path.len()), (Category::Cbr, 3));
    let Some(Traffic::Call(call)) = &slot.forward.traffic else { panic!("{slot:?}") };
    assert!(matches!(**call, Traffic::Constant(_)) && slot.backward.traffic.is_none());
    assert_eq!(demand.arrivals, Arrivals::Poisson { gap: Duration::from_ms(1) });
    assert_eq!(demand.amount, Amount::Holding(Law::Exponential { mean: 0.02 }));
}

#[test]
fn hosts_among_which_flows_go_make_pairs_as_the_matrix_says() {
    let rest = format!("slots = 1\n{ARRIVALS}{HOLDING}{CBR}");
    let (all, _) = demand("", &format!("among = [\"a\", \"b\", \"c\"]\n{rest}"));
    assert_eq!(all.pairs.len(), 6);
    let matrix = "matrix = [[0, 2, 0], [1, 0, 0], [0, 0.5, 0]]\n";
    let (some, scenario) = demand("", &format!("among = [\"a\", \"b\", \"c\"]\n{matrix}{rest}"));
    assert_eq!(some.pairs.iter().map(|pair| pair.weight).collect::<Vec<_>>(), [2.0, 1.0, 0.5]);
    let names: Vec<&str> = scenario.connections[1..].iter().map(|connection| &*connection.name).collect();
    assert_eq!(names, ["f a->b 1", "f b->a 1", "f c->b 1"]);
}

#[test]
fn what_a_call_books_is_what_a_vc_would() {
    let rest = format!(
        "pairs = [[\"a\", \"b\"]]\nbidirectional = true\nset_up = \"round-trip\"\n{ARRIVALS}{HOLDING}{CBR}"
    );
    let (demand, scenario) = demand("admission = true", &rest);
    let pair = &demand.pairs[0];
    let [there, back] = &pair.bookings[..] else { panic!("{pair:?}") };
    let Request::Cbr { pcr } = there.request else { panic!("{there:?}") };
    assert_eq!((there.ports.len(), back.ports.len(), pcr.to_bit_rate().as_bps()), (3, 3, 1_000_000));
    // Three links of 0.5 ms, both ways.
    assert_eq!(pair.set_up, Duration::from_ms(3));
    assert_eq!(scenario.book.room(0).as_bps(), 10_000_000);
    let rest = format!("pairs = [[\"a\", \"b\"]]\nabr = {{ mcr = \"2 Mbps\" }}\n{ARRIVALS}{HOLDING}");
    let (demand, _) = self::demand("admission = true", &rest);
    let Request::Abr { mcr, .. } = demand.pairs[0].bookings[0].request else { panic!("{demand:?}") };
    // 2 Mbps as a rate code of negotiation.
    assert_eq!(mcr.to_bit_rate().as_bps(), 1_999_584);
}

#[test]
fn laws_and_arrivals_are_what_their_keys_say() {
    let with = |arrivals: &str, holding: &str| {
        let rest = format!("pairs = [[\"a\", \"b\"]]\narrivals = {arrivals}\nholding = {holding}\n{CBR}");
        let (demand, _) = demand("", &rest);
        (demand.arrivals, demand.amount)
    };
    let ms = Duration::from_ms;
    let (arrivals, amount) = with(
        "{ type = \"mmpp\", gaps = [\"1 ms\", \"9 ms\"], stays = [\"10 ms\", \"20 ms\"] }",
        "{ type = \"lognormal\", mean = \"1 s\", sigma = 2 }",
    );
    assert_eq!(arrivals, Arrivals::Mmpp { gaps: [ms(1), ms(9)], stays: [ms(10), ms(20)] });
    assert_eq!(amount, Amount::Holding(Law::Lognormal { mean: 1.0, sigma: 2.0 }));
    let (arrivals, amount) = with(
        "{ type = \"list\", instants = [\"1 ms\", \"1 ms\", \"7 ms\"] }",
        "{ type = \"pareto\", mean = \"3 s\", alpha = 1.5 }",
    );
    assert_eq!(arrivals, Arrivals::At([1, 1, 7].map(|at| Time::ZERO + ms(at)).into()));
    assert_eq!(amount, Amount::Holding(Law::Pareto { least: 1.0, alpha: 1.5, most: f64::INFINITY }));
    let (arrivals, amount) =
        with("{ type = \"pareto\", gap = \"5 ms\" }", "{ type = \"fixed\", time = \"2 ms\" }");
    assert_eq!(arrivals, Arrivals::Pareto { gap: ms(5), alpha: 1.5 });
    assert_eq!(amount, Amount::Holding(Law::Fixed(0.002)));
}

#[test]
fn sizes_are_those_of_the_published_tables() {
    let law = |size: &str| {
        let rest = format!("pairs = [[\"a\", \"b\"]]\n{ARRIVALS}size = {size}\ncategory = \"ubr\"\n");
        match demand("", &rest).0.amount {
            Amount::Octets(law) => law,
            other => panic!("{other:?}"),
        }
    };
    let ends = |name: &str| match law(&format!("{{ type = \"{name}\" }}")) {
        Law::Table(points) => (points.len(), points[0], points[points.len() - 1]),
        other => panic!("{other:?}"),
    };
    assert_eq!(ends("web-search"), (12, (0.0, 0.0), (30e6, 1.0)));
    assert_eq!(ends("hadoop"), (20, (0.0, 0.0), (10e6, 1.0)));
    assert_eq!(ends("data-mining"), (8, (1500.0, 0.5), (1_000_000_500.0, 1.0)));
    assert_eq!(ends("cache-follower"), (11, (1500.0, 0.36), (49_999_500.0, 1.0)));
    let own = law("{ type = \"cdf\", points = [[\"1 kB\", 0.5], [\"1 MB\", \"100 %\"]] }");
    assert_eq!(own, Law::Table([(1e3, 0.5), (1e6, 1.0)].into()));
    let pareto = law("{ type = \"pareto\", least = \"1 kB\" }");
    assert_eq!(pareto, Law::Pareto { least: 1e3, alpha: 1.2, most: 1e12 });
    assert_eq!(law("{ type = \"fixed\", octets = \"9 kB\" }"), Law::Fixed(9e3));
}

#[test]
fn flows_of_a_size_have_datagrams_and_no_more_than_best_effort() {
    let size = "size = { type = \"fixed\", octets = \"9 kB\" }\n";
    let pairs = "pairs = [[\"a\", \"b\"]]\n";
    let (_, scenario) = demand(
        "",
        &format!("{pairs}{ARRIVALS}{size}slots = 1\ndatagram = \"9 kB\"\nheader = \"0 octets\"\n"),
    );
    let Some(Traffic::Transfers(datagrams)) = &scenario.connections[1].forward.traffic else {
        panic!("{scenario:?}")
    };
    assert_eq!((datagrams.payload.0, datagrams.header.0), (9000, 0));
    for (rest, expected) in [
        (format!("{size}{HOLDING}"), "holding needs calls with a holding time"),
        (format!("{size}bidirectional = true\n"), "bidirectional needs calls"),
        (format!("{size}category = \"cbr\"\n"), "flows of a size need category \"abr\" or \"ubr\""),
        (format!("{size}abr = {{ mcr = \"1 Mbps\" }}\n"), "flows of a size cannot have an MCR"),
        (format!("{size}datagram = \"70 kB\"\n"), "datagram is 70000 octets"),
        (format!("{HOLDING}header = \"8 octets\"\n"), "header needs flows of a size"),
        (
            "size = { type = \"cdf\", points = [[\"1 kB\", 0.5]] }\n".into(),
            "the last point is [1000 octets, 0.5]",
        ),
        (
            "size = { type = \"cdf\", points = [[\"1001 GB\", 1]] }\n".into(),
            "the last point is [1001000000000 octets, 1]",
        ),
        (
            "size = { type = \"cdf\", points = [[\"2 kB\", 0.5], [\"1 kB\", 1]] }\n".into(),
            "the point [1000 octets, 1] is below the one before it, [2000 octets, 0.5]",
        ),
        (
            "size = { type = \"pareto\", least = \"2 kB\", most = \"1 kB\" }\n".into(),
            "most is 1000 octets, and least 2000 octets",
        ),
        ("size = { type = \"fixed\", octets = \"0 octets\" }\n".into(), "0 octets is not a size of a flow"),
    ] {
        let error = resolved("", &format!("{pairs}{ARRIVALS}{rest}")).expect_err(&rest);
        assert!(error.contains(expected) && error.contains("t.toml:"), "{error}\nfor {rest}");
    }
}

#[test]
fn tcp_carries_flows_of_a_size_over_a_connection_for_each() {
    let size = "size = { type = \"fixed\", octets = \"9 kB\" }\n";
    let pairs = "pairs = [[\"a\", \"b\"]]\n";
    let rest = "tcp = { preset = \"cubic\", mss = \"9140 octets\", window = \"1 MB\" }\nslots = 2\n";
    let (_, scenario) = demand("", &format!("{pairs}{ARRIVALS}{size}{rest}"));
    let Some(Traffic::Tcp(tcp)) = &scenario.connections[2].forward.traffic else { panic!("{scenario:?}") };
    assert!(tcp.successive && tcp.transfer.is_none() && tcp.pages.is_none());
    assert_eq!((tcp.connections, tcp.tcp.mss.0, tcp.tcp.initial_window.0), (1, 9140, 91_400));
    assert!(scenario.connections[2].backward.traffic.is_none());
    for (rest, expected) in [
        (
            format!("{size}tcp = {{}}\ndatagram = \"1 kB\"\n"),
            "datagram needs datagrams, and TCP carries these",
        ),
        (format!("{size}tcp = {{ transfer = \"1 MB\" }}\n"), "transfer"),
        (
            format!("{size}tcp = {{}}\ncategory = \"cbr\"\n"),
            "flows of a size need category \"abr\" or \"ubr\"",
        ),
        (format!("{HOLDING}tcp = {{}}\n"), "tcp needs flows of a size"),
        (format!("{size}tcp = {{ mss = \"0 octets\" }}\n"), "mss is 0 octets"),
    ] {
        let error = resolved("", &format!("{pairs}{ARRIVALS}{rest}")).expect_err(&rest);
        assert!(error.contains(expected) && error.contains("t.toml:"), "{error}\nfor {rest}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_its_key_and_its_place() {
    let pairs = "pairs = [[\"a\", \"b\"]]\n";
    let rest = format!("{ARRIVALS}{HOLDING}{CBR}");
    for (head, flows, expected) in [
        ("", rest.to_string(), "the key \"pairs\" is missing"),
        ("", format!("{pairs}among = [\"a\", \"b\"]\n{rest}"), "pairs and among are both given"),
        ("", format!("{pairs}weights = [1, 2]\n{rest}"), "there are 2 numbers for 1 pair"),
        (
            "",
            format!("{pairs}matrix = [[0, 1], [1, 0]]\n{rest}"),
            "matrix needs among, and these flows have pairs",
        ),
        (
            "",
            format!("among = [\"a\", \"b\"]\nmatrix = [[0, 0], [0, 0]]\n{rest}"),
            "all numbers of the matrix are 0, and no pair is ever drawn",
        ),
        (
            "",
            format!("among = [\"a\", \"b\"]\nweights = [1, 2]\n{rest}"),
            "weights needs pairs, and these flows have among",
        ),
        ("", format!("pairs = [[\"a\", \"s2\"]]\n{rest}"), "\"s2\" is a switch"),
        ("", format!("pairs = [[\"a\", \"a\"]]\n{rest}"), "there is no way from \"a\" to \"a\""),
        ("", format!("{pairs}{ARRIVALS}{CBR}"), "the key \"holding\" is missing"),
        ("", format!("{pairs}{HOLDING}{CBR}"), "the key \"arrivals\" is missing"),
        ("", format!("{pairs}{ARRIVALS}{HOLDING}category = \"cbr\"\n"), "the key \"call\" is missing"),
        ("", format!("{pairs}scr = \"1 Mbps\"\n{rest}"), "scr does not belong to category \"cbr\""),
        (
            "",
            format!("{pairs}scr = \"1 Mbps\"\n{}", rest.replace("cbr", "vbr")),
            "scr needs admission, which the scenario does not ask for",
        ),
        (
            "admission = true",
            format!(
                "{pairs}{rest}[[vc]]\nname = \"w\"\npath = [\"a\", \"s1\", \"c\"]\ncategory = \"cbr\"\n\
                 traffic = {{ type = \"constant\", rate = \"9.5 Mbps\" }}\n"
            ),
            "no call of f can ever be set up: forward on a->s1",
        ),
        (
            "",
            format!(
                "{pairs}arrivals = {{ type = \"list\", instants = [\"2 ms\", \"1 ms\"] }}\n{HOLDING}{CBR}"
            ),
            "1 ms is before the instant that precedes it",
        ),
        ("", format!("{pairs}slots = 0\n{rest}"), "slots"),
        ("", format!("{pairs}{rest}[[flows]]\nname = \"f\"\n{pairs}{rest}"), "there are other flows \"f\""),
        (
            "",
            format!("{pairs}start = \"2 ms\"\nend = \"1 ms\"\n{rest}"),
            "the end, 1 ms, is not after the start",
        ),
    ] {
        let error = resolved(head, &flows).expect_err(&flows);
        assert!(
            error.contains(expected) || expected == "slots" && error.contains("0 "),
            "{error}\nfor {flows}"
        );
        assert!(error.contains("t.toml:"), "{error}");
    }
}

/// a, b and c with these flows, which name a file that holds this; what is stored runs without the file.
fn with_file(holds: &str, flows: &str) -> Result<Scenario, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("file"), holds).unwrap();
    let text = text("", flows);
    let taken = Document::parse(&text, "t.toml").and_then(|mut document| {
        document.read_files(folder.path())?;
        let stored = Document::parse(&document.to_toml(), "t.toml")?.resolve()?;
        let scenario = document.resolve()?;
        assert_eq!(stored, scenario);
        Ok(scenario)
    });
    taken.map_err(|error| error.to_string())
}

#[test]
fn a_distribution_of_sizes_is_read_as_it_is_published() {
    let law = |holds, keys: &str| {
        let flows = format!(
            "pairs = [[\"a\", \"b\"]]\n{ARRIVALS}size = {{ type = \"cdf\", file = \"file\", {keys} }}\ncategory = \"ubr\"\n"
        );
        with_file(holds, &flows).map(|scenario| match &scenario.demands[0].amount {
            Amount::Octets(law) => law.clone(),
            other => panic!("{other:?}"),
        })
    };
    // As the HPCC simulator has them: octets and per cent.
    let hpcc = law("0 0\n10000 15\n30000000 100\n", "unit = \"octets\", shares = \"percent\"");
    assert_eq!(hpcc, Ok(Law::Table([(0.0, 0.0), (10e3, 0.15), (30e6, 1.0)].into())));
    // As the HKUST generator does: packets and shares of 1; a column of no meaning between, as ns-2 has it.
    let hkust = law("# packets\n6 1 0.15\n13 1 0.2\n20000 1 1\n", "unit = \"packets\", share_column = 3");
    assert_eq!(hkust, Ok(Law::Table([(9e3, 0.15), (19_500.0, 0.2), (30e6, 1.0)].into())));
    let names = law("size,share\n1.5,0.5\n3,1.0\n", "unit = \"kB\"");
    assert_eq!(names, Ok(Law::Table([(1500.0, 0.5), (3000.0, 1.0)].into())));
    for (name, holds, keys, expected) in [
        ("unit", "1 1\n", "", "the key \"unit\" is missing"),
        ("share", "1 0.5\n2 0.9\n", "unit = \"kB\"", "the last share of file is 0.9, not 1"),
        (
            "percent",
            "1 0.5\n2 1\n",
            "unit = \"kB\", shares = \"percent\"",
            "the last share of file is 1, not 100",
        ),
        ("above", "1 50\n2 100\n", "unit = \"kB\"", "line 1 of file: the share is above 1"),
        ("order", "2 0.5\n1 1\n", "unit = \"kB\"", "line 2 of file: the point is below the one before it"),
        ("column", "2 0.5\n3\n", "unit = \"kB\"", "line 2 of file: it has 1 column"),
        (
            "number",
            "2 0.5\n3 x1\n",
            "unit = \"kB\"",
            "line 2 of file: \"x1\" is not a number of zero or more",
        ),
    ] {
        let error = law(holds, keys).expect_err(name);
        assert!(error.contains(expected) && error.contains("t.toml:"), "{error}\nfor {name}");
    }
    let unread = resolved(
        "",
        &format!(
            "pairs = [[\"a\", \"b\"]]\n{ARRIVALS}category = \"ubr\"\nsize = {{ type = \"cdf\", file = \"f\", unit = \"kB\" }}\n"
        ),
    );
    assert!(
        unread.expect_err("nobody has read it").contains(
            "file needs a scenario that is read from a file itself: its place is as seen from there"
        )
    );
}

#[test]
fn a_trace_has_the_flows_one_by_one() {
    let trace = |holds, keys: &str, rest: &str| {
        let flows = format!(
            "arrivals = {{ type = \"trace\", file = \"file\", {keys} }}\ncategory = \"ubr\"\nslots = 2\n{rest}"
        );
        with_file(holds, &flows)
    };
    let holds = "time,from,to,octets\n0.001,a,b,9000\n0.001,c,b,1\n0.5,a,b,1e6\n";
    let scenario = trace(holds, "unit = \"octets\"", "").unwrap();
    let demand = &scenario.demands[0];
    let flow =
        |ms, pair, octets| Traced { at: Time::ZERO + Duration::from_ms(ms), pair, octets: Octets(octets) };
    let flows = [flow(1, 0, 9000), flow(1, 1, 1), flow(500, 0, 1_000_000)];
    assert_eq!((&demand.arrivals, &demand.amount), (&Arrivals::Traced(flows.into()), &Amount::Traced));
    assert!(demand.is_sized() && demand.pairs.len() == 2);
    let names: Vec<&str> = scenario.connections[1..].iter().map(|connection| &*connection.name).collect();
    assert_eq!(names, ["f a->b 1", "f a->b 2", "f c->b 1", "f c->b 2"]);
    // As the HPCC simulator has them: source, destination, priority, size in packets, start.
    let other = trace(
        "a b 3 12 100\n",
        "unit = \"packets\", time_column = 5, time_unit = \"us\", from_column = 1, to_column = 2, column = 4",
        "tcp = {}\n",
    );
    let other = other.unwrap();
    let expected = Traced { at: Time::ZERO + Duration::from_us(100), pair: 0, octets: Octets(18_000) };
    assert_eq!(other.demands[0].arrivals, Arrivals::Traced([expected].into()));
    assert!(matches!(&other.connections[1].forward.traffic, Some(Traffic::Tcp(tcp)) if tcp.successive));
    for (name, holds, rest, expected) in [
        ("host", "0 a d 1\n", "", "there is no host or switch \"d\""),
        ("switch", "0 a s1 1\n", "", "\"s1\" is a switch"),
        ("order", "1 a b 1\n0.5 a b 1\n", "", "line 2 of file: 0.5 is before the instant that precedes it"),
        ("size", "1 a b 0\n", "", "0 octets is not a size of a flow"),
        ("columns", "1 a b\n", "", "line 1 of file: it has 3 columns"),
        ("empty", "# 1\n", "", "there are no flows in file"),
        (
            "pairs",
            "1 a b 1\n",
            "pairs = [[\"a\", \"b\"]]\n",
            "pairs cannot go with arrivals of type \"trace\"",
        ),
        (
            "sizes",
            "1 a b 1\n",
            "size = { type = \"hadoop\" }\n",
            "size cannot go with arrivals of type \"trace\"",
        ),
    ] {
        let error = trace(holds, "unit = \"octets\"", rest).expect_err(name);
        assert!(error.contains(expected) && error.contains("t.toml:"), "{error}\nfor {name}");
    }
}

#[test]
fn how_many_are_under_way_is_recorded_by_name_or_of_all() {
    let flows = |probe: &str| {
        let rest = format!(
            "pairs = [[\"a\", \"b\"]]\n{ARRIVALS}category = \"ubr\"\nsize = {{ type = \"hadoop\" }}\n{probe}"
        );
        resolved("", &rest)
    };
    let quantity = Quantity::Demand { quantity: DemandQuantity::Concurrent, demand: 0 };
    for of in ["", "of = [\"f\"]\n"] {
        let scenario =
            flows(&format!("[[probe]]\nrecord = [\"concurrent\"]\n{of}every = \"change\"\n")).unwrap();
        assert_eq!(scenario.probes, [Probe { quantity, every: Every::Change }]);
    }
    for (probe, expected) in [
        (
            "record = [\"acr\"]\nof = [\"f\"]",
            "`of` names flows that come and go, and `record` no quantity of theirs",
        ),
        ("record = [\"concurrent\"]\nof = [\"s2->b\"]", "`of` names a port, and `record` no quantity of one"),
        ("record = [\"concurrent\"]\nof = [\"g\"]", "there are no flows \"g\""),
        ("record = [\"concurrent\"]\nof = [\"f\", \"f\"]", "concurrent of \"f\" is recorded twice"),
    ] {
        let error = flows(&format!("[[probe]]\n{probe}\n")).expect_err(probe);
        assert!(error.contains(expected) && error.contains("t.toml:"), "{error}\nfor {probe}");
    }
    let text = text("", "");
    let without = text.replace("[[flows]]\nname = \"f\"\n", "[[probe]]\nrecord = [\"concurrent\"]\n");
    let error =
        Document::parse(&without, "t.toml").and_then(|document| document.resolve()).unwrap_err().to_string();
    assert!(error.contains("nothing in the scenario has concurrent"), "{error}");
}

#[test]
fn a_live_run_refuses_them() {
    let text = include_str!("../../../../scenarios/calls.toml");
    let text = text.replace("warm_up = \"1 s\"", "");
    let document = Document::parse(&text, "calls").unwrap_or_else(|error| panic!("{error}"));
    let error = document.resolve_for_live().expect_err("they are of simulations").to_string();
    assert!(error.contains("flows that come and go need a simulation"), "{error}");
}
