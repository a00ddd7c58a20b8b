import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/index.js';
import { at, jsonType, keys, type Reply, sandboxWith, send } from './client.js';

// 119 requests, and what a Canton 3.5.10 answered to them. Strings that start with $ stand for values of the ledger.

/** A request of the fixture. */
interface RecordedRequest {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** The body of a second request that is sent at the same time. */
  readonly beside?: unknown;
  /** Where values of the response are that later requests use, by name. */
  readonly save?: Readonly<Record<string, string>>;
}

/** What the answer to a request has: no ids and no texts, which differ from ledger to ledger. */
interface RecordedAnswer {
  readonly name: string;
  readonly status: number;
  readonly code?: string;
  readonly type?: string;
  readonly text?: string;
  readonly category?: number;
  readonly definite?: boolean | null;
  readonly retry?: string | null;
  /** The type of each field of a success. */
  readonly shape?: unknown;
}

const fixture = (name: string): unknown => JSON.parse(readFileSync(`test/fixtures/conformance35/${name}.json`, 'utf8'));

const requests = fixture('requests') as readonly RecordedRequest[];
const answers = fixture('answers') as readonly RecordedAnswer[];

/** The answers that differ, as listed in docs/testing.md, and what differs. */
const differences: Readonly<Record<string, readonly string[]>> = {
  'completions-unknown-party': ['shape'],
};

const replies = new Map<string, Reply>();
let contention: readonly Reply[] = [];

beforeAll(async () => {
  // long enough for two requests to meet
  const sandbox = await sandboxWith({ confirmationMs: 300 });
  const values: Record<string, unknown> = { alice: sandbox.hostedParty('alice'), bob: sandbox.hostedParty('bob') };
  for (const { name, method, path, body, beside, save = {} } of requests) {
    const ask = (content: unknown) => send(sandbox, path, initOf(method, content, { ...values, end: endOf(sandbox) }));
    const [reply, ...others] = await Promise.all([ask(body), ...(beside === undefined ? [] : [ask(beside)])]);
    replies.set(name, reply);
    if (others.length > 0) contention = [reply, ...others];
    for (const [value, place] of Object.entries(save)) values[value] = at(reply.json, ...place.split('.'));
  }
}, 30_000);

const endOf = ({ ledgerEnd }: Sandbox): number => ledgerEnd;

function initOf(method: string, content: unknown, values: Readonly<Record<string, unknown>>): RequestInit {
  if (content === undefined) return { method };
  const body = typeof content === 'string' ? content : JSON.stringify(fill(content, values));
  return { method, headers: jsonType, body };
}

/** Replaces `$name` by a value, and `$name+1` by a number that is greater. */
function fill(template: unknown, values: Readonly<Record<string, unknown>>): unknown {
  if (typeof template === 'string') {
    const [, name, more] = /^\$(\w+)(?:\+(\d+))?$/.exec(template) ?? [];
    if (name === undefined) return template;
    return more === undefined ? values[name] : Number(values[name]) + Number(more);
  }
  if (Array.isArray(template)) return template.map((element) => fill(element, values));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(
    Object.entries(template).map(([key, value]) => [String(fill(key, values)), fill(value, values)]),
  );
}

/** The place and the type of each field; of lists, the first element counts. */
function shapeOf(value: unknown, path = ''): readonly string[] {
  if (Array.isArray(value)) return value.slice(0, 1).flatMap((element) => shapeOf(element, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, field]) => {
    const isPayload = ['createArgument', 'choiceArgument', 'context', 'resources'].includes(key);
    return [`${path}.${key}`, ...(isPayload ? [] : shapeOf(field, `${path}.${key}`))];
  });
}

/** What of a reply differs from the answer of the participant. */
function differing({ status, type, text, json }: Reply, recorded: RecordedAnswer): readonly string[] {
  const isJson = json !== undefined;
  const same = {
    status: status === recorded.status,
    code: at(json, 'code') === recorded.code,
    type: (type ?? '').replace(/;.*/, '') === (recorded.type ?? ''),
    text: isJson ? recorded.text === undefined : recorded.text === text.slice(0, 120),
    category: at(json, 'errorCategory') === recorded.category,
    definite: at(json, 'definiteAnswer') === recorded.definite,
    retry: at(json, 'retryInfo') === recorded.retry,
    shape:
      recorded.shape === undefined ||
      JSON.stringify([...shapeOf(json)].sort()) === JSON.stringify([...shapeOf(recorded.shape)].sort()),
  };
  return keys(same).filter((aspect) => at(same, aspect) !== true);
}

describe('the sandbox answers as a Canton 3.5.10', () => {
  const [loser] = answers.filter(({ name }) => name === 'contention-loser');
  const alone = answers.filter((answer) => answer !== loser);

  it.each(alone.map((answer) => [answer.name, answer] as const))('to %s', (name, recorded) => {
    const reply = replies.get(name);
    if (reply === undefined) throw new Error(`no request ${name}`);
    expect(differing(reply, recorded)).toEqual(differences[name] ?? []);
  });

  it('to two archivals of one contract at the same time', () => {
    const codes = contention.map(({ status, json }) => [status, at(json, 'code')]);
    expect(codes.filter(([status]) => status !== 200)).toEqual([[loser?.status, loser?.code]]);
  });
});
