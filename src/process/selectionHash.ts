import { isRecord } from '../codecs/internal/Codec.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';

/**
 * Returns a hash of what a request selects. It does not depend on the order of parties and filters. It is FNV-1a with 64
 * bits, because pages over plain HTTP have no cryptographic hashes, and a cursor need not be protected from its owner.
 */
export function selectionHash({ updateFormat, filter }: Pick<UpdatesRequest, 'updateFormat' | 'filter'>): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(canonicalJson({ updateFormat, filter })))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return `fnv1a:${hash.toString(16).padStart(16, '0')}`;
}

/**
 * Returns JSON with sorted keys and sorted lists. Flags are left out, because they select the content of an update but
 * not the updates. So is `null`, which means the same as an absent field.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).sort().join()}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const entries = Object.entries(value).filter(
    ([, content]) => content !== undefined && content !== null && typeof content !== 'boolean',
  );
  return `{${entries
    .map(([key, content]) => `${JSON.stringify(key)}:${canonicalJson(content)}`)
    .sort()
    .join()}}`;
}
