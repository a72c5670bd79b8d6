// Every page of the console, from the daemon's own routes: no test of all pages can miss one.
import { RequestMethod, type Type } from '@nestjs/common';
import { METHOD_METADATA, MODULE_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { AppModule, type AppParts } from '../../src/app.module.js';

type Module = { readonly module?: Type; readonly imports?: readonly Module[]; readonly controllers?: readonly Type[] };

/**
 * A browser's requests without their own page: files, the ways to the identity provider and back, and everything not
 * found.
 */
const NO_PAGES = ['/console/assets/:version/:name', '/console/sso', '/console/sso/callback', '/console/*path'];

/** Their paths as declared, such as `/console/invoices/:id`. */
export function consolePages(): readonly string[] {
  const found = controllersOf(AppModule.withoutJobs({ config: {} } as AppParts) as Module)
    .flatMap(pathsOf)
    .filter((path) => /^\/console(\/|$)/.test(path) && !NO_PAGES.includes(path));
  return [...new Set(found)].sort();
}

/** Whether an address is one of the route. */
export function isOf(route: string, address: string): boolean {
  const pattern = route.replaceAll(/:\w+/g, '[^/]+');
  return new RegExp(`^${pattern}$`).test(address.split('?')[0] ?? '');
}

function controllersOf(of: Module | Type, seen = new Set<unknown>()): Type[] {
  if (seen.has(of)) return [];
  seen.add(of);
  const type = typeof of === 'function' ? of : of.module;
  const declared = (what: string): unknown[] =>
    type === undefined ? [] : ((Reflect.getMetadata(what, type) as unknown[] | undefined) ?? []);
  const own = typeof of === 'function' ? {} : of;
  const controllers = [...declared(MODULE_METADATA.CONTROLLERS), ...(own.controllers ?? [])] as Type[];
  const imports = [...declared(MODULE_METADATA.IMPORTS), ...(own.imports ?? [])] as Module[];
  return [...controllers, ...imports.flatMap((m) => controllersOf(m, seen))];
}

function pathsOf(controller: Type): string[] {
  const folder = String(Reflect.getMetadata(PATH_METADATA, controller) ?? '');
  return Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
    const handler: unknown = (controller.prototype as Record<string, unknown>)[name];
    if (typeof handler !== 'function' || Reflect.getMetadata(METHOD_METADATA, handler) !== RequestMethod.GET) return [];
    const path = String(Reflect.getMetadata(PATH_METADATA, handler));
    return [`/${folder}/${path}`.replaceAll(/\/+/g, '/').replace(/(.)\/$/, '$1')];
  });
}
