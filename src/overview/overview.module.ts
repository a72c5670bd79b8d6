// The first page of the console.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../console/console.module.js';
import { Figures } from './figures.js';
import { OverviewController } from './overview.pages.js';

/** Imported last: it answers for every page of the console that is none. */
@Module({
  imports: [ConsoleModule],
  controllers: [OverviewController],
  providers: [Figures],
})
export class OverviewModule {}
