import type { Create, Value } from '@canton-network/core-ledger-proto';
import type { TemplateRef } from '../ledger/TemplateRef.js';
import { toIdentifier } from './identifiers.js';
import { lfVersion } from './lfVersion.js';

interface CreateFields {
  readonly contractId: string;
  readonly template: TemplateRef;
  readonly argument: Value;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
}

/** The node by which a contract comes to be; an input contract is told in the same way. */
export function createNode({ contractId, template, argument, signatories, observers }: CreateFields): Create {
  return {
    lfVersion,
    contractId,
    packageName: template.packageName,
    templateId: toIdentifier(template.id),
    argument,
    // sets of parties are written in their order
    signatories: [...signatories].sort(),
    stakeholders: [...new Set([...signatories, ...observers])].sort(),
  };
}
