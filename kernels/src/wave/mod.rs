//! Acoustic waves in a plane whose edges absorb them: the second-order wave equation with a perfectly matched layer.
//!
//! Grote, Sim, "Efficient PML for the wave equation" (2010), by central differences. `u` is the pressure, `c` the *squared* speed,
//! `σ` and `τ` the damping by x and by y, zero but near the edges; `φ` and `ψ` are auxiliary fields of the layer:
//!
//! ```text
//! u⁺ (1 + (σ+τ) Δt/2) = (2 - σ τ Δt² - 2 Δt² c (1/hx² + 1/hy²)) u - (1 - (σ+τ) Δt/2) u⁻
//!     + c (Δt/hx)² (u_{i+1} + u_{i-1}) + c (Δt/hy)² (u_{j+1} + u_{j-1})
//!     + Δt²/(2hx) (φ_{i+1} - φ_{i-1}) + Δt²/(2hy) (ψ_{j+1} - ψ_{j-1})
//! φ⁺ = (1 - Δt σ) φ + Δt c (τ-σ)/(2hx) (u⁺_{i+1} - u⁺_{i-1})
//! ψ⁺ = (1 - Δt τ) ψ + Δt c (σ-τ)/(2hy) (u⁺_{j+1} - u⁺_{j-1})
//! ```
//!
//! Beyond the edges everything is zero. [`step()`] is the program, [`step_by_cells()`] one for a GPU, [`plain::step`] its twin.

mod cells;
mod medium;
pub mod plain;
mod program;

pub use cells::step_by_cells;
pub use medium::{damping, ricker, Layer, Medium};
pub use program::step;

use ndarray::Array2;
use rev_core::device::Device;
use rev_core::error::Error;
use rev_core::scalar::{Batch, Primal};

/// `u` of the step before, `u`, `φ` and `ψ`: matrices with a row for each x and a column for each y.
pub type Field<E> = (Array2<E>, Array2<E>, Array2<E>, Array2<E>);

/// A cotangent of a number.
pub type Bar = Batch<f64, 1>;

/// Cotangents of a field, of the squared speeds, and of the damping by x and by y, which stay zero.
pub type Bars = (Field<Bar>, Array2<Bar>, Vec<Bar>, Vec<Bar>);

/// Something in each cell.
pub fn filled<E: Clone>(cells: (usize, usize), with: E) -> Field<E> {
    let one = || Array2::from_elem(cells, with.clone());
    (one(), one(), one(), one())
}

/// Zero cotangents.
pub fn zero_bars((n, m): (usize, usize)) -> Bars {
    let zero = Batch([0.0]);
    (filled((n, m), zero), Array2::from_elem((n, m), zero), vec![zero; n], vec![zero; m])
}

/// The program of a step that is fastest on a device. Where sums have a fixed order all devices run one.
macro_rules! fastest {
    ($device:ident, $step:ident => $run:expr) => {
        if $device.is_gpu() && !$device.backend().options().deterministic {
            use step_by_cells as $step;
            $run
        } else {
            $run
        }
    };
}

/// A step on a field.
///
/// # Errors
///
/// Matrices that differ in size, a source where there is no cell, damping that is too strong for the step; what the device reports.
pub fn advance(
    device: &(impl Device + ?Sized),
    field: &mut Field<f64>,
    medium: &Medium,
    (at, amount): ([usize; 2], f64),
) -> Result<(), Error> {
    let (before, u, phi, psi) = field;
    let Medium { c, sigma, tau, dt, hx, hy } = medium;
    fastest!(device, step => step::run(
        device,
        before.view_mut(),
        u.view(),
        phi.view_mut(),
        psi.view_mut(),
        c.view(),
        sigma,
        tau,
        *dt,
        *hx,
        *hy,
        at,
        amount,
    ))?;
    std::mem::swap(before, u);
    Ok(())
}

/// The adjoint of [`advance`]: from the cotangents of the field after the step to those of the field before it. The field after
/// the step is used up: it isn't brought back. Gradients by the
/// squared speeds are added up; what comes back is the one by the source's amount.
///
/// # Errors
///
/// As [`advance`].
pub fn back(
    device: &(impl Device + ?Sized),
    field: &mut Field<f64>,
    (field_bar, c_bar, sigma_bar, tau_bar): &mut Bars,
    medium: &Medium,
    (at, amount): ([usize; 2], f64),
) -> Result<f64, Error> {
    let (before, u, phi, psi) = field;
    let (before_bar, u_bar, phi_bar, psi_bar) = field_bar;
    let Medium { c, sigma, tau, dt, hx, hy } = medium;
    std::mem::swap(before, u);
    std::mem::swap(before_bar, u_bar);
    let [mut dt_bar, mut hx_bar, mut hy_bar, mut amount_bar] = [Batch([0.0]); 4];
    fastest!(device, step => step::pullback(
        device,
        before.view_mut(),
        before_bar.view_mut(),
        u.view(),
        u_bar.view_mut(),
        phi.view_mut(),
        phi_bar.view_mut(),
        psi.view_mut(),
        psi_bar.view_mut(),
        c.view(),
        c_bar.view_mut(),
        sigma,
        sigma_bar,
        tau,
        tau_bar,
        *dt,
        &mut dt_bar,
        *hx,
        &mut hx_bar,
        *hy,
        &mut hy_bar,
        at,
        &mut at.zero_shadow::<1>(),
        amount,
        &mut amount_bar,
    ))?;
    Ok(amount_bar.0[0])
}
