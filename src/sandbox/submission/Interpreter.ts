import { randomUUID } from 'node:crypto';
import { type RequestError, requestError } from '../errors.js';
import type { Contract } from '../ledger/ContractHistory.js';
import { packageOf, type Packages } from '../ledger/Packages.js';
import { normalize } from '../prepared/values.js';
import type { Models } from '../templates/Models.js';
import type { ModelContract, ModelLedger, ReadContract } from '../templates/TemplateModel.js';
import { sha256 } from '../wire/values.js';
import type { TemplateRef, WireCreatedEvent } from '../wire/WireUpdate.js';
import { authorityIn, type Effect, requirementOf } from './effects.js';
import {
  contractError,
  interpretationError,
  keyNotFound,
  noKey,
  notFound,
  preconditionViolated,
  unknownChoice,
  wrongType,
} from './interpretationErrors.js';
import { readAs } from './readAs.js';
import { typeRecord } from './typeCommands.js';

/** The ledger as a submission sees it. */
export interface InterpretationContext {
  readonly actAs: readonly string[];
  readonly packages: Packages;
  readonly models: Models;
  /** The ids of packages that the submission prefers to the newest versions. */
  readonly preferred: readonly string[];
  /** The ledger time of the transaction. */
  readonly time: string;
  /** Finds the contract with an id, if the submission sees it. */
  readonly findContract: (contractId: string) => Contract | undefined;
  /** Finds the contracts with a key that the submission sees, the newest one first. */
  readonly findByKey: (keyHash: string) => Iterable<Contract>;
}

/** Where effects happen: at the root of a transaction, or in the body of a choice. */
interface Scope {
  readonly authority: readonly string[];
  readonly effects: Effect[];
  /** The ids of packages that their names select here: first that of the body, which knows its own version alone. */
  readonly preferred: readonly string[];
  isOver: boolean;
}

/** Runs the commands of one transaction: checks what each node requires, and calls the bodies of choices. */
export class Interpreter {
  readonly effects: Effect[] = [];
  /** The contracts that the transaction uses, and does not create itself. */
  readonly inputs = new Map<string, Contract>();
  /** The contracts that the transaction creates, in this order. */
  readonly #created = new Map<string, ModelContract>();
  readonly #consumed = new Set<string>();
  readonly #root: Scope;
  #nodes = 0;
  /** The first error. A body that catches it cannot undo it. */
  #failure: RequestError | undefined;

  constructor(private readonly context: InterpretationContext) {
    const { preferred } = context;
    this.#root = { authority: [...new Set(context.actAs)], effects: this.effects, preferred, isOver: false };
  }

  /** The ledger for the commands. A body reads the contract with a key instead of exercising a choice by the key. */
  get root() {
    const exerciseByKey = this.guarded(
      this.#root,
      (templateId: string, key: unknown, choice: string, argument: unknown) =>
        this.exercise(this.#root, templateId, this.findByKey(templateId, key).contractId, choice, argument),
    );
    return { ...this.ledgerIn(this.#root), exerciseByKey };
  }

  /** After an error, or after the end of its scope, nothing happens any more. */
  private guarded<P extends readonly unknown[], R>(
    scope: Scope,
    work: (...parameters: P) => R,
  ): (...parameters: P) => R {
    return (...parameters) => {
      try {
        this.rethrow();
        if (scope.isOver) throw new Error('The choice is over: its body must be synchronous');
        const result = work(...parameters);
        this.rethrow();
        return result;
      } catch (error) {
        this.#failure ??= interpretationError(error);
        throw this.#failure;
      }
    };
  }

  private rethrow(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** The ledger for what happens in a scope. */
  private ledgerIn(scope: Scope): ModelLedger {
    return {
      time: this.context.time,
      create: this.guarded(scope, (templateId, createArgument) => {
        const template = this.context.packages.resolve(templateId, 'template', scope.preferred);
        const model = this.context.models.of(template);
        const typed = typeRecord(createArgument, model, template.id);
        const { isValid, ...parties } = model.describe(typed, scope.authority);
        if (!isValid) throw preconditionViolated(template.id);
        return this.create(scope, template, typed, parties);
      }),
      createFor: this.guarded(scope, (template, createArgument, parties) => {
        const typed = typeRecord(createArgument, this.context.models.of(template), template.id);
        return this.create(scope, template, typed, parties);
      }),
      exercise: this.guarded(scope, (...parameters) => this.exercise(scope, ...parameters)),
      fetch: this.guarded(scope, (typeId, contractId) => this.read(scope, typeId, this.find(contractId))),
      fetchByKey: this.guarded(scope, (templateId, key) =>
        this.read(scope, templateId, this.findByKey(templateId, key)),
      ),
      lookupByKey: this.guarded(scope, (templateId, key) => this.lookUpKey(templateId, key)?.contractId),
      archive: this.guarded(scope, (contractId) => {
        const { id, packageName } = this.find(contractId).template;
        const typeId = `#${packageName}${id.slice(packageOf(id).length)}`;
        this.exercise(scope, typeId, contractId, 'Archive', {});
      }),
    };
  }

  private create(
    scope: Scope,
    template: TemplateRef,
    createArgument: unknown,
    parties: Pick<ModelContract, 'signatories' | 'observers'>,
  ): string {
    const contract: ModelContract = { contractId: newContractId(), template, createArgument, ...parties };
    this.add(scope, { kind: 'create', ...contract }, this.#nodes++);
    this.#created.set(contract.contractId, contract);
    return contract.contractId;
  }

  private exercise(scope: Scope, typeId: string, contractId: string, choice: string, argument: unknown): unknown {
    const { interfaceId, ...contract } = this.readBy(scope, typeId, this.find(contractId));
    const { template, signatories, observers } = contract;
    const model = this.context.models.findChoice(template, interfaceId ?? template.id, choice);
    if (model === undefined) throw unknownChoice(choice, template.id);
    const { isConsuming } = model;
    const choiceArgument = typeRecord(argument, model, template.id);
    const actingParties = model.controllers(contract, choiceArgument, scope.authority);
    const facts = { contractId, template, signatories, observers, interfaceId, choice, choiceArgument, isConsuming };
    const preferred = [packageOf(template.id), ...this.context.preferred];
    const body: Scope = {
      authority: authorityIn({ actingParties, signatories }),
      effects: [],
      preferred,
      isOver: false,
    };
    const exercised = { kind: 'exercise', ...facts, actingParties, children: body.effects } as const;
    this.checkAuthority({ ...exercised, result: undefined }, scope, this.#nodes++);
    if (isConsuming) this.#consumed.add(contractId);
    const result = normalize(model.exercise(contract, choiceArgument, this.ledgerIn(body)));
    body.isOver = true;
    scope.effects.push({ ...exercised, result });
    return result;
  }

  private read(scope: Scope, typeId: string, found: ModelContract): ReadContract {
    const { interfaceId, ...contract } = this.readBy(scope, typeId, found);
    const { contractId, template, signatories, observers, createArgument } = contract;
    const actingParties = [...signatories, ...observers].filter((party) => scope.authority.includes(party));
    const fetched = { kind: 'fetch', contractId, template, signatories, observers, actingParties } as const;
    this.add(scope, fetched, this.#nodes++);
    const instance = interfaceId === null ? undefined : this.context.models.findInstance(template, interfaceId);
    return { ...contract, payload: instance === undefined ? createArgument : instance.view(createArgument) };
  }

  /** Finds an active contract: of this transaction, or of the ledger. */
  private find(contractId: string): ModelContract {
    if (this.#consumed.has(contractId))
      throw contractError('CONTRACT_NOT_ACTIVE', 'Contract is not active', contractId);
    const created = this.#created.get(contractId);
    if (created !== undefined) return created;
    const input = this.context.findContract(contractId);
    if (input === undefined) throw notFound(contractId);
    this.inputs.set(contractId, input);
    return modelContract(input.created);
  }

  private findByKey(templateId: string, key: unknown): ModelContract {
    const found = this.lookUpKey(templateId, key);
    if (found === undefined) throw keyNotFound(this.context.packages.resolve(templateId).id);
    return found;
  }

  /** Finds the newest active contract with a key that the submission sees. */
  private lookUpKey(templateId: string, key: unknown): ModelContract | undefined {
    const { models, packages, findByKey } = this.context;
    const template = packages.resolve(templateId);
    if (models.of(template).key === undefined) throw noKey(template.id);
    const hash = models.hashOf(template, key);
    const isActive = ({ contractId }: ModelContract): boolean => !this.#consumed.has(contractId);
    const own = [...this.#created.values()]
      .filter(
        (contract) => isActive(contract) && models.keyOf(contract.template, contract.createArgument)?.hash === hash,
      )
      .at(-1);
    if (own !== undefined) return own;
    for (const input of findByKey(hash)) {
      const contract = modelContract(input.created);
      if (!isActive(contract)) continue;
      this.inputs.set(contract.contractId, input);
      return contract;
    }
    return undefined;
  }

  /**
   * Reads a contract by its template or by an interface: as the version of the template that they select. Rejects a contract
   * that is of another type.
   */
  private readBy({ preferred }: Scope, typeId: string, contract: ModelContract): TypedContract {
    const { packages, models } = this.context;
    const { contractId, template } = contract;
    const version = packages.versionFor(typeId, template, preferred);
    const instance = models.findInstance(version, typeId);
    if (instance === undefined && !packages.isSameTemplate(typeId, template)) {
      const isInterface = packages.has(typeId, 'interface') && !packages.has(typeId, 'template');
      throw wrongType(contractId, template.id, isInterface ? typeId : undefined);
    }
    const interfaceId = instance === undefined ? null : packages.resolve(instance.interfaceId, 'interface').id;
    return { ...readAs(contract, version, models.of(version)), interfaceId };
  }

  private add(scope: Scope, effect: Effect, node: number): void {
    this.checkAuthority(effect, scope, node);
    scope.effects.push(effect);
  }

  private checkAuthority(effect: Effect, { authority }: Scope, node: number): void {
    const { parties, isMet } = requirementOf(effect, authority);
    if (isMet) return;
    const subject = `node NodeId(${node})${effect.kind === 'fetch' ? '' : ` (${effect.template.id})`}`;
    const given = authority.join(',');
    const reason = {
      create: `requires authorizers ${parties.join(',')}, but only ${given} were given`,
      exercise: `requires authorizers ${parties.join(',')}, but only ${given} were given`,
      fetch: `requires one of the stakeholders Set(${parties.join(', ')}) of the fetched contract to be an authorizer, but authorizers were Set(${given})`,
    }[effect.kind];
    const none = { create: 'has no signatories', exercise: 'has no controllers', fetch: reason }[effect.kind];
    const problem = parties.length === 0 ? none : reason;
    throw requestError('DAML_AUTHORIZATION_ERROR', `Interpretation error: Error: ${subject} ${problem}`);
  }
}

/** A contract, and the id of the interface by which it is used; `null` if it is used by its template. */
interface TypedContract extends ModelContract {
  readonly interfaceId: string | null;
}

/** A contract id without the suffix that the commit adds. */
const newContractId = (): string => `00${sha256('contract', randomUUID())}`;

function modelContract(created: WireCreatedEvent): ModelContract {
  const { contractId, templateId: id, packageName, createArgument, signatories, observers } = created;
  return { contractId, template: { id, packageName }, createArgument, signatories, observers };
}
