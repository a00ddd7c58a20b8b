import type { Value } from '@canton-network/core-ledger-proto';
import { isContractId } from './isContractId.js';
import { refusal } from './refusal.js';

/** The ledger has no deeper values: 100. */
const deepest = 200;

/** With many more parts the library that hashes passes a function more arguments than it can take. */
const mostParts = 100_000;

/** Refuses a value that is not whole, or that the vendor's library hashes as another one. */
export function checkValue(value: Value | undefined): void {
  // a list of its own: the depth is the participant's choice, and so would be that of the stack
  const waiting: { readonly value: Value | undefined; readonly depth: number }[] = [{ value, depth: 0 }];
  let parts = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { depth } = next;
    if (++parts > mostParts) throw refusal('undecodable', 'it has a value that is too large');
    if (next.value === undefined || depth > deepest) throw refusal('undecodable', 'it has a value that cannot be read');
    for (const inner of partsOf(next.value)) waiting.push({ value: inner, depth: depth + 1 });
  }
}

function partsOf({ sum }: Value): readonly (Value | undefined)[] {
  switch (sum.oneofKind) {
    case undefined:
      return [undefined];
    case 'int64':
      if (!Number.isSafeInteger(Number(sum.int64))) throw refusal('hash', 'it has an Int that cannot be hashed');
      return [];
    case 'contractId':
      if (!isContractId(sum.contractId)) throw refusal('undecodable', 'it has a contract id that cannot be read');
      return [];
    case 'optional':
      return sum.optional.value === undefined ? [] : [sum.optional.value];
    case 'list':
      return sum.list.elements;
    case 'textMap':
      return sum.textMap.entries.map(({ value }) => value);
    case 'genMap':
      return sum.genMap.entries.flatMap(({ key, value }) => [key, value]);
    case 'record':
      return sum.record.fields.map(({ value }) => value);
    case 'variant':
      return [sum.variant.value];
    default:
      return [];
  }
}
