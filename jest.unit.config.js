// `npm run test:unit`: the tests that need no database and no process of their own, with what the architecture demands.
import all from './jest.config.js';

// Without the setup there is no PostgreSQL: a test that asks for one says so and fails.
const { globalSetup, globalTeardown, ...rest } = all;

export default {
  ...rest,
  roots: ['<rootDir>/test/unit', '<rootDir>/test/architecture', '<rootDir>/packages/mor/test'],
  // These start npm and jest themselves, which takes as long as a hundred other files: `npm test` runs them.
  testPathIgnorePatterns: ['/test/architecture/(ci|matrix|release)\\.test\\.ts$', '/any-event-all\\.test\\.ts$'],
  // They compute more than they wait: every core helps.
  maxWorkers: '100%',
};
