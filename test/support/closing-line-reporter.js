// A jest reporter with one last line for people and scripts: "N passed, N failed, N skipped".
import { writeSync } from 'node:fs';

export default class ClosingLineReporter {
  /** @param {unknown} _contexts @param {import('@jest/test-result').AggregatedResult} results */
  onRunComplete(_contexts, results) {
    // A file jest could not even load has no tests to count, and is a failure all the same.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const line = `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`;
    // At exit, since jest's own summary and the global teardown still speak after this.
    process.once('exit', () => writeSync(1, line));
  }
}
