// A log that writes nothing, for tests of code that needs a log.
import { createLogger } from '../../../src/shared/observe/index.js';

export const SILENT_LOG = createLogger({ level: 'silent', secrets: [], pretty: false });
