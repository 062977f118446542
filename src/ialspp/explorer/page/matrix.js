// Symmetric matrices as their lower triangle, row by row: row i begins at i (i + 1) / 2.

export function rowStart(i) {
  return (i * (i + 1)) / 2;
}

// Replace A by its factor L with L L' = A. Returns false where A is not positive definite.
export function factorise(a, n) {
  for (let i = 0; i < n; i++) {
    const row = rowStart(i);
    for (let j = 0; j <= i; j++) {
      const other = rowStart(j);
      let sum = a[row + j];
      for (let k = 0; k < j; k++) sum -= a[row + k] * a[other + k];
      if (j < i) a[row + j] = sum / a[other + j];
      else if (sum > 0 && Number.isFinite(sum)) a[row + i] = Math.sqrt(sum);
      else return false;
    }
  }
  return true;
}

// Solve L L' x = b.
export function solve(l, n, b) {
  const x = Float64Array.from(b);
  for (let i = 0; i < n; i++) {
    const row = rowStart(i);
    let sum = x[i];
    for (let k = 0; k < i; k++) sum -= l[row + k] * x[k];
    x[i] = sum / l[row + i];
  }
  for (let i = n - 1; i >= 0; i--) {
    const row = rowStart(i);
    x[i] /= l[row + i];
    for (let k = 0; k < i; k++) x[k] -= l[row + k] * x[i];
  }
  return x;
}

export function dot(a, b) {
  let sum = 0;
  for (let k = 0; k < a.length; k++) sum += a[k] * b[k];
  return sum;
}
