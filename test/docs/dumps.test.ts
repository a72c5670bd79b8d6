// Our ways to run the daemon never write a dump of its memory automatically.
import { describe, expect, it } from '@jest/globals';
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

describe('dumps', () => {
  it.each(WAYS)('%s permits no heap snapshot, no report, no debugger and no core', (path) => {
    expect(textOf(path)).not.toMatch(/--heapsnapshot|--report-on|--abort-on-uncaught-exception|--inspect/);
  });

  it('the unit, compose and the chart turn dumps of the whole memory off', () => {
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
});
