// The vector of someone who picked items, and how much each pick adds to a score.
//
// Picks h_j with weights a_j and labels y_j give the vector x that solves
//
//   A x = sum_j a_j y_j h_j   with   A = alpha0 G + lambda_u I + sum_j a_j h_j h_j'
//   lambda_u = lambda (picks + alpha0 items)^nu
//
// where G is the Gramian of all items. The score of an item h is <x, h>, to which pick j adds
// a_j y_j <h_j, A^-1 h>.

import { dot, factorise, rowStart, solve } from "./matrix.js";

// settings: dim, alpha0, lambda, nu, itemCount and gramian. picks: { vector, weight, label } each.
// Returns null where the picks have no unique solution.
export function foldIn(settings, picks) {
  const { dim } = settings;
  const system = settings.gramian.map((entry) => settings.alpha0 * entry);
  const target = new Float64Array(dim);
  const penalty = regularization(settings, picks.length);
  for (let i = 0; i < dim; i++) system[rowStart(i) + i] += penalty;
  for (const { vector, weight, label } of picks) {
    for (let i = 0; i < dim; i++) {
      const row = rowStart(i);
      target[i] += weight * label * vector[i];
      for (let j = 0; j <= i; j++) system[row + j] += weight * vector[i] * vector[j];
    }
  }
  return factorise(system, dim) ? { factor: system, vector: solve(system, dim, target) } : null;
}

export function partsOf(folded, picks, vector) {
  const inverse = solve(folded.factor, vector.length, vector);
  return picks.map((pick) => pick.weight * pick.label * dot(pick.vector, inverse));
}

function regularization(settings, picked) {
  if (settings.lambda === 0) return 0;
  const mass = picked + settings.alpha0 * settings.itemCount;
  return Math.fround(settings.lambda * mass ** settings.nu); // Python keeps it in single precision
}
