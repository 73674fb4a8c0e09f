//! Bad files, and the error that each gives: the line, what was given, what is allowed.

use cellrate_proto::switch::FORMS;
use cellrate_scenario::Document;

use crate::GOOD;
use crate::expected_error::assert_error;

fn error(text: &str) -> String {
    match Document::parse(text, "bad.toml").and_then(|document| document.resolve()) {
        Ok(_) => panic!("it resolves:\n{text}"),
        Err(error) => error.to_string(),
    }
}

/// Error that the good file gives when `from` becomes `to` in it.
fn changed(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    error(&GOOD.replacen(from, to, 1))
}

/// Each is kept under its own name.
macro_rules! told {
    ($($name:ident: $from:expr => $to:expr;)*) => {
        $(#[test]
        fn $name() {
            assert_error(stringify!($name), &changed($from, $to));
        })*
    };
}

told! {
    unknown_key: "length = \"1000 km\"" => "lenght = \"1000 km\"";
    missing_unit: "duration = \"400 ms\"" => "duration = 400";
    negative_rate: "rate = \"155.52 Mbps\"" => "rate = \"-155.52 Mbps\"";
    path_over_a_missing_link: "path = [\"s{i}\", \"sw1\", \"sw2\", \"d{i}\"]" => "path = [\"s{i}\", \"sw2\", \"d{i}\"]";
    pcr_below_mcr: "mcr = \"1 Mbps\"" => "mcr = \"101 Mbps\"";
    nrm_not_a_power_of_two: "nrm = 32" => "nrm = 33";
    duplicate_name: "name = \"timed\"" => "name = \"video\"";
    cycle_of_likes: "name = \"vc{i}\"\n" => "name = \"vc{i}\"\nlike = \"like-{i}\"\n";
    path_through_a_host: "path = [\"s{i}\", \"sw1\"," => "path = [\"s{i}\", \"s3\", \"sw1\",";
    path_from_a_switch: "path = [\"s{i}\", \"sw1\"," => "path = [\"sw1\",";
    link_to_itself: "between = [\"sw1\", \"sw2\"]" => "between = [\"sw1\", \"sw1\"]";
    node_twice: "\"sw2\", \"d{i}\"]\nabr" => "\"sw2\", \"sw1\", \"d{i}\"]\nabr";
    port_to_a_stranger: "ports = { sw2" => "ports = { d1";
    too_few_members: "[\"1 km\", \"5 km\", \"10 km\"]" => "[\"1 km\", \"5 km\"]";
    word_misspelt: "efci_state = \"keep\"" => "efci_state = \"kept\"";
    table_where_another_is_due: "off = { exponential" => "off = { mean";
    wrong_type: "nrm = 32" => "nrm = \"32\"";
    key_of_another_type: "type = \"relative-rate\", threshold" => "type = \"relative-rate\", delta = 0.1, threshold";
    eprca_thresholds_crossed: "{ type = \"relative-rate\", threshold = " => "{ type = \"eprca\", high_threshold = \"2 cells\", threshold = ";
    threshold_of_no_cells: "{ type = \"relative-rate\", threshold = \"250 cells\" }" => "{ type = \"relative-rate\", threshold = \"0 cells\" }";
    aprc_without_a_threshold: "{ type = \"relative-rate\", threshold = \"250 cells\" }" => "{ type = \"aprc\" }";
    capc_factor_of_nothing: "{ type = \"relative-rate\", threshold = \"250 cells\" }" => "{ type = \"capc\", erf = 0 }";
    phantom_of_nothing: "{ type = \"relative-rate\", threshold = \"250 cells\" }" => "{ type = \"phantom\", alpha = 0 }";
    alpha_without_an_average: "load_averaging = \"ratio\", " => "load_averaging = \"none\", ";
    not_a_power_of_two: "rif = \"1/16\"" => "rif = 0.3";
    metric_of_a_port_without: "\"sw1->sw2\"]" => "\"sw2->sw1\"]";
    average_at_changes: "record = [\"received\"]" => "record = [\"source_rate\"]";
    losses_at_changes: "record = [\"received\"]" => "record = [\"drops\"]";
    unknown_node_in_a_path: "path = [\"s3\", \"sw1\"" => "path = [\"s4\", \"sw1\"";
    sweep_of_nothing: "set = \"seed\"" => "set = \"sede\"";
    pattern_without_a_group: "name = \"sw2\"" => "name = \"sw2{i}\"";
    not_toml: "seed = 7" => "seed = = 7";
    probe_that_fills_the_memory: "every = \"1 ms\"" => "every = \"1 ps\"";
    bad_traffic_window: "start = \"1 ms\", end = \"2 ms\"" => "start = \"3 ms\", end = \"2 ms\"";
    outages_out_of_order: "[\"250 ms\", \"260 ms\"]" => "[\"150 ms\", \"260 ms\"]";
    frtt_too_long: "delay = \"2 ms\"" => "delay = \"9 s\"";
}

#[test]
fn icr_from_the_defaults_above_a_pcr() {
    let defaults = GOOD.replacen("rif = \"1/16\"", "icr = \"150 Mbps\"", 1);
    let text = defaults.replacen("icr = [\"10 Mbps\", \"20000 cells/s\"], ", "", 1);
    assert_error("icr_from_the_defaults_above_a_pcr", &error(&text));
}

#[test]
fn empty_file() {
    assert_error("empty_file", &error(""));
}

#[test]
fn binary_file() {
    let bytes = b"name = \"x\"\nduration = \"\xff\xfe\0\"";
    assert_error("binary_file", &Document::parse_bytes(bytes, "bad.toml").unwrap_err().to_string());
}

#[test]
fn the_parts_of_an_error_can_be_asked_for() {
    let error =
        Document::parse(&GOOD.replace("nrm = 32", "nrm = 33"), "bad.toml").unwrap().resolve().unwrap_err();
    assert_eq!((error.file(), error.line(), error.column()), ("bad.toml", 53, 85));
    assert_eq!(error.key(), "vc.vc{i}.abr.nrm");
    assert!(error.message().contains("33") && error.remedy().contains("a power of two from 2 to 256"));
    assert!(error.source_line().starts_with("abr = {"));
}

#[test]
fn members_that_are_too_many_together_are_refused_before_they_are_written_out() {
    let hosts: String =
        (0..17).map(|k| format!("[[host]]\nname = \"h{k}-{{i}}\"\ncount = 65536\n")).collect();
    let text = format!("name = \"many\"\nduration = \"1 ms\"\n{hosts}");
    let told = error(&text);
    assert!(told.starts_with("bad.toml:51:1: "), "the last of them: {told}");
    assert!(told.contains("more than 1048576 entries of this kind"), "{told}");
}

#[test]
fn a_key_that_two_sweeps_vary() {
    let sweep = "sweep = [{ set = \"seed\", values = [1, 2] }, { set = \"seed\", values = [2, 3] }]\n";
    let text = format!("{sweep}{}", GOOD.split("[[sweep]]").next().unwrap());
    let error = Document::parse(&text, "bad.toml").and_then(|document| document.points()).unwrap_err();
    assert_error("a_key_that_two_sweeps_vary", &error.to_string());
}

#[test]
fn an_entry_of_which_there_are_none() {
    let text = GOOD.split("[[sweep]]").next().unwrap();
    let error = Document::parse(text, "bad.toml").unwrap().set("sweep.1.set", "seed").unwrap_err();
    assert_error("an_entry_of_which_there_are_none", &error.to_string());
}

#[test]
fn an_interval_shorter_than_a_cell_and_a_microsecond_is_refused_for_every_algorithm() {
    let of = |algorithm: &str, interval: &str, rate: &str| {
        let text = format!(
            "name = \"i\"\nduration = \"5 ms\"\n\
             defaults.link = {{ rate = \"{rate}\", length = \"10 km\" }}\n\
             defaults.switch.algorithm = {{ type = \"{algorithm}\", interval = \"{interval}\" }}\n\
             host = [{{ name = \"a\" }}, {{ name = \"b\" }}]\nswitch = [{{ name = \"sw\" }}]\n\
             link = [{{ between = [\"a\", \"sw\"] }}, {{ between = [\"sw\", \"b\"] }}]\n"
        );
        Document::parse(&text, "bad.toml")
            .and_then(|document| document.resolve())
            .map_err(|error| error.to_string())
    };
    for form in FORMS.iter().filter(|form| form.shape.key("interval").is_some()) {
        let algorithm = form.shape.name;
        for interval in ["1 ps", "0.5 us"] {
            let error = of(algorithm, interval, "10 Mbps").unwrap_err();
            assert!(error.contains("defaults.switch.algorithm.interval"), "{error}");
            assert!(error.contains("on the line of port sw->a. It must be at least 1 us."), "{error}");
        }
        assert!(of(algorithm, "1 us", "10 Mbps").is_ok());
        // A cell of 10 Gb/s takes 42.4 ns.
        assert!(of(algorithm, "43 ns", "10 Gbps").is_ok());
        assert!(of(algorithm, "42 ns", "10 Gbps").unwrap_err().contains("It must be at least 42.4 ns"));
    }
}
