import { BreakpointObserver } from '@angular/cdk/layout';
import { inject, Injectable } from '@angular/core';
import { toSignal } from '@angular/core/rxjs-interop';
import { map } from 'rxjs';

/** The width of the screen. The style sheets have the same limit. */
@Injectable({ providedIn: 'root' })
export class Screen {
  readonly isNarrow = toSignal(
    inject(BreakpointObserver)
      .observe('(max-width: 760px)')
      .pipe(map(({ matches }) => matches)),
    { requireSync: true },
  );
}
