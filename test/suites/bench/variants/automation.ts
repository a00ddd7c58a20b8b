import process from 'node:process';
import ky from 'ky';
import { lastValueFrom, take, tap } from 'rxjs';
import { automate } from '../../../../src/automation/index.js';
import { acsDelta } from '../../../../src/index.js';
import { type Load, type Measure, type Outcome, stopwatch } from '../Load.js';
import { ledgerOf } from './feed.js';

/** How many submissions are in progress at a time. */
const concurrency = 8;

const party = 'alice::1220ab';
const templateId = '#main:Main:Asset';
const archive = (contractId: string) => ({
  ExerciseCommand: { templateId, contractId, choice: 'Archive', choiceArgument: {} },
});

/** A rule that archives each contract. */
export const automateRule: Measure = async (load) => {
  const ledger = await ledgerOf(load);
  return measured(load, async (begin, add) => {
    const acted$ = automate(
      ledger,
      {
        name: 'archive',
        query: { parties: [party] },
        actAs: [party],
        act: ({ contractId }) => {
          begin();
          return archive(contractId);
        },
      },
      { concurrency },
    );
    await lastValueFrom(
      acted$.pipe(
        tap((acted) => {
          if (acted._tag !== 'Committed') throw new Error(acted._tag);
          add();
        }),
        take(load.count),
      ),
    );
  });
};

type Post = (load: Load, path: string, body: object) => Promise<unknown>;

type Get = (load: Load, path: string) => Promise<unknown>;

/**
 * Reads the contracts once, and submits each, so many at a time.
 *
 * @param get - given, the loop also follows the updates, with the requests that a rule needs for that
 */
const bareLoop =
  (post: Post, get?: Get): Measure =>
  (load) =>
    measured(load, async (begin, add) => {
      const { includeReassignments: eventFormat } = acsDelta({ parties: [party] });
      const contractIds: string[] = [];
      for (let pageToken: string | null | undefined; pageToken !== null;) {
        const page = (await post(load, '/v2/state/active-contracts-page', {
          ...{ activeAtOffset: load.count, eventFormat, maxPageSize: 500, pageToken },
        })) as Page;
        for (const { contractEntry } of page.activeContracts)
          contractIds.push(contractEntry.JsActiveContract.createdEvent.contractId);
        pageToken = page.nextPageToken;
      }
      begin();
      const left = contractIds.values();
      const work = async (): Promise<void> => {
        for (const contractId of left) {
          const deduplicationPeriod = { DeduplicationOffset: { value: 0 } };
          await post(load, '/v2/commands/submit-and-wait-for-transaction', {
            commands: {
              ...{ actAs: [party], commandId: `archive:${contractId}`, commands: [archive(contractId)] },
              deduplicationPeriod,
            },
          });
          add();
        }
      };
      const followed = get === undefined ? undefined : follow(load, post, get);
      await Promise.all(Array.from({ length: concurrency }, work));
      await followed;
    });

/** Waits for updates, and then reads those up to the end of the ledger, until there is one for each contract. */
async function follow(load: Load, post: Post, get: Get): Promise<void> {
  const { includeReassignments: eventFormat } = acsDelta({ parties: [party] });
  const updateFormat = { includeTransactions: { eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' } };
  const path = '/v2/updates/flats';
  let seen = load.count;
  const read = async (query: string, range: object): Promise<void> => {
    const page = await post(load, `${path}?${query}`, { beginExclusive: seen, updateFormat, ...range });
    seen += (page as readonly unknown[]).length;
  };
  while (seen < 2 * load.count) {
    await read('limit=2&stream_idle_timeout_ms=500', {});
    const { offset } = (await get(load, '/v2/state/ledger-end')) as { readonly offset: number };
    if (offset > seen) await read('limit=200', { endInclusive: offset });
  }
}

interface Page {
  readonly activeContracts: readonly {
    readonly contractEntry: { readonly JsActiveContract: { readonly createdEvent: { readonly contractId: string } } };
  }[];
  readonly nextPageToken: string | null;
}

export const bareAutomation = bareLoop(async ({ url }, path, body) => {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
});

const postWithKy: Post = ({ url }, path, body) =>
  ky.post(`${url}${path}`, { json: body, retry: 0, timeout: false }).json();

export const bareAutomationKy = bareLoop(postWithKy);

export const bareAutomationFollowing = bareLoop(postWithKy, ({ url }, path) =>
  ky.get(`${url}${path}`, { retry: 0, timeout: false }).json(),
);

/** Measures the time for each action, and the memory at the first one and after the last. */
async function measured(
  { count }: Load,
  act: (begin: () => void, add: () => void) => Promise<unknown>,
): Promise<Outcome> {
  const watch = stopwatch(count);
  let heapAtStart: number | undefined;
  await act(
    () => {
      heapAtStart ??= heap();
    },
    () => {
      watch.add(1);
    },
  );
  return { cost: watch.each(), figures: { heapAtStart: heapAtStart ?? NaN, heapAtEnd: heap() } };
}

function heap(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
