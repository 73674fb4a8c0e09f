//! Built-in algorithms: what each declares of itself, and the list of all of them.
//!
//! An algorithm is a file beside this one. It declares its parameters by `#[derive(Table)]`, implements
//! [`SwitchAlgorithm`], and says in [`BuiltIn`] by which names it is asked for. With its line in the list of `mod.rs`
//! its forms are among [`FORMS`](super::FORMS): the format of scenarios, names and units in results, remedies, max-min
//! shares, random networks and the tests that hold all algorithms follow.

use core::fmt;

use super::{Fairness, SwitchAlgorithm};
use crate::declaration::written::same;
use crate::declaration::{Shape, Values};
use crate::parameters::ParameterError;
use crate::units::CellRate;

/// A name under which an algorithm is asked for, and what is to be known of it without running it.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// Name in results and messages.
    pub title: &'static str,
    /// Its `type` in scenarios, a sentence on it, and its keys.
    pub shape: Shape,
    /// Figures that it offers to probes, in the order of [`SwitchAlgorithm::metrics`].
    pub figures: &'static [Figure],
}

/// A figure that an algorithm offers to probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure {
    /// Its name, which is a quantity of probes; the same name has the same unit everywhere.
    pub name: &'static str,
    /// Its unit; empty where it has none.
    pub unit: &'static str,
}

impl Figure {
    /// A figure in cells/s.
    pub const fn rate(name: &'static str) -> Figure {
        Figure { name, unit: "cells/s" }
    }

    /// A figure without a unit.
    pub const fn plain(name: &'static str) -> Figure {
        Figure { name, unit: "" }
    }
}

/// An algorithm that is built in, as it declares itself.
pub trait BuiltIn: SwitchAlgorithm + fmt::Debug + Send + Sized {
    /// Its parameters, as ports share them.
    type Config: Clone + fmt::Debug + PartialEq;

    /// The names under which it is asked for.
    const FORMS: &'static [Form];

    /// Whether it hands out explicit rates, which settle; algorithms that only say stop or go swing by their nature.
    const HANDS_OUT_RATES: bool = true;

    /// The algorithm at the port of a line that takes `link_rate`.
    fn at_port(config: &Self::Config, link_rate: CellRate) -> Self;

    /// The parameters that `values` describe, where `form` is asked for.
    ///
    /// # Errors
    /// A value that cannot be taken.
    fn read<V: Values>(form: &Form, values: &V) -> Result<Self::Config, V::Error>;

    /// Says which parameter is out of its range first.
    ///
    /// # Errors
    /// The parameter, with what is allowed.
    fn check(config: &Self::Config) -> Result<(), ParameterError>;

    /// The form that these parameters belong to. Default the only one.
    fn form(config: &Self::Config) -> &'static Form {
        let _ = config;
        &Self::FORMS[0]
    }

    /// Share of the line, above 0 to 1, that connections get together in the long run. Default all of it, as where an
    /// algorithm depends on the queue.
    fn target_utilization(config: &Self::Config) -> f64 {
        let _ = config;
        1.0
    }

    /// How shares regard MCRs and weights. Default equal, whatever these are.
    fn fairness(config: &Self::Config) -> Fairness {
        let _ = config;
        Fairness::Equal
    }

    /// Weight of the rest of the line in the long run, as the share of one connection more beside those of weight 1
    /// \[no unit, 0 or more\]. Default 0.
    fn phantom_weight(config: &Self::Config) -> f64 {
        let _ = config;
        0.0
    }
}

/// How many figures of different names there are.
pub(super) const fn count_distinct(forms: &[Form]) -> usize {
    let (mut count, mut i) = (0, 0);
    while i < forms.len() {
        let mut j = 0;
        while j < forms[i].figures.len() {
            count += first_with(forms, forms[i].figures[j]).is_self(i, j) as usize;
            j += 1;
        }
        i += 1;
    }
    count
}

/// The figures of different names, in the order of their first forms; `N` of them.
pub(super) const fn distinct<const N: usize>(forms: &[Form]) -> [Figure; N] {
    let mut all = [Figure::plain(""); N];
    let (mut count, mut i) = (0, 0);
    while i < forms.len() {
        let mut j = 0;
        while j < forms[i].figures.len() {
            if first_with(forms, forms[i].figures[j]).is_self(i, j) {
                all[count] = forms[i].figures[j];
                count += 1;
            }
            j += 1;
        }
        i += 1;
    }
    all
}

/// A form and a figure of it, by their places.
struct Place(usize, usize);

impl Place {
    const fn is_self(&self, form: usize, figure: usize) -> bool {
        self.0 == form && self.1 == figure
    }
}

/// The first form that has a figure of this name; all that have it give it the same unit.
const fn first_with(forms: &[Form], figure: Figure) -> Place {
    let mut i = 0;
    loop {
        let mut j = 0;
        while j < forms[i].figures.len() {
            let other = forms[i].figures[j];
            if same(other.name, figure.name) {
                assert!(same(other.unit, figure.unit), "a figure has the same unit everywhere");
                return Place(i, j);
            }
            j += 1;
        }
        i += 1;
    }
}

/// Makes everything that chooses among algorithms by enum, so that none of them costs an indirect call.
macro_rules! algorithms {
    ($($module:ident::$name:ident),+ $(,)?) => {
        $(pub use $module::*;)+

        /// The algorithms there are, each with its parameters.
        #[derive(Clone, Debug, PartialEq, Default)]
        pub enum SwitchAlgorithmConfig {
            /// RM cells pass unchanged (default).
            #[default]
            None,
            $(
                #[doc = concat!("[`", stringify!($name), "`] with these parameters.")]
                $name(<$name as BuiltIn>::Config),
            )+
        }

        /// Every form of every algorithm, in the order of the list.
        pub const FORMS: &[Form] = {
            const PARTS: &[&[Form]] = &[$(<$name as BuiltIn>::FORMS),+];
            &crate::declaration::joined::<_, { crate::declaration::total(PARTS) }>(PARTS)
        };

        /// Every figure that some algorithm offers, once.
        pub const FIGURES: &[Figure] = &built_in::distinct::<{ built_in::count_distinct(FORMS) }>(FORMS);

        impl SwitchAlgorithmConfig {
            /// The algorithm of the form `name` with the parameters that `values` describe; `None` if there is no such
            /// form.
            ///
            /// # Errors
            /// A value that cannot be taken.
            pub fn read<V: Values>(name: &str, values: &V) -> Option<Result<SwitchAlgorithmConfig, V::Error>> {
                $(if let Some(form) = $name::FORMS.iter().find(|form| form.shape.name == name) {
                    return Some($name::read(form, values).map(SwitchAlgorithmConfig::$name));
                })+
                None
            }

            /// The algorithm of `form` with parameters drawn at random: any that it takes. Its averaging interval, if
            /// it has one, is `interval`, where that is given. `dice` gives numbers from 0 to below 1, anew each time.
            pub fn drawn(
                form: &Form,
                interval: Option<Duration>,
                dice: &mut dyn FnMut() -> f64,
            ) -> SwitchAlgorithmConfig {
                for _ in 0..1_000 {
                    let mut values = Drawn::new(form.shape.keys, dice);
                    if let (Some(span), Some(_)) = (interval, form.shape.key("interval")) {
                        values = values.with_span("interval", span);
                    }
                    let read = SwitchAlgorithmConfig::read(form.shape.name, &values);
                    if let Some(Ok(config)) = read && config.check().is_ok() {
                        return config;
                    }
                }
                let least = Drawn::least(form.shape.keys);
                let read = SwitchAlgorithmConfig::read(form.shape.name, &least);
                read.and_then(Result::ok).unwrap_or_default()
            }

            /// Says which parameter of the algorithm is out of its range first.
            pub fn check(&self) -> Result<(), ParameterError> {
                match self {
                    SwitchAlgorithmConfig::None => Ok(()),
                    $(SwitchAlgorithmConfig::$name(config) => <$name as BuiltIn>::check(config),)+
                }
            }

            /// Declaration of the algorithm, known without running it; `None` where there is none.
            pub fn form(&self) -> Option<&'static Form> {
                match self {
                    SwitchAlgorithmConfig::None => None,
                    $(SwitchAlgorithmConfig::$name(config) => Some(<$name as BuiltIn>::form(config)),)+
                }
            }

            /// Figures that the algorithm offers to probes.
            pub fn figures(&self) -> &'static [Figure] {
                self.form().map_or(&[], |form| form.figures)
            }

            /// Share of the line, above 0 to 1, that connections get together in the long run: the target utilization,
            /// and all of the line where an algorithm depends on the queue. Of that Phantom leaves what its
            /// [phantom](SwitchAlgorithmConfig::phantom_weight) gets.
            pub fn target_utilization(&self) -> f64 {
                match self {
                    SwitchAlgorithmConfig::None => 1.0,
                    $(SwitchAlgorithmConfig::$name(config) => <$name as BuiltIn>::target_utilization(config),)+
                }
            }

            /// How shares regard MCRs and weights.
            pub fn fairness(&self) -> Fairness {
                match self {
                    SwitchAlgorithmConfig::None => Fairness::Equal,
                    $(SwitchAlgorithmConfig::$name(config) => <$name as BuiltIn>::fairness(config),)+
                }
            }

            /// Weight of the rest of the line in the long run, as the share of one connection more beside those of
            /// weight 1 \[no unit, 0 or more\]: with Phantom 1 / utilization factor, otherwise 0.
            pub fn phantom_weight(&self) -> f64 {
                match self {
                    SwitchAlgorithmConfig::None => 0.0,
                    $(SwitchAlgorithmConfig::$name(config) => <$name as BuiltIn>::phantom_weight(config),)+
                }
            }

            /// Whether the algorithm hands out explicit rates, which settle.
            pub fn hands_out_rates(&self) -> bool {
                match self {
                    SwitchAlgorithmConfig::None => false,
                    $(SwitchAlgorithmConfig::$name(_) => <$name as BuiltIn>::HANDS_OUT_RATES,)+
                }
            }

            /// The algorithm by itself, at the port of a line that takes `link_rate`; `None` where there is none.
            pub fn boxed(&self, link_rate: CellRate) -> Option<Box<dyn SwitchAlgorithm + Send>> {
                match self {
                    SwitchAlgorithmConfig::None => None,
                    $(SwitchAlgorithmConfig::$name(config) => {
                        Some(Box::new(<$name as BuiltIn>::at_port(config, link_rate)))
                    })+
                }
            }
        }

        /// The algorithm of a port: the built-in ones by value, so that none of them costs an indirect call; anything
        /// else boxed.
        enum Algorithm {
            None,
            $($name($name),)+
            Custom(Box<dyn SwitchAlgorithm + Send>),
        }

        impl Algorithm {
            fn new(config: &SwitchAlgorithmConfig, link_rate: CellRate) -> Algorithm {
                match config {
                    SwitchAlgorithmConfig::None => Algorithm::None,
                    $(SwitchAlgorithmConfig::$name(config) => {
                        Algorithm::$name(<$name as BuiltIn>::at_port(config, link_rate))
                    })+
                }
            }

            fn as_dyn(&self) -> Option<&dyn SwitchAlgorithm> {
                match self {
                    Algorithm::None => None,
                    $(Algorithm::$name(algorithm) => Some(algorithm),)+
                    Algorithm::Custom(algorithm) => Some(&**algorithm),
                }
            }

            // Inlined, so that the compiler sees which variant a call goes to and calls the built-in ones directly.
            #[inline]
            fn as_dyn_mut(&mut self) -> Option<&mut dyn SwitchAlgorithm> {
                match self {
                    Algorithm::None => None,
                    $(Algorithm::$name(algorithm) => Some(algorithm),)+
                    Algorithm::Custom(algorithm) => Some(&mut **algorithm),
                }
            }
        }

        impl fmt::Debug for Algorithm {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Algorithm::None => f.write_str("None"),
                    $(Algorithm::$name(algorithm) => algorithm.fmt(f),)+
                    Algorithm::Custom(_) => f.write_str("Custom"),
                }
            }
        }
    };
}
pub(super) use algorithms;
