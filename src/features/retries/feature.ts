// Retries of failed renewals: everything the rest of Crossbill gets from this folder.
import './facts.js';
import { feature } from '../../feature.js';
import { retries as lane } from './subject.js';
import { retryWords } from './words.js';

export const retries = feature({
  name: 'retries',
  modules: async () => [(await import('./retries.module.js')).RetriesModule],
  lanes: [lane],
  words: retryWords,
});
