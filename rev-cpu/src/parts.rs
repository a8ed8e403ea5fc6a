//! Work that is many calls: parts of a range, on all threads of a device at once.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use rev_core::device::{Backend, Device};

use crate::context::{Restoring, Run};
use crate::device::Cpu;

/// Calls `task` for parts of `0..count`, each of at most `size`. A CPU does several at once, each on one thread of
/// its own; other devices, which are parallel inside a call, one after the other and in order.
///
/// A task is given the device to use and a state that no other task has meanwhile; there is one for each thread,
/// made where `states` has too few of them and kept for the next time.
///
/// # Errors
///
/// The error of the failed task that comes first in the range; tasks that have begun by then are finished.
pub fn each_part<S, E>(
    device: &(impl Device + ?Sized),
    count: usize,
    size: usize,
    states: &mut Vec<S>,
    task: impl Fn(&dyn Device, &mut S, Range<usize>) -> Result<(), E> + Sync,
) -> Result<(), E>
where
    S: Default + Send,
    E: Send,
{
    let size = size.max(1);
    let parts = count.div_ceil(size);
    let part = |k: usize| k * size..count.min((k + 1) * size);
    let backend = device.backend();
    let Backend::Native(options) = backend else {
        let state = some_of(states, 1).first_mut();
        return state.map_or(Ok(()), |state| (0..parts).try_for_each(|k| task(&device, state, part(k))));
    };
    let (run, one) = (Run::new(options), Cpu::with_options(options.clone()).threads(1));
    let cx = run.context::<Restoring>();
    let states = some_of(states, cx.workers().min(parts));
    if let [state] = states {
        return (0..parts).try_for_each(|k| task(&one, state, part(k)));
    }
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<(usize, E)>> = Mutex::new(None);
    let work = |state: &mut S| loop {
        let k = next.fetch_add(1, Relaxed);
        if k >= parts {
            break;
        }
        if let Err(error) = task(&one, state, part(k)) {
            next.store(parts, Relaxed);
            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
            if failed.as_ref().is_none_or(|(first, _)| k < *first) {
                *failed = Some((k, error));
            }
        }
    };
    let work = &work;
    cx.at_once(states.iter_mut().map(|state| move || work(state)));
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), |(_, error)| Err(error))
}

/// The first `n` states, made where there are fewer.
fn some_of<S: Default>(states: &mut Vec<S>, n: usize) -> &mut [S] {
    if states.len() < n {
        states.resize_with(n, S::default);
    }
    &mut states[..n]
}

#[cfg(test)]
mod tests {
    use super::*;
    use rev_core::interp::Interpreter;

    fn devices() -> Vec<Box<dyn Device>> {
        let cpus = [1, 2, 5].map(|n| Box::new(Cpu::with_threads(n)) as Box<dyn Device>);
        cpus.into_iter().chain([Box::new(Interpreter::new()) as Box<dyn Device>]).collect()
    }

    #[test]
    fn every_number_is_in_one_part_and_states_are_kept() {
        for device in devices() {
            for (count, size) in [(0, 4), (3, 4), (1000, 7), (1000, 0), (64, 64)] {
                let seen = Mutex::new(vec![0; count]);
                let mut states: Vec<usize> = Vec::new();
                for _ in 0..2 {
                    each_part(&device, count, size, &mut states, |_, state, part| {
                        *state += part.len();
                        assert!(part.len() <= size.max(1));
                        seen.lock().unwrap()[part].iter_mut().for_each(|n| *n += 1);
                        Ok::<(), ()>(())
                    })
                    .unwrap();
                }
                assert_eq!(seen.into_inner().unwrap(), vec![2; count]);
                assert_eq!(states.iter().sum::<usize>(), 2 * count);
            }
        }
    }

    #[test]
    fn the_first_error_is_reported_and_no_further_part_begun() {
        for device in devices() {
            let begun = AtomicUsize::new(0);
            let result = each_part(&device, 100_000, 1, &mut Vec::<()>::new(), |_, (), part| {
                begun.fetch_add(1, Relaxed);
                if part.start % 10 == 9 {
                    Err(part.start)
                } else {
                    Ok(())
                }
            });
            assert_eq!(result, Err(9));
            assert!(begun.into_inner() < 100_000);
        }
    }
}
