// What every class of pages has before it.
import { applyDecorators, Controller, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ConsoleFilter } from './console.filter.js';
import { ConsoleGuard } from './console.guard.js';

/** Pages of the console below this path: for people who are logged in, and no part of the API's documentation. */
export const Pages = (path: string): ClassDecorator =>
  applyDecorators(ApiExcludeController(), UseFilters(ConsoleFilter), UseGuards(ConsoleGuard), Controller(path));
