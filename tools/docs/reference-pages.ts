// The generated files, above all docs/reference/: their names and their content.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { renderCli } from './cli-reference.js';
import { renderMetrics } from './metrics-reference.js';
import { openApiDocument, renderRoutes } from './routes-reference.js';
import { renderSettings } from './settings-reference.js';

export type Page = {
  /** The path from the root of the project, with `/`. */
  readonly path: string;
  readonly text: string;
};

/** Returns every generated file. Needs no database, no network and no setting. */
export async function referencePages(): Promise<readonly Page[]> {
  const openApi = await openApiDocument();
  return [
    { path: 'docs/reference/settings.md', text: renderSettings() },
    { path: 'docs/reference/metrics.md', text: await renderMetrics() },
    { path: 'docs/reference/routes.md', text: renderRoutes(openApi) },
    { path: 'docs/reference/openapi.json', text: `${JSON.stringify(openApi, null, 2)}\n` },
    { path: 'docs/reference/cli.md', text: await renderCli() },
    // Helm reads no file outside the chart.
    ...['prometheus/alerts.yml', 'grafana/crossbill.json'].map((path) => ({
      path: `deploy/helm/crossbill/files/${basename(path)}`,
      text: readFileSync(join('deploy', path), 'utf8'),
    })),
  ];
}
