// Generates the reference of settings from the table of settings.
import { SETTING_GROUPS } from '#src/shared/config/index.js';
import { type Setting } from '#src/shared/config/setting.js';
import { code, madeFrom, page, table } from './markdown.js';

export function renderSettings(): string {
  return page([
    '# Settings',
    madeFrom('`src/shared/config/settings.ts`'),
    'Environment variables, read once at start; outside production also from `.env` in the working folder, where the environment wins. All wrong ones are named together, values are never printed, and the exit code is 78. Quotes around a value, as `docker run --env-file` passes them on, are wrong; in `.env` they are not part of it. No secret has a default. `.env.example` holds the same list to copy from.',
    ...SETTING_GROUPS.flatMap(({ title, settings }) => [
      `## ${title}`,
      table(['name', 'what it may be', 'default', 'meaning'], settings.map(row)),
    ]),
  ]);
}

function row(setting: Setting<unknown>): readonly string[] {
  const status = setting.required ? '**required**' : setting.default === null ? 'not set' : code(setting.default);
  return [
    code(setting.name),
    setting.secret && !/secret/.test(setting.type) ? `${setting.type} (secret)` : setting.type,
    status,
    setting.description,
  ];
}
