import type * as t from 'io-ts';
import { Empty } from './Empty.js';
import { exact } from './internal/exact.js';
import { flag } from './internal/flag.js';
import { keyed } from './internal/keyed.js';
import { valued } from './internal/valued.js';
import { withDefault } from './internal/withDefault.js';
import type { Opt } from './Opt.js';
import { TemplateId } from './TemplateId.js';

/** Contracts of every template. */
export interface WildcardFilter {
  /** Whether created events carry the blob for explicit disclosure. Default: false. */
  readonly includeCreatedEventBlob?: Opt<boolean>;
}

/** Contracts of one template. */
export interface TemplateFilter {
  /** `#package-name:Module:Entity`. */
  readonly templateId: TemplateId;
  /** Whether created events carry the blob for explicit disclosure. Default: false. */
  readonly includeCreatedEventBlob?: Opt<boolean>;
}

/** Contracts whose template implements an interface. */
export interface InterfaceFilter {
  /** `#package-name:Module:Entity`. */
  readonly interfaceId: TemplateId;
  /** Whether created events carry the interface's view. Default: false. */
  readonly includeInterfaceView?: Opt<boolean>;
  /** Whether created events carry the blob for explicit disclosure. Default: false. */
  readonly includeCreatedEventBlob?: Opt<boolean>;
}

/** Which contracts a filter takes, as the wire writes it. `Empty` takes as many as the wildcard. */
export type IdentifierFilter =
  | {
      /** All contracts. */
      readonly WildcardFilter: {
        /** What of them. */
        readonly value: WildcardFilter;
      };
    }
  | {
      /** Contracts of a template. */
      readonly TemplateFilter: {
        /** Which template, and what of its contracts. */
        readonly value: TemplateFilter;
      };
    }
  | {
      /** Contracts that implement an interface. */
      readonly InterfaceFilter: {
        /** Which interface, and what of the contracts. */
        readonly value: InterfaceFilter;
      };
    }
  | {
      /** All contracts; as a wildcard that asks for no blobs. */
      readonly Empty: Empty;
    };

const unlessSaid = withDefault(flag, false);

/** Codec of `IdentifierFilter`. */
export const IdentifierFilter: t.Type<IdentifierFilter, unknown> = keyed<IdentifierFilter>('IdentifierFilter', {
  WildcardFilter: valued(exact<WildcardFilter>('WildcardFilter', { includeCreatedEventBlob: unlessSaid })),
  TemplateFilter: valued(
    exact<TemplateFilter>('TemplateFilter', { templateId: TemplateId, includeCreatedEventBlob: unlessSaid }),
  ),
  InterfaceFilter: valued(
    exact<InterfaceFilter>('InterfaceFilter', {
      interfaceId: TemplateId,
      includeInterfaceView: unlessSaid,
      includeCreatedEventBlob: unlessSaid,
    }),
  ),
  Empty,
});
