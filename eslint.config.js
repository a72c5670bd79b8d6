// Lint settings: type-checked rules, no `any`, no `!`, no direct clock, random or fetch in the pure folders.
import tseslint from 'typescript-eslint';
import { parameters } from './tools/lint-parameters.mjs';

const effects = [
  { object: 'Date', property: 'now', message: 'Take the time from the Clock port.' },
  { object: 'Math', property: 'random', message: 'Take random numbers from the Rng port.' },
  { object: 'crypto', property: 'randomUUID', message: 'Take ids from the Ids port.' },
];

// The engine's pure part: the words of a lane, and what is decided on it.
const engineRules = [
  'call',
  'calls',
  'commanded',
  'context',
  'lane',
  'lane-draft',
  'event',
  'items',
  'lookup',
  'ports',
  'settle',
  'subject',
  'apply-event',
].map((name) => `src/engine/${name}.ts`);

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      'node_modules/**',
      '.crossbill/**',
      'coverage/**',
      'packages/*/src/generated/**',
      'test/architecture/example-feature/**',
    ],
  },
  {
    files: ['**/*.ts'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { attributes: false } }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'error' },
  },
  {
    files: ['{src,tools}/**/*.ts', 'packages/{client,embedded-postgres,mor}/src/**/*.ts'],
    plugins: { parameters },
    rules: { 'parameters/few-parameters': 'error', 'parameters/whole-names': 'error' },
  },
  {
    files: ['src/shared/domain/**/*.ts', ...engineRules, 'src/**/rules/**/*.ts', 'src/**/*.service.ts'],
    rules: {
      'no-restricted-properties': ['error', ...effects],
      'no-restricted-globals': ['error', 'fetch', 'setTimeout', 'setInterval'],
    },
  },
  {
    // Programs that talk to a person on a terminal.
    files: ['src/frames/cli/**', 'src/cli.ts', 'tools/**', 'packages/{bench,proof,sandbox}/**', 'test/**'],
    rules: { 'no-console': 'off' },
  },
);
