import type { Create, Exercise } from '@canton-network/core-ledger-proto';
import { refusal } from './refusal.js';
import type { VerifierOptions } from './VerifierOptions.js';

/**
 * Refuses a node of another template, or, where a choice of an interface was exercised, of another interface: then it is
 * the interface that a command names.
 */
export function checkTemplate(
  node: Create | Exercise,
  asked: string,
  path: string,
  packages: NonNullable<VerifierOptions['packages']>,
): void {
  const interfaceId = 'interfaceId' in node ? node.interfaceId : undefined;
  const given = interfaceId ?? node.templateId;
  const [where = '', moduleName, entityName, ...more] = asked.split(':');
  if (given?.moduleName !== moduleName || given?.entityName !== entityName || more.length > 0) {
    throw refusal('commands', 'it is another template', path);
  }
  if (!where.startsWith('#')) {
    if (given?.packageId !== where) throw refusal('commands', 'it is a template of another package', path);
    return;
  }
  const name = where.slice(1);
  const ids = Object.hasOwn(packages, name) ? packages[name] : undefined;
  if (interfaceId === undefined && node.packageName !== name) {
    throw refusal('commands', 'it is a template of another package', path);
  }
  if (interfaceId !== undefined && ids === undefined) {
    throw refusal('commands', 'the package of an interface cannot be compared by its name', path);
  }
  if (ids !== undefined && !ids.includes(given?.packageId ?? '')) {
    throw refusal('commands', 'it is a template of another package', path);
  }
}
