//! Use-it-or-lose-it policies and request-response traffic as they are written.

use cellrate_proto::parameters::PowerOfTwo;
use cellrate_proto::switch::{AgingConfig, SwitchAlgorithmConfig};
use cellrate_proto::uili::*;
use cellrate_proto::{CellRate, Duration, Time};
use cellrate_scenario::*;

/// Two hosts and a switch, with these lines in the connection and this algorithm.
fn text(vc: &str, algorithm: &str) -> String {
    format!(
        "name = \"t\"\nduration = \"1 s\"\ndefaults.link = {{ rate = \"155.52 Mbps\", length = \"1 km\" }}\n\
         host = [{{ name = \"a\" }}, {{ name = \"b\" }}]\n\
         link = [{{ between = [\"a\", \"sw\"] }}, {{ between = [\"sw\", \"b\"] }}]\n\
         [[switch]]\nname = \"sw\"\nalgorithm = {algorithm}\n\
         [[vc]]\nname = \"v\"\npath = [\"a\", \"sw\", \"b\"]\n{vc}\n"
    )
}

const ERICA: &str = "{ type = \"erica\" }";

fn resolve(vc: &str, algorithm: &str) -> Result<Scenario, ScenarioError> {
    Document::parse(&text(vc, algorithm), "t").and_then(|document| document.resolve())
}

fn policy(uili: &str) -> UiliConfig {
    let scenario =
        resolve(&format!("abr = {{ uili = {uili} }}"), ERICA).unwrap_or_else(|error| panic!("{error}"));
    let [forward, backward] = [&scenario.connections[0].forward, &scenario.connections[0].backward];
    let Sender::Abr(sender) = &forward.sender else { panic!("an ABR sender") };
    assert_eq!(forward.sender, backward.sender, "both directions follow it");
    sender.uili.clone()
}

fn refused(vc: &str, algorithm: &str) -> String {
    match resolve(vc, algorithm) {
        Ok(_) => panic!("it resolves: {vc} {algorithm}"),
        Err(error) => format!("{}: {} {}", error.key(), error.message(), error.remedy()),
    }
}

#[test]
fn a_policy_alone_has_its_defaults() {
    let all = [
        ("none", UiliConfig::None),
        ("february-1995", UiliConfig::February1995(February1995Config::default())),
        ("april-1995", UiliConfig::April1995(April1995Config::default())),
        ("august-1995", UiliConfig::August1995(August1995Config::default())),
        ("baseline", UiliConfig::Baseline(BaselineConfig::default())),
        ("count-based", UiliConfig::CountBased(CountBasedConfig::default())),
        ("time-based", UiliConfig::TimeBased(TimeBasedConfig::default())),
        ("joint", UiliConfig::Joint(JointConfig::default())),
    ];
    for (name, config) in all {
        assert_eq!(policy(&format!("\"{name}\"")), config);
        assert_eq!(policy(&format!("{{ type = \"{name}\" }}")), config);
    }
}

#[test]
fn every_parameter_of_a_policy_is_read() {
    let eighth = PowerOfTwo::from_negative_exponent(3);
    let cases = [
        ("type = \"february-1995\", tof = 4, rdf = 256", {
            UiliConfig::February1995(February1995Config { tof: 4, rdf: Some(256.0) })
        }),
        ("type = \"april-1995\", tof = 3, rdf = 256", {
            UiliConfig::April1995(April1995Config { tof: 3.0, rdf: Some(256.0) })
        }),
        ("type = \"august-1995\", tof = 3, tdff = \"1/8\", pni = true", {
            let tdf = DecreasePerTime::Derived(eighth);
            UiliConfig::August1995(August1995Config { tof: 3.0, tdf, pni: true })
        }),
        ("type = \"august-1995\", tdff = 0", {
            let tdf = DecreasePerTime::Derived(None);
            UiliConfig::August1995(August1995Config { tdf, ..August1995Config::default() })
        }),
        ("type = \"august-1995\", tdf = 64", {
            let tdf = DecreasePerTime::PerSecond(64.0);
            UiliConfig::August1995(August1995Config { tdf, ..August1995Config::default() })
        }),
        ("type = \"baseline\", tdf = \"1/4\", floor = \"source-rate-plus-icr\", pni = true", {
            let floor = BaselineFloor::SourceRatePlusIcr;
            UiliConfig::Baseline(BaselineConfig { tdf: 0.25, floor, pni: true })
        }),
        (
            "type = \"count-based\", tdf = \"1/16\", headroom = \"1 Mbps\", pr5 = true, delta = \"100 cells/s\"",
            {
                let headroom = CellRate::new(1e6 / 424.0);
                let delta = Some(CellRate::new(100.0));
                UiliConfig::CountBased(CountBasedConfig { tdf: 0.0625, headroom, pr5: true, delta })
            },
        ),
        ("type = \"time-based\", floor = \"multiple\", tof = 3, addf = 4, tc = \"10 ms\", pni = true", {
            let floor = TimeBasedFloor::IcrOrMultiple { tof: 3.0 };
            let tc = Some(Duration::from_ms(10));
            UiliConfig::TimeBased(TimeBasedConfig { floor, addf: 4.0, tc, pni: true })
        }),
        ("type = \"joint\", tdf = \"1/32\", pni = true", {
            UiliConfig::Joint(JointConfig { tdf: 0.03125, pni: true })
        }),
    ];
    for (written, config) in cases {
        assert_eq!(policy(&format!("{{ {written} }}")), config, "{written}");
    }
}

#[test]
fn a_policy_is_overridden_like_any_table() {
    let text = text("abr = { uili = { type = \"joint\" } }", ERICA);
    let mut document = Document::parse(&text, "t").unwrap();
    document.set("vc.v.abr.uili.tdf", "\"1/64\"").unwrap();
    let Sender::Abr(sender) = &document.resolve().unwrap().connections[0].forward.sender else { panic!() };
    assert_eq!(sender.uili, UiliConfig::Joint(JointConfig { tdf: 1.0 / 64.0, pni: false }));
}

#[test]
fn a_policy_per_member_of_a_group() {
    let text = text("", ERICA).replace("name = \"v\"", "name = \"v{i}\"\ncount = 2")
        + "abr = { uili = [\"joint\", { type = \"joint\", tdf = 0 }] }\n";
    let scenario = Document::parse(&text, "t").and_then(|document| document.resolve()).unwrap();
    let tdf = |i: usize| match &scenario.connections[i].forward.sender {
        Sender::Abr(sender) => match &sender.uili {
            UiliConfig::Joint(config) => config.tdf,
            other => panic!("{other:?}"),
        },
        Sender::Peak(_) => panic!("an ABR sender"),
    };
    assert_eq!([tdf(0), tdf(1)], [0.0625, 0.0]);
}

#[test]
fn what_a_policy_does_not_have_is_refused() {
    let uili = |policy: &str| refused(&format!("abr = {{ uili = {{ {policy} }} }}"), ERICA);
    assert!(
        uili("type = \"joint\", headroom = \"1 Mbps\"").contains("type \"joint\" has no key \"headroom\"")
    );
    assert!(uili("type = \"joint\", tdf = 1.5").contains("1.5"));
    assert!(uili("tdf = 0.5").contains("type"));
    assert!(uili("type = \"august-1995\", tdf = 1, tdff = \"1/8\"").contains("both tdf and tdff"));
    assert!(uili("type = \"time-based\", tof = 2").contains("no effect"));
    assert!(uili("type = \"count-based\", headroom = \"9 Gbps\"").contains("16777215"));
    let word = refused("abr = { uili = \"july-1995\" }", ERICA);
    assert!(word.contains("july-1995") || word.contains("count-based"), "{word}");
}

#[test]
fn aging_goes_with_erica() {
    let aging = |algorithm: &str| match &resolve("", algorithm).unwrap().links[1].ports[0].control.algorithm {
        SwitchAlgorithmConfig::Erica(erica) => erica.aging,
        other => panic!("{other:?}"),
    };
    assert_eq!(aging(ERICA), None);
    assert_eq!(aging("{ type = \"erica\", aging = \"off\" }"), None);
    assert_eq!(aging("{ type = \"erica\", aging = {} }"), Some(AgingConfig::new()));
    let all = "{ type = \"erica+\", aging = { alpha = 0.2, delta = 2, used = 1.2, weight = 0.5, floor = \"1 Mbps\" } }";
    let floor = CellRate::new(1e6 / 424.0);
    assert_eq!(aging(all), Some(AgingConfig { alpha: 0.2, delta: 2.0, used: 1.2, weight: 0.5, floor }));
    let wrong = refused("", "{ type = \"erica\", aging = { used = 1.6 } }");
    assert!(wrong.contains("aging_used is 1.6") && wrong.contains("aging_delta"), "{wrong}");
}

#[test]
fn request_response_traffic_is_read_and_its_answers_count_as_data() {
    let all = "traffic = { type = \"request-response\", request = \"8 cells\", response = \"256 cells\", requests = 2, \
               request_gap = \"1 us\", cycle_gap = \"2 ms\", server_time = \"3 us\", rate = \"10 Mbps\", record = 5, \
               start = \"1 ms\", end = \"2 ms\" }";
    let scenario = resolve(all, ERICA).unwrap_or_else(|error| panic!("{error}"));
    let connection = &scenario.connections[0];
    assert_eq!(
        connection.forward.traffic,
        Some(Traffic::RequestResponse(RequestResponse {
            request: 8,
            response: 256,
            requests: 2,
            request_gap: Duration::from_us(1),
            cycle_gap: Duration::from_ms(2),
            server_time: Duration::from_us(3),
            rate: CellRate::new(10e6 / 424.0),
            start: Time::ZERO + Duration::from_ms(1),
            end: Time::ZERO + Duration::from_ms(2),
            record: 5,
        }))
    );
    assert_eq!(connection.backward.traffic, None);
    assert!(connection.carries_data(false) && connection.carries_data(true));
    // Both directions take part in fair sharing.
    let shares = fair::max_min(&scenario, None).unwrap();
    assert_eq!(shares.len(), 2);
}

#[test]
fn request_response_traffic_defaults_to_the_paper() {
    let vc =
        "abr = { pcr = \"100 Mbps\" }\ntraffic = { type = \"request-response\", response = \"16 cells\" }";
    let Some(Traffic::RequestResponse(model)) = resolve(vc, ERICA).unwrap().connections[0].forward.traffic
    else {
        panic!("request-response")
    };
    assert_eq!((model.request, model.requests, model.cycle_gap), (16, 1, Duration::from_ms(1)));
    assert_eq!((model.rate, model.end, model.record), (CellRate::new(100e6 / 424.0), Time::NEVER, 0));
}

#[test]
fn request_response_traffic_has_both_directions_to_itself() {
    let model = "{ type = \"request-response\", response = \"16 cells\" }";
    let both = refused(&format!("bidirectional = true\ntraffic = {model}"), ERICA);
    assert!(both.contains("carries its responses"), "{both}");
    let own =
        refused(&format!("traffic = {model}\nreverse = {{ traffic = {{ type = \"greedy\" }} }}"), ERICA);
    assert!(own.contains("carries its responses"), "{own}");
    let back =
        refused(&format!("traffic = {{ type = \"greedy\" }}\nreverse = {{ traffic = {model} }}"), ERICA);
    assert!(back.contains("begins at the first host"), "{back}");
    let short = refused("traffic = { type = \"request-response\", response = \"10 B\" }", ERICA);
    assert!(short.contains("0 cells"), "{short}");
}
