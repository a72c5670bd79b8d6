// `/` redirects to the console, for people typing the address into a browser.
import { Controller, Get, Redirect } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { OpenToAll } from '../api/access/access.js';

@ApiExcludeController()
@OpenToAll()
@Controller()
export class RootController {
  @Get()
  @Redirect('/console', 303)
  toConsole(): void {
    // The decorator does all the work.
  }
}
