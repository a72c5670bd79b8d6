// A jest reporter that ends with one line for people and scripts: "N passed, N failed, N skipped".
import { writeSync } from 'node:fs';

export default class ClosingLineReporter {
  /** @param {unknown} _contexts @param {import('@jest/test-result').AggregatedResult} results */
  onRunComplete(_contexts, results) {
    // If jest cannot load a file, the file has no tests to count. It still is a failure.
    const failed = results.numFailedTests + results.numRuntimeErrorTestSuites;
    const skipped = results.numPendingTests + results.numTodoTests;
    const line = `${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`;
    // Print at exit, because jest's own summary and the global teardown print later than this call.
    process.once('exit', () => writeSync(1, line));
  }
}
