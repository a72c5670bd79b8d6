// `npm run mutate`: Stryker over the pure rules, by the unit tests. See docs/evidence.md. Jest would load
// everything again for each mutant, a second or more. Mocha loads the same tests once: milliseconds. So `@jest/globals`
// is mocha's here (stryker/): enough for tests without mocks.
export default {
  plugins: ['@stryker-mutator/mocha-runner'],
  testRunner: 'mocha',
  testRunnerNodeArgs: ['--import', './test/mutation/stryker/register.mjs'],
  mochaOptions: {
    spec: ['test/unit/**/*.test.ts'],
    // Tests in need of a database, a socket or their own clock; and tests with a story in hundreds of orders: they
    // would notice more, slowly.
    ignore: [
      'test/unit/{config,denials,doctor,env-file,intake-f,lane-watch,lane-worker,notify-s,observe,stripe-module}*.test.ts',
      'test/unit/{disputes/order,engine/order,retries/any-story}.test.ts',
    ],
  },
  mutate: ['src/shared/domain/**/*.ts', 'src/*/rules/**/*.ts'],
  mutator: {
    // Words of messages and names of states: the first change no decision, the others the compiler holds.
    excludedMutations: ['StringLiteral'],
  },
  coverageAnalysis: 'perTest',
  ignoreStatic: true, // tables of a module would need a new process for each mutant
  concurrency: 2,
  timeoutMS: 20_000, // a busy machine is no endless loop; those end by their number of rounds
  ignorePatterns: ['.ci', '.crossbill', '.github', 'deploy', 'dist', 'docs', 'examples', 'packages', 'tsconfig*.json'],
  tempDirName: '.crossbill/mutation',
  reporters: ['progress-append-only', 'clear-text', 'json'],
  allowConsoleColors: false,
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, reportScoreTable: true },
  jsonReporter: { fileName: '.crossbill/mutation-report.json' },
  thresholds: { high: 95, low: 85, break: 85 },
};
