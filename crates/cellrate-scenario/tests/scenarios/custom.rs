//! Plugins as scenarios name them: their parameters, figures that can be recorded of algorithms, errors and their
//! places.

use cellrate_scenario::*;

fn text(algorithm: &str, more: &str) -> String {
    format!(
        "name = \"t\"\nduration = \"1 s\"\ndefaults.link = {{ rate = \"150 Mbps\", length = \"10 km\" }}\n\
         host = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         link = [{{ between = [\"a\", \"sw\"] }}, {{ between = [\"sw\", \"b\"] }}]\n\
         [[switch]]\nname = \"sw\"\nalgorithm = {algorithm}\n\
         [[vc]]\nname = \"v\"\npath = [\"a\", \"sw\", \"b\"]\n{more}"
    )
}

fn parse(algorithm: &str, more: &str) -> Document {
    Document::parse(&text(algorithm, more), "t.toml").unwrap_or_else(|error| panic!("{error}"))
}

const MINE: &str = "{ type = \"custom\", name = \"mine\", figures = [\"level\", \"z\"], \
                    parameters = { gain = 0.5, steps = 3, shape = \"5 ms\", fast = true } }";
const PROBE: &str = "[[probe]]\nrecord = [\"z\", \"level\"]\nof = [\"sw->b\"]\nevery = \"1 ms\"\n";

fn refused(algorithm: &str, more: &str) -> String {
    let error = parse(algorithm, more).resolve().expect_err("it is refused");
    format!("{}:{} {}", error.line(), error.message(), error.remedy())
}

#[test]
fn every_port_of_the_switch_has_it_with_its_parameters_in_order() {
    let scenario = parse(MINE, "").resolve().unwrap_or_else(|error| panic!("{error}"));
    let custom = scenario.links[1].ports[0].custom.as_deref().expect("the port of the switch");
    let value = |name: &str, value| (name.to_string(), value);
    let expected = [
        value("gain", CustomParameter::Number(0.5)),
        value("steps", CustomParameter::Integer(3)),
        value("shape", CustomParameter::Text("5 ms".into())),
        value("fast", CustomParameter::Boolean(true)),
    ];
    assert_eq!((custom.name.as_str(), &custom.parameters[..]), ("mine", &expected[..]));
    assert!(scenario.links[0].ports[1].custom.is_some() && scenario.links[0].ports[0].custom.is_none());
}

#[test]
fn its_figures_are_recorded_by_their_names() {
    let scenario = parse(MINE, PROBE).resolve().unwrap_or_else(|error| panic!("{error}"));
    let metric = |place| Quantity::Port {
        quantity: PortQuantity::Metric(place),
        port: PortIndex::of(LinkIndex(1), 0),
    };
    let recorded: Vec<Quantity> = scenario.probes.iter().map(|probe| probe.quantity).collect();
    assert_eq!(recorded, [metric(1), metric(0)]);
}

#[test]
fn its_parameters_can_be_set_and_swept() {
    let mut document = parse(MINE, "");
    document.set("switch.sw.algorithm.parameters.gain", "0.25").unwrap_or_else(|error| panic!("{error}"));
    let scenario = document.resolve().unwrap_or_else(|error| panic!("{error}"));
    let custom = scenario.links[1].ports[0].custom.as_deref().expect("the port of the switch");
    assert_eq!(custom.parameters[0].1, CustomParameter::Number(0.25));
    let sweep = "[[sweep]]\nset = \"switch.sw.algorithm.parameters.steps\"\nvalues = [1, 2]\n";
    let points = parse(MINE, sweep).points().unwrap_or_else(|error| panic!("{error}"));
    let steps = |point: &SweepPoint| {
        let scenario = point.document.resolve().unwrap_or_else(|error| panic!("{error}"));
        scenario.links[1].ports[0].custom.as_deref().expect("it is there").parameters[1].1.clone()
    };
    assert_eq!(points.iter().map(steps).collect::<Vec<_>>(), [1, 2].map(CustomParameter::Integer));
}

#[test]
fn what_cannot_be_is_refused_at_its_place() {
    assert_eq!(
        refused("{ type = \"custom\" }", ""),
        "8:the key \"name\" is missing Add it: The name by which it is given to the run"
    );
    assert_eq!(
        refused("{ type = \"custom\", name = \"m\", figures = [\"queue\"] }", ""),
        "8:queue is recorded of every port Give the figure another name"
    );
    assert_eq!(
        refused("{ type = \"custom\", name = \"m\", figures = [\"x\", \"x\"] }", ""),
        "8:x is there twice Name each figure once"
    );
    assert_eq!(
        refused("{ type = \"custom\", name = \"m\", parameters = { a = [1] } }", ""),
        "8:a parameter cannot be a list Write a number, a string, true or false"
    );
    let unknown = "[[probe]]\nrecord = [\"levl\"]\nevery = \"1 ms\"\n";
    let error = refused(MINE, unknown);
    assert!(
        error.starts_with("13:\"levl\" is not one of the words allowed here Did you mean \"level\"?"),
        "{error}"
    );
    // A figure that another port offers.
    let elsewhere = "[[probe]]\nrecord = [\"level\"]\nof = [\"a->sw\"]\nevery = \"1 ms\"\n";
    assert_eq!(
        refused(MINE, elsewhere),
        "14:\"a->sw\" has no level Only ports of switches whose custom algorithm has such a figure have it"
    );
}

/// A connection with these keys.
fn connection(keys: &str) -> Document {
    parse("{ type = \"erica\" }", keys)
}

#[test]
fn policies_and_traffic_have_names_and_parameters_too() {
    let keys = "abr.uili = { type = \"custom\", name = \"thrifty\", parameters = { share = 0.5 } }\n\
                traffic = { type = \"custom\", name = \"bursty\", parameters = { most = 7, at = \"1 ms\" } }\n\
                reverse.traffic = { type = \"custom\", name = \"bursty\" }\n";
    let scenario = connection(keys).resolve().unwrap_or_else(|error| panic!("{error}"));
    let connection = &scenario.connections[0];
    let custom = |name: &str, parameters: &[(&str, CustomParameter)]| Custom {
        name: name.to_string(),
        parameters: parameters.iter().map(|(name, value)| (name.to_string(), value.clone())).collect(),
    };
    for flow in [&connection.forward, &connection.backward] {
        let Sender::Abr(abr) = &flow.sender else { panic!("it is an ABR connection") };
        let expected = custom("thrifty", &[("share", CustomParameter::Number(0.5))]);
        assert_eq!(abr.custom_uili.as_deref(), Some(&expected));
        assert_eq!(abr.uili, cellrate_proto::uili::UiliConfig::None);
    }
    let traffic = |flow: &Flow| match &flow.traffic {
        Some(Traffic::Custom(custom)) => (**custom).clone(),
        other => panic!("{other:?}"),
    };
    let parameters = [("most", CustomParameter::Integer(7)), ("at", CustomParameter::Text("1 ms".into()))];
    assert_eq!(traffic(&connection.forward), custom("bursty", &parameters));
    assert_eq!(traffic(&connection.backward), custom("bursty", &[]));
}

#[test]
fn policies_and_traffic_can_be_set_and_put_back() {
    let mut document = connection("abr.uili = { type = \"custom\", name = \"thrifty\" }\n");
    document.set("vc.v.abr.uili.parameters.share", "0.25").unwrap_or_else(|error| panic!("{error}"));
    let policy = |document: &Document| {
        let scenario = document.resolve().unwrap_or_else(|error| panic!("{error}"));
        let Sender::Abr(abr) = &scenario.connections[0].forward.sender else { panic!("it is ABR") };
        abr.custom_uili.as_ref().map(|custom| custom.parameters.clone())
    };
    assert_eq!(policy(&document), Some(vec![("share".into(), CustomParameter::Number(0.25))]));
    document.set("vc.v.abr.uili", "none").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(policy(&document), None);
}

#[test]
fn policies_and_traffic_that_cannot_be_are_refused_at_their_places() {
    let refused = |keys: &str| {
        let error = connection(keys).resolve().expect_err("it is refused");
        format!("{}:{} {}", error.line(), error.message(), error.remedy())
    };
    let no_name = "the key \"name\" is missing Add it: The name by which it is given to the run";
    assert_eq!(refused("abr.uili = { type = \"custom\" }\n"), format!("12:{no_name}"));
    assert_eq!(refused("traffic = { type = \"custom\" }\n"), format!("12:{no_name}"));
    // The word alone does not say which.
    let alone = Document::parse(&text("{ type = \"erica\" }", "abr.uili = \"custom\"\n"), "t.toml")
        .expect_err("it is refused");
    assert_eq!((alone.line(), alone.message()), (12, "a table is due here, not a string"));
    assert!(alone.remedy().starts_with("Write { type = \"custom\", ... }"), "{alone}");
    let parameter = "a parameter cannot be a list Write a number, a string, true or false";
    assert_eq!(
        refused("traffic = { type = \"custom\", name = \"m\", parameters = { a = [1] } }\n"),
        format!("12:{parameter}")
    );
    assert_eq!(
        refused("category = \"cbr\"\nabr.uili = { type = \"custom\", name = \"m\" }\n").split(' ').next(),
        Some("13:a")
    );
}
