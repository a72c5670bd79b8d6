// Single lines of a settings file, written without touching the others.
import { parseEnv } from 'node:util';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { valuesOf, withSetting } from '../../../../../src/frames/cli/setup/env-file.js';

/** Every other setting. Node 20 takes a comment in the first line for a name. */
const othersIn = (text: string): [string, string | undefined][] =>
  Object.entries(parseEnv(text)).filter(([name]) => name !== 'NAME' && !name.startsWith('#'));

it('the command `crossbill setup` writes a value into the settings file without changing other text', () => {
  const value = fc.string({ unit: fc.constantFrom(...'abc019_-=#\'" $,.;/\\'), minLength: 1, maxLength: 30 });
  const line = fc.constantFrom(
    '',
    '# a comment',
    'LOG_LEVEL=info',
    '#NAME=<its example>',
    "NAME='old'",
    'export NAME=older',
    '  NAME = old',
    '# NAME = <its example>',
    "MORE='one\nNAME=two'",
    'OTHER=1',
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), value, (lines, wanted) => {
      fc.pre(!(wanted.includes("'") && wanted.includes('"')));
      const before = lines.join('\n');
      const after = withSetting(before, 'NAME', wanted);
      expect(parseEnv(after)['NAME']).toBe(wanted);
      expect(othersIn(after)).toEqual(othersIn(before));
      expect(withSetting(after, 'NAME', wanted)).toBe(after);
    }),
  );
});

it('the command `crossbill setup` replaces the line of a setting, or its commented line, or adds a line if the file has neither', () => {
  expect(withSetting('A=1\nNAME=x\nB=2\n', 'NAME', 'y')).toBe('A=1\nNAME=y\nB=2\n');
  expect(withSetting('A=1\n#NAME=<x>\nB=2\n', 'NAME', 'y')).toBe('A=1\nNAME=y\nB=2\n');
  expect(withSetting('A=1', 'NAME', 'y')).toBe('A=1\nNAME=y\n');
  expect(withSetting('', 'NAME', 'a b')).toBe("NAME='a b'\n");
});

it('the command `crossbill setup` treats an empty setting or a placeholder in angle brackets as unset', () => {
  expect(valuesOf('A=<sk_… or rk_…>\nB=\nC=https://<host>/x\nD=1\n')).toEqual({ D: '1' });
});

it('the command `crossbill setup` changes the line in force, with blanks around its sign too, and no comment before it', () => {
  expect(withSetting('# NAME=<x>\n  NAME = old\r\nB=2\n', 'NAME', 'y')).toBe('# NAME=<x>\nNAME=y\r\nB=2\n');
});

it("the command `crossbill setup` leaves a line alone that stands inside another setting's quotes", () => {
  const text = "MORE='one\nNAME=two'\n";
  expect(withSetting(text, 'NAME', 'y')).toBe(`${text}NAME=y\n`);
});
