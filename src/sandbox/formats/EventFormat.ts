import type { IdentifierFilter } from './IdentifierFilter.js';

/** Whose events are asked for, and which. */
export interface EventFormat {
  readonly byParty: ReadonlyMap<string, readonly IdentifierFilter[]>;
  readonly anyParty?: readonly IdentifierFilter[] | undefined;
}
