import { acsDelta } from '../../src/index.js';
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

/** The offset of the last element of an answer. */
export function lastOffset(page: readonly unknown[]): number {
  const last = page.at(-1) as Element | undefined;
  return Object.values(last?.update ?? {})[0]?.value.offset ?? NaN;
}

/** What anybody would write: ask, parse, ask for what follows. What else is done with an answer is the caller's. */
export async function bareRead(
  { url, count, step }: Load,
  read: (json: unknown) => readonly unknown[],
): Promise<Outcome> {
  const watch = stopwatch(count);
  const endInclusive = origin + count * step;
  for (let beginExclusive = origin; beginExclusive < endInclusive;) {
    const page = read(await ask(url, 'limit=200', { beginExclusive, endInclusive }));
    watch.add(page.length);
    beginExclusive = lastOffset(page);
  }
  return { cost: watch.each() };
}
