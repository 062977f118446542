// The model as the page holds it: JSON, in which arrays of numbers are base64.

export function decoded(content) {
  const items = content.ids.length;
  return {
    ...content,
    settings: {
      dim: content.dim,
      alpha0: content.alpha0,
      lambda: content.lambda,
      nu: content.nu,
      itemCount: content.counts.items,
      gramian: new Float64Array(bytesOf(content.gramian)),
    },
    vectors: new Int16Array(bytesOf(content.vectors)),
    scales: new Float32Array(bytesOf(content.scales)),
    items,
  };
}

// The numbers are little-endian, as in every browser's arrays.
function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < text.length; k++) bytes[k] = text.charCodeAt(k);
  return bytes.buffer;
}

export function vectorOf(model, row) {
  const { dim } = model;
  const vector = new Float64Array(dim);
  for (let k = 0; k < dim; k++) vector[k] = model.vectors[row * dim + k] * model.scales[row];
  return vector;
}

// The dot product of x with each item's vector.
export function products(model, x) {
  const { dim, vectors, scales, items } = model;
  const found = new Float64Array(items);
  for (let row = 0, at = 0; row < items; row++) {
    let sum = 0;
    for (let k = 0; k < dim; k++, at++) sum += vectors[at] * x[k];
    found[row] = sum * scales[row];
  }
  return found;
}
