import type { TemplateRef } from '../ledger/TemplateRef.js';

/** What the bytes of a prepared transaction say. Times are in microseconds since the epoch. */
export interface Prepared {
  readonly commandId: string;
  readonly party: string;
  readonly synchronizerId: string;
  readonly preparationTime: number;
  readonly minLedgerTime: number | undefined;
  readonly maxRecordTime: number | undefined;
  readonly effect: Effect;
}

/** What the one root node does. */
export type Effect =
  | {
      readonly kind: 'create';
      readonly contractId: string;
      readonly template: TemplateRef;
      readonly createArgument: unknown;
      readonly signatories: readonly string[];
      readonly observers: readonly string[];
    }
  | { readonly kind: 'archive'; readonly contractId: string };
