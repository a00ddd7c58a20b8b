import * as t from 'io-ts';
import { catchError, merge, of, Subject } from 'rxjs';
import { liveContracts } from '../../src/contracts/index.js';
import { devtoolsPanel } from '../../src/devtools/index.js';
import { contractType, create, createLedger, type Diagnostic } from '../../src/index.js';

/** What the page is given in its address. */
interface World {
  readonly url: string;
  readonly party: string;
  readonly token: string;
}

const { url, party, token } = JSON.parse(decodeURIComponent(location.hash.slice(1))) as World;
const ledger = createLedger({ baseUrl: url, token });
const Asset = contractType('#sandbox-assets:Main:Asset', t.type({ owner: t.string }));

const more$ = new Subject<Diagnostic>();
const panel = devtoolsPanel(document.body, { diagnostics$: merge(ledger.diagnostics$, more$) }).subscribe();
const view = liveContracts(ledger, { types: { asset: Asset }, parties: [party] }).state$.subscribe();

Object.assign(globalThis, {
  submit: (commandId: string, actAs = party) => {
    const commands = [create(Asset, { ...{ amount: '1.0', serial: '1' }, owner: party })];
    ledger
      .submitAndWaitForTransaction({ userId: 'app', actAs: [actAs], commandId, commands })
      .pipe(catchError((error: unknown) => of(error)))
      .subscribe();
  },
  endView: () => {
    view.unsubscribe();
  },
  close: () => {
    panel.unsubscribe();
  },
  report: (text: string) => {
    const feed = 99;
    more$.next({ _tag: 'SubmissionPrepared', submissionId: 's-99', commandId: text, at: 0, feed });
    more$.next({ _tag: 'SubmissionFailed', submissionId: 's-99', at: 0, feed });
    more$.next({ _tag: 'FeedEnded', how: 'failed', error: new Error(text), at: 0, feed, processor: text });
  },
  ready: true,
});
