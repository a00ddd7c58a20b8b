import type { Value } from '@canton-network/core-ledger-proto';
import { checkCollection } from './checkCollection.js';
import { checkRecord } from './checkRecord.js';
import { refusal } from './refusal.js';
import { sameScalar } from './sameScalar.js';

/**
 * Refuses a value that is another one than the JSON says. The value tells the type, by which the JSON is read: as the
 * ledger reads it by the template.
 */
export function checkArgument(json: unknown, value: Value | undefined, path: string): void {
  const sum = value?.sum;
  switch (sum?.oneofKind) {
    case 'record':
      checkRecord(json, sum.record.fields, path, checkArgument);
      return;
    case 'optional':
      checkOptional(json, sum.optional.value, path);
      return;
    case 'variant':
      checkVariant(json, sum.variant, path);
      return;
    case 'list':
    case 'textMap':
    case 'genMap':
      checkCollection(json, sum, path, checkArgument);
      return;
    default:
      if (sum === undefined || !sameScalar(json, sum)) throw another(path);
  }
}

/** `null` or absent is none; within another optional some is a list of one, so that some of none is an empty list. */
function checkOptional(json: unknown, content: Value | undefined, path: string): void {
  if (content === undefined) {
    if (json !== null && json !== undefined) throw another(path);
  } else if (content.sum.oneofKind !== 'optional') {
    if (json === null || json === undefined) throw another(path);
    checkArgument(json, content, path);
  } else {
    const hasContent = content.sum.optional.value !== undefined;
    if (!Array.isArray(json) || json.length !== (hasContent ? 1 : 0)) throw another(path);
    if (hasContent) checkArgument(json[0], content, path);
  }
}

function checkVariant(json: unknown, variant: { constructor: string; value?: Value }, path: string): void {
  const isVariant = typeof json === 'object' && json !== null && 'tag' in json && 'value' in json;
  if (!isVariant || Object.keys(json).length !== 2 || json.tag !== variant.constructor) throw another(path);
  checkArgument(json.value, variant.value, `${path}.value`);
}

const another = (path: string) => refusal('commands', 'it has another value', path);
