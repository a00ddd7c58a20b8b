import type * as t from 'io-ts';
import { exact } from './internal/exact.js';
import { json } from './internal/json.js';
import { TemplateId } from './TemplateId.js';

/** A contract key that the submission will look up, fetched beforehand to save time. */
export interface PrefetchContractKey {
  /** The template that has the key. */
  readonly templateId: TemplateId;
  /** The key as Daml JSON. */
  readonly contractKey: unknown;
}

/** Codec of `PrefetchContractKey`. */
export const PrefetchContractKey: t.Type<PrefetchContractKey, unknown> = exact<PrefetchContractKey>(
  'PrefetchContractKey',
  { templateId: TemplateId, contractKey: json },
);
