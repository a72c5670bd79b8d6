// For cases that cannot happen in a test: the right side of ??.
export function never(): never {
  throw new Error('not there');
}
