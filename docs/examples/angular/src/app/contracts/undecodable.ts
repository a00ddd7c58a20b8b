import { Injectable, signal } from '@angular/core';
import type { ContractEntry } from 'canton-rx/contracts';

/** An entry of a snapshot that cannot be decoded. */
export interface UndecodableEntry {
  readonly contractId: string;
  readonly reason: string;
}

type Codec = typeof ContractEntry;

/** An element of a snapshot, on the wire. */
interface Element {
  readonly contractEntry?: Readonly<Record<string, unknown>>;
}

/**
 * The entries of the last snapshot that cannot be decoded. The library ends a view for one of them, so that nobody
 * takes the rest for everything. An explorer shows the rest, and lists what is missing.
 */
@Injectable()
export class Undecodable {
  readonly entries = signal<readonly UndecodableEntry[]>([]);

  /** A `fetch` that puts empty entries in the place of those that cannot be decoded. */
  readonly fetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(input, init);
    if (!response.ok || !response.url.includes('/v2/state/active-contracts')) return response;
    const text = await response.text();
    const { status, headers } = response;
    // loaded with the page of contracts, and not with the first one
    const { ContractEntry: codec } = await import('canton-rx/contracts');
    return new Response(this.#withoutUndecodable(text, codec), { status, headers });
  };

  #withoutUndecodable(text: string, codec: Codec): string {
    const [answer, elements] = elementsIn(text);
    const found = elements.flatMap((element) => problemOf(element, codec));
    if (found.length === 0) return text;
    const ids = new Set(found.map(({ contractId }) => contractId));
    this.entries.update((entries) => [...entries.filter(({ contractId }) => !ids.has(contractId)), ...found]);
    const decodable = elements.map((element) =>
      problemOf(element, codec).length === 0 ? element : { ...element, contractEntry: { JsEmpty: {} } },
    );
    return JSON.stringify(Array.isArray(answer) ? decodable : { ...answer, activeContracts: decodable });
  }
}

/** An answer, and the elements of the snapshot in it: it is a list of them, or a page with such a list. */
function elementsIn(text: string): readonly [answer: object, elements: readonly Element[]] {
  try {
    const answer = JSON.parse(text) as object;
    const list: unknown = 'activeContracts' in answer ? answer.activeContracts : answer;
    return [answer, Array.isArray(list) ? (list as readonly Element[]) : []];
  } catch {
    // the library says what is wrong with an answer that is not JSON
    return [{}, []];
  }
}

function problemOf({ contractEntry }: Element, codec: Codec): readonly UndecodableEntry[] {
  const decoded = codec.decode(contractEntry);
  if (decoded._tag === 'Right') return [];
  const [error] = decoded.left;
  const path = (error?.context ?? [])
    .map(({ key }) => key)
    .filter((key) => key !== '')
    .join('.');
  const contractId = /"contractId":"(\w+)"/.exec(JSON.stringify(contractEntry))?.[1] ?? '';
  return [{ contractId, reason: `expected ${error?.message ?? 'another value'} at ${path}` }];
}
