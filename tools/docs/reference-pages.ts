// The pages of docs/reference/ that follow from the code: what each is called and what it says.
import { renderCli } from './cli-reference.js';
import { renderMetrics } from './metrics-reference.js';
import { renderRoutes } from './routes-reference.js';
import { renderSettings } from './settings-reference.js';

export type Page = {
  /** From the root of the project, with `/`. */
  readonly path: string;
  readonly text: string;
};

/** Every generated page. Needs no database, no network and no setting. */
export async function referencePages(): Promise<readonly Page[]> {
  return [
    { path: 'docs/reference/settings.md', text: renderSettings() },
    { path: 'docs/reference/metrics.md', text: await renderMetrics() },
    { path: 'docs/reference/routes.md', text: await renderRoutes() },
    { path: 'docs/reference/cli.md', text: renderCli() },
  ];
}
