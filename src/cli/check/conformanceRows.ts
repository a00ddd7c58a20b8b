import * as t from 'io-ts';
import { acsDelta, ledgerEffects } from '../../index.js';
import { decodeJson, parseJson, type ProbeRequest, type ProbeResponse } from '../participant.js';
import { type Names, variants } from '../Selection.js';
import { cantonErrorCode, lacksEndpoint, updatesBody } from './Probe.js';

/** What is known of a participant before the first row. */
export interface Facts {
  readonly parties: Names['parties'];
  readonly end: number;
  readonly pruned: number;
  /** The path that serves updates, which a feed would use. */
  readonly updatesPath: string;
  /** The last updates, as they were received. */
  readonly sample: readonly unknown[];
}

/** What a participant does with one request. */
export interface Row {
  readonly area: string;
  readonly what: string;
  /** Whether the library cannot work without it. */
  readonly isNeeded?: boolean;
  /** The request; `undefined` if this ledger has nothing to show it with. */
  readonly request: (facts: Facts) => ProbeRequest | undefined;
  /** What differs from the expected answer; `undefined` if nothing does. */
  readonly differs: (response: ProbeResponse, facts: Facts) => string | undefined;
}

/** The rows that only read. */
export const readingRows: readonly Row[] = [
  get('service', 'version', '/v2/version', (body) => typeof at(body, 'version') === 'string'),
  { ...get('service', 'ledger end', '/v2/state/ledger-end', (body) => isOffset(at(body, 'offset'))), isNeeded: true },
  get('service', 'pruned offset', '/v2/state/latest-pruned-offsets', (body) =>
    isOffset(at(body, 'participantPrunedUpToInclusive')),
  ),
  get(
    'service',
    'id of the participant',
    '/v2/parties/participant-id',
    (body) => typeof at(body, 'participantId') === 'string',
  ),
  get('service', 'connected synchronizers', '/v2/state/connected-synchronizers', (body) =>
    Array.isArray(at(body, 'connectedSynchronizers')),
  ),
  get('service', 'parties', '/v2/parties', (body) => Array.isArray(at(body, 'partyDetails'))),
  bounded('/v2/updates/flats'),
  bounded('/v2/updates'),
  {
    ...updates('a range, oldest first, within its bounds', last(200), {}, (offsets, { end, pruned }) =>
      offsets.every(
        (each, index) => each > Math.max(pruned, end - 200) && each <= end && each > (offsets[index - 1] ?? -1),
      ),
    ),
    isNeeded: true,
  },
  updates('`limit`', last(200), { limit: 2 }, (offsets, { sample }) => offsets.length === Math.min(2, sample.length)),
  updates(
    '`descendingOrder`',
    (facts) => ({ ...last(200)(facts), descendingOrder: true }),
    {},
    (offsets) => offsets.every((each, index) => index === 0 || each < (offsets[index - 1] ?? 0)),
  ),
  {
    ...updates(
      '`stream_idle_timeout_ms` ends a poll',
      ({ parties, end }) => updatesBody(parties, { beginExclusive: end }),
      { stream_idle_timeout_ms: 300 },
      () => true,
    ),
    isNeeded: true,
  },
  updates(
    '`LEDGER_EFFECTS`',
    (facts) => ({ ...last(200)(facts), updateFormat: ledgerEffects({ parties: facts.parties }) }),
    {},
    () => true,
  ),
  updates('the older form: `filter` and `verbose`', olderForm, {}, () => true),
  refused('updates', 'a start after the ledger end is refused', afterEnd, ['OFFSET_AFTER_LEDGER_END']),
  refused(
    'updates',
    'a pruned start is refused',
    ({ parties, pruned, end, updatesPath }) =>
      pruned === 0
        ? undefined
        : { path: `${updatesPath}?limit=1`, body: updatesBody(parties, { beginExclusive: 0, endInclusive: end }) },
    ['PARTICIPANT_PRUNED_DATA_ACCESSED'],
  ),
  ...variants.filter((variant) => variant !== 'UnknownUpdate').map(seen),
  refused(
    'filters',
    'an unknown package is refused',
    (facts) => ({
      path: `${facts.updatesPath}?limit=1`,
      body: {
        ...last(1)(facts),
        updateFormat: acsDelta({ parties: facts.parties, templates: ['#canton-rx-no-such-package:Main:None'] }),
      },
    }),
    [
      'PACKAGE_NAMES_NOT_FOUND',
      'TEMPLATES_OR_INTERFACES_NOT_FOUND',
      'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
    ],
  ),
  {
    area: 'contracts',
    what: 'active contracts at an offset',
    request: (facts) => ({
      method: 'POST',
      path: '/v2/state/active-contracts?limit=1',
      body: { activeAtOffset: facts.end, eventFormat: eventFormat(facts) },
    }),
    differs: unless((response) => response.status === 413 || isList(response)),
  },
  {
    area: 'contracts',
    what: 'active contracts page by page',
    request: (facts) => ({
      method: 'POST',
      path: '/v2/state/active-contracts-page',
      body: { activeAtOffset: facts.end, eventFormat: eventFormat(facts), maxPageSize: 2 },
    }),
    differs: unless(({ status, text }) => status === 200 && Array.isArray(at(parseJson(text), 'activeContracts'))),
  },
  refused(
    'contracts',
    'contracts after the ledger end are refused',
    (facts) => ({
      path: '/v2/state/active-contracts?limit=1',
      body: { activeAtOffset: facts.end + 1_000_000, eventFormat: eventFormat(facts) },
    }),
    ['OFFSET_AFTER_LEDGER_END'],
  ),
  lookup('an update by its id', '/v2/updates/update-by-id', (facts) => ({
    updateId: '1220'.padEnd(68, '0'),
    updateFormat: acsDelta({ parties: facts.parties }),
  })),
  lookup('an update by its offset', '/v2/updates/update-by-offset', (facts) => ({
    offset: facts.end + 1_000_000,
    updateFormat: acsDelta({ parties: facts.parties }),
  })),
  lookup('the events of a contract', '/v2/events/events-by-contract-id', (facts) => ({
    contractId: `00${'ab'.repeat(32)}`,
    eventFormat: eventFormat(facts),
  })),
  ...[
    '/v2/interactive-submission/prepare',
    '/v2/interactive-submission/executeAndWaitForTransaction',
    '/v2/commands/submit-and-wait-for-transaction',
  ].map((path): Row => ({
    area: 'submission',
    what: `\`${path.replace('/v2/', '')}\` refuses a body without fields`,
    request: () => ({ method: 'POST', path, body: {} }),
    differs: unless(({ status }) => status === 400),
  })),
  {
    area: 'errors',
    what: 'an error has a code, a cause and a category',
    isNeeded: true,
    request: (facts) => ({ method: 'POST', ...afterEnd(facts) }),
    differs: ({ text }) => (decodeJson(text, CantonError) === undefined ? 'the body has another form' : undefined),
  },
  {
    area: 'errors',
    what: 'a body that is not JSON is refused',
    request: ({ updatesPath }) => ({ method: 'POST', path: updatesPath, text: 'no JSON' }),
    differs: unless(({ status }) => status === 400),
  },
];

const CantonError = t.type({ code: t.string, cause: t.string, errorCategory: t.number });

function get(area: string, what: string, path: string, isExpected: (body: unknown) => boolean): Row {
  return {
    area,
    what,
    request: () => ({ method: 'GET', path }),
    differs: unless(({ status, text }) => status === 200 && isExpected(parseJson(text))),
  };
}

/** The body of a request for the last offsets. */
function last(count: number) {
  return ({ parties, pruned, end }: Facts): object =>
    updatesBody(parties, { beginExclusive: Math.max(pruned, end - count), endInclusive: end });
}

/** A request for updates after the ledger end. */
function afterEnd({ parties, end, updatesPath }: Facts): Pick<ProbeRequest, 'path' | 'body'> {
  const range = { beginExclusive: end + 1_000_000, endInclusive: end + 1_000_001 };
  return { path: `${updatesPath}?limit=1`, body: updatesBody(parties, range) };
}

/** The last offsets with the form that 3.3 has. */
function olderForm(facts: Facts): object {
  const { verbose = false, ...filter } = eventFormat(facts);
  return { ...last(200)(facts), updateFormat: undefined, filter, verbose };
}

const eventFormat = ({ parties }: Facts): Readonly<Record<string, unknown>> =>
  acsDelta({ parties }).includeTransactions?.eventFormat as unknown as Readonly<Record<string, unknown>>;

/** A request at the path that serves updates. */
function updates(
  what: string,
  bodyOf: (facts: Facts) => object,
  query: { readonly limit?: number; readonly stream_idle_timeout_ms?: number },
  isExpected: (offsets: readonly number[], facts: Facts) => boolean,
): Row {
  const text = Object.entries({ limit: 200, ...query })
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
  return {
    area: 'updates',
    what,
    request: (facts) => ({ method: 'POST', path: `${facts.updatesPath}?${text}`, body: bodyOf(facts) }),
    differs: (response, facts) =>
      unless(isList)(response) ??
      (isExpected(offsetsIn(response.text), facts) ? undefined : 'the answer has other updates'),
  };
}

/** A path that serves updates: one of two is enough. */
function bounded(path: string): Row {
  return {
    area: 'updates',
    what: `\`${path}\``,
    request: (facts) => ({ method: 'POST', path: `${path}?limit=1`, body: last(1)(facts) }),
    differs: unless(isList),
  };
}

/** A variant among the last updates, which the participant need not have. */
function seen(variant: string): Row {
  return {
    area: 'variants',
    what: `\`${variant}\``,
    request: (facts) =>
      facts.sample.some((each) => variantOf(each) === variant)
        ? { method: 'POST', path: `${facts.updatesPath}?limit=200`, body: last(200)(facts) }
        : undefined,
    differs: unless(isList),
  };
}

/** A request that must fail with one of some codes. */
function refused(
  area: string,
  what: string,
  request: (facts: Facts) => Pick<ProbeRequest, 'path' | 'body'> | undefined,
  codes: readonly string[],
): Row {
  return {
    area,
    what,
    request: (facts) => {
      const its = request(facts);
      return its && { method: 'POST', ...its };
    },
    differs: unless(({ text }) => codes.includes(cantonErrorCode(text) ?? '')),
  };
}

/** A look-up of what does not exist: the code of the ledger shows that the path is served. */
function lookup(what: string, path: string, bodyOf: (facts: Facts) => object): Row {
  return {
    area: 'look-ups',
    what,
    request: (facts) => ({ method: 'POST', path, body: bodyOf(facts) }),
    differs: unless(({ status, text }) => status === 200 || /NOT_FOUND|OFFSET_AFTER/.test(cantonErrorCode(text) ?? '')),
  };
}

/** Whether a participant lacks what a row requests. An error of the ledger with the same status is an answer. */
export const isAbsent = (response: ProbeResponse): boolean =>
  lacksEndpoint(response) &&
  (cantonErrorCode(response.text) === undefined || cantonErrorCode(response.text) === 'DEPRECATED_API_DISABLED');

/** How a response differs, unless it is as expected. */
function unless(isExpected: (response: ProbeResponse) => boolean): (response: ProbeResponse) => string | undefined {
  return (response) => (isExpected(response) ? undefined : statusText(response.status, response.text));
}

function isList({ status, text }: ProbeResponse): boolean {
  return status === 200 && Array.isArray(parseJson(text));
}

/** A status and the code of an error: no texts, which may have ids. */
export const statusText = (status: number, text: string): string => {
  const code = cantonErrorCode(text);
  const shown = code !== undefined && /^[A-Z_]{2,60}$/.test(code) ? ` ${code}` : '';
  return status === 200 ? 'the answer has another form' : `${status}${shown}`;
};

const at = (u: unknown, name: string): unknown =>
  typeof u === 'object' && u !== null ? (u as Readonly<Record<string, unknown>>)[name] : undefined;

const isOffset = (u: unknown): boolean => Number.isSafeInteger(u);

/** The variant of an element, in the form of either path. */
const variantOf = (element: unknown): string | undefined => {
  const update = at(element, 'update') ?? element;
  return typeof update === 'object' && update !== null ? Object.keys(update)[0] : undefined;
};

/** The offsets in a list of updates. */
const offsetsIn = (text: string): readonly number[] => {
  const list = parseJson(text);
  if (!Array.isArray(list)) return [];
  return list.flatMap((element: unknown) => {
    const variant = variantOf(element);
    const update = at(element, 'update') ?? element;
    const offset = at(at(at(update, variant ?? ''), 'value'), 'offset');
    return typeof offset === 'number' ? [offset] : [];
  });
};
