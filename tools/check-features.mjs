// `npm run check:features`: can each feature be deleted? Type-checks src/ without the folder of each feature and its lines
// in features.ts, and at last without all of them. Nothing is copied: the compiler does not see the files, and a file
// that a removal does not touch is parsed only once.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'src/features');
const list = join(root, 'src/features.ts');
const all = readdirSync(folder);
const asked = process.argv.slice(2);
const cases = asked.length > 0 ? asked.map((name) => name.split(',')) : [...all.map((name) => [name]), all];

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

/** Type-checks src/ without these features. Returns each error as a line with its place. */
function errorsWithout(names) {
  const isGone = (path) => names.some((name) => path.startsWith(join(folder, name, '/')));
  const host = ts.createCompilerHost(options, true);
  const disk = { ...host };
  host.fileExists = (path) => !isGone(path) && disk.fileExists(path);
  host.readFile = (path) => (path === list ? listWithout(names) : disk.readFile(path));
  host.getSourceFile = (path, language, ...more) => {
    if (path === list) return ts.createSourceFile(path, listWithout(names), language, true);
    if (!parsed.has(path)) parsed.set(path, disk.getSourceFile(path, language, ...more));
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
for (const names of cases) {
  const name = names.length === all.length ? 'all' : names.join(', ');
  const errors = errorsWithout(names);
  const files = new Set(errors.map(({ file }) => file)).size;
  const result = errors.length === 0 ? 'compiles' : `${errors.length} errors in ${files} files`;
  console.log(`without ${name}: ${result}`);
  if (errors.length === 0) continue;
  for (const { file, line, text } of errors) console.log(`  ${file}:${line} ${text}`);
  failed += 1;
}
process.exitCode = failed === 0 ? 0 : 1;
