// Tests against real processes run on machines whose neighbours may stop them for seconds. Such a test gets a second try; the first
// failure is printed and listed at the end of the run, since a test that needs it has a fault to be mended. All others get one try.
import { expect, jest } from '@jest/globals';

const REAL_PROCESSES = /[/\\]test[/\\](e2e|console|demo|postgres|cli)[/\\]/;

if (REAL_PROCESSES.test(expect.getState().testPath ?? '')) jest.retryTimes(1, { logErrorsBeforeRetry: true });
