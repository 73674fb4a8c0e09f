//! Algorithms that a scenario names and a run is given.

/// The algorithm of a port that is not built in: its name, and what it is handed.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomAlgorithm {
    /// The name by which a run is given it.
    pub name: String,
    /// Names of the figures that it offers to probes, in the order of
    /// [`metrics`](cellrate_proto::switch::SwitchAlgorithm::metrics).
    pub figures: Vec<String>,
    /// Parameters by name, in the order of the scenario.
    pub parameters: Vec<(String, CustomParameter)>,
}

/// The value of a parameter of a [`CustomAlgorithm`]; what it means is the algorithm's affair.
#[derive(Clone, Debug, PartialEq)]
pub enum CustomParameter {
    /// true or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A text; a unit in it is no more than text.
    Text(String),
}
