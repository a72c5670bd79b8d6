// `/` redirects to the console, for people who type the daemon's address into a browser.
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
    // The method is empty: its decorator does all the work.
  }
}
