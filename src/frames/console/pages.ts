// The decorator for all classes with console pages.
import { applyDecorators, Controller, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { ConsoleFilter } from './console.filter.js';
import { ConsoleGuard } from './console.guard.js';

/**
 * Serves the console pages of a class below this path, to people with a session. The API's documentation leaves out
 * these pages.
 */
export const Pages = (path: string): ClassDecorator =>
  applyDecorators(ApiExcludeController(), UseFilters(ConsoleFilter), UseGuards(ConsoleGuard), Controller(path));
