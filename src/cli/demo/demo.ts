import { catchError, defer, finalize, map, of, switchMap, timeout, type Observable } from 'rxjs';
import { startSandbox } from '../../sandbox/index.js';
import { messageOf } from '../messageOf.js';
import type { Output } from '../World.js';
import { demoScreen } from './demoScreen.js';
import { story } from './story.js';

/** Shows the library at work on a ledger of its own; emits the exit code, once. */
export const demo = (output: Output): Observable<number> =>
  defer(() => {
    // a pipe that is closed early is no failure of the library
    output.on('error', () => undefined);
    const screen = demoScreen(output);
    return defer(() => startSandbox()).pipe(
      switchMap((sandbox) => {
        sandbox.generate(12);
        screen.begin(sandbox.url);
        return story(sandbox, screen).pipe(finalize(() => void sandbox.close()));
      }),
      timeout(30_000),
      map((matches) => {
        const isWhole =
          matches.length === 2 && matches.every(({ committed, seen }) => committed.offset === seen.offset);
        if (!isWhole) throw new Error('the feed does not have what was committed');
        screen.end(matches.length);
        return 0;
      }),
      catchError((error: unknown) => {
        screen.failed(messageOf(error));
        return of(1);
      }),
    );
  });
