//! The order of service at an output port: CBR and VBR, then ABR, then GFR and UBR.

use cellrate_scenario::Category;

/// Number of service priorities.
pub const PRIORITIES: usize = 3;
/// The priority of CBR and VBR.
pub const GUARANTEED: usize = 0;
/// The priority of ABR.
pub const ABR: usize = 1;
/// The priority of GFR and UBR.
pub const UBR: usize = 2;

/// The service priority of a category: 0 is served first.
pub const fn priority(category: Category) -> usize {
    match category {
        Category::Cbr | Category::Vbr => GUARANTEED,
        Category::Abr => ABR,
        Category::Gfr | Category::Ubr => UBR,
    }
}
