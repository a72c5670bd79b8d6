// The order of test files: those with the longest waits for real processes first, so none of them is left alone at the
// end.
import Sequencer from '@jest/test-sequencer';
import { LONG } from './long.js';

const FIRST = [...LONG, 'e2e/', 'console/', 'demo/', 'store/'];

export default class LongestFirst extends Sequencer {
  /** @param {readonly import('@jest/test-result').Test[]} tests */
  sort(tests) {
    /** @param {string} path */
    const place = (path) => {
      const at = FIRST.findIndex((part) => path.includes(`/test/${part}`));
      return at < 0 ? FIRST.length : at;
    };
    return super.sort(tests).toSorted((a, b) => place(a.path) - place(b.path));
  }
}
