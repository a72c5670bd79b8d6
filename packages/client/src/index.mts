// For `import`: the same module as for `require`, so a process has one CrossbillError.
export { createClient, CrossbillError, NotVerifiedError, verifyWebhook } from './index.js';
export type * from './index.js';
