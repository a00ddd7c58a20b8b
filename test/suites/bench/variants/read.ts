import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { acsDelta } from '../../../../src/index.js';
import { clock, type Load, type Outcome, stopwatch } from '../Load.js';
import { origin } from '../ledgerText.js';
import { naivePage } from '../naiveCodec.js';
import { withFolder } from './process.js';
import { officialReader, openapiFetchReader, openapiZodReader } from '../peers.js';

const updateFormat = acsDelta({ parties: 'any' });

/** Requests updates with fetch, and parses the answer. */
async function query(url: string, query: string, range: object): Promise<unknown> {
  const response = await fetch(`${url}/v2/updates/flats?${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...range, updateFormat }),
  });
  return JSON.parse(await response.text());
}

/** An element of an answer. */
export interface Element {
  readonly update: Readonly<
    Record<string, { readonly value: { readonly offset: number; readonly updateId?: string } }>
  >;
}

/** A page of updates. */
export const fetchPage = async (url: string, range: BoundedRange): Promise<readonly Element[]> =>
  (await query(url, 'limit=200', range)) as readonly Element[];

/** A range with two ends. */
export interface BoundedRange {
  readonly beginExclusive: number;
  readonly endInclusive: number;
}

/** The offset of the last element of an answer. */
function lastOffset(page: readonly unknown[]): number {
  const last = page.at(-1) as Element | undefined;
  return Object.values(last?.update ?? {})[0]?.value.offset ?? NaN;
}

/** Reads a ledger from its start to its end, one page after the other. */
export async function readPages(
  { count, step }: Load,
  page: (range: BoundedRange) => Promise<unknown>,
): Promise<Outcome> {
  const watch = stopwatch(count);
  const endInclusive = origin + count * step;
  for (let beginExclusive = origin; beginExclusive < endInclusive;) {
    const elements = await page({ beginExclusive, endInclusive });
    if (!Array.isArray(elements)) throw new Error('a page is not a list');
    watch.add(elements.length);
    beginExclusive = lastOffset(elements);
  }
  return { cost: watch.each() };
}

/** A simple client: request, parse, process, request the next page. */
const bareRead = (load: Load, read: (json: unknown) => unknown): Promise<Outcome> =>
  readPages(load, async (range) => read(await query(load.url, 'limit=200', range)));

/** fetch and JSON.parse, one request after the other. */
export const bareFetch = (load: Load): Promise<Outcome> => bareRead(load, (json) => json);

/** The same, with a place in a file that is written after each page and flushed to the disk. */
export const bareToFile = (load: Load): Promise<Outcome> =>
  withFolder(async (folder) => {
    const file = await open(join(folder, 'place'), 'w');
    const outcome = await readPages(load, async (range) => {
      const page = await query(load.url, 'limit=200', range);
      await file.write(JSON.stringify(range), 0);
      await file.datasync();
      return page;
    });
    await file.close();
    return outcome;
  });

/** The same with a decoder in usual io-ts style. */
export const naiveFetch = (load: Load): Promise<Outcome> => bareRead(load, naivePage);

/** One long poll for one update after the other: this interface cannot report an update sooner. */
export async function livePoll({ url, count }: Load): Promise<Outcome> {
  const arrivedAt: number[] = [];
  let beginExclusive = origin;
  while (arrivedAt.length < count) {
    const page = (await query(url, 'limit=1&stream_idle_timeout_ms=5000', { beginExclusive })) as readonly unknown[];
    if (page.length === 0) continue;
    arrivedAt.push(clock());
    beginExclusive = lastOffset(page);
  }
  return { cost: NaN, arrivedAt };
}

/** The vendor's client. */
export const peerOfficial = async (load: Load): Promise<Outcome> => readPages(load, await officialReader(load.url));

/** openapi-fetch. */
export const peerOpenapi = async (load: Load): Promise<Outcome> => readPages(load, await openapiFetchReader(load.url));

/** openapi-fetch and zod. */
export const peerZod = async (load: Load): Promise<Outcome> => readPages(load, await openapiZodReader(load.url));
