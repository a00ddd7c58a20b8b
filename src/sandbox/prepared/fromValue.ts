import type { Value } from '@canton-network/core-ledger-proto';
import { timestampOf } from '../wire/timestampOf.js';
import { dateOf } from './dates.js';

/** A Daml value as JSON. */
export function fromValue(value: Value | undefined): unknown {
  const sum = value?.sum;
  switch (sum?.oneofKind) {
    case 'unit':
      return {};
    case 'bool':
      return sum.bool;
    case 'int64':
      return sum.int64;
    case 'numeric':
      return sum.numeric;
    case 'text':
      return sum.text;
    case 'party':
      return sum.party;
    case 'contractId':
      return sum.contractId;
    case 'date':
      return dateOf(sum.date);
    case 'timestamp':
      return timestampOf(Number(sum.timestamp));
    case 'optional':
      return sum.optional.value === undefined ? null : fromValue(sum.optional.value);
    case 'list':
      return sum.list.elements.map(fromValue);
    case 'textMap':
      return Object.fromEntries(sum.textMap.entries.map(({ key, value: entry }) => [key, fromValue(entry)]));
    case 'genMap':
      return sum.genMap.entries.map(({ key, value: entry }) => [fromValue(key), fromValue(entry)]);
    case 'record':
      return Object.fromEntries(sum.record.fields.map(({ label, value: field }) => [label, fromValue(field)]));
    case 'variant':
      return { tag: sum.variant.constructor, value: fromValue(sum.variant.value) };
    case 'enum':
      return sum.enum.constructor;
    case undefined:
      throw new TypeError('a value without content');
  }
}
