import { hex } from './hex.js';

/** The package id that the sandbox gives to a package name. */
export function packageIdOf(packageName: string): string {
  return hex('package', packageName);
}
