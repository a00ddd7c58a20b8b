import { inject, Injectable } from '@angular/core';
import { Route } from './route';

export type PageName = 'updates' | 'contracts' | 'commands';

/** What the shell needs of a page. */
export interface FocusablePage {
  /** Takes the focus from a panel that closes. */
  focus(): void;
  /** Whether it keeps the focus while it chooses what the panel shows. */
  hasFocus(): boolean;
}

/** The page in the address: `#updates`, `#contracts` or `#commands`. */
@Injectable({ providedIn: 'root' })
export class Pages {
  readonly current = inject(Route).page;
}
