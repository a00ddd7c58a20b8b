import type * as t from 'io-ts';
import { exact } from './internal/exact.js';
import { nullable } from './internal/nullable.js';
import { text } from './internal/text.js';
import { withDefault } from './internal/withDefault.js';
import type { Opt } from './Opt.js';
import { TemplateId } from './TemplateId.js';

/** A contract that the participant may not know, shown to it for one submission. */
export interface DisclosedContract {
  /** The contract's template. */
  readonly templateId?: Opt<TemplateId>;
  /** The contract. */
  readonly contractId: string;
  /** The `createdEventBlob` of its creation, base64. */
  readonly createdEventBlob: string;
  /** The synchronizer it is on. Default: empty, unknown. */
  readonly synchronizerId?: Opt<string>;
}

/** Codec of `DisclosedContract`. */
export const DisclosedContract: t.Type<DisclosedContract, unknown> = exact<DisclosedContract>('DisclosedContract', {
  templateId: nullable(TemplateId),
  contractId: text,
  createdEventBlob: text,
  synchronizerId: withDefault(text, ''),
});
