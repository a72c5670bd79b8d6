// Jest runs the TypeScript sources as Node's own modules: see test/support/runtime.
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test', '<rootDir>/packages'],
  testMatch: ['**/*.test.ts'],
  runtime: '<rootDir>/test/support/runtime/runtime.js',
  transform: {},
  globalSetup: '<rootDir>/test/support/global-setup.js',
  globalTeardown: '<rootDir>/test/support/global-teardown.js',
  reporters: ['default', '<rootDir>/test/support/closing-line-reporter.js'],
  testSequencer: '<rootDir>/test/support/sequencer.js',
  // Tests wait for databases and peers more than they compute: four files at a time also on two cores.
  maxWorkers: 4,
  // What a test file loads is not all let go: a worker that has grown is started again.
  workerIdleMemoryLimit: '1GB',
  // A worker full of modules needs more than jest's half a second to end, and is no leak.
  workerGracefulExitTimeout: 10_000,
  testTimeout: 150_000,
};
