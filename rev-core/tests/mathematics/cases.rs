//! The functions, their bounds and the arguments that they are measured at.

use rev_core::math::cpu::{double, single};

/// Where arguments come from.
#[derive(Clone, Copy)]
pub enum Range {
    /// Evenly distributed.
    Even(f64, f64),
    /// Either sign, the exponent (of 2) evenly distributed.
    Exponents(i32, i32),
    /// Positive, likewise.
    Positive(i32, i32),
    /// A multiple of π/2 or ln 2 and a few units of the last place.
    Multiple(f64, f64),
    /// A number plus or minus a power of 2 with an exponent in the range.
    Near(f64, i32, i32),
    /// An integer.
    Integer(f64, f64),
}
use Range::*;

pub struct Case {
    pub name: &'static str,
    pub bound: f64,
    pub double: fn(&[f64]) -> f64,
    pub single: fn(&[f32]) -> f32,
    pub ranges: &'static [&'static [Range]],
}

/// Random numbers (splitmix64; Steele, Lea and Flood 2014).
pub struct Random(pub u64);

impl Random {
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
        z ^ (z >> 31)
    }
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / 2f64.powi(53)
    }
    pub fn draw(&mut self, range: Range) -> f64 {
        match range {
            Even(a, b) => a + (b - a) * self.unit(),
            Positive(a, b) => {
                let e = a + (self.unit() * f64::from(b - a)) as i32;
                let half = 2f64.powi(e / 2);
                (1.0 + self.unit()) * half * 2f64.powi(e - e / 2)
            }
            Exponents(a, b) => {
                let v = self.draw(Positive(a, b));
                if self.bits() & 1 == 1 {
                    -v
                } else {
                    v
                }
            }
            Multiple(unit, most) => {
                let n = (most.powf(self.unit())).round();
                let v = n * unit * (1.0 + (self.unit() - 0.5) * 1e-15);
                if self.bits() & 1 == 1 {
                    -v
                } else {
                    v
                }
            }
            Near(c, a, b) => c + self.draw(Exponents(a, b)),
            Integer(a, b) => self.draw(Even(a, b)).round(),
        }
    }
}

macro_rules! one {
    ($name:ident $bound:literal $($range:expr),*) => {
        Case { name: stringify!($name), bound: $bound, double: |x| double::$name(x[0]), single: |x| single::$name(x[0]), ranges: &[$(&[$range]),*] }
    };
}
macro_rules! two {
    ($name:ident $bound:literal $(($first:expr, $second:expr)),*) => {
        Case { name: stringify!($name), bound: $bound, double: |x| double::$name(x[0], x[1]), single: |x| single::$name(x[0], x[1]),
            ranges: &[$(&[$first, $second]),*] }
    };
}

macro_rules! gamma {
    ($order:literal $name:literal $($range:expr),*) => {
        Case { name: $name, bound: 2.0, double: |x| double::polygamma($order, x[0]), single: |x| single::polygamma($order, x[0]),
            ranges: &[$(&[$range]),*] }
    };
}

const HALF_PI: f64 = std::f64::consts::FRAC_PI_2;
const LN_2: f64 = std::f64::consts::LN_2;

pub const CASES: &[Case] = &[
    one!(exp 1.0 Even(-745.2, 709.8), Even(-1.0, 1.0), Exponents(-60, 10), Multiple(LN_2 / 2.0, 2000.0), Even(-104.0, 89.0)),
    one!(expm1 1.0 Even(-40.0, 709.8), Even(-1.5, 1.5), Exponents(-1074, 10), Multiple(LN_2 / 2.0, 100.0), Even(-18.0, 89.0)),
    one!(ln 1.0 Positive(-1074, 1024), Even(0.5, 2.0), Near(1.0, -52, -2), Even(0.69, 0.72), Even(1.4, 1.43)),
    one!(log2 2.0 Positive(-1074, 1024), Even(0.5, 2.0), Near(1.0, -52, -2)),
    one!(log10 2.0 Positive(-1074, 1024), Even(0.5, 2.0), Near(1.0, -52, -2)),
    one!(log1p 1.0 Positive(-1074, 1024), Even(-1.0, 2.0), Exponents(-60, 0), Near(-1.0, -53, -1), Even(-0.3, -0.28), Even(0.4, 0.43)),
    one!(sin 1.0 Even(-7.0, 7.0), Exponents(-1074, 1024), Multiple(HALF_PI, 1e9), Multiple(HALF_PI, 1e300), Even(0.0, 1e5), Exponents(27, 34), Exponents(12, 17)),
    one!(cos 1.0 Even(-7.0, 7.0), Exponents(-1074, 1024), Multiple(HALF_PI, 1e9), Multiple(HALF_PI, 1e300), Even(0.0, 1e5), Exponents(27, 34), Exponents(12, 17)),
    one!(tan 1.0 Even(-7.0, 7.0), Exponents(-1074, 1024), Multiple(HALF_PI, 1e9), Multiple(HALF_PI, 1e300), Even(0.0, 1e5), Exponents(27, 34), Exponents(12, 17)),
    one!(sinh 2.0 Even(-711.0, 711.0), Even(-2.0, 2.0), Exponents(-1074, 10), Multiple(LN_2 / 2.0, 30.0), Even(-90.0, 90.0)),
    one!(cosh 2.0 Even(-711.0, 711.0), Even(-2.0, 2.0), Exponents(-30, 10), Multiple(LN_2 / 2.0, 30.0), Even(-90.0, 90.0)),
    one!(tanh 1.0 Even(-25.0, 25.0), Even(-2.0, 2.0), Exponents(-1074, 10), Multiple(LN_2 / 2.0, 30.0)),
    one!(asin 2.0 Even(-1.0, 1.0), Exponents(-1074, 0), Near(0.5, -50, -3), Near(1.0, -53, -2)),
    one!(acos 2.0 Even(-1.0, 1.0), Exponents(-60, 0), Near(0.5, -50, -3), Near(1.0, -53, -2), Near(-1.0, -53, -2), Near(-0.5, -50, -3)),
    one!(atan 1.0 Even(-3.0, 3.0), Exponents(-1074, 1024), Near(0.414213562, -20, -5), Near(2.414213562, -20, -5)),
    one!(cbrt 1.0 Exponents(-1074, 1024), Exponents(-3, 3), Near(1.0, -52, -2), Near(8.0, -48, -2), Exponents(-149, 127)),
    one!(exp2 1.0 Even(-1075.0, 1024.0), Even(-1.0, 1.0), Exponents(-60, 10), Near(0.5, -50, -3), Even(-150.0, 128.0)),
    one!(sigmoid 2.0 Even(-745.0, 745.0), Even(-40.0, 40.0), Even(-2.0, 2.0), Exponents(-60, 10), Even(-104.0, 89.0)),
    one!(softplus 2.0 Even(-745.0, 745.0), Even(-40.0, 40.0), Even(-2.0, 2.0), Exponents(-60, 10), Even(-104.0, 89.0)),
    one!(erf 2.0 Even(-6.0, 6.0), Exponents(-1074, 3), Near(0.5, -53, -3), Near(-0.5, -53, -3)),
    one!(erfc 2.0 Even(-6.0, 27.3), Even(-1.0, 1.0), Exponents(-60, 5), Near(0.5, -53, -3), Near(3.5, -50, -2), Even(0.5, 10.2), Even(26.0, 27.3)),
    one!(asinh 2.0 Exponents(-1074, 1024), Even(-3.0, 3.0), Exponents(-30, 5), Exponents(14, 40)),
    one!(acosh 2.0 Positive(0, 1024), Near(1.0, -52, -2), Even(1.0, 3.0), Positive(14, 40)),
    one!(atanh 2.0 Even(-1.0, 1.0), Exponents(-1074, 0), Near(1.0, -53, -2), Near(-1.0, -53, -2), Exponents(-30, 0)),
    two!(atan2 2.0 (Even(-3.0, 3.0), Even(-3.0, 3.0)), (Exponents(-1074, 1024), Exponents(-1074, 1024)), (Exponents(-10, 10), Exponents(-10, 10)),
        (Exponents(1000, 1024), Exponents(1000, 1024)), (Exponents(-1074, -1000), Exponents(-1074, -1000)), (Exponents(-126, -110), Exponents(-126, -110))),
    two!(hypot 2.0 (Even(-3.0, 3.0), Even(-3.0, 3.0)), (Exponents(-1074, 1023), Exponents(-1074, 1023)), (Exponents(-10, 10), Exponents(-10, 10)),
        (Exponents(1000, 1024), Exponents(1000, 1024)), (Exponents(-1074, -1000), Exponents(-1074, -1000)), (Exponents(-140, -110), Exponents(-140, -110))),
    two!(fmod 0.0 (Even(-30.0, 30.0), Even(-3.0, 3.0)), (Exponents(-1074, 1024), Exponents(-1074, 1024)), (Exponents(-20, 40), Exponents(-20, 20)),
        (Integer(-1e15, 1e15), Integer(1.0, 1e5)), (Exponents(1000, 1024), Exponents(-1074, -1000)), (Exponents(-1074, -1022), Exponents(-1074, -1022))),
    two!(powf 2.0 (Even(0.0, 10.0), Even(-300.0, 300.0)), (Positive(-1074, 1024), Exponents(-8, 2)), (Near(1.0, -40, -2), Exponents(5, 45)),
        (Even(-10.0, 0.0), Integer(-300.0, 300.0)), (Near(1.0, -18, -2), Exponents(3, 22)), (Even(0.0, 10.0), Even(-40.0, 40.0))),
    Case {
        name: "powi",
        bound: 2.0,
        double: |x| double::powi(x[0], x[1] as i32),
        single: |x| single::powi(x[0], x[1] as i32),
        ranges: &[
            &[Even(-10.0, 10.0), Integer(-20.0, 20.0)],
            &[Near(1.0, -40, -2), Integer(-2147483648.0, 2147483647.0)],
            &[Exponents(-300, 300), Integer(-8.0, 8.0)],
            &[Near(1.0, -18, -2), Integer(-70000000.0, 70000000.0)],
            &[Exponents(-20, 20), Integer(-66.0, 66.0)],
        ],
    },
    // the zeros of log-gamma at 1 and 2 and the first four negative ones
    one!(ln_gamma 2.0 Even(0.0, 20.0), Positive(-1074, 1014), Near(1.0, -53, -1), Near(2.0, -52, -1), Even(-20.0, 0.0), Exponents(-40, 30),
        Near(-2.457024738220801, -51, -4), Near(-2.747682646727413, -51, -4), Near(-3.14358088834998, -51, -4), Near(-3.955294284858598, -51, -4)),
    // digamma's zeros: the positive one and the first two others
    gamma!(0 "polygamma 0" Even(0.0, 20.0), Positive(-1000, 1020), Near(1.4616321449683622, -53, -2), Even(-20.0, 0.0), Exponents(-40, 30),
        Near(-0.5040830082644554, -53, -4), Near(-1.5734984731623905, -52, -4)),
    gamma!(1 "polygamma 1" Even(0.0, 20.0), Positive(-500, 500), Even(-20.0, 0.0), Exponents(-40, 30)),
    gamma!(2 "polygamma 2" Even(0.0, 20.0), Positive(-300, 300), Even(-20.0, 0.0), Exponents(-40, 30), Near(-0.5, -50, -3), Near(-10.5, -48, -3)),
    gamma!(3 "polygamma 3" Even(0.0, 20.0), Positive(-250, 250), Even(-20.0, 0.0), Exponents(-40, 30)),
    gamma!(4 "polygamma 4" Even(0.0, 20.0), Positive(-200, 200), Even(-20.0, 0.0), Exponents(-40, 30), Near(-0.5, -50, -3)),
];
