//! Connections with branches.

use cellrate_proto::Duration;
use cellrate_proto::consolidation::{Consolidation, ConsolidationConfig};
use cellrate_scenario::fair::{Bottleneck, max_min};
use cellrate_scenario::{ConnectionIndex, Document, FlowIndex, PortIndex, Scenario};

/// s - sw1 - sw2 - sw3, a at sw1, b and c at sw3, d at sw2; `vc` has these keys beside its path, and the scenario these
/// lines before.
fn with(before: &str, vc: &str) -> Result<Scenario, String> {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\n{before}\n\
         defaults.link = {{ rate = \"100000 cells/s\", delay = \"1 ms\" }}\n\
         host = [{{ name = \"s\" }}, {{ name = \"a\" }}, {{ name = \"b\" }}, {{ name = \"c\" }}, {{ name = \"d\" }}]\n\
         link = [{{ between = [\"s\", \"sw1\"] }}, {{ between = [\"a\", \"sw1\"] }}, {{ between = [\"sw1\", \"sw2\"] }},\n\
           {{ between = [\"sw2\", \"sw3\"], delay = \"7 ms\" }}, {{ between = [\"sw3\", \"b\"] }}, {{ between = [\"sw3\", \"c\"], rate = \"1000 cells/s\" }},\n\
           {{ between = [\"sw2\", \"d\"] }}]\n\
         [[vc]]\nname = \"v\"\npath = [\"s\", \"sw1\", \"a\"]\n{vc}\n\
         [[vc]]\nname = \"w\"\npath = [\"a\", \"sw1\", \"sw2\", \"sw3\", \"c\"]\n"
    );
    let switches = "switch = [{ name = \"sw{i}\", count = 3 }]\n";
    let text = if before.contains("switch =") { text } else { format!("{switches}{text}") };
    Document::parse(&text, "t.toml")
        .and_then(|document| document.resolve())
        .map_err(|error| error.to_string().replace('\n', " "))
}

const ALL: &str = "branches = [[\"sw1\", \"sw2\", \"sw3\", \"b\"], [\"sw3\", \"c\"], [\"sw2\", \"d\"]]";

#[test]
fn each_way_is_a_connection_that_follows_the_trunk() {
    let scenario = with("", ALL).unwrap();
    let names: Vec<&str> = scenario.connections.iter().map(|vc| vc.name.as_str()).collect();
    assert_eq!(names, ["v", "v to b", "v to c", "v to d", "w"]);
    let from: Vec<_> =
        scenario.connections.iter().map(|vc| vc.branch.map(|branch| (branch.from.0, branch.hop))).collect();
    // c branches off the way to b, whose hop 2 leaves sw3; d at sw2, which its hop 1 leaves.
    assert_eq!(from, [None, Some((0, 1)), Some((1, 2)), Some((1, 1)), None]);
    let points = scenario.branch_points();
    let where_to: Vec<_> = points
        .iter()
        .map(|point| (scenario.node(point.switch).name.as_str(), point.connection.0, point.branches.len()))
        .collect();
    assert_eq!(where_to, [("sw1", 0, 1), ("sw2", 1, 1), ("sw3", 1, 1)]);
    assert!(scenario.is_of_tree(ConnectionIndex(0)) && scenario.is_of_tree(ConnectionIndex(3)));
    assert!(!scenario.is_of_tree(ConnectionIndex(4)));
    let [trunk, branch] = [0, 2].map(|index| &scenario.connections[index]);
    assert_eq!(branch.forward.sender, trunk.forward.sender);
    assert!(branch.forward.traffic.is_none() && branch.carries_data(false) && !branch.carries_data(true));
    assert!(!branch.carries_packets());
}

#[test]
fn parameters_go_by_the_smallest_link_and_the_farthest_leaf() {
    let scenario = with("", ALL).unwrap();
    let cellrate_scenario::Sender::Abr(abr) = &scenario.connections[0].forward.sender else { panic!("ABR") };
    assert_eq!(abr.parameters.pcr.as_cells_per_s(), 1000.0);
    // 1 ms to sw1, 1 to sw2, 7 to sw3 and 1 to b, there and back.
    assert_eq!(abr.parameters.frtt, Duration::from_ms(20));
    let plain = with("", "").unwrap();
    let cellrate_scenario::Sender::Abr(abr) = &plain.connections[0].forward.sender else { panic!("ABR") };
    assert_eq!((abr.parameters.pcr.as_cells_per_s(), abr.parameters.frtt), (100_000.0, Duration::from_ms(4)));
}

#[test]
fn a_fair_tree_has_what_its_least_branch_allows() {
    let scenario = with("defaults.abr = { pcr = \"50000 cells/s\" }", ALL).unwrap();
    let shares = max_min(&scenario, Some(1.0)).unwrap();
    let rates: Vec<_> = shares.iter().map(|share| (share.flow, share.rate.as_cells_per_s())).collect();
    // v and w share the link to c, 1000 cells/s less the BRMs of nobody.
    let flow = |index| FlowIndex::of(ConnectionIndex(index), false);
    assert_eq!(rates, [(flow(0), 500.0), (flow(4), 500.0)]);
    let to_c = PortIndex::of(cellrate_scenario::LinkIndex(5), 0);
    assert_eq!(shares[0].bottleneck, Bottleneck::Port(to_c));
    // Its own path, then the way to b and on to c.
    let way: Vec<u32> = scenario.way_to(flow(0), to_c).iter().map(|step| step.link.0).collect();
    assert_eq!(way, [0, 2, 3]);
    assert_eq!(scenario.way_to(flow(0), PortIndex::of(cellrate_scenario::LinkIndex(1), 1)).len(), 1);
}

#[test]
fn switches_say_how_they_consolidate() {
    let config = |keys: &str| {
        let switches = format!("switch = [{{ name = \"sw{{i}}\", count = 3, {keys} }}]");
        with(&switches, ALL).map(|scenario| scenario.branch_points()[0].consolidation)
    };
    let default = ConsolidationConfig::default();
    assert_eq!(config("consolidation = { type = \"ratio-control\" }"), Ok(default));
    for (name, algorithm) in [
        ("turn-around", Consolidation::TurnAround),
        ("turn-around-informed", Consolidation::TurnAroundInformed),
        ("pass-first", Consolidation::PassFirst),
        ("probabilistic", Consolidation::Probabilistic(0.5)),
        ("wait-for-all", Consolidation::WaitForAll),
        ("fast-overload", Consolidation::FastOverload),
        ("immediate-rate", Consolidation::ImmediateRate),
    ] {
        let expected = ConsolidationConfig { algorithm, ..default };
        assert_eq!(config(&format!("consolidation = {{ type = \"{name}\" }}")), Ok(expected));
    }
    let own = "consolidation = { type = \"fast-overload\", overload_factor = 0.9, timeout = \"20 ms\" }";
    let expected = ConsolidationConfig {
        algorithm: Consolidation::FastOverload,
        overload_factor: 0.9,
        timeout: Duration::from_ms(20),
    };
    assert_eq!(config(own), Ok(expected));
    let error = config("consolidation = { type = \"turn-around\", timeout = \"20 ms\" }").unwrap_err();
    assert!(error.contains("timeout"), "{error}");
    let error = config("consolidation = { type = \"probabilistic\", probability = 1.5 }").unwrap_err();
    assert!(error.contains("probability") || error.contains("1.5"), "{error}");
    // Without a word the default, and each switch its own.
    assert_eq!(with("", ALL).unwrap().branch_points()[2].consolidation, default);
}

#[test]
fn a_branch_that_is_none_is_refused_by_name() {
    for (branches, said) in [
        ("[[\"s\", \"a\"]]", "the branch begins at the host \"s\""),
        ("[[\"sw1\", \"sw2\"]]", "the branch ends at the switch \"sw2\""),
        ("[[\"sw2\", \"d\"]]", "the branch begins at \"sw2\", which the tree does not pass"),
        ("[[\"sw1\", \"a\"]]", "the branch comes to \"a\", where the tree is already"),
        (
            "[[\"sw1\", \"sw2\", \"d\"], [\"sw1\", \"sw2\", \"sw3\", \"b\"]]",
            "comes to \"sw2\", where the tree is already",
        ),
        ("[[\"sw1\", \"sw2\", \"d\"], [\"sw2\", \"d\"]]", "comes to \"d\", where the tree is already"),
        ("[[\"sw1\", \"b\"]]", "the branch goes from \"sw1\" to \"b\", and there is no link between them"),
        ("[[\"sw1\"]]", "branches"),
        ("[]", "branches"),
        ("[\"sw1\", \"d\"]", "branches"),
    ] {
        let error = with("", &format!("branches = {branches}")).unwrap_err();
        assert!(error.contains(said), "{branches}: {error}");
    }
}

#[test]
fn what_a_tree_cannot_have_is_refused_where_it_stands() {
    for (before, vc, said) in [
        ("", "bidirectional = true", "leaves send none back"),
        ("", "reverse = { traffic = { type = \"greedy\" } }", "leaves send none back"),
        ("", "traffic = { type = \"tcp\" }", "traffic of type \"tcp\", which is between two hosts"),
        ("", "category = \"gfr\"", "branches cannot go with category"),
        ("", "abr = { rm = \"in-band\" }", "branches cannot go with rm \"in-band\""),
        ("", "reverse = { abr = { rm = \"in-band\" } }", "branches cannot go with rm \"in-band\""),
        ("defaults.abr = { rm = \"in-band\" }", "", "branches cannot go with rm \"in-band\""),
        ("", "reverse = { police = {} }", "branches cannot go with reverse.police"),
        ("", "police = { at = [\"sw2\"] }", "sw2 is not a switch on the path of the connection"),
        ("defaults.switch.vs_vd = {}", "", "the port sw1->s of the tree has vs_vd"),
        ("defaults.switch.becn = { threshold = \"9 cells\" }", "", "the port sw1->s of the tree has becn"),
        (
            "defaults.switch.algorithm = { type = \"stop-and-go\", threshold = \"9 cells\" }",
            "",
            "has algorithm type \"stop-and-go\"",
        ),
    ] {
        let error = with(before, &format!("{vc}\n{ALL}")).unwrap_err();
        assert!(error.contains(said), "{before} {vc}: {error}");
    }
    // CBR passes ports that segment loops; they are none of its own.
    let cbr =
        format!("category = \"cbr\"\ntraffic = {{ type = \"constant\", rate = \"10 cells/s\" }}\n{ALL}");
    assert_eq!(with("defaults.switch.vs_vd = {}", &cbr).unwrap().connections.len(), 5);
}

#[test]
fn a_tree_is_policed_on_the_way_to_its_first_leaf_and_no_copies_are() {
    let scenario = with("", &format!("police = {{}}\n{ALL}")).unwrap();
    let policed: Vec<_> = scenario.connections.iter().map(|vc| vc.policing.len()).collect();
    assert_eq!(policed, [1, 0, 0, 0, 0]);
    assert_eq!(
        (scenario.connections[0].policing[0].hop, scenario.connections[0].policing[0].backward),
        (0, false)
    );
}

/// A tree of CBR and one to two other leaves behind it, with these peaks in cells a second.
fn admitted(peak: u64, other: u64) -> Scenario {
    let cbr = |rate| {
        format!(
            "category = \"cbr\"\npcr = \"{rate} cells/s\"\n\
             traffic = {{ type = \"constant\", rate = \"{rate} cells/s\" }}"
        )
    };
    let second = format!(
        "[[vc]]\nname = \"t\"\npath = [\"d\", \"sw2\", \"sw3\", \"c\"]\nbranches = [[\"sw2\", \"sw1\", \"a\"]]\n{}",
        cbr(other)
    );
    with("admission = true", &format!("{}\n{ALL}\n{second}", cbr(peak))).unwrap()
}

#[test]
fn a_tree_is_admitted_on_all_links_of_its_ways_or_on_none() {
    let names = |scenario: &Scenario| -> Vec<String> {
        scenario.connections.iter().map(|vc| vc.name.clone()).collect()
    };
    let both = admitted(600, 400);
    assert_eq!(names(&both), ["v", "v to b", "v to c", "v to d", "t", "t to a", "w"]);
    assert!(both.refused.is_empty());
    // The link to c has 1,000 cells/s, of which v takes 600.
    let first = admitted(600, 500);
    assert_eq!(names(&first), ["v", "v to b", "v to c", "v to d", "w"]);
    let [refused] = &first.refused[..] else { panic!("t alone") };
    assert!(refused.vc == "t" && refused.reason.contains("forward on sw3->c"), "{refused:?}");
    // What v would have had on other links is free again, and branches go by their new numbers.
    let second = admitted(1_100, 1_000);
    assert_eq!(names(&second), ["t", "t to a", "w"]);
    assert_eq!(second.connections[1].branch.unwrap().from, ConnectionIndex(0));
    assert!(second.refused[0].vc == "v" && second.refused[0].reason.contains("forward on sw3->c"));
}

#[test]
fn a_tree_is_negotiated_at_all_its_switches_and_its_frtt_is_that_of_the_farthest_leaf() {
    let switches = "admission = true\nswitch = [{ name = \"sw1\" }, { name = \"sw2\" }, \
         { name = \"sw3\", negotiation = { icr = \"300 cells/s\", tbe = \"77 cells\" } }]";
    let scenario = with(switches, ALL).unwrap();
    let cellrate_scenario::Sender::Abr(abr) = &scenario.connections[0].forward.sender else { panic!("ABR") };
    let parameters = &abr.parameters;
    assert_eq!((parameters.frtt, parameters.tbe.0), (Duration::from_ms(20), 77));
    assert!(parameters.icr.as_cells_per_s() <= 300.0 && parameters.pcr.as_cells_per_s() <= 1000.0);
    for branch in &scenario.connections[1..4] {
        assert_eq!(branch.forward.sender, scenario.connections[0].forward.sender);
    }
}

#[test]
fn series_of_a_leaf_are_named_like_its_row() {
    let probe = |record: &str, of: &str| {
        with(&format!("probe = [{{ record = [\"{record}\"], of = [\"{of}\"], every = \"1 ms\" }}]"), ALL)
    };
    let found = probe("received", "v to c").unwrap();
    let quantity = found.probes[0].quantity;
    assert!(matches!(quantity, cellrate_scenario::Quantity::Flow { flow, .. } if flow.index() == 4));
    for name in ["acr", "source_rate", "source_queue", "forward_rm", "backward_rm"] {
        let error = probe(name, "v to c").unwrap_err();
        assert!(error.contains("a branch of a tree, whose cells are copies"), "{error}");
    }
    // Who asks for ACR of all has it of sources alone.
    let all = with("probe = [{ record = [\"acr\", \"received\"], every = \"1 ms\" }]", ALL).unwrap();
    assert_eq!(all.probes.len(), 2 + 5);
}

#[test]
fn a_group_has_trees_of_its_own() {
    let text = "name = \"t\"\nduration = \"1 s\"\ndefaults.link = { rate = \"1 Mbps\", delay = \"1 ms\" }\n\
        host = [{ name = \"s{i}\", count = 2 }, { name = \"d{i}\", count = 2 }, { name = \"e{i}\", count = 2 }]\nswitch = [{ name = \"sw\" }]\n\
        link = [{ between = [\"s{i}\", \"sw\"], count = 2 }, { between = [\"sw\", \"d{i}\"], count = 2 }, { between = [\"sw\", \"e{i}\"], count = 2 }]\n\
        vc = [{ name = \"v{i}\", count = 2, path = [\"s{i}\", \"sw\", \"d{i}\"], branches = [[\"sw\", \"e{i}\"]] }]\n";
    let scenario = Document::parse(text, "t").and_then(|document| document.resolve()).unwrap();
    let names: Vec<&str> = scenario.connections.iter().map(|vc| vc.name.as_str()).collect();
    assert_eq!(names, ["v1", "v1 to e1", "v2", "v2 to e2"]);
    assert_eq!(scenario.connections[3].branch.unwrap().from, ConnectionIndex(2));
}

#[test]
fn sources_go_by_their_clocks_and_copies_by_those_of_the_source() {
    let scenario = with("defaults.clocks = \"independent\"", ALL).unwrap();
    let [trunk, branch] = [0, 1].map(|index| &scenario.connections[index].forward.sender);
    assert_eq!(trunk, branch);
}

#[test]
fn a_live_run_refuses_branches() {
    let text = include_str!("../../../../scenarios/tree.toml");
    let error =
        Document::parse(text, "tree.toml").and_then(|document| document.resolve_for_live()).unwrap_err();
    assert!(error.to_string().contains("branches need a simulation"), "{error}");
}
