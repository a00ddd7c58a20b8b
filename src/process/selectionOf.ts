import { defer, map, type Observable } from 'rxjs';
import { isRecord } from '../codecs/internal/isRecord.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';

/** What stands for the updates that a request selects: the same, whatever the order in which it names parties and filters. */
export const selectionOf = ({ updateFormat, filter }: UpdatesRequest): Observable<string> =>
  defer(() => crypto.subtle.digest('SHA-256', new TextEncoder().encode(canonical({ updateFormat, filter })))).pipe(
    map((hash) => `sha256:${Array.from(new Uint8Array(hash), hex).join('')}`),
  );

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');

/**
 * JSON in which neither keys nor the elements of lists have an order. Flags are left out: they say how much is told of an
 * update, not of which; and so is what is as good as absent.
 */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).sort().join()}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const entries = Object.entries(value).filter(
    ([, content]) => content !== undefined && content !== null && typeof content !== 'boolean',
  );
  return `{${entries
    .map(([key, content]) => `${JSON.stringify(key)}:${canonical(content)}`)
    .sort()
    .join()}}`;
}
