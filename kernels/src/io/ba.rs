//! File formats for bundle adjustment with ADBench's camera of 11 numbers.
//!
//! `adbench` holds one camera, one point, one weight and one feature, which stand for all of them;
//! observation `i` is of camera `i mod n` and point `i mod m`. `full` holds everything.

use std::path::Path;

use super::words::{collected, repeated, room_for, ReadError, Words, MAX_NUMBERS, MAX_REPEATED};
use super::write::{write_number_line, write_whole, WriteError};
use crate::ba::{Instance, CAMERA};

const CAMERA_LINE: &str = "the 11 numbers of a camera";
const POINT_LINE: &str = "the 3 coordinates of a point";
const WEIGHT_LINE: &str = "a weight";
const FEATURE_LINE: &str = "the 2 coordinates of a feature";

/// `n m p`, and the check that they ask for few enough numbers.
fn sizes(words: &mut Words, most: usize) -> Result<[usize; 3], ReadError> {
    let names = ["the number of cameras n", "the number of points m", "the number of observations p"];
    // an observation holds a weight, two coordinates and two indices
    words.sizes(names, most, |[n, m, p]| {
        n.checked_mul(CAMERA)?.checked_add(m.checked_mul(3)?)?.checked_add(p.checked_mul(5)?)
    })
}

/// Reads ADBench's format.
pub fn read_ba_adbench(path: &Path) -> Result<Instance, ReadError> {
    let mut words = Words::open(path)?;
    let [n, m, p] = sizes(&mut words, MAX_REPEATED)?;
    let camera = words.line_of(CAMERA_LINE)?;
    let point = words.line_of(POINT_LINE)?;
    let [weight] = words.line_of(WEIGHT_LINE)?;
    let feature = words.line_of(FEATURE_LINE)?;
    words.end_of_file()?;
    let instance = || {
        Some(Instance {
            cameras: repeated(camera, n)?,
            points: repeated(point, m)?,
            weights: repeated(weight, p)?,
            camera_of: collected(p, (0..n).cycle())?,
            point_of: collected(p, (0..m).cycle())?,
            features: repeated(feature, p)?,
        })
    };
    instance().ok_or_else(|| words.error("a problem that fits into memory", format!("`{n} {m} {p}`")))
}

/// Reads the format that holds everything: `n m p`, n cameras, m points, p weights, p lines
/// `camera point`, p features.
pub fn read_ba_full(path: &Path) -> Result<Instance, ReadError> {
    let mut words = Words::open(path)?;
    let [n, m, p] = sizes(&mut words, MAX_NUMBERS)?;
    let cameras = lines(n, || words.line_of(CAMERA_LINE))?;
    let points = lines(m, || words.line_of(POINT_LINE))?;
    let weights = lines(p, || words.line_of(WEIGHT_LINE).map(|[w]| w))?;
    let (mut camera_of, mut point_of) = (room_for(p), room_for(p));
    for _ in 0..p {
        let [camera, point] = words.indices(2, [(n, "a camera index"), (m, "a point index")])?;
        camera_of.push(camera);
        point_of.push(point);
    }
    let features = lines(p, || words.line_of(FEATURE_LINE))?;
    words.end_of_file()?;
    Ok(Instance { cameras, points, weights, camera_of, point_of, features })
}

/// `count` lines, each read by `line`.
pub(super) fn lines<T>(
    count: usize,
    mut line: impl FnMut() -> Result<T, ReadError>,
) -> Result<Vec<T>, ReadError> {
    let mut all = room_for(count);
    for _ in 0..count {
        all.push(line()?);
    }
    Ok(all)
}

/// Writes the format that holds everything.
pub fn write_ba_full(path: &Path, instance: &Instance) -> Result<(), WriteError> {
    let [n, m, p] = instance.sizes();
    write_whole(path, |out| {
        writeln!(out, "{n} {m} {p}")?;
        instance.cameras.iter().try_for_each(|camera| write_number_line(out, camera))?;
        instance.points.iter().try_for_each(|point| write_number_line(out, point))?;
        instance.weights.iter().try_for_each(|weight| write_number_line(out, &[*weight]))?;
        let mut pairs = instance.camera_of.iter().zip(&instance.point_of);
        pairs.try_for_each(|(camera, point)| writeln!(out, "{camera} {point}"))?;
        instance.features.iter().try_for_each(|feature| write_number_line(out, feature))
    })
}
