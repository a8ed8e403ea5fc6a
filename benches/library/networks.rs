//! Layers, losses, flows and other networks.

use ndarray::{Array1, Array2, Array3, Array4, ArrayView2};
use rev::prelude::*;
use rev_networks::flows::{nice, normal, real_nvp};
use rev_networks::{attention, graph_embedding, layers, losses, ode, recurrent, residual};

use super::{matrix, numbers, Failure, Table};

/// All of them.
pub fn all(table: &mut Table) -> Result<(), Failure> {
    layer_programs(table)?;
    network_programs(table)?;
    steps(table)
}

fn layer_programs(table: &mut Table) -> Result<(), Failure> {
    let (x, w, bias) = (matrix((256, 64), 0.7), matrix((64, 64), 0.3), Array1::from(numbers(64, 0.5)));
    let zeros = Array2::zeros((256, 64));
    table.add(
        "dense layer, 256 examples of 64 numbers to 64",
        || layers::plain::dense(x.view(), w.view(), bias.view()),
        |d| {
            let mut y = zeros.clone();
            layers::dense::run(d, y.view_mut(), x.view(), w.view(), bias.view()).map(|()| y)
        },
        Some(|d: &Cpu| layers::dense::vjp(d, x.view(), zeros.view(), x.view(), w.view(), bias.view())),
    )?;
    let signals = Array3::from_shape_fn((8, 4, 256), |(n, c, t)| (0.1 * (n + c * t) as f64).sin());
    let kernel = Array3::from_shape_fn((8, 4, 5), |(o, c, k)| (0.3 * (o + c * k) as f64).cos());
    let bias = Array1::from(numbers(8, 0.5));
    let zeros = Array3::zeros((8, 8, 256));
    table.add(
        "convolution, 8 signals of 4 by 256 to 8 channels",
        || layers::plain::convolution_1d(signals.view(), kernel.view(), bias.view(), (1, 2, 256)),
        |d| {
            let mut y = zeros.clone();
            let (signals, kernel, bias) = (signals.view(), kernel.view(), bias.view());
            layers::convolution_1d::run(d, y.view_mut(), signals, kernel, bias, 1, 2).map(|()| y)
        },
        Some(|d: &Cpu| {
            let (signals, kernel, bias) = (signals.view(), kernel.view(), bias.view());
            layers::convolution_1d::vjp(d, zeros.view(), zeros.view(), signals, kernel, bias, 1, 2)
        }),
    )?;
    let (x, zeros) = (Array1::from(numbers(1000, 0.7)), Array1::zeros(1000));
    table.add(
        "softmax of 1000 numbers",
        || losses::plain::softmax(x.view()),
        |d| {
            let mut y = zeros.clone();
            losses::softmax::run(d, y.view_mut(), x.view()).map(|()| y)
        },
        Some(|d: &Cpu| losses::softmax::vjp(d, x.view(), zeros.view(), x.view())),
    )
}

fn network_programs(table: &mut Table) -> Result<(), Failure> {
    let images = Array4::from_shape_fn((4, 3, 32, 32), |(n, c, i, j)| (0.1 * (n + c * i + j) as f64).sin());
    let kernel = Array4::from_shape_fn((8, 3, 3, 3), |(o, c, i, j)| (0.3 * (o + c + i * j) as f64).cos());
    let bias = Array1::from(numbers(8, 0.5));
    let zeros = Array4::zeros((4, 8, 32, 32));
    table.add(
        "convolution, 4 images of 3 by 32 by 32 to 8 channels",
        || layers::plain::convolution_2d(images.view(), kernel.view(), bias.view(), (1, 1, [32, 32])),
        |d| {
            let mut y = zeros.clone();
            let (images, kernel, bias) = (images.view(), kernel.view(), bias.view());
            layers::convolution_2d::run(d, y.view_mut(), images, kernel, bias, 1, 1).map(|()| y)
        },
        Some(|d: &Cpu| {
            let (images, kernel, bias) = (images.view(), kernel.view(), bias.view());
            layers::convolution_2d::vjp(d, zeros.view(), zeros.view(), images, kernel, bias, 1, 1)
        }),
    )?;
    let (x, p) = (matrix((1000, 10), 0.7), Array2::from_elem((1000, 10), 0.1));
    table.add(
        "cross entropy of 1000 rows of 10",
        || losses::plain::cross_entropy(x.view(), p.view()),
        |d| {
            let mut y = 0.0;
            losses::cross_entropy::run(d, &mut y, x.view(), p.view()).map(|()| y)
        },
        Some(|d: &Cpu| losses::cross_entropy::gradient(d, x.view(), p.view())),
    )?;
    let (graph, x) = (graph_embedding::Petersen::new(), matrix((graph_embedding::VERTICES, 5), 0.7));
    let (a, b, near) = (&graph.a[..], &graph.b[..], graph_embedding::EDGES);
    table.add(
        "embedding of the Petersen graph in 5 dimensions",
        || graph_embedding::plain::lengths(x.view(), a, b, near).loss(),
        |d| {
            let mut y = 0.0;
            graph_embedding::embedding::run(d, &mut y, x.view(), a, b, near).map(|()| y)
        },
        Some(|d: &Cpu| graph_embedding::embedding::gradient(d, x.view(), a, b, near)),
    )?;
    let [q, k, v] = [0.3, 0.5, 0.7].map(|by| matrix((64, 32), by));
    fn views<'a>([q, k, v]: [&'a Array2<f64>; 3]) -> [ArrayView2<'a, f64>; 3] {
        [q.view(), k.view(), v.view()]
    }
    let given = views([&q, &k, &v]);
    let zeros = Array2::zeros((64, 32));
    table.add(
        "attention, 64 positions of 32 numbers",
        || attention::plain::attention(given[0], given[1], given[2], false),
        |d| {
            let mut y = zeros.clone();
            attention::attention::run(d, y.view_mut(), given[0], given[1], given[2], false).map(|()| y)
        },
        Some(|d: &Cpu| {
            attention::attention::vjp(d, given[0], zeros.view(), given[0], given[1], given[2], false)
        }),
    )?;
    let mut next = numbers(10_000, 0.37).into_iter().cycle();
    let weights = real_nvp::Weights::new(4, 16, 4, || 0.3 * next.next().unwrap_or_default());
    let samples = matrix((512, 4), 0.7);
    let (w, b, scale) = (weights.w.view(), weights.b.view(), weights.scale.view());
    let (r, shift, t) = (weights.r.view(), weights.shift.view(), weights.t.view());
    table.add(
        "likelihood of 512 samples by RealNVP, 4 layers",
        || real_nvp::plain::unlikelihood(samples.view(), &weights),
        |d| {
            let mut y = 0.0;
            real_nvp::unlikelihood::run(d, &mut y, samples.view(), w, b, scale, r, shift, t).map(|()| y)
        },
        Some(|d: &Cpu| real_nvp::unlikelihood::gradient(d, samples.view(), w, b, scale, r, shift, t)),
    )?;
    let layers = |rows, columns, by: f64| {
        Array3::from_shape_fn((4, rows, columns), |(l, i, j)| 0.3 * (by * (l + 16 * i + j) as f64).cos())
    };
    let (w, shift, scale) = (layers(16, 2, 0.3), layers(2, 16, 0.7), Array1::from(numbers(4, 0.2)));
    let (b, t) = (matrix((4, 16), 0.5), matrix((4, 2), 0.4));
    let (w, b, shift, t, scale) = (w.view(), b.view(), shift.view(), t.view(), scale.view());
    table.add(
        "512 samples through NICE, 4 layers",
        || {
            let mut x = samples.clone();
            let log_det = nice::plain::nice(x.view_mut(), w, b, shift, t, scale);
            (x, log_det)
        },
        |d| {
            let (mut x, mut log_det) = (samples.clone(), 0.0);
            nice::nice::run(d, x.view_mut(), &mut log_det, w, b, shift, t, scale).map(|()| (x, log_det))
        },
        Some(|d: &Cpu| nice::nice::vjp(d, samples.view(), 1.0, samples.view(), &0.0, w, b, shift, t, scale)),
    )?;
    let halves = Array3::from_shape_fn((4, 8, 64), |(n, c, i)| (0.1 * (n + c * i) as f64).sin());
    let kernels =
        Array4::from_shape_fn((8, 8, 8, 3), |(l, o, c, k)| 0.1 * (0.3 * (l + o * c + k) as f64).cos());
    let biases = matrix((8, 8), 0.5);
    table.add(
        "8 reversible residual blocks, 4 signals of 16 by 64",
        || {
            let (mut x1, mut x2) = (halves.clone(), halves.clone());
            residual::plain::revnet(x1.view_mut(), x2.view_mut(), kernels.view(), biases.view());
            (x1, x2)
        },
        |d| {
            let (mut x1, mut x2) = (halves.clone(), halves.clone());
            let (kernels, biases) = (kernels.view(), biases.view());
            residual::revnet::run(d, x1.view_mut(), x2.view_mut(), kernels, biases).map(|()| (x1, x2))
        },
        Some(|d: &Cpu| {
            let x = || halves.view();
            residual::revnet::vjp(d, x(), x(), x(), x(), kernels.view(), biases.view())
        }),
    )
}

fn steps(table: &mut Table) -> Result<(), Failure> {
    let (x, w, b) = (matrix((512, 4), 0.7), matrix((16, 4), 0.3), Array1::from(numbers(16, 0.5)));
    let (shift, t) = (0.2 * matrix((4, 16), 0.9), Array1::from(numbers(4, 0.2)));
    let (w, b, shift, t) = (w.view(), b.view(), shift.view(), t.view());
    let zeros = Array2::zeros((512, 4));
    table.add(
        "equation with a network of 16 for 512 samples of 4, 20 steps",
        || ode::plain::solution(x.view(), (w, b), (shift, t), 20),
        |d| {
            let mut y = zeros.clone();
            ode::solution::run(d, y.view_mut(), x.view(), w, b, shift, t, 20).map(|()| y)
        },
        Some(|d: &Cpu| ode::solution::vjp(d, x.view(), zeros.view(), x.view(), w, b, shift, t, 20)),
    )?;
    let halves = [0.3, 0.5].map(|by| matrix((64, 16), by));
    let inputs = Array3::from_shape_fn((20, 64, 8), |(s, n, i)| (0.1 * (s + n * i) as f64).sin());
    let weights = [0.3, 0.7]
        .map(|by| Array3::from_shape_fn((2, 16, 24), |(l, j, k)| 0.2 * (by * (l + 24 * j + k) as f64).cos()));
    let biases = [0.2, 0.4].map(|by| matrix((2, 16), by));
    let (gate, new, c0, c1) = (weights[0].view(), weights[1].view(), biases[0].view(), biases[1].view());
    table.add(
        "recurrent network, 64 sequences of 20",
        || {
            let [mut h1, mut h2] = halves.clone();
            let at = |l: usize| {
                let axis = ndarray::Axis(0);
                ((gate.index_axis(axis, l), c0.row(l)), (new.index_axis(axis, l), c1.row(l)))
            };
            let ((first, values), (second, others)) = (at(0), at(1));
            for x in inputs.outer_iter() {
                h1 = recurrent::plain::update(h1.view(), h2.view(), x, first, values);
                h2 = recurrent::plain::update(h2.view(), h1.view(), x, second, others);
            }
            [h1, h2]
        },
        |d| {
            let [mut h1, mut h2] = halves.clone();
            let (h, k) = (h1.view_mut(), h2.view_mut());
            recurrent::recurrent::run(d, h, k, inputs.view(), gate, c0, new, c1).map(|()| [h1, h2])
        },
        Some(|d: &Cpu| {
            let h = || halves[0].view();
            recurrent::recurrent::vjp(d, h(), h(), h(), h(), inputs.view(), gate, c0, new, c1)
        }),
    )?;
    let pairs: Vec<[f64; 2]> =
        (1..=10_000).map(|k| [f64::from(k) / 10_001.0, (0.618 * f64::from(k)).fract()]).collect();
    table.add(
        "10⁴ pairs by Box and Muller",
        || pairs.iter().map(|[u, v]| normal::plain::box_muller(*u, *v)).collect::<Vec<_>>(),
        |d| {
            let mut pairs = pairs.clone();
            normal::box_muller_each::run(d, &mut pairs).map(|()| pairs)
        },
        Some(|d: &Cpu| normal::box_muller_each::vjp(d, &pairs, &pairs)),
    )
}
