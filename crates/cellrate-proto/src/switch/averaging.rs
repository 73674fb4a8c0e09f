//! How ERICA counts active sources and averages the load factor.

/// How the number of active sources is counted.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct ActiveSources {
    /// A connection is also active when a BRM of it passed backward. Default false: forward cells only.
    pub bidirectional: bool,
    /// An inactive connection still counts `decay` times what it counted before [0 to below 1]. Default `None`: it
    /// counts nothing at once.
    pub decay: Option<f64>,
}

/// How the load factor z is averaged over intervals; `alpha` is the weight of the newest interval [above 0 to 1].
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum LoadAveraging {
    /// Each interval stands alone (default).
    #[default]
    None,
    /// Exponential averaging of z itself.
    Ratio {
        /// Weight of the newest interval.
        alpha: f64,
    },
    /// The ratio of the averaged input to the averaged capacity, each averaged on its own.
    Components {
        /// Weight of the newest interval.
        alpha: f64,
    },
}

/// The count of active sources, averaged or not.
#[derive(Clone, Debug)]
pub struct ActiveCount {}
