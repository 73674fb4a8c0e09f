//! Custom algorithms as they are written: what they are handed, what can be recorded of them, what is refused and where.

use cellrate_scenario::*;

fn parse(algorithm: &str, more: &str) -> Document {
    let text = format!(
        "name = \"t\"\nduration = \"1 s\"\ndefaults.link = {{ rate = \"150 Mbps\", length = \"10 km\" }}\n\
         host = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         link = [{{ between = [\"a\", \"sw\"] }}, {{ between = [\"sw\", \"b\"] }}]\n\
         [[switch]]\nname = \"sw\"\nalgorithm = {algorithm}\n\
         [[vc]]\nname = \"v\"\npath = [\"a\", \"sw\", \"b\"]\n{more}"
    );
    Document::parse(&text, "t.toml").unwrap_or_else(|error| panic!("{error}"))
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
    let metric = |place| Quantity::Port { quantity: PortQuantity::Metric(place), link: LinkIndex(1), end: 0 };
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
        "8:the key \"name\" is missing Add it: The name by which the run is given it"
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
        "14:it has no level Only ports of switches whose custom algorithm has such a figure have it"
    );
}
