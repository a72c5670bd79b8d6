// Writes `.env.example` from the settings table.
import { type Setting } from './setting.js';
import { SETTING_GROUPS } from './settings.js';

const WIDTH = 98;

/**
 * The part for docker compose. The passwords are empty, so docker compose asks for them: a placeholder would become the
 * real password.
 */
const FOR_COMPOSE = `# ---- Only for docker compose ----

# The passwords of the PostgreSQL in docker-compose.yml: of its administrator and owner, and of the daemon.
# They become parts of a URL, so use letters and digits only, as from \`openssl rand -hex 32\`.
POSTGRES_PASSWORD=
POSTGRES_APP_PASSWORD=`;

/**
 * Writes the example. The operator fills in the required settings; the others are commented out.
 * @param installed true: a file for a user of the published package, who has no sources
 */
export function renderEnvExample(installed = false): string {
  const head = [
    `# Settings of Crossbill, checked at start. ${installed ? 'Replace' : 'Copy this file to .env and replace'} the <angle brackets>.`,
    '# A commented line shows the default, or an example of an optional setting.',
    `# \`${installed ? 'crossbill' : 'npm run'} sandbox\` prints the values of a daemon for the sandbox.`,
  ];
  const groups = SETTING_GROUPS.map(({ title, settings }) =>
    [`# ---- ${title} ----`, ...settings.map((setting) => lines(setting).join('\n'))].join('\n\n'),
  );
  return `${[head.join('\n'), ...groups, FOR_COMPOSE].join('\n\n')}\n`;
}

function lines(setting: Setting<unknown>): string[] {
  const status = setting.required ? 'required' : setting.default === null ? 'optional' : `default ${setting.default}`;
  const value = setting.default ?? setting.example ?? '';
  return [
    ...wrap(setting.description),
    `# (${setting.type}; ${status})`,
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
