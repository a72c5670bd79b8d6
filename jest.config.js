// Jest runs the TypeScript sources as native ES modules: Nest 12 is ESM only.
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test', '<rootDir>/packages'],
  testMatch: ['**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^#src/(.*)\\.js$': '<rootDir>/src/$1',
    '^@crossbill/sandbox$': '<rootDir>/packages/sandbox/src/sandbox.ts',
    '^@crossbill/(mor|sandbox)/(.*)\\.js$': '<rootDir>/packages/$1/src/$2',
    '^@crossbill/([a-z-]+)$': '<rootDir>/packages/$1/src/index.ts',
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2022',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
          keepClassNames: true,
        },
        module: { type: 'es6' },
      },
    ],
  },
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
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
