import type { Provider } from '@angular/core';

/** What {@link provideLedger} is told beside its options; made by functions that begin with `with`. */
export interface LedgerFeature {
  /** What the feature is made of. */
  readonly providers: readonly Provider[];
}
