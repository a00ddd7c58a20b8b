import { auditTime, fromEvent, ignoreElements, map, merge, type Observable, startWith, tap, using } from 'rxjs';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import { Activity } from './Activity.js';
import { Panel } from './Panel.js';

/** How often the panel is drawn at most, in milliseconds. */
const drawnEveryMs = 200;

/**
 * Shows what a ledger client does, while it is subscribed to: feeds, views, submissions, positions and the last errors. It knows
 * what was reported since then. Needs no framework. Its colors are those of the page's `color-scheme`.
 *
 * It shows no token, no signature and no payload, and text of the ledger is never HTML.
 *
 * @param element - the element at whose end the panel is added. Unsubscribe to remove the panel
 * @param ledger - the ledger, or another source of diagnostics
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { defer, switchMap } from 'rxjs';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 *
 * export const panel$ = defer(() => import('canton-rx/devtools')).pipe(
 *   switchMap(({ devtoolsPanel }) => devtoolsPanel(document.body, ledger)),
 * );
 * ```
 *
 * @category Diagnostics
 */
export const devtoolsPanel = (
  element: Element,
  ledger: { readonly diagnostics$: Observable<Diagnostic> },
): Observable<never> =>
  using(
    () => new Panel(element),
    (resource) => {
      const panel = resource as Panel;
      const activity = new Activity();
      return merge(
        ledger.diagnostics$.pipe(
          tap((diagnostic) => {
            activity.add(diagnostic);
          }),
          auditTime(drawnEveryMs),
        ),
        fromEvent(panel.clear, 'click').pipe(
          tap(() => {
            activity.clear();
          }),
        ),
      ).pipe(
        startWith(undefined),
        map(() => {
          panel.draw(activity);
        }),
        ignoreElements(),
      );
    },
  );
