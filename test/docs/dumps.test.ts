// Our ways to run the daemon never write a dump of its memory automatically.
import { expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { textOf } from './support.js';

const WAYS = [
  'package.json',
  'Dockerfile',
  'docker-compose.yml',
  'deploy/systemd/crossbill.service',
  'deploy/helm/crossbill/templates/deployment.yaml',
  'deploy/caddy/compose.yml',
];

it.each(WAYS)(
  'the start command in %s switches on no heap snapshot, diagnostic report, debugger or core dump',
  (path) => {
    expect(textOf(path)).not.toMatch(/--heapsnapshot|--report-on|--abort-on-uncaught-exception|--inspect/);
  },
);

it('the systemd unit, the compose file and the Helm chart turn core dumps off', () => {
  expect(textOf('deploy/systemd/crossbill.service')).toMatch(/^LimitCORE=0$/m);
  const { services } = parse(textOf('docker-compose.yml')) as {
    services: Readonly<Record<string, { readonly ulimits?: { readonly core?: number } }>>;
  };
  expect(services['crossbill']?.ulimits?.core).toBe(0);
  const chart = textOf('deploy/helm/crossbill/templates/deployment.yaml');
  const [, command = ''] = /^ +command: (\[.*\])$/m.exec(chart) ?? [];
  const { scripts } = JSON.parse(textOf('package.json')) as { scripts: { start: string } };
  expect(parse(command)).toEqual(['sh', '-c', `ulimit -c 0 && exec ${scripts.start}`]);
});
