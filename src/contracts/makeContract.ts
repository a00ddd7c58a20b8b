import { type DecodedPayload, decodePayload, matchType } from '../codecs/decodePayload.js';
import type { CreatedEvent, ViewStatus } from '../codecs/Event.js';
import type { Problem } from '../codecs/Problem.js';
import type { Int64, Offset, Timestamp } from '../codecs/scalars.js';
import { DecodeError } from '../errors/feed.js';
import type { AnyContract, ContractFacts, ContractLocation, ContractTypes, UndecodedContract } from './Contract.js';
import type { MakeContract } from './ContractsFold.js';

/**
 * Makes the contracts of a query. A contract gets the first type that it matches; without types, no payload is
 * validated. The payload is decoded once, when it is first read.
 *
 * @param onUndecoded - called if a payload cannot be decoded
 */
export function makeContract(
  types: ContractTypes = {},
  onUndecoded?: (contract: UndecodedContract) => void,
): MakeContract<AnyContract> {
  const kinds = Object.entries(types).map(([name, type]) => ({
    matches: matchType(type),
    nameOf: () => name,
    decode: (created: CreatedEvent) => decodePayload(type, created),
    onUndecoded,
  }));
  return (created, location, reassignmentCounter) => {
    const kind = kinds.length === 0 ? anyKind : kinds.find(({ matches }) => matches(created));
    return kind && lazyContract(kind, created, location, reassignmentCounter);
  };
}

/** Throws a `DecodeError` if a contract cannot be decoded. The path of the error is the template. */
export function assertDecoded(contract: AnyContract): void {
  if (contract._tag === 'UndecodedContract')
    throw new DecodeError(contract.templateId, contract.problems, contract.offset);
}

/** How to decode the contracts of a type. */
interface Kind {
  readonly nameOf: (created: CreatedEvent) => string;
  readonly decode: (created: CreatedEvent) => DecodedPayload;
  readonly onUndecoded?: ((contract: UndecodedContract) => void) | undefined;
}

const anyKind: Kind = {
  nameOf: ({ packageName, templateId }) => `#${packageName}${templateId.slice(templateId.indexOf(':'))}`,
  decode: ({ createArgument }) => ({ ok: true, payload: createArgument }),
};

// only reading the properties shows whether they are those of a Contract or of an UndecodedContract
function lazyContract(...args: ConstructorParameters<typeof LazyContract>): AnyContract;
function lazyContract(...args: ConstructorParameters<typeof LazyContract>): object {
  return new LazyContract(...args);
}

/** A contract that is decoded when it is read. Most of its properties are getters, so it takes little memory. */
class LazyContract implements ContractFacts {
  readonly #kind: Kind;
  #decoded: DecodedPayload | undefined;

  constructor(
    kind: Kind,
    readonly createdEvent: CreatedEvent,
    readonly location: ContractLocation,
    readonly reassignmentCounter: Int64,
  ) {
    this.#kind = kind;
  }

  get _tag(): AnyContract['_tag'] {
    return this.#decode().ok ? 'Contract' : 'UndecodedContract';
  }

  get type(): string | undefined {
    return this.#decode().ok ? this.#name : undefined;
  }

  get payload(): unknown {
    const decoded = this.#decode();
    return decoded.ok ? decoded.payload : undefined;
  }

  get expectedType(): string | undefined {
    return this.#decode().ok ? undefined : this.#name;
  }

  get argument(): unknown {
    const decoded = this.#decode();
    return decoded.ok ? undefined : decoded.argument;
  }

  get problems(): readonly Problem[] | undefined {
    const decoded = this.#decode();
    return decoded.ok ? undefined : decoded.problems;
  }

  get viewStatus(): ViewStatus | undefined {
    const decoded = this.#decode();
    return decoded.ok ? undefined : decoded.viewStatus;
  }

  get contractId(): string {
    return this.createdEvent.contractId;
  }

  get offset(): Offset {
    return this.createdEvent.offset;
  }

  get createdAt(): Timestamp {
    return this.createdEvent.createdAt;
  }

  get templateId(): string {
    return this.createdEvent.templateId;
  }

  get packageName(): string {
    return this.createdEvent.packageName;
  }

  get signatories(): readonly string[] {
    return this.createdEvent.signatories;
  }

  get observers(): readonly string[] {
    return this.createdEvent.observers;
  }

  /** Returns a plain object with all properties. */
  toJSON(): object {
    const { ok, ...decoded } = this.#decode();
    const { createdEvent, location, reassignmentCounter } = this;
    const { contractId, offset, createdAt, templateId, packageName, signatories, observers } = createdEvent;
    return {
      _tag: this._tag,
      [ok ? 'type' : 'expectedType']: this.#name,
      ...decoded,
      ...{ contractId, location, reassignmentCounter, offset, createdAt },
      ...{ templateId, packageName, signatories, observers, createdEvent },
    };
  }

  get #name(): string {
    return this.#kind.nameOf(this.createdEvent);
  }

  #decode(): DecodedPayload {
    if (this.#decoded !== undefined) return this.#decoded;
    this.#decoded = this.#kind.decode(this.createdEvent);
    if (!this.#decoded.ok) this.#kind.onUndecoded?.(undecoded(this));
    return this.#decoded;
  }
}

function undecoded(contract: LazyContract): UndecodedContract;
function undecoded(contract: LazyContract): object {
  return contract;
}
