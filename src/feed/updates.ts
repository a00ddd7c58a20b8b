import { concatMap, type Observable } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import type { Feed } from './Feed.js';
import type { InvalidUpdate } from './InvalidUpdate.js';
import { steps } from './steps.js';

/** The updates of a feed: a page is emitted before the next step begins, so that none pile up. */
export const updates = (feed: Feed): Observable<Update | InvalidUpdate> =>
  steps(feed).pipe(concatMap(({ page }) => page?.updates ?? []));
