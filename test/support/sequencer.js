// The order of test files: files that wait long for real processes run first, so none of them runs alone at the end.
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
