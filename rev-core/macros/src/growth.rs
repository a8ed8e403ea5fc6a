//! How the work of each stage grows with a program: families of programs of any size, and counts, not times.
//!
//! Each stage of a family is run at three sizes, and its exponent is that of what is added between them. What is counted
//! is what a stage makes (the characters of the printed program, the tokens of the emitted one) and what it visits
//! on the way (`rev_compiler::ir::steps`).

use proc_macro2::{TokenStream, TokenTree};
use rev_compiler::check::{check, Checked};
use rev_compiler::diag::{Code, Diagnostics};
use rev_compiler::ir::{steps, Function};
use rev_compiler::limits::{HEIGHT, NESTING};
use rev_compiler::pass::{adjoint, erase, fuse, inverse, Adjoint, Wanted};
use rev_compiler::text::{encode_function, parse_function};

use crate::lower::lower_function;

/// Programs of a family: the parameters, and the body for a size.
struct Family {
    name: &'static str,
    params: &'static str,
    body: fn(usize) -> String,
    /// Bodies that are deep, which nobody writes at a thousand.
    most: usize,
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect::<Vec<_>>().join("\n")
}

fn joined(n: usize, by: &str) -> String {
    format!("*y += {};", (0..n).map(|k| format!("x[{k}]")).collect::<Vec<_>>().join(by))
}

fn nested(n: usize, open: &str, inner: &str, close: &str) -> String {
    format!("{}{inner}{}", open.repeat(n), close.repeat(n))
}

const FAMILIES: &[Family] = &[
    Family { name: "product", params: "y: &mut f64, x: &[f64]", body: |n| joined(n, " * "), most: 1000 },
    Family { name: "sum", params: "y: &mut f64, x: &[f64]", body: |n| joined(n, " + "), most: 1000 },
    Family { name: "quotient", params: "y: &mut f64, x: &[f64]", body: |n| joined(n, " / "), most: 1000 },
    Family {
        name: "nested functions",
        params: "y: &mut f64, x: f64",
        body: |n| format!("*y += {};", nested(n, "sin(", "x", ")")),
        most: 1000,
    },
    Family {
        name: "nested powers",
        params: "y: &mut f64, x: f64",
        body: |n| format!("*y += {};", nested(n, "hypot(2.0, ", "x", ")")),
        most: 1000,
    },
    Family {
        name: "lets",
        params: "y: &mut f64, x: f64",
        body: |n| {
            let first = "let a0 = x;".to_string();
            let rest = lines(n, |k| format!("let a{} = a{k} * a{k};", k + 1));
            format!("{first}{rest}*y += a{n};")
        },
        most: 1000,
    },
    Family {
        name: "ancillas",
        params: "y: &mut f64, x: f64",
        body: |n| {
            let first = "let mut a0 = 0.0; a0 += x;".to_string();
            let rest = lines(n, |k| format!("let mut a{0} = 0.0; a{0} += a{k} * x;", k + 1));
            format!("{first}{rest}*y += a{n};")
        },
        most: 1000,
    },
    Family {
        name: "statements",
        params: "y: &mut [f64], x: &[f64]",
        body: |n| lines(n, |k| format!("y[{k}] += x[{k}] * x[{}];", k + 1)),
        most: 1000,
    },
    Family {
        name: "statements on one",
        params: "y: &mut f64, x: f64",
        body: |n| lines(n, |k| format!("*y += x * {k}.0;")),
        most: 1000,
    },
    Family {
        name: "pushes in a row",
        params: "s: &mut Stack<f64>, x: &mut f64, y: &mut f64",
        body: |n| lines(n, |_| "push(s, x); pop(s, y); swap(x, y);".into()),
        most: 1000,
    },
    Family {
        name: "pushes in loops",
        params: "s: &mut Stack<f64>, x: &mut f64, y: &mut f64, n: usize",
        body: |n| {
            (0..n).fold(String::new(), |inner, k| {
                format!("for i{k} in 0..n {{ push(s, x); {inner} pop(s, x); }}")
            })
        },
        most: 60,
    },
    Family {
        name: "pushes nested",
        params: "s: &mut Stack<f64>, x: &mut f64",
        body: |n| nested(n, "push(s, x); *x += 1.0;", "", "*x -= 1.0; pop(s, x);"),
        most: 1000,
    },
    Family {
        name: "contractions",
        params: "y: &mut Array2<f64>, a: &Array2<f64>, b: &Array2<f64>",
        body: |n| format!("y += {};", vec!["matmul(a, b)"; n].join(" + ")),
        most: 1000,
    },
    Family {
        name: "numbers of contractions",
        params: "y: &mut f64, a: &[f64], b: &[f64]",
        body: |n| format!("*y += {};", vec!["dot(a, b)"; n].join(" * ")),
        most: 1000,
    },
    Family {
        name: "loops in loops",
        params: "y: &mut f64, x: &[f64], n: usize",
        body: |n| {
            (0..n).fold("*y += x[0] * x[0];".into(), |inner, k| format!("for i{k} in 0..n {{ {inner} }}"))
        },
        most: 60,
    },
    Family {
        name: "loops in a row",
        params: "y: &mut [f64], x: &[f64], n: usize",
        body: |n| lines(n, |k| format!("for i{k} in 0..n {{ y[i{k}] += x[i{k}] * x[i{k}]; }}")),
        most: 1000,
    },
    Family {
        name: "parallel loops",
        params: "y: &mut [f64], x: &[f64], n: usize",
        body: |n| lines(n, |k| format!("for i{k} in par(0..n) {{ y[i{k}] += x[i{k}] * x[i{k}]; }}")),
        most: 300,
    },
    Family {
        name: "branches in branches",
        params: "y: &mut f64, x: f64",
        body: |n| {
            (0..n).fold("*y += x * x;".into(), |inner, k| {
                format!("if x > {k}.0 {{ {inner} }} else {{ *y += x * {k}.0; }}")
            })
        },
        most: 300,
    },
    Family {
        name: "choices in choices",
        params: "y: &mut f64, x: f64",
        body: |n| {
            let value = (0..n).fold("x * x".to_string(), |inner, k| {
                format!("if x > {k}.0 {{ {inner} }} else {{ x * {k}.0 }}")
            });
            format!("*y += {value};")
        },
        most: 300,
    },
    Family {
        name: "branches in a row",
        params: "y: &mut f64, x: f64",
        body: |n| lines(n, |k| format!("if x > {k}.0 {{ *y += x * x; }}")),
        most: 1000,
    },
    Family {
        name: "calls",
        params: "y: &mut f64, x: f64",
        body: |n| lines(n, |k| format!("f(&mut y, x * {k}.0);")),
        most: 1000,
    },
    Family {
        name: "computes",
        params: "y: &mut f64, x: f64",
        body: |n| {
            let ancillas = lines(n, |k| format!("let mut a{k} = 0.0;"));
            let computes = lines(n, |k| format!("#[compute] {{ a{k} += x * x; }}"));
            format!("{ancillas}{computes}*y += a0;")
        },
        most: 40,
    },
    Family {
        name: "names in an expression",
        params: "y: &mut f64, x: f64",
        body: |n| {
            let lets = lines(n, |k| format!("let b{} = b{k} * b{k};", k + 1));
            format!("*y += {{ let b0 = x; {lets} b{n} }};")
        },
        most: 1000,
    },
    Family {
        name: "shared functions",
        params: "y: &mut f64, x: f64",
        body: |n| lines(n, |k| format!("*y += sin(x * {k}.0) * sin(x * {k}.0);")),
        most: 1000,
    },
];

fn tokens(stream: TokenStream) -> u64 {
    stream
        .into_iter()
        .map(|t| match t {
            TokenTree::Group(g) => 1 + tokens(g.stream()),
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => 1,
        })
        .sum()
}

/// What a stage makes, what it visits, how long it takes.
#[derive(Clone, Copy, Debug)]
struct Count {
    made: u64,
    visited: u64,
    seconds: f64,
}

fn counted<T>(run: impl FnOnce() -> T, size: impl FnOnce(&T) -> u64) -> (T, Count) {
    let (before, start) = (steps(), std::time::Instant::now());
    let out = run();
    let (visited, seconds) = (steps() - before, start.elapsed().as_secs_f64());
    let made = size(&out);
    (out, Count { made, visited, seconds })
}

/// The characters of a program, without those that show how deep it is.
fn printed(function: &Function) -> u64 {
    encode_function(function).chars().filter(|c| !c.is_whitespace()).count() as u64
}

/// The stages of a program of some size with their counts.
type Counts = Vec<(&'static str, Count)>;

impl Family {
    fn item(&self, n: usize) -> TokenStream {
        let text = format!("fn program({}) {{ {} }}", self.params, (self.body)(n));
        text.parse().unwrap()
    }

    fn checked(&self, n: usize) -> Result<Checked, Diagnostics> {
        let item = self.item(n);
        crate::depth::reading(&item.clone(), || {
            let (model, wrong) = lower_function(TokenStream::new(), syn::parse2(item).unwrap(), None);
            assert!(wrong.is_empty(), "{}: {wrong:?}", self.name);
            check(model.function)
        })
    }

    fn passes(&self, n: usize) -> Counts {
        let mut out = Vec::new();
        let (checked, check) = counted(|| self.checked(n).unwrap(), |c| printed(c));
        out.push(("check", check));
        out.push(("inverse", counted(|| inverse(&checked), |c| printed(c)).1));
        let (adjoint_of, lean) = counted(|| adjoint(&checked, Adjoint::LEAN), |c| printed(c));
        out.push(("adjoint", lean));
        let reversible = counted(|| adjoint(&checked, Adjoint::REVERSIBLE), |c| printed(c)).1;
        out.push(("reversible adjoint", reversible));
        let (erased, erase) = counted(|| erase(&adjoint_of, Wanted::Shadows), |c| printed(c));
        out.push(("erase", erase));
        out.push(("share", counted(|| erased.shared(), |c| printed(c)).1));
        out
    }

    /// Those that take more time at a size.
    fn emission(&self, n: usize) -> Counts {
        let (checked, item) = (self.checked(n).unwrap(), self.item(n));
        let fuse = counted(|| fuse(&checked), |c| c.as_ref().map_or(1, |c| printed(c))).1;
        let emit = counted(|| crate::expand_reversible(TokenStream::new(), item), |t| tokens(t.clone())).1;
        vec![("fuse", fuse), ("emit", emit)]
    }
}

/// A family's stages, each at a size, at twice and at four times that.
fn at_sizes(
    family: &Family,
    most: usize,
    counts: impl Fn(usize) -> Counts,
) -> Vec<(&'static str, [Count; 3])> {
    let large = most.min(family.most);
    let [small, middle, large] = [large / 4, large / 2, large].map(counts);
    let each = small.into_iter().zip(middle).zip(large);
    each.map(|(((stage, a), (_, b)), (_, c))| (stage, [a, b, c])).collect()
}

/// The exponent with which something grows, by what is added: what is there at any size says nothing.
fn exponent([small, middle, large]: [u64; 3]) -> f64 {
    let added = |from: u64, to: u64| to.saturating_sub(from).max(1) as f64;
    (added(middle, large) / added(small, middle)).log2()
}

/// That of n log n from 30 to 120 is 1.2.
const LINEAR: f64 = 1.3;
const SQUARE: f64 = 2.1;
const CUBE: f64 = 3.1;

/// What grows faster: what is made, and what is visited for it.
const STEEPER: &[(&str, &str, [f64; 2])] = &[
    // where a program and its adjoint meet, the places of the one are compared with those of the other
    ("", "fuse", [LINEAR, SQUARE]),
    ("", "emit", [LINEAR, SQUARE]),
    // each scope is searched for what has to be taken back at its end, and where nothing but a `#[compute]` is in it,
    // for what changes what that has read
    ("ancillas", "check", [LINEAR, SQUARE]),
    ("computes", "check", [LINEAR, CUBE]),
    ("computes", "emit", [LINEAR, CUBE]),
    ("pushes in loops", "check", [LINEAR, SQUARE]),
    // each is asked what the indices in it are, which the whole function says
    ("parallel loops", "check", [LINEAR, SQUARE]),
    // what can fail in a loop says the iteration of each loop around it
    ("pushes in loops", "emit", [SQUARE, SQUARE]),
    ("loops in loops", "emit", [SQUARE, SQUARE]),
];

fn allowed(family: &str, stage: &str) -> [f64; 2] {
    let about = |s: &&(&str, &str, [f64; 2])| (s.0.is_empty() || s.0 == family) && s.1 == stage;
    STEEPER.iter().rev().find(about).map_or([LINEAR; 2], |s| s.2)
}

/// What grows faster than it may.
fn faster(family: &Family, most: usize, counts: impl Fn(usize) -> Counts) -> Vec<String> {
    let wrong = at_sizes(family, most, counts).into_iter().filter_map(|(stage, counts)| {
        let (made, visited) = (exponent(counts.map(|c| c.made)), exponent(counts.map(|c| c.visited)));
        let [most_made, most_visited] = allowed(family.name, stage);
        let wrong = made > most_made || visited > most_visited;
        wrong.then(|| format!("{}, {stage}: made ^{made:.2}, visited ^{visited:.2}, {counts:?}", family.name))
    });
    wrong.collect()
}

#[test]
fn passes_grow_as_the_program_does() {
    let wrong: Vec<_> = FAMILIES.iter().flat_map(|f| faster(f, 120, |n| f.passes(n))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// At sizes at which no expression is computed in steps.
#[test]
fn what_is_emitted_grows_as_the_program_does() {
    let wrong: Vec<_> = FAMILIES.iter().flat_map(|f| faster(f, 28, |n| f.emission(n))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn family(name: &str) -> &'static Family {
    FAMILIES.iter().find(|f| f.name == name).unwrap()
}

/// The codes by which a program is rejected, which the macro makes errors of the compiler.
fn rejected(family: &Family, n: usize) -> Vec<Code> {
    let wrong = family.checked(n).unwrap_err();
    let emitted = crate::expand_reversible(TokenStream::new(), family.item(n)).to_string();
    for d in &wrong.0 {
        assert!(emitted.contains("compile_error") && emitted.contains(d.code.id()), "{emitted}");
    }
    wrong.0.into_iter().map(|d| d.code).collect()
}

#[test]
fn names_are_nested_up_to_the_limit() {
    let lets = family("lets");
    // the first name and the statement inside are levels too
    let text = encode_function(&lets.checked(NESTING - 2).unwrap());
    assert!(encode_function(&parse_function(&text).unwrap()) == text);
    assert_eq!(rejected(lets, NESTING - 1), [Code::TooDeep]);
}

#[test]
fn choices_are_nested_up_to_the_limit() {
    let choices = family("choices in choices");
    // the innermost one is a product, whose block is a level too
    let text = encode_function(&choices.checked(HEIGHT - 2).unwrap());
    assert!(encode_function(&parse_function(&text).unwrap()) == text);
    assert_eq!(rejected(choices, HEIGHT - 1), [Code::TooHigh]);
}

#[test]
fn long_programs_are_read() {
    for (name, n) in [("sum", 2500), ("statements on one", 2500)] {
        let family = family(name);
        let text = encode_function(&family.checked(n).unwrap());
        assert!(encode_function(&parse_function(&text).unwrap()) == text);
    }
}

#[test]
#[ignore = "a table to read: cargo test -p rev-macros --lib growth -- --ignored --nocapture"]
fn table() {
    let wanted = std::env::var("REV_FAMILY").unwrap_or_default();
    let largest: usize = std::env::var("REV_LARGEST").ok().and_then(|n| n.parse().ok()).unwrap_or(1000);
    for family in FAMILIES.iter().filter(|f| f.name.contains(&wanted)) {
        println!("{}", family.name);
        for (stage, counts) in at_sizes(family, largest, |n| [family.passes(n), family.emission(n)].concat())
        {
            let (made, visited) = (counts.map(|c| c.made), counts.map(|c| c.visited));
            let (of_made, of_visited) = (exponent(made), exponent(visited));
            let seconds = counts[2].seconds;
            println!("  {stage:20} made {made:?} ^{of_made:.2}, visited {visited:?} ^{of_visited:.2}, {seconds:.3} s");
        }
    }
}

/// The Rust of one parallel loop, in thousands of characters without spaces, by what is asked for: no more than what
/// `docs/performance.md` says, rounded up.
#[test]
fn attributes_multiply_what_is_emitted_by_so_much() {
    const MOST: [(&str, usize); 5] = [
        ("", 60),
        ("tangent", 280),
        ("adjoint", 205),
        ("tangent, adjoint", 1_050),
        ("tangent = 2, adjoint", 3_250),
    ];
    let item: TokenStream = "fn fit(loss: &mut f64, w: &[f64], x: &[f64], y: &[f64]) {
        for i in par(0..x.len()) {
            let r = x[i] * w[0] + w[1] - y[i];
            *loss += r * r / (1.0 + r * r).sqrt();
        }
    }"
    .parse()
    .unwrap();
    for (attribute, most) in MOST {
        let emitted = crate::expand_reversible(attribute.parse().unwrap(), item.clone()).to_string();
        let characters = emitted.chars().filter(|c| !c.is_whitespace()).count();
        println!("{attribute:20} {characters}");
        assert!(!emitted.contains("compile_error"), "{attribute}");
        assert!(characters < 1000 * most, "{attribute}: {characters} characters");
    }
}
