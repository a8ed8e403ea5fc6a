//! The colourings against their definitions, and the recovered matrices against those multiplied.

pub mod oracle;

use std::collections::BTreeSet;
use std::sync::Arc;

use super::*;
use oracle::*;

/// The shapes and densities of random matrices, with the degenerate ones.
fn shapes(random: &mut Random) -> Vec<(usize, usize, usize)> {
    let edges = [(0, 0), (0, 1), (1, 0), (0, 5), (5, 0), (1, 1), (1, 7), (7, 1)];
    let edges = edges.into_iter().flat_map(|(rows, columns)| [0, 50, 100].map(|p| (rows, columns, p)));
    let mut all: Vec<_> = edges.collect();
    all.extend((0..250).map(|_| (1 + random.below(12), 1 + random.below(12), 1 + random.below(100))));
    all.extend((0..30).map(|_| (20 + random.below(20), 20 + random.below(20), 3 + random.below(20))));
    all
}

/// The products of a dense matrix with the seeds of a plan, one after the other.
fn products(plan: &Plan, dense: &[Vec<f64>]) -> Vec<f64> {
    let entry = |seeded: usize, kept: usize| match plan.is_by_rows() {
        true => dense[seeded][kept],
        false => dense[kept][seeded],
    };
    let product = |k| {
        (0..plan.product_length()).map(move |kept| plan.seed(k).iter().map(|s| entry(*s, kept)).sum::<f64>())
    };
    (0..plan.groups()).flat_map(product).collect()
}

fn check_recovery(plan: &Plan, dense: &[Vec<f64>]) {
    let matrix = plan.recover(&products(plan, dense)).unwrap();
    assert_eq!(matrix.to_dense(), dense, "{plan:?}");
    // each column or row is in one group, and each group has some
    let mut seeded: Vec<usize> = (0..plan.groups()).flat_map(|k| plan.seed(k)).copied().collect();
    seeded.sort_unstable();
    let all = if plan.groups() == 0 { 0 } else { plan.seed_length() };
    assert_eq!(seeded, (0..all).collect::<Vec<_>>());
    assert!((0..plan.groups()).all(|k| !plan.seed(k).is_empty()));
}

fn check_count(coloring: &Coloring, vertices: usize) {
    assert_eq!(coloring.colors().len(), vertices);
    let used: BTreeSet<usize> = coloring.colors().iter().copied().collect();
    assert_eq!(used, (0..coloring.count()).collect());
}

fn most_in_a_row(pattern: &Pattern) -> usize {
    (0..pattern.rows()).map(|i| pattern.row(i).len()).max().unwrap_or(0)
}

#[test]
fn a_pattern_has_the_places_given() {
    let mut random = Random(1);
    for (rows, columns, percent) in shapes(&mut random) {
        let set: BTreeSet<(usize, usize)> = random.entries(rows, columns, percent).into_iter().collect();
        let mut entries: Vec<(usize, usize)> = set.iter().chain(set.iter().take(5)).copied().collect();
        (1..entries.len()).for_each(|k| entries.swap(k, random.below(k + 1)));
        let pattern = Pattern::new(rows, columns, entries).unwrap();
        assert_eq!((pattern.rows(), pattern.columns(), pattern.nonzeros()), (rows, columns, set.len()));
        assert!(pattern.iter().eq(set.iter().copied()));
        let transposed: BTreeSet<(usize, usize)> = set.iter().map(|(i, j)| (*j, *i)).collect();
        assert!(pattern.transposed().iter().eq(transposed.iter().copied()));
        assert_eq!(pattern.transposed().transposed(), pattern);
        assert_eq!(pattern.is_symmetric(), rows == columns && set == transposed);
        let around = (0..rows + 2).flat_map(|i| (0..columns + 2).map(move |j| (i, j)));
        around.for_each(|(i, j)| assert_eq!(pattern.contains(i, j), set.contains(&(i, j))));
        assert_eq!(pattern.row(rows), [0usize; 0]);
        assert_eq!(pattern.row(usize::MAX), [0usize; 0]);
    }
}

#[test]
fn an_entry_out_of_range_is_named() {
    for (row, column) in [(2, 0), (0, 3), (usize::MAX, usize::MAX)] {
        let error = Pattern::new(2, 3, [(0, 0), (row, column)]).unwrap_err();
        assert_eq!(error, PatternError::OutOfRange { row, column, rows: 2, columns: 3 });
    }
    let error = Pattern::new(2, 3, [(1, 3)]).unwrap_err();
    assert_eq!(error.to_string(), "the entry (1, 3) is outside of a 2 x 3 matrix");
    let error = Pattern::new(1, usize::MAX, []).unwrap_err();
    assert_eq!(error, PatternError::TooLarge { rows: 1, columns: usize::MAX });
}

#[test]
fn an_asymmetric_pattern_is_refused_with_the_entry() {
    let mut random = Random(2);
    let mut refused = 0;
    for _ in 0..300 {
        let n = 1 + random.below(8);
        let pattern = random.pattern(n, n, 20);
        let missing: Vec<_> = pattern.iter().filter(|(i, j)| !pattern.contains(*j, *i)).collect();
        for error in [color_star(&pattern, Order::Natural), color_acyclic(&pattern, Order::Natural)] {
            match error {
                Ok(_) => assert_eq!(missing, []),
                Err(PatternError::NotSymmetric { row, column }) => assert!(missing.contains(&(row, column))),
                Err(other) => panic!("{other}"),
            }
        }
        refused += usize::from(!missing.is_empty());
    }
    assert!((100..300).contains(&refused));
    let pattern = Pattern::new(3, 3, [(0, 0), (2, 1)]).unwrap();
    let text = "the pattern isn't symmetric: it has (2, 1), but not (1, 2)";
    assert_eq!(Plan::by_star(pattern.clone(), Order::Natural).unwrap_err().to_string(), text);
    assert_eq!(Plan::by_acyclic(pattern, Order::Natural).unwrap_err().to_string(), text);
    let wide = Pattern::new(2, 3, []).unwrap();
    assert_eq!(color_star(&wide, Order::Natural), Err(PatternError::NotSquare { rows: 2, columns: 3 }));
}

#[test]
fn columns_and_rows_of_one_colour_are_apart() {
    let mut random = Random(3);
    for (rows, columns, percent) in shapes(&mut random) {
        let pattern = random.pattern(rows, columns, percent);
        let transposed = pattern.transposed();
        for order in ORDERS {
            let by_columns = color_columns(&pattern, order);
            check_count(&by_columns, columns);
            assert!(is_column_coloring(&pattern, by_columns.colors()), "{pattern:?} {order:?}");
            assert!(by_columns.count() >= most_in_a_row(&pattern));
            let by_rows = color_rows(&pattern, order);
            check_count(&by_rows, rows);
            assert!(is_column_coloring(&transposed, by_rows.colors()), "{pattern:?} {order:?}");
            assert!(by_rows.count() >= most_in_a_row(&transposed));
            assert_eq!(color_columns(&transposed, order), by_rows);
        }
    }
}

#[test]
fn paths_and_cycles_have_three_colours() {
    let mut random = Random(4);
    for (n, _, percent) in shapes(&mut random) {
        let pattern = random.symmetric(n, percent);
        for order in ORDERS {
            let star = color_star(&pattern, order).unwrap();
            check_count(&star, n);
            assert!(is_star_coloring(&pattern, star.colors()), "{pattern:?} {order:?}");
            let acyclic = color_acyclic(&pattern, order).unwrap();
            check_count(&acyclic, n);
            assert!(is_acyclic_coloring(&pattern, acyclic.colors()), "{pattern:?} {order:?}");
        }
    }
}

#[test]
fn matrices_are_recovered_from_their_products() {
    let mut random = Random(5);
    for (rows, columns, percent) in shapes(&mut random) {
        let pattern = Arc::new(random.pattern(rows, columns, percent));
        let dense = random.dense(&pattern);
        for order in ORDERS {
            check_recovery(&Plan::by_columns(Arc::clone(&pattern), order), &dense);
            check_recovery(&Plan::by_rows(Arc::clone(&pattern), order), &dense);
        }
    }
}

#[test]
fn symmetric_matrices_are_recovered_from_their_products() {
    let mut random = Random(6);
    for (n, _, percent) in shapes(&mut random) {
        let pattern = Arc::new(random.symmetric(n, percent));
        let dense = random.dense_symmetric(&pattern);
        for order in ORDERS {
            check_recovery(&Plan::by_star(Arc::clone(&pattern), order).unwrap(), &dense);
            check_recovery(&Plan::by_acyclic(Arc::clone(&pattern), order).unwrap(), &dense);
        }
    }
}

/// Random trees, whose acyclic colouring has two colours, and whose differences are the longest.
#[test]
fn trees_take_two_products() {
    let mut random = Random(7);
    for n in (2..60).chain([400]) {
        let reach = 1 + random.below(4);
        let edges: Vec<_> = (1..n).map(|i| (i, i - 1 - random.below(reach.min(i)))).collect();
        let pattern = Arc::new(symmetric(n, edges));
        let dense = random.dense_symmetric(&pattern);
        for order in ORDERS {
            let plan = Plan::by_acyclic(Arc::clone(&pattern), order).unwrap();
            assert!(order != Order::Natural || plan.groups() == 2);
            check_recovery(&plan, &dense);
        }
    }
}

#[test]
fn one_plan_serves_many_matrices() {
    let mut random = Random(8);
    let plan = Plan::by_acyclic(grid(5), Order::SmallestLast).unwrap();
    let mut values = vec![f64::NAN; plan.pattern().nonzeros()];
    for _ in 0..3 {
        let dense = random.dense_symmetric(plan.pattern());
        plan.recover_into(&products(&plan, &dense), &mut values).unwrap();
        assert!(plan.pattern().iter().zip(&values).all(|((i, j), value)| dense[i][j] == *value));
    }
}

/// The numbers of colours of columns, in a star colouring and in an acyclic one.
type Counts = [usize; 3];

fn counts(pattern: &Pattern, order: Order) -> Counts {
    let star = color_star(pattern, order).unwrap();
    let acyclic = color_acyclic(pattern, order).unwrap();
    [color_columns(pattern, order).count(), star.count(), acyclic.count()]
}

fn least_counts(pattern: &Pattern) -> Counts {
    [is_column_coloring, is_star_coloring, is_acyclic_coloring]
        .map(|valid| least_count(pattern.rows(), &|colors| valid(pattern, colors)))
}

/// The least counts are found by exhaustive search; those of the orders are what they were when this was written.
#[test]
fn counts_are_near_the_least() {
    // the least; by number, largest first, smallest last, incidence degree
    let table: [(&str, Pattern, Counts, [Counts; 4]); 10] = [
        ("tridiagonal 4", band(4, 1), [3, 3, 2], [[3, 3, 2]; 4]),
        ("tridiagonal 10", band(10, 1), [3, 3, 2], [[3, 3, 2]; 4]),
        ("pentadiagonal", band(10, 2), [5, 5, 3], [[5, 5, 3]; 4]),
        ("seven diagonals", band(10, 3), [7, 7, 4], [[7, 7, 4]; 4]),
        ("cycle of 5", cycle(5), [5, 4, 3], [[5, 4, 3]; 4]),
        ("cycle of 6", cycle(6), [3, 3, 3], [[3, 4, 3]; 4]),
        ("arrow", arrow(8), [8, 2, 2], [[8, 2, 2]; 4]),
        ("3 x 3 grid", grid(3), [5, 4, 3], [[6, 5, 4], [6, 4, 4], [6, 5, 3], [6, 5, 4]]),
        ("4 x 4 grid", grid(4), [5, 5, 3], [[6, 5, 4]; 4]),
        ("5 x 5 grid", grid(5), [5, 5, 3], [[7, 6, 4], [6, 5, 4], [5, 6, 4], [6, 6, 4]]),
    ];
    for (name, pattern, least, observed) in table {
        assert_eq!(least_counts(&pattern), least, "{name}");
        assert_eq!(ORDERS.map(|order| counts(&pattern, order)), observed, "{name}");
        assert!(observed.iter().flatten().zip(least.iter().cycle()).all(|(count, least)| count >= least));
    }
}

/// A five-point matrix on 40,000 points: few products, and all entries from them.
#[test]
fn a_large_grid_takes_few_products() {
    let mut random = Random(10);
    let pattern = Arc::new(grid(200));
    let triplets: Vec<_> = pattern.iter().map(|(i, j)| (i, j, random.below(19) as f64 - 9.0)).collect();
    let across = triplets.iter().map(|(i, j, value)| (*j, *i, *value));
    let matrix = SparseMatrix::from_triplets(40_000, 40_000, triplets.iter().copied().chain(across)).unwrap();
    for order in ORDERS {
        let plans = [
            (Plan::by_columns(Arc::clone(&pattern), order), 8),
            (Plan::by_rows(Arc::clone(&pattern), order), 8),
            (Plan::by_star(Arc::clone(&pattern), order).unwrap(), 7),
            (Plan::by_acyclic(Arc::clone(&pattern), order).unwrap(), 5),
        ];
        for (plan, most) in plans {
            assert!(plan.groups() <= most, "{} {order:?}", plan.groups());
            let seed = |k| {
                let mut seed = vec![0.0; plan.seed_length()];
                plan.seed(k).iter().for_each(|j| seed[*j] = 1.0);
                seed
            };
            let products: Vec<f64> =
                (0..plan.groups()).flat_map(|k| matrix.times(&seed(k)).unwrap()).collect();
            assert!(plan.recover(&products).unwrap() == matrix, "{order:?}");
        }
    }
}

#[test]
fn wrong_lengths_are_named() {
    let plan = Plan::by_columns(band(4, 1), Order::Natural);
    let error = plan.recover(&[0.0; 11]).unwrap_err();
    assert_eq!(error, LengthError::Products { groups: 3, length: 4, found: 11 });
    assert_eq!(error.to_string(), "3 products of length 4 were expected, and these are 11 numbers");
    let error = plan.recover_into(&[0.0; 12], &mut [0.0; 9]).unwrap_err();
    assert_eq!(error, LengthError::Values { nonzeros: 10, found: 9 });
    let error = SparseMatrix::new(band(4, 1), vec![0.0; 11]).unwrap_err();
    assert_eq!(error.to_string(), "the pattern has 10 nonzeros, and these are 11 values");
    let matrix = SparseMatrix::from_triplets(2, 3, []).unwrap();
    let error = matrix.times(&[0.0; 2]).unwrap_err();
    assert_eq!(error.to_string(), "the matrix has 3 columns, and the vector 2 entries");
}

#[test]
fn a_matrix_is_read_by_place_by_triplet_and_by_product() {
    let triplets = [(1, 2, 5.0), (0, 1, 2.0), (1, 0, 3.0), (1, 2, -1.0)];
    let mut matrix = SparseMatrix::from_triplets(2, 3, triplets).unwrap();
    assert_eq!((matrix.rows(), matrix.columns(), matrix.nonzeros()), (2, 3, 3));
    assert_eq!(matrix.triplets().collect::<Vec<_>>(), [(0, 1, 2.0), (1, 0, 3.0), (1, 2, 4.0)]);
    assert_eq!((matrix.get(1, 2), matrix.get(0, 0)), (Some(4.0), Some(0.0)));
    assert_eq!((matrix.get(2, 0), matrix.get(0, 3)), (None, None));
    assert_eq!(matrix.to_dense(), [[0.0, 2.0, 0.0], [3.0, 0.0, 4.0]]);
    assert_eq!(matrix.times(&[1.0, 10.0, 100.0]), Ok(vec![20.0, 403.0]));
    matrix.values_mut()[0] = 7.0;
    assert_eq!(matrix.values(), [7.0, 3.0, 4.0]);
    assert!(SparseMatrix::from_triplets(1, 1, [(0, 1, 1.0)]).is_err());
}

/// A random matrix of small whole numbers, so that sums are exact.
fn whole_numbers(random: &mut Random, (rows, columns, percent): (usize, usize, usize)) -> SparseMatrix {
    let entries = random.entries(rows, columns, percent);
    let triplets: Vec<_> = entries.into_iter().map(|(i, j)| (i, j, random.below(19) as f64 - 9.0)).collect();
    SparseMatrix::from_triplets(rows, columns, triplets).unwrap()
}

#[test]
fn a_matrix_is_transposed_and_multiplied_with_itself() {
    let mut random = Random(11);
    for shape in shapes(&mut random) {
        let matrix = whole_numbers(&mut random, shape);
        let (dense, transposed, gram) = (matrix.to_dense(), matrix.transposed(), matrix.gram());
        let (rows, columns) = (matrix.rows(), matrix.columns());
        assert_eq!((transposed.rows(), transposed.columns()), (columns, rows));
        assert!(transposed.triplets().all(|(i, j, value)| dense[j][i] == value));
        assert_eq!(transposed.transposed(), matrix);
        assert_eq!(transposed.pattern().as_ref(), &matrix.pattern().transposed());
        // the definition, and no place but those of two nonzeros in one row
        for i in 0..columns {
            for j in 0..columns {
                let meet =
                    (0..rows).any(|k| matrix.pattern().contains(k, i) && matrix.pattern().contains(k, j));
                assert_eq!(gram.pattern().contains(i, j), meet);
                assert_eq!(gram.get(i, j), Some((0..rows).map(|k| dense[k][i] * dense[k][j]).sum()));
            }
        }
        assert!(gram.pattern().is_symmetric());
        assert!((0..columns).all(|i| gram.pattern().row(i).is_sorted()));
    }
}

#[test]
fn parts_and_blocks_have_the_entries_of_the_whole() {
    let mut random = Random(12);
    for shape in shapes(&mut random) {
        let matrix = whole_numbers(&mut random, shape);
        let pattern = matrix.pattern();
        let mut some = |n: usize| (0..n).filter(|_| random.below(3) > 0).collect::<Vec<_>>();
        let (rows, columns) = (some(pattern.rows()), some(pattern.columns()));
        let part = pattern.part(rows.iter().copied().chain([1000]), columns.iter().copied());
        assert_eq!((part.rows(), part.columns()), (rows.len(), columns.len()));
        for (i, row) in rows.iter().enumerate() {
            let expected = (0..columns.len()).filter(|j| pattern.contains(*row, columns[*j]));
            assert!(expected.eq(part.row(i).iter().copied()));
        }
        for height in [0, 1, 2, 3, 50] {
            let joined = Arc::new(pattern.joined(height));
            let size = height.max(1);
            let joined_in = |i: usize, j| {
                let block = i - i % size..pattern.rows().min(i - i % size + size);
                block.into_iter().any(|k| pattern.contains(k, j))
            };
            for i in 0..pattern.rows() {
                let expected = (0..pattern.columns()).filter(|j| joined_in(i, *j));
                assert!(expected.eq(joined.row(i).iter().copied()));
            }
            let values = joined.iter().map(|(i, j)| matrix.get(i, j).unwrap()).collect();
            let filled = SparseMatrix::new(joined, values).unwrap();
            let mut found = Vec::new();
            for (k, block) in filled.blocks(height).unwrap().enumerate() {
                assert_eq!(block.row, k * size);
                let width = block.columns.len();
                let rows = (pattern.rows() - block.row).min(size);
                assert_eq!(block.values.len(), rows * width);
                for (at, value) in block.values.iter().enumerate() {
                    found.push((block.row + at / width, block.columns[at % width], *value));
                }
            }
            assert!(found.into_iter().eq(filled.triplets()));
            let same = |i: usize| pattern.row(i) == pattern.row(i - i % size);
            let odd = (0..pattern.rows()).find(|i| !same(*i));
            let expected = odd.map(|row| PatternError::NotJoined { row, first: row - row % size });
            assert_eq!(matrix.blocks(height).err(), expected);
        }
        let fewer = Plan::by_fewer(Arc::clone(pattern), Order::Natural);
        check_recovery(&fewer, &matrix.to_dense());
        assert!(fewer.groups() <= Plan::by_columns(Arc::clone(pattern), Order::Natural).groups());
        assert!(fewer.groups() <= Plan::by_rows(Arc::clone(pattern), Order::Natural).groups());
    }
}
