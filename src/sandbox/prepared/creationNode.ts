import type { Create } from '@canton-network/core-ledger-proto';
import { isRecord } from '../decoding/isRecord.js';
import type { Packages } from '../ledger/Packages.js';
import { hex } from '../wire/hex.js';
import { createNode } from './createNode.js';
import { toIdentifier } from './identifiers.js';
import { recordValue } from './toValue.js';
import { typeOfTemplate } from './typeOfTemplate.js';

interface CreateCommand {
  readonly templateId: string;
  readonly createArguments: unknown;
}

interface Context {
  readonly party: string;
  readonly uuid: string;
  readonly packages: Packages;
}

/** The node of a contract to be created. Its id gets a suffix when it is committed. */
export function creationNode({ templateId, createArguments: json }: CreateCommand, context: Context): Create {
  const { party, uuid, packages } = context;
  const template = packages.resolve(templateId);
  const { fields, observers = [] } = typeOfTemplate(template);
  const named = observers.map((label) => (isRecord(json) ? json[label] : undefined));
  return createNode({
    contractId: `00${hex('contract', uuid)}`,
    template,
    argument: recordValue(json, fields, toIdentifier(template.id)),
    signatories: [party],
    observers: named.filter((observer) => typeof observer === 'string'),
  });
}
