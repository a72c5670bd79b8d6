// Where a test's picture cannot be otherwise: what stands behind ?? is never asked for.
export function never(): never {
  throw new Error('not there');
}
