import { describe, expect } from '@jest/globals';
import { type Observable, of, takeUntil, timer } from 'rxjs';
import { activeContracts, contractChanges, liveContracts } from '../../src/contracts/index.js';
import { logTo } from '../../src/diagnostics/logTo.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import type { Ledger } from '../../src/ledger/Ledger.js';
import { observe } from '../helpers/observe.js';
import { itInVirtualTime } from '../helpers/time.js';
import { contractsWorld } from '../helpers/virtualContracts.js';
import { errorBody } from '../helpers/wire.js';
import { create, marbles as query } from './joinSupport.js';

const denied = { status: 403, headers: {}, text: JSON.stringify(errorBody('PERMISSION_DENIED', 7)) };

const uses: readonly [string, (ledger: Ledger) => Observable<unknown>][] = [
  ['activeContracts', (ledger) => activeContracts(ledger, query)],
  ['contractChanges', (ledger) => contractChanges(ledger, query)],
  ['liveContracts', (ledger) => liveContracts(ledger, query).all$()],
];

/** The ends that are reported, and the error lines. */
function endOf(ledger: Ledger, use: (ledger: Ledger) => Observable<unknown>): { ends: unknown[]; errors: string[] } {
  const ends: unknown[] = [];
  const errors: string[] = [];
  const skip = (): void => undefined;
  ledger.diagnostics$.subscribe(logTo({ info: skip, warn: skip, error: (line) => errors.push(line) }));
  ledger.diagnostics$.subscribe((diagnostic) => {
    if (diagnostic._tag === 'FeedEnded') ends.push({ feed: diagnostic.feed, how: diagnostic.how });
  });
  observe(use(ledger).pipe(takeUntil(timer(60_000))));
  return { ends, errors };
}

describe.each(uses)('the end of %s', (name, use) => {
  itInVirtualTime('is reported and logged once if the participant refuses the snapshot', ({ flush }) => {
    const ledger = createLedger({
      baseUrl: 'http://ledger.example',
      port: ({ url }) => of(url.includes('ledger-end') ? { status: 200, headers: {}, text: '{"offset":9}' } : denied),
    });
    const { ends, errors } = endOf(ledger, use);
    flush();
    expect(ends).toEqual([{ feed: 1, how: 'failed' }]);
    expect(errors).toEqual([expect.stringContaining('feed 1: ended with an error: ledger.example answered 403')]);
  });

  itInVirtualTime('is reported once if nothing fails', ({ flush }) => {
    const { client } = contractsWorld({ latencyMs: 5 });
    const { ends, errors } = endOf(client, use);
    flush();
    expect(ends).toEqual([{ feed: 1, how: name === 'activeContracts' ? 'completed' : 'unsubscribed' }]);
    expect(errors).toEqual([]);
  });
});

describe('a gap after which a view continues', () => {
  itInVirtualTime('is logged as a gap, and not as an end', ({ flush }) => {
    const { participant, client } = contractsWorld({ latencyMs: 5 });
    participant.append(create(2, 'a'));
    const warnings: string[] = [];
    const skip = (): void => undefined;
    client.diagnostics$.subscribe(logTo({ info: skip, warn: (line) => warnings.push(line), error: skip }));
    const { ends, errors } = endOf(client, (ledger) => liveContracts(ledger, query).all$());
    timer(1_000).subscribe(() => {
      participant.ledger.disconnect();
      participant.append(create(6, 'b'));
      participant.ledger.pruned = 5;
    });
    flush();
    expect(errors).toEqual([]);
    expect(warnings.at(-1)).toMatch(/^canton-rx: feed 1: The ledger is pruned .*, resumes after offset 6$/);
    expect(ends).toEqual([{ feed: 1, how: 'unsubscribed' }]);
  });
});
