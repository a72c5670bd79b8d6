// `npm run check:features`: can each feature be deleted? Type-checks src/ without the folder of each feature and its lines
// in features.ts, then without all of them, and at last with the example feature in its place. Nothing is copied: the
// compiler sees other files than the disk has, and a file that a case does not touch is parsed only once.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { EXAMPLE, listWithExample } from '../test/architecture/example-feature.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'src/features');
const list = join(root, 'src/features.ts');
const all = readdirSync(folder);
const asked = process.argv.slice(2);
const cases =
  asked.length > 0
    ? asked.filter((name) => name !== EXAMPLE.name).map((name) => name.split(','))
    : [...all.map((name) => [name]), all];

/** The text of features.ts without the import of each feature, and without its line in the list. */
function listWithout(names) {
  let text = readFileSync(list, 'utf8');
  for (const name of names) {
    const imported = new RegExp(`import \\{ (\\w+) \\} from './features/${name}/feature\\.js';\n`).exec(text);
    if (imported === null) throw new Error(`features.ts does not import ./features/${name}/feature.js`);
    text = text.replace(imported[0], '').replace(new RegExp(`^\\s*${imported[1]},.*\n`, 'm'), '');
  }
  return text;
}

const { options, fileNames } = ts.parseJsonConfigFileContent(
  ts.readConfigFile(join(root, 'tsconfig.build.json'), ts.sys.readFile).config,
  ts.sys,
  root,
  { noEmit: true, incremental: false, tsBuildInfoFile: undefined },
);
const parsed = new Map();
let last;

/**
 * Type-checks src/ with another list of features. Returns each error as a line with its place.
 * @param isGone true for a file that the compiler does not see
 * @param shown where a file of the program stands on the disk
 */
function errorsWith(listText, isGone, shown = (path) => path) {
  const host = ts.createCompilerHost(options, true);
  const disk = { ...host };
  host.fileExists = (path) => !isGone(path) && disk.fileExists(shown(path));
  host.directoryExists = (path) => disk.directoryExists(shown(path));
  host.readFile = (path) => (path === list ? listText : disk.readFile(shown(path)));
  host.getSourceFile = (path, language) => {
    if (path === list) return ts.createSourceFile(path, listText, language, true);
    if (!parsed.has(path)) {
      const text = disk.readFile(shown(path));
      parsed.set(path, text === undefined ? undefined : ts.createSourceFile(path, text, language, true));
    }
    return parsed.get(path);
  };
  const program = ts.createProgram(
    fileNames.filter((path) => !isGone(path)),
    options,
    host,
    last,
  );
  last = program;
  return [
    ...program.getOptionsDiagnostics(),
    ...program.getSyntacticDiagnostics(),
    ...program.getSemanticDiagnostics(),
  ].map(({ file, start = 0, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
    const text = ts.flattenDiagnosticMessageText(messageText, '\n').split('\n')[0];
    return { file: file === undefined ? '' : relative(root, file.fileName), line, text };
  });
}

let failed = 0;

function report(name, errors) {
  const files = new Set(errors.map(({ file }) => file)).size;
  console.log(`${name}: ${errors.length === 0 ? 'compiles' : `${errors.length} errors in ${files} files`}`);
  for (const { file, line, text } of errors) console.log(`  ${file}:${line} ${text}`);
  if (errors.length > 0) failed += 1;
}

for (const names of cases) {
  const isGone = (path) => names.some((name) => path.startsWith(join(folder, name, '/')));
  const name = names.length === all.length ? 'all' : names.join(', ');
  report(`without ${name}`, errorsWith(listWithout(names), isGone));
}
if (asked.length === 0 || asked.includes(EXAMPLE.name)) {
  const shown = (path) => path.replace(join(folder, EXAMPLE.name), EXAMPLE.folder);
  report(
    'with the example',
    errorsWith(listWithExample(readFileSync(list, 'utf8')), () => false, shown),
  );
}
process.exitCode = failed === 0 ? 0 : 1;
