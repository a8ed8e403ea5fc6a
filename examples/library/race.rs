//! Times of several works on one thread, taken in turns, so that what else the machine does meets all of
//! them: the processor's time of the thread, without what it waits for others.

use cpu_time::ThreadTime;
use indicatif::ProgressBar;

use super::support::{progress, Failure};

/// The least time that is taken at once; shorter works are repeated.
const SLICE: f64 = 1e-3;

/// Something to be timed, with its name.
pub type Work<'a> = (&'static str, Box<dyn FnMut() -> Result<(), Failure> + 'a>);

/// Takes times in rounds.
pub struct Race {
    rounds: usize,
    bar: ProgressBar,
}

impl Race {
    /// Every work is timed `rounds` times.
    pub fn new(rounds: usize) -> Race {
        Race { rounds, bar: progress(0) }
    }

    /// The shortest time of each work, in seconds.
    pub fn run(&self, title: &str, works: &mut [Work]) -> Result<Vec<f64>, Failure> {
        self.bar.set_message(title.to_string());
        self.bar.inc_length((self.rounds * works.len()) as u64);
        let mut times = Vec::new();
        for (_, work) in works.iter_mut() {
            work()?;
            let once = seconds(1, work)?;
            times.push((f64::INFINITY, (SLICE / once.max(1e-9)).ceil().clamp(1.0, 1e6) as usize));
        }
        for _ in 0..self.rounds {
            for ((_, work), (best, repeat)) in works.iter_mut().zip(&mut times) {
                *best = seconds(*repeat, work)?.min(*best);
                self.bar.inc(1);
            }
        }
        Ok(times.into_iter().map(|(best, _)| best).collect())
    }
}

impl Drop for Race {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn seconds(repeat: usize, work: &mut dyn FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    let start = ThreadTime::now();
    for _ in 0..repeat {
        work()?;
    }
    Ok(start.elapsed().as_secs_f64() / repeat as f64)
}
