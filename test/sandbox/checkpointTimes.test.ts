import { map } from 'rxjs';
import { createSandbox } from '../../src/sandbox/index.js';
import { itInVirtualTime } from '../helpers/time.js';

itInVirtualTime(
  'a checkpoint that is due when an update is committed comes after the update, whose time it has',
  ({ expectObservable, hot }) => {
    const sandbox = createSandbox();
    const body = JSON.stringify({
      beginExclusive: 0,
      updateFormat: {
        includeTransactions: {
          transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA',
          eventFormat: { filtersForAnyParty: {} },
        },
      },
    });
    const url = `${sandbox.url}/v2/updates?limit=1&stream_idle_timeout_ms=700`;
    const answer$ = sandbox
      .port({ method: 'POST', url, headers: {}, body })
      .pipe(map(({ text }) => Object.keys((JSON.parse(text) as { update: object }[])[0]?.update ?? {})));
    hot('500ms a').subscribe(() => sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: {} }] } } }));
    expectObservable(answer$).toBe('500ms (a|)', { a: ['Transaction'] });
  },
);
