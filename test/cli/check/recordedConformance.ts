import { readFileSync } from 'node:fs';
import { type Facts, isAbsent, readingRows } from '../../../src/cli/check/conformanceRows.js';

/** The exchange with a participant of 3.5.10 that answers each row; absent for a row of which there is none. */
const exchanges: Readonly<Record<string, string>> = {
  version: 'version',
  'ledger end': 'ledger-end-start',
  'pruned offset': 'latest-pruned-offsets',
  'id of the participant': 'participant-id',
  'connected synchronizers': 'connected-synchronizers',
  parties: 'parties',
  '`/v2/updates/flats`': 'flats-limit-1',
  '`/v2/updates`': 'updates-list',
  'a range, oldest first, within its bounds': 'flats-all',
  '`limit`': 'updates-list',
  '`descendingOrder`': 'flats-descending',
  '`stream_idle_timeout_ms` ends a poll': 'flats-idle-200',
  '`LEDGER_EFFECTS`': 'flats-ledger-effects',
  'the older form: `filter` and `verbose`': 'flats-legacy-filter',
  'a start after the ledger end is refused': 'flats-begin-beyond',
  'a pruned start is refused': 'pruned-flats-begin-0',
  '`Transaction`': 'flats-all',
  '`Reassignment`': 'multi-flats-node-a',
  '`TopologyTransaction`': 'flats-all',
  '`OffsetCheckpoint`': 'token-expires-in-long-poll-after-element',
  'an unknown package is refused': 'flats-unknown-package-name',
  'active contracts at an offset': 'acs',
  'active contracts page by page': 'acs-page',
  'contracts after the ledger end are refused': 'acs-beyond',
  'an update by its id': 'update-by-id-unknown',
  'an update by its offset': 'update-by-offset',
  'the events of a contract': 'events-by-contract-id-archived',
  'an error has a code, a cause and a category': 'flats-begin-beyond',
  'a body that is not JSON is refused': 'error-malformed-json',
};

/** Whether the exchanges show a variant. */
const variants = ['Transaction', 'Reassignment', 'TopologyTransaction', 'OffsetCheckpoint'];

/** What a participant of 3.5.10 serves of each row, by its recorded answers; `–` where there is none. */
export function recordedResults(): ReadonlyMap<string, string> {
  const facts: Facts = {
    parties: 'any',
    // of the participant whose updates were recorded
    ...{ end: 80, pruned: 0, updatesPath: '/v2/updates/flats' },
    sample: bodyOf('flats-all') as readonly unknown[],
  };
  return new Map(
    readingRows.map((row) => {
      const name = exchanges[row.what];
      if (name === undefined) return [row.what, '–'];
      const { status, body } = responseOf(name);
      const response = { status, headers: {}, text: typeof body === 'string' ? body : JSON.stringify(body) };
      const timed = { ...response, ...{ sentAt: 0, receivedAt: 0, tookMs: 0 } };
      const variant = variants.find((each) => row.what === `\`${each}\``);
      const detail = row.differs(timed, facts) ?? (variant === undefined ? undefined : lacks(response.text, variant));
      if (detail === undefined) return [row.what, 'served'];
      return [row.what, isAbsent(timed) ? 'absent' : `differs: ${detail}`];
    }),
  );
}

const lacks = (text: string, variant: string): string | undefined =>
  text.includes(`"${variant}"`) ? undefined : 'no such variant';

const bodyOf = (name: string): unknown => responseOf(name).body;

const responseOf = (name: string): { readonly status: number; readonly body: unknown } => {
  const file = new URL(`../../fixtures/recorded35/${name}.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly response: { status: number; body: unknown } }).response;
};
