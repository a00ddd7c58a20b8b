import type { Metadata_InputContract, Value } from '@canton-network/core-ledger-proto';
import { isRecord } from '../decoding/isRecord.js';
import type { TemplateRef } from '../ledger/TemplateRef.js';
import { microsOf } from '../wire/microsOf.js';
import type { WireCreatedEvent } from '../wire/WireCreatedEvent.js';
import { createNode } from './createNode.js';
import { toIdentifier } from './identifiers.js';
import { recordValue } from './toValue.js';
import { typeOfTemplate } from './typeOfTemplate.js';

/** A contract that a transaction uses, as its metadata tells it. */
export function inputContract(created: WireCreatedEvent): Metadata_InputContract {
  const { templateId, packageName, createArgument, createdAt, createdEventBlob } = created;
  const template = { id: templateId, packageName };
  const argument = argumentOf(template, createArgument);
  return {
    contract: { oneofKind: 'v1', v1: createNode({ ...created, template, argument }) },
    createdAt: BigInt(microsOf(createdAt)),
    eventBlob: Buffer.from(createdEventBlob, 'base64'),
  };
}

/** A contract that was appended by hand may have any argument. */
function argumentOf(template: TemplateRef, json: unknown): Value {
  const id = toIdentifier(template.id);
  try {
    return recordValue(json, typeOfTemplate(template).fields, id);
  } catch {
    return recordValue(isRecord(json) ? json : {}, {}, id);
  }
}
