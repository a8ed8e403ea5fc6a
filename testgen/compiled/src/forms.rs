//! Random programs of source forms against the same programs in plain Rust: values, inverses, derivatives by difference quotients
//! and by `⟨ȳ, Jẋ⟩ = ⟨Jᵀȳ, ẋ⟩`; and on every device against each other.

use rev_core::device::Device;
use rev_core::error::Error;
use rev_core::interp::Interpreter;
use rev_core::tolerance::Options;
use rev_core::value::Data;
use rev_cpu::prelude::Cpu;
use rev_cuda::lower::LowerOptions;
use rev_cuda::{Cuda, Emulator};
use rev_testgen::reals::{difference, dot, magnitude, moved, reals, replace};
use rev_testgen::suite::slopes::{self, Verdict};
use rev_testgen::suite::{ledger, Tally, FORMS};
use rev_testgen::Dice;

/// One of the programs of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// None: the values as the types hold them.
    Keep,
    /// The function.
    Forward,
    /// Its inverse.
    Inverse,
    /// Its adjoint.
    Adjoint,
    /// The function with tangents in shadows.
    Tangents,
    /// Its adjoint with tangents in shadows: behind the values their cotangents, behind the shadows those of these.
    Second,
    /// The function in plain Rust.
    Plain,
    /// Its inverse in plain Rust.
    PlainBack,
}

/// Runs a program on arguments and, where it has them, their shadows: both are changed.
pub type Runner = fn(&dyn Device, Run, &mut [Data], &mut [Data]) -> Result<(), Error>;

/// The same on fixed-point numbers.
pub struct Fixed {
    /// The type.
    pub name: &'static str,
    /// Arguments.
    pub start: fn() -> Vec<Data>,
    /// What runs it.
    pub run: Runner,
}

/// A program.
pub struct Case {
    /// Its seed.
    pub seed: u64,
    /// What runs it.
    pub run: Runner,
    /// Arguments.
    pub start: fn() -> Vec<Data>,
    /// Zeros for shadows of arguments.
    pub shadows: fn(&[Data]) -> Result<Vec<Data>, Error>,
    /// On fixed-point numbers.
    pub fixed: Option<Fixed>,
    /// Whether it has a tangent.
    pub tangent: bool,
    /// Whether a GPU takes its arguments.
    pub is_for_gpus: bool,
    /// For each parameter whether it is declared constant.
    pub is_constant: &'static [bool],
    /// For each parameter whether it has to be zero at first.
    pub is_zero: &'static [bool],
    /// Its text.
    pub source: &'static str,
}

/// How far numbers may be apart that are added up in another order, or by other formulas.
const TOLERANCE: f64 = 1e-9;

/// How many sets of arguments each program is run on.
const ARGUMENTS: u64 = 3;

/// Runs every program in every way.
///
/// # Errors
///
/// What is wrong with each program that isn't what it has to be, and the command that shows it again.
pub fn compare(cases: &[&Case]) -> Result<Tally, String> {
    let (mut tally, mut report, mut failed) = (Tally::new(), String::new(), 0);
    for case in cases {
        *tally.entry("programs").or_default() += 1;
        let found = checked(case, &mut tally);
        if let Err(message) = found {
            failed += 1;
            let seed = case.seed;
            report +=
                &format!("\nREV_SEED={seed} REV_PROGRAMS=1 {}\n{message}\n{}", FORMS.command, case.source);
        }
    }
    let seeds = cases.iter().map(|case| case.seed);
    let (first, end) = (seeds.clone().min().unwrap_or(0), seeds.max().map_or(0, |last| last + 1));
    println!("forms: seeds {first}..{end}, {failed} failed, {tally:?}");
    ledger::record(FORMS.name, first..end, failed)?;
    let count = |what: &str| tally.get(what).copied().unwrap_or_default();
    if failed == 0 && count("rough") * 10 > count("derivatives") + 20 {
        return Err(format!("too few derivatives can be told: {tally:?}"));
    }
    if failed == 0 && count("rough second") * 5 > count("second") + 40 {
        return Err(format!("too few second derivatives can be told: {tally:?}"));
    }
    match failed {
        0 => Ok(tally),
        _ => Err(format!("{failed} programs aren't what they have to be:\n{report}")),
    }
}

fn checked(case: &Case, tally: &mut Tally) -> Result<(), String> {
    let mut dice = Dice::new(case.seed);
    for k in 0..ARGUMENTS {
        on_arguments(case, k, &mut dice, tally).map_err(|e| format!("arguments {k}: {e}"))?;
    }
    if let Some(fixed) = &case.fixed {
        exactly(case, fixed, tally).map_err(|e| format!("on {}: {e}", fixed.name))?;
    }
    Ok(())
}

/// A device, by a name of how it runs; those of one group have the same bits.
struct Way {
    name: &'static str,
    group: &'static str,
    device: Box<dyn Device>,
}

/// In a fixed order all have the same bits.
fn ways() -> Vec<Way> {
    let way = |name, group, device: Cpu| Way { name, group, device: Box::new(device) };
    let one = || Cpu::with_threads(1);
    let several = || Cpu::with_threads(3).parallel_from(0);
    let fixed_order = || several().deterministic(true);
    let options = Options { deterministic: true, ..Options::default() };
    vec![
        way("one thread", "one thread", one()),
        way("one thread without checks", "one thread", one().checks(false)),
        way("one thread without lanes", "", one().lanes(false)),
        way("threads", "", several()),
        way("threads without checks", "", several().checks(false)),
        way("threads in a fixed order", "fixed order", fixed_order()),
        way("threads in a fixed order without checks", "fixed order", fixed_order().checks(false)),
        Way {
            name: "interpreter",
            group: "fixed order",
            device: Box::new(Interpreter::with_options(options)),
        },
    ]
}

/// The emulator, and a GPU where there is one, in the fixed order.
fn gpus(group: &'static str) -> Vec<Way> {
    // what loops within loops keep
    let kernels = LowerOptions { stack_capacity: 4096, ..LowerOptions::default() };
    let emulator = Box::new(Emulator::new().deterministic(true).kernels(kernels.clone()));
    let mut all = vec![Way { name: "emulator", group, device: emulator }];
    if let Ok(gpu) = Cuda::new(0) {
        all.push(Way { name: "cuda", group, device: Box::new(gpu.deterministic(true).kernels(kernels)) });
    }
    all
}

type Outcome = (Vec<Data>, Vec<Data>);

fn ran(
    run: Runner,
    device: &dyn Device,
    which: Run,
    from: &[Data],
    shadows: &[Data],
) -> Result<Outcome, String> {
    let (mut values, mut shadows) = (from.to_vec(), shadows.to_vec());
    run(device, which, &mut values, &mut shadows).map_err(|e| format!("{which:?}: {e}"))?;
    Ok((values, shadows))
}

/// The bits of all numbers, where no NaN has any.
fn bits(values: &[Data]) -> String {
    format!("{values:?}")
}

/// Runs a program on every device; what it gives has to be near what is expected, and the same within a group.
fn on_every_device(
    case: &Case,
    which: Run,
    from: &[Data],
    shadows: &[Data],
    expected: Option<&[Data]>,
    tally: &mut Tally,
) -> Result<Outcome, String> {
    let mut first: Option<Outcome> = None;
    let mut groups: Vec<(&str, String, &str)> = Vec::new();
    let mut all = ways();
    if case.is_for_gpus {
        all.extend(gpus("fixed order"));
    }
    for way in &all {
        let found =
            ran(case.run, &*way.device, which, from, shadows).map_err(|e| format!("{}: {e}", way.name))?;
        *tally.entry("runs").or_default() += 1;
        let known = expected.or(first.as_ref().map(|f| &f.0[..])).unwrap_or(&found.0);
        alike(&found.0, known).map_err(|e| format!("{which:?}, {}: {e}", way.name))?;
        if let Some(first) = &first {
            alike(&found.1, &first.1).map_err(|e| format!("shadows of {which:?}, {}: {e}", way.name))?;
        }
        let own = bits(&found.0) + &bits(&found.1);
        match groups.iter().find(|(group, _, _)| !group.is_empty() && *group == way.group) {
            Some((_, known, other)) if *known != own => {
                return Err(format!("{which:?}: other bits {} than {other}\n{own}\n{known}", way.name));
            }
            Some(_) => {}
            None => groups.push((way.group, own, way.name)),
        }
        first.get_or_insert(found);
    }
    first.ok_or_else(|| "no device".into())
}

fn on_arguments(case: &Case, k: u64, dice: &mut Dice, tally: &mut Tally) -> Result<(), String> {
    let text = |e: Error| e.to_string();
    let cpu = Cpu::with_threads(1);
    let kept = |values: &[Data]| ran(case.run, &cpu, Run::Keep, values, &[]).map(|(values, _)| values);
    let plainly =
        |values: &[Data], which: Run| ran(case.run, &cpu, which, values, &[]).map(|(values, _)| values);
    let mut before = (case.start)();
    if k > 0 {
        // multiples of 1/64, as those at first are
        for (value, _) in before.iter_mut().zip(case.is_zero).filter(|(_, zero)| !**zero) {
            *value = replace(value, &mut |_| (dice.below(129) as f64 - 64.0) / 64.0);
        }
    }
    let before = kept(&before)?;
    let expected = plainly(&before, Run::Plain)?;
    alike(&plainly(&expected, Run::PlainBack)?, &before).map_err(|e| format!("the plain program: {e}"))?;
    if magnitude(&expected) > 1e6 {
        *tally.entry("large").or_default() += 1;
        return Ok(());
    }
    let (after, _) = on_every_device(case, Run::Forward, &before, &[], Some(&expected), tally)?;
    on_every_device(case, Run::Inverse, &after, &[], Some(&before), tally)?;

    // the derivative along a direction of what the results are weighted to
    let seeds: Vec<Data> = (case.shadows)(&after).map_err(text)?;
    let seeds: Vec<Data> = seeds.iter().map(|s| replace(s, &mut |_| dice.real(-1.0, 1.0))).collect();
    let (_, pulled) = on_every_device(case, Run::Adjoint, &after, &seeds, Some(&before), tally)?;
    let zeros = (case.shadows)(&before).map_err(text)?;
    let mut towards = Vec::new();
    for ((zero, constant), begins_at_zero) in zeros.iter().zip(case.is_constant).zip(case.is_zero) {
        let still = *constant || *begins_at_zero;
        towards.push(replace(zero, &mut |_| if still { 0.0 } else { [-1.0, 1.0][dice.below(2)] }));
    }
    let numbers: Vec<f64> = towards.iter().flat_map(reals).collect();
    let ends = kept(&moved(&before, &numbers, 1.0))?;
    // what a value doesn't hold, as the fields of an enum's other variants, isn't moved
    let start: Vec<f64> = before.iter().flat_map(reals).collect();
    let end: Vec<f64> = ends.iter().flat_map(reals).collect();
    if start.len() != numbers.len() || end.len() != numbers.len() {
        return Err(format!("{} numbers have {} cotangents", start.len(), numbers.len()));
    }
    let mut direction = start.iter().zip(&end).map(|(a, b)| b - a);
    let towards: Vec<Data> =
        towards.iter().map(|t| replace(t, &mut |_| direction.next().unwrap_or_default())).collect();
    let numbers: Vec<f64> = towards.iter().flat_map(reals).collect();
    let still = |list: &[Data]| -> Vec<Data> {
        let each = list.iter().zip(case.is_constant);
        each.map(|(d, constant)| replace(d, &mut |x| if *constant { 0.0 } else { x })).collect()
    };
    let derivative = dot(&still(&pulled), &towards);
    let along = |h: f64| -> Option<f64> {
        let moved = kept(&moved(&before, &numbers, h)).ok()?;
        let end = plainly(&moved, Run::Plain).ok()?;
        let end_minus: Vec<Data> = still(&end);
        Some(dot(&still(&seeds), &end_minus))
    };
    told(derivative, &along, ["derivatives", "rough"], "the derivative by the adjoint", tally)?;
    if case.tangent {
        let (_, pushed) = on_every_device(case, Run::Tangents, &before, &towards, Some(&expected), tally)?;
        let other = dot(&still(&seeds), &still(&pushed));
        // a cotangent of an `f32` is one
        let tolerance = 1e-6 * magnitude(&pushed).max(magnitude(&pulled)).max(1.0);
        if (other - derivative).abs() > tolerance {
            return Err(format!("{other} by the tangent, {derivative} by the adjoint"));
        }
        *tally.entry("tangents").or_default() += 1;
        // the tangents of the adjoint against differences of adjoints
        let held = |by: &f64, dice: &mut Dice| if *by == 0.0 { 0.0 } else { dice.real(-1.0, 1.0) };
        let weigh: Vec<f64> = numbers.iter().map(|by| held(by, dice)).collect();
        let weighed = |pulled: &[Data]| -> f64 {
            let pulled = still(pulled);
            pulled.iter().flat_map(reals).zip(&weigh).map(|(a, b)| a * b).sum()
        };
        let mut next = seeds.iter().flat_map(reals);
        let bars = kept(
            &after.iter().map(|d| replace(d, &mut |_| next.next().unwrap_or_default())).collect::<Vec<_>>(),
        )?;
        let ends = (case.shadows)(&after).map_err(text)?;
        let (values, shadows) = ([&after[..], &bars].concat(), [&pushed[..], &ends].concat());
        let (values, shadows) = on_every_device(case, Run::Second, &values, &shadows, None, tally)?;
        let n = case.is_constant.len();
        alike(&values[..n], &before).map_err(|e| format!("values of the second adjoint: {e}"))?;
        let (found, expected) = (weighed(&values[n..]), weighed(&pulled));
        let near = (found - expected).abs() < 1e-6 * magnitude(&pulled).max(1.0);
        if !near {
            return Err(format!("cotangents {found} as numbers, {expected} as shadows"));
        }
        let second = weighed(&shadows[n..]);
        let along = |h: f64| -> Option<f64> {
            let start = kept(&moved(&before, &numbers, h)).ok()?;
            let end = plainly(&start, Run::Plain).ok()?;
            let (_, pulled) = ran(case.run, &cpu, Run::Adjoint, &end, &seeds).ok()?;
            Some(weighed(&pulled))
        };
        let what = "the second derivative by the adjoint's tangent";
        told(second, &along, ["second", "rough second"], what, tally)?;
    }
    Ok(())
}

/// Compares a derivative with difference quotients, and counts it, and also where these don't tell.
fn told(
    derivative: f64,
    along: &dyn Fn(f64) -> Option<f64>,
    [all, rough]: [&'static str; 2],
    what: &str,
    tally: &mut Tally,
) -> Result<(), String> {
    *tally.entry(all).or_default() += 1;
    match slopes::compare(derivative, along) {
        Verdict::Agrees => Ok(()),
        Verdict::Rough => {
            *tally.entry(rough).or_default() += 1;
            Ok(())
        }
        Verdict::Differs(quotients) => Err(format!("{what} is {derivative}, {quotients:?} by differences")),
    }
}

/// On fixed-point numbers every device has the same bits, and all comes back bit for bit.
fn exactly(case: &Case, fixed: &Fixed, tally: &mut Tally) -> Result<(), String> {
    let before = (fixed.start)();
    let mut after: Option<Vec<Data>> = None;
    let mut all = ways();
    if case.is_for_gpus && !fixed.name.starts_with("FixedI128") {
        all.extend(gpus(""));
    }
    for way in &all {
        let (found, _) = ran(fixed.run, &*way.device, Run::Forward, &before, &[])?;
        let known = after.get_or_insert_with(|| found.clone());
        if bits(&found) != bits(known) {
            return Err(format!("{}: {found:?}\nexpected {known:?}", way.name));
        }
        let (back, _) = ran(fixed.run, &*way.device, Run::Inverse, &found, &[])?;
        if bits(&back) != bits(&before) {
            return Err(format!("{} doesn't come back: {back:?}\nexpected {before:?}", way.name));
        }
        *tally.entry("fixed").or_default() += 1;
    }
    let (near, _) = ran(case.run, &Cpu::with_threads(1), Run::Plain, &(case.start)(), &[])?;
    let tolerance = if fixed.name.contains("I32") { 0.1 } else { 2e-3 };
    let (a, b) = (after.unwrap_or_default(), near);
    let (a, b): (Vec<f64>, Vec<f64>) =
        (a.iter().flat_map(reals).collect(), b.iter().flat_map(reals).collect());
    match a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| (a - b).abs() < tolerance * b.abs().max(1.0)) {
        true => Ok(()),
        false => Err(format!("far from the plain program\n{a:?}\n{b:?}")),
    }
}

/// Integers and truth values have to be the same, real numbers up to rounding.
fn alike(a: &[Data], b: &[Data]) -> Result<(), String> {
    let rounded = |d: &Data| d.map(&|leaf| if reals(leaf).is_empty() { leaf.clone() } else { Data::None });
    let exact = |list: &[Data]| list.iter().map(rounded).collect::<Vec<_>>();
    match difference(a, b) < TOLERANCE && exact(a) == exact(b) {
        true => Ok(()),
        false => Err(format!("found\n{a:?}\nexpected\n{b:?}")),
    }
}
