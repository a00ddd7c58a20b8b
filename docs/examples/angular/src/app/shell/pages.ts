import { Injectable } from '@angular/core';
import { toSignal } from '@angular/core/rxjs-interop';
import { fromEvent, map, startWith } from 'rxjs';

export type PageName = 'updates' | 'contracts';

/** What the shell needs of a page. */
export interface FocusablePage {
  /** Takes the focus from a panel that closes. */
  focus(): void;
  /** Whether it keeps the focus while it chooses what the panel shows. */
  hasFocus(): boolean;
}

/** The page in the address: `#updates` or `#contracts`. A page may keep its own state after a `?` there. */
@Injectable({ providedIn: 'root' })
export class Pages {
  readonly current = toSignal(
    fromEvent(window, 'hashchange').pipe(
      startWith(undefined),
      map(() => pageIn(location.hash)),
    ),
    { requireSync: true },
  );
}

const pageIn = (hash: string): PageName => (/^#contracts\b/.test(hash) ? 'contracts' : 'updates');
