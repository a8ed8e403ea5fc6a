//! The file format of "Bundle Adjustment in the Large" (Agarwal et al. 2010).
//!
//! `cameras points observations`; one line `camera point x y` per observation; then 9 numbers per
//! camera and 3 per point, on as many lines as the file likes.

use std::path::Path;

use super::ba::lines;
use super::words::{room_for, ReadError, Words, MAX_NUMBERS};
use super::write::{write_whole, WriteError};
use crate::bal::{Instance, CAMERA};

/// Reads a problem.
pub fn read_bal(path: &Path) -> Result<Instance, ReadError> {
    let mut words = Words::open(path)?;
    let names = ["the number of cameras", "the number of points", "the number of observations"];
    // an observation holds two coordinates and two indices
    let [n, m, p] = words.sizes(names, MAX_NUMBERS, |[n, m, p]| {
        n.checked_mul(CAMERA)?.checked_add(m.checked_mul(3)?)?.checked_add(p.checked_mul(4)?)
    })?;
    let (mut camera_of, mut point_of, mut features) = (room_for(p), room_for(p), room_for(p));
    for _ in 0..p {
        let [camera, point] = words.indices(4, [(n, "a camera index"), (m, "a point index")])?;
        camera_of.push(camera);
        point_of.push(point);
        features.push(words.rest_of_line(4, "the coordinates of a feature")?);
    }
    words.end_of_line("the cameras")?;
    let cameras = lines(n, || numbers(&mut words, "a camera's number"))?;
    let points = lines(m, || numbers(&mut words, "a point's coordinate"))?;
    words.end_of_file()?;
    Ok(Instance { cameras, points, camera_of, point_of, features })
}

fn numbers<const N: usize>(words: &mut Words, expected: &str) -> Result<[f64; N], ReadError> {
    let mut numbers = [0.0; N];
    for number in &mut numbers {
        *number = words.number(expected)?;
    }
    Ok(numbers)
}

/// Writes a problem, one parameter a line as the published files do.
pub fn write_bal(path: &Path, instance: &Instance) -> Result<(), WriteError> {
    let [n, m, p] = instance.sizes();
    write_whole(path, |out| {
        writeln!(out, "{n} {m} {p}")?;
        for i in 0..p {
            let [x, y] = instance.features[i];
            writeln!(out, "{} {} {x:.16e} {y:.16e}", instance.camera_of[i], instance.point_of[i])?;
        }
        let parameters = instance.cameras.iter().flatten().chain(instance.points.iter().flatten());
        parameters.into_iter().try_for_each(|x| writeln!(out, "{x:.16e}"))
    })
}
