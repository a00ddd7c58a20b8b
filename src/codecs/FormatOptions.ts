import type { Party } from './Party.js';
import type { TemplateId } from './TemplateId.js';

/** What {@link acsDelta} and {@link ledgerEffects} take. */
export interface FormatOptions {
  /** Whose updates, of one party at least; `'any'` for every party of the participant, which the token's user must be allowed to read as. */
  readonly parties: readonly Party[] | 'any';
  /** Contracts of these templates, `#package-name:Module:Entity`. Default: of all, unless `interfaces` are given. */
  readonly templates?: readonly TemplateId[];
  /** Contracts that implement these interfaces, `#package-name:Module:Entity`, with their views. Default: none. */
  readonly interfaces?: readonly TemplateId[];
  /** Whether created events carry the blob for explicit disclosure. Default: false. */
  readonly includeCreatedEventBlob?: boolean;
  /** Whether created events carry the views of the `interfaces`. Default: true. */
  readonly includeInterfaceView?: boolean;
  /** Whether gRPC values carry labels and type ids; JSON does not change by it. Default: false. */
  readonly verbose?: boolean;
  /** Whether reassignments are asked for. Default: true. */
  readonly reassignments?: boolean;
  /** Whether changes of the parties' hosting are asked for. Default: true. */
  readonly topology?: boolean;
}
