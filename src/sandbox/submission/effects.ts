import type { TemplateRef } from '../wire/WireUpdate.js';

/** A node of a transaction: what a command, or the body of a choice, does to the ledger. */
export type Effect = Creation | Exercised | Fetched;

/** What a node says of its contract. */
export interface ContractFacts {
  /** The id; of a contract that the same transaction creates, without the suffix that the commit adds. */
  readonly contractId: string;
  readonly template: TemplateRef;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
}

/** A contract is created. */
export interface Creation extends ContractFacts {
  readonly kind: 'create';
  readonly createArgument: unknown;
}

/** A choice is exercised. */
export interface Exercised extends ContractFacts {
  readonly kind: 'exercise';
  /** The interface that defines the choice, by package id; `null` if the template does. */
  readonly interfaceId: string | null;
  readonly choice: string;
  readonly choiceArgument: unknown;
  readonly isConsuming: boolean;
  readonly actingParties: readonly string[];
  readonly result: unknown;
  /** What the choice does, in this order. */
  readonly children: readonly Effect[];
}

/** A contract is read. There is no event for it, but it must be active when the transaction commits. */
interface Fetched extends ContractFacts {
  readonly kind: 'fetch';
  readonly actingParties: readonly string[];
}

/** All nodes of transactions, in the order of their execution. */
export function* nodesOf(effects: readonly Effect[]): Generator<Effect, void> {
  for (const effect of effects) {
    yield effect;
    if (effect.kind === 'exercise') yield* nodesOf(effect.children);
  }
}

/** The contracts that a transaction creates. */
export const creationsIn = (effects: readonly Effect[]): readonly Creation[] =>
  [...nodesOf(effects)].filter((effect) => effect.kind === 'create');

/** A contract that a transaction uses, and does not create itself. */
export interface Input {
  readonly contractId: string;
  readonly isConsumed: boolean;
}

/** The contracts that a transaction uses, each once. */
export function inputsOf(effects: readonly Effect[]): readonly Input[] {
  const created = new Set(creationsIn(effects).map(({ contractId }) => contractId));
  const inputs = new Map<string, Input>();
  for (const effect of nodesOf(effects)) {
    const { contractId } = effect;
    if (effect.kind === 'create' || created.has(contractId)) continue;
    // nothing uses a contract after the choice that consumes it
    inputs.set(contractId, { contractId, isConsumed: effect.kind === 'exercise' && effect.isConsuming });
  }
  return [...inputs.values()];
}

/** The parties that must authorize a node. One stakeholder is enough to read a contract. */
interface Requirement {
  readonly parties: readonly string[];
  readonly isMet: boolean;
}

/** Compares what a node requires with the parties that authorize it. */
export function requirementOf(effect: Effect, authority: readonly string[]): Requirement {
  const isGiven = (party: string): boolean => authority.includes(party);
  const { signatories, observers } = effect;
  if (effect.kind === 'fetch') {
    const stakeholders = [...new Set([...signatories, ...observers])];
    return { parties: stakeholders, isMet: stakeholders.some(isGiven) };
  }
  const parties = effect.kind === 'create' ? signatories : effect.actingParties;
  return { parties, isMet: parties.length > 0 && parties.every(isGiven) };
}

/** The parties that authorize what a choice does: those that exercise it, and the signatories of its contract. */
export const authorityIn = ({ actingParties, signatories }: Pick<Exercised, 'actingParties' | 'signatories'>) => [
  ...new Set([...actingParties, ...signatories]),
];
