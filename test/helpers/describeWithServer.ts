import process from 'node:process';
import { describe } from '@jest/globals';

/** `describe` for tests with a server. They are skipped if it is not installed, unless CANTON_RX_SERVERS is `required`. */
export function describeWithServer(isInstalled: boolean, debianPackage: string): typeof describe.only {
  if (isInstalled || process.env['CANTON_RX_SERVERS'] === 'required') return describe;
  console.warn(`not run: this machine lacks a server, Debian's package ${debianPackage}`);
  return describe.skip;
}
