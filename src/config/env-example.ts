// Writes `.env.example` from the settings table, so that the file cannot fall behind the code.
import { type Setting } from './setting.js';
import { SETTING_GROUPS } from './settings.js';

const WIDTH = 98;

/** Empty, so that docker compose asks for it: a placeholder would become the password of its database. */
const FOR_COMPOSE = `# ---- Only for docker compose ----

# The password of its PostgreSQL, from which docker-compose.yml makes the DATABASE_URL. It becomes part
# of a URL: letters and digits only, as \`openssl rand -hex 32\` gives them.
POSTGRES_PASSWORD=`;

/** The whole text of `.env.example`. What has no default stands ready to be filled in; everything else is commented out. */
export function renderEnvExample(): string {
  const head = [
    '# Settings of Crossbill, checked at start. Copy this file to .env and replace what stands in <angle brackets>.',
    '# A line that is commented out shows the default, or an example of a setting that may be left out.',
    '# `npm run sandbox` prints the values that a daemon needs to talk to the sandbox.',
  ];
  const groups = SETTING_GROUPS.map(({ title, settings }) =>
    [`# ---- ${title} ----`, ...settings.map((setting) => lines(setting).join('\n'))].join('\n\n'),
  );
  return `${[head.join('\n'), ...groups, FOR_COMPOSE].join('\n\n')}\n`;
}

function lines(setting: Setting<unknown>): string[] {
  const standing = setting.required ? 'required' : setting.default === null ? 'optional' : `default ${setting.default}`;
  const value = setting.default ?? setting.example ?? '';
  return [
    ...wrap(setting.description),
    `# (${setting.type}; ${standing})`,
    `${setting.required ? '' : '#'}${setting.name}=${value}`,
  ];
}

function wrap(text: string): string[] {
  const out: string[] = [];
  let line = '#';
  for (const word of text.split(' ')) {
    if (line.length + 1 + word.length > WIDTH) {
      out.push(line);
      line = '#';
    }
    line += ` ${word}`;
  }
  return [...out, line];
}
