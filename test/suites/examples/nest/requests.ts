import { randomUUID } from 'node:crypto';
import type { Service } from './service.js';

/** A contract in an answer. */
export interface Answered {
  readonly type: string | null;
  readonly contractId: string;
  readonly template: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
  readonly createdAtOffset: number;
  readonly archivedAtOffset: number | null;
  readonly problems?: unknown;
  readonly history?: readonly { readonly event: string; readonly offset: number; readonly choice?: string }[];
}

export interface Page {
  readonly offset: number;
  readonly contracts: readonly Answered[];
  readonly next: string | null;
}

export interface Submitted {
  readonly offset: number;
  readonly contract: Answered | null;
}

export const read = async <Body>({ url }: Service, path: string): Promise<Body> => {
  const response = await fetch(`${url}${path}`);
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Body;
};

export const post = async (
  { url }: Service,
  path: string,
  body: unknown = {},
  headers: Readonly<Record<string, string>> = { 'idempotency-key': randomUUID() },
): Promise<{ readonly status: number; readonly body: unknown; readonly location: string | null }> => {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  };
  const response = await fetch(`${url}${path}`, init);
  return { status: response.status, body: await response.json(), location: response.headers.get('location') };
};

/** All pages of a list, from the first on. */
export const readPages = async (one: Service, query: string, first: Page): Promise<readonly Page[]> => {
  const pages = [first];
  for (let { next } = first; next !== null;) {
    const page: Page = await read<Page>(one, `/contracts?${query}&after=${next}`);
    pages.push(page);
    ({ next } = page);
  }
  return pages;
};
