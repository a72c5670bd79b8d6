// The common head of every class of pages.
import { applyDecorators, Controller, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ConsoleFilter } from './console.filter.js';
import { ConsoleGuard } from './console.guard.js';

/** Pages of the console below this path: for people with a session, and no part of the API's documentation. */
export const Pages = (path: string): ClassDecorator =>
  applyDecorators(ApiExcludeController(), UseFilters(ConsoleFilter), UseGuards(ConsoleGuard), Controller(path));
