import type { Identifier } from '@canton-network/core-ledger-proto';

/** An identifier in its parts. */
export function toIdentifier(id: string): Identifier {
  const [packageId = '', moduleName = '', entityName = ''] = id.split(':');
  return { packageId, moduleName, entityName };
}

/** An identifier in one string. */
export function fromIdentifier({ packageId, moduleName, entityName }: Identifier): string {
  return `${packageId}:${moduleName}:${entityName}`;
}
