// For impossible cases of a test: nobody ever reads the value behind ??.
export function never(): never {
  throw new Error('not there');
}
