import { acsDelta } from '../../../src/index.js';
import { origin } from './ledgerText.js';
import type { Load, Outcome } from './Load.js';
import { stopwatch } from './stopwatch.js';

const updateFormat = acsDelta({ parties: 'any' });

/** One request for updates by fetch; the answer's JSON. */
export async function ask(url: string, query: string, range: object): Promise<unknown> {
  const response = await fetch(`${url}/v2/updates/flats?${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...range, updateFormat }),
  });
  return JSON.parse(await response.text());
}

interface Element {
  readonly update: Readonly<Record<string, { readonly value: { readonly offset: number } }>>;
}

/** A range with both its ends. */
export interface BoundedRange {
  readonly beginExclusive: number;
  readonly endInclusive: number;
}

/** The offset of the last element of an answer. */
export function lastOffset(page: readonly unknown[]): number {
  const last = page.at(-1) as Element | undefined;
  return Object.values(last?.update ?? {})[0]?.value.offset ?? NaN;
}

/** Reads a ledger from its start to its end: a page, then the one behind it. */
export async function readPages(
  { count, step }: Load,
  page: (range: BoundedRange) => Promise<unknown>,
): Promise<Outcome> {
  const watch = stopwatch(count);
  const endInclusive = origin + count * step;
  for (let beginExclusive = origin; beginExclusive < endInclusive;) {
    const elements = await page({ beginExclusive, endInclusive });
    if (!Array.isArray(elements)) throw new Error('a page is no list');
    watch.add(elements.length);
    beginExclusive = lastOffset(elements);
  }
  return { cost: watch.each() };
}

/** What anybody would write: ask, parse, ask for what follows. What else is done with an answer is the caller's. */
export const bareRead = (load: Load, read: (json: unknown) => unknown): Promise<Outcome> =>
  readPages(load, async (range) => read(await ask(load.url, 'limit=200', range)));
