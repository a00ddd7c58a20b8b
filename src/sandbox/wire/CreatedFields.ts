import type { TemplateRef } from '../ledger/TemplateRef.js';
import type { WireInterfaceView } from './WireInterfaceView.js';

/** What a contract is made of; the rest of its event follows. */
export interface CreatedFields {
  readonly offset: number;
  readonly nodeId: number;
  readonly contractId: string;
  readonly template: TemplateRef;
  readonly createArgument: unknown;
  readonly signatories: readonly string[];
  readonly observers?: readonly string[];
  readonly createdAt: string;
  readonly interfaceViews?: readonly WireInterfaceView[];
  readonly acsDelta?: boolean;
}
