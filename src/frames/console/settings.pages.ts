// The page of the settings in force. Secrets stay hidden.
import { Get, Inject, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { type Config, CONFIG, redactedConfig } from '../../shared/config/index.js';
import { Page } from './console.guard.js';
import { html } from './html.js';
import { sendPage } from './layout.js';
import { Pages } from './pages.js';
import { table } from './list.js';
import { dotted } from './show.js';

@Pages('console/settings')
export class SettingsPages {
  constructor(@Inject(CONFIG) private readonly config: Config) {}

  @Get()
  @Page('settings.read')
  show(@Req() req: Request, @Res() res: Response): void {
    const body = table(
      'The settings in force, with secrets hidden',
      [
        { label: 'Name', cell: (s) => html`<code class="name-of">${dotted(s.name)}</code>`, phone: 'lead' },
        { label: 'Value', cell: (s) => html`<code class="value-of">${s.value}</code>` },
        { label: 'What it does', cell: (s) => html`<span class="dim">${s.description}</span>` },
      ],
      redactedConfig(this.config),
      '',
    );
    sendPage(req, res, { title: 'Settings', section: 'settings', body });
  }
}
