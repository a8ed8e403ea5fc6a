//! Times of several works on one thread, taken in turns, so that what else the machine does meets all of them: the
//! processor's time of the thread, without what it waits for others.

use cpu_time::ThreadTime;

use crate::Failure;

/// The least time that is taken at once; shorter works are repeated.
const SLICE: f64 = 1e-3;

/// Something to be timed.
pub type Work<'a> = Box<dyn FnMut() -> Result<(), Failure> + 'a>;

/// Something to be timed, boxed.
pub fn work<'a>(work: impl FnMut() -> Result<(), Failure> + 'a) -> Work<'a> {
    Box::new(work)
}

/// The shortest of so many times of each work, in seconds.
///
/// # Errors
///
/// The first one of a work.
pub fn seconds(rounds: usize, works: &mut [Work]) -> Result<Vec<f64>, Failure> {
    let mut times = Vec::new();
    for work in works.iter_mut() {
        work()?;
        let once = taken(1, work)?;
        times.push((f64::INFINITY, (SLICE / once.max(1e-9)).ceil().clamp(1.0, 1e6) as usize));
    }
    for _ in 0..rounds {
        for (work, (best, repeat)) in works.iter_mut().zip(&mut times) {
            *best = taken(*repeat, work)?.min(*best);
        }
    }
    Ok(times.into_iter().map(|(best, _)| best).collect())
}

fn taken(repeat: usize, work: &mut Work) -> Result<f64, Failure> {
    let start = ThreadTime::now();
    for _ in 0..repeat {
        work()?;
    }
    Ok(start.elapsed().as_secs_f64() / repeat as f64)
}
