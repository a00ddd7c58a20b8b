import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import * as t from 'io-ts';
import { type Command, contractType, create, createAndExercise, exercise } from '../../../src/index.js';
import { createSandbox, type Sandbox, template, type TemplateLedger } from '../../../src/sandbox/index.js';
import { at, keys, listAt, textAt } from '../client.js';
import { acsDelta, anyParty, forParty, ledgerEffects, wildcard } from '../requests.js';
import { type Answer, ask } from './market.js';

// Random contracts, whose choices do random things, some of which nobody authorizes.

/** What a choice does: the steps of its argument. `on` chooses among the contracts that it knows. */
type Step =
  | { readonly do: 'create'; readonly signatories: readonly string[]; readonly observers: readonly string[] }
  | { readonly do: 'run' | 'end'; readonly on: number; readonly by: readonly string[]; readonly steps: readonly Step[] }
  | { readonly do: 'fetch'; readonly on: number }
  | { readonly do: 'archive'; readonly on: number }
  | { readonly do: 'throw' };

const Steps: t.Type<readonly Step[]> = t.array(t.any) as never;

const Any = contractType('#laws:Laws:Any', t.type({ signatories: t.array(t.string), observers: t.array(t.string) }), {
  choices: {
    Run: {
      argument: t.type({ by: t.array(t.string), steps: Steps, known: t.array(t.string) }),
      result: t.array(t.string),
    },
    End: {
      argument: t.type({ by: t.array(t.string), steps: Steps, known: t.array(t.string) }),
      result: t.array(t.string),
    },
  },
});

/** Does the steps, and returns the contracts that are known afterwards. */
const perform = (steps: readonly Step[], known: readonly string[], ledger: TemplateLedger): string[] =>
  steps.reduce<string[]>(
    (ids, step) => {
      if (step.do === 'throw') throw new Error('as planned');
      if (step.do === 'create')
        return [...ids, ledger.create(Any, { signatories: [...step.signatories], observers: [...step.observers] })];
      const id = ids[step.on % ids.length];
      if (id === undefined) return ids;
      if (step.do === 'fetch') ledger.fetch(Any, id);
      else if (step.do === 'archive') ledger.archive(id);
      else {
        const argument = { by: [...step.by], steps: step.steps, known: ids };
        return ledger.exercise(Any, id, step.do === 'run' ? 'Run' : 'End', argument);
      }
      return ids;
    },
    [...known],
  );

const any = template(Any, {
  signatories: ({ payload }) => payload.signatories,
  observers: ({ payload }) => payload.observers,
  choices: {
    Run: {
      consuming: false,
      controllers: (_contract, { by }) => by,
      exercise: (_contract, { steps, known }, ledger) => perform(steps, known, ledger),
    },
    End: {
      controllers: (_contract, { by }) => by,
      exercise: (_contract, { steps, known }, ledger) => perform(steps, known, ledger),
    },
  },
});

const hints = ['ada', 'ben', 'cleo'] as const;

const someParties = fc.subarray([...hints], { minLength: 1 });

const { step } = fc.letrec<{ readonly step: Step }>((tie) => ({
  step: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'steps' },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('create' as const),
        signatories: someParties,
        observers: fc.subarray([...hints]),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('fetch' as const, 'archive' as const), on: fc.nat(20) }) },
    { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'throw' }) },
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constantFrom('run' as const, 'end' as const),
        on: fc.nat(20),
        by: someParties,
        steps: fc.array(tie('step'), { maxLength: 4, depthIdentifier: 'steps' }),
      }),
    },
  ),
}));

/** A submission: its parties, and what each command does, as a step that the client takes itself. */
const submission = fc.record({
  actAs: fc.oneof({ weight: 1, arbitrary: someParties }, { weight: 3, arbitrary: fc.constant([...hints]) }),
  readAs: fc.subarray([...hints]),
  steps: fc.array(step, { minLength: 1, maxLength: 3 }),
});

/** What the parties of a plan are called on a sandbox. */
const named = <A>(plan: A, names: ReadonlyMap<string, string>): A =>
  JSON.parse(JSON.stringify(plan), (_, value: unknown) =>
    typeof value === 'string' ? (names.get(value) ?? value) : value,
  ) as A;

/** The commands of a submission, on contracts that are known. */
function commandsOf(steps: readonly Step[], known: readonly string[]): readonly Command[] {
  return steps.flatMap((one): readonly Command[] => {
    if (one.do === 'create') return [create(Any, { signatories: [...one.signatories], observers: [...one.observers] })];
    if (one.do === 'throw' || one.do === 'fetch') return [];
    const id = known[one.on % known.length];
    if (one.do === 'archive') return id === undefined ? [] : [exercise(Any.Archive, id, {})];
    const argument = { by: [...one.by], steps: one.steps, known: [...known] };
    const choice = one.do === 'run' ? Any.Run : Any.End;
    return id === undefined
      ? [createAndExercise(Any, { signatories: [...one.by], observers: [] }, choice, argument)]
      : [exercise(choice, id, argument)];
  });
}

/** The active contracts that a party sees. */
const activeFor = (sandbox: Sandbox, party: string): ReadonlySet<string> =>
  new Set(
    listAt(
      ask(sandbox, '/v2/state/active-contracts', {
        activeAtOffset: sandbox.ledgerEnd,
        eventFormat: forParty(party, wildcard()),
      }).json,
    ).map((entry) => textAt(entry, 'contractEntry', 'JsActiveContract', 'createdEvent', 'contractId')),
  );

/** The events of all transactions, as a party sees them. */
function transactions(sandbox: Sandbox, transactionFormat: unknown): readonly (readonly unknown[])[] {
  if (sandbox.ledgerEnd === 0) return [];
  const body = {
    beginExclusive: 0,
    endInclusive: sandbox.ledgerEnd,
    updateFormat: { includeTransactions: transactionFormat },
  };
  return listAt(ask(sandbox, '/v2/updates', body).json).map((update) =>
    listAt(update, 'update', 'Transaction', 'value', 'events'),
  );
}

const partOf = (event: unknown): readonly [kind: string, value: unknown] => {
  const [kind = ''] = keys(event);
  return [kind, at(event, kind)];
};

/** The contracts that are active after transactions of the ACS-delta shape. */
function foldDelta(all: readonly (readonly unknown[])[]): ReadonlySet<string> {
  const active = new Set<string>();
  for (const [kind, value] of all.flat().map(partOf)) {
    const id = textAt(value, 'contractId');
    if (kind === 'CreatedEvent') active.add(id);
    else expect(active.delete(id)).toBe(true);
  }
  return active;
}

/** The same after transactions of the ledger-effects shape: the creations and the consuming exercises of one's own contracts. */
function foldEffects(all: readonly (readonly unknown[])[], party: string): ReadonlySet<string> {
  const own = new Map<string, boolean>();
  for (const [kind, value] of all.flat().map(partOf)) {
    const id = textAt(value, 'contractId');
    const isStakeholder = () => [...listAt(value, 'signatories'), ...listAt(value, 'observers')].includes(party);
    if (kind === 'CreatedEvent' && isStakeholder()) own.set(id, true);
    if (kind === 'ExercisedEvent' && at(value, 'consuming') === true && own.has(id)) own.set(id, false);
  }
  return new Set([...own].flatMap(([id, isActive]) => (isActive ? id : [])));
}

/** Proves that each node of a transaction is authorized, from the events alone: by the parties that act, or by its parent. */
function expectAuthorized(
  events: readonly unknown[],
  actAs: readonly string[],
  signatoriesOf: Map<string, readonly unknown[]>,
): void {
  const open: { readonly last: unknown; readonly authority: readonly unknown[] }[] = [];
  for (const [kind, value] of events.map(partOf)) {
    const nodeId = Number(at(value, 'nodeId'));
    while (open.length > 0 && Number(open.at(-1)?.last) < nodeId) open.pop();
    const authority = open.at(-1)?.authority ?? actAs;
    const id = textAt(value, 'contractId');
    if (kind === 'CreatedEvent') signatoriesOf.set(id, listAt(value, 'signatories'));
    const required = kind === 'CreatedEvent' ? listAt(value, 'signatories') : listAt(value, 'actingParties');
    expect(required.length).toBeGreaterThan(0);
    expect(required.filter((party) => !authority.includes(party))).toEqual([]);
    if (kind === 'ExercisedEvent')
      open.push({
        last: at(value, 'lastDescendantNodeId'),
        authority: [...required, ...(signatoriesOf.get(id) ?? [])],
      });
  }
}

describe('random contracts', () => {
  it('have the same active contracts by updates of both shapes as in a snapshot, and nothing without authority', () => {
    const codes = new Map<unknown, number>();
    fc.assert(
      fc.property(fc.array(submission, { minLength: 1, maxLength: 12 }), (plan) => {
        const sandbox = createSandbox({ templates: [any], confirmationMs: 0 });
        const names = new Map(hints.map((hint) => [hint, sandbox.hostedParty(hint)] as const));
        const parties = [...names.values()];
        const signatoriesOf = new Map<string, readonly unknown[]>();
        for (const [index, { actAs, readAs, steps }] of named(plan, names).entries()) {
          const known = [...new Set(parties.flatMap((party) => [...activeFor(sandbox, party)]))];
          const commands = commandsOf(steps, known);
          if (commands.length === 0) continue;
          const before = { updates: sandbox.updates.length, end: sandbox.ledgerEnd };
          const body = { userId: 'app', commandId: `cmd-${index}`, actAs, readAs, commands };
          const answer: Answer = ask(sandbox, '/v2/commands/submit-and-wait-for-transaction', {
            commands: body,
            transactionFormat: ledgerEffects(anyParty),
          });
          const code = answer.status === 200 ? 'committed' : at(answer.json, 'code');
          codes.set(code, (codes.get(code) ?? 0) + 1);
          if (answer.status === 200)
            expectAuthorized(listAt(answer.json, 'transaction', 'events'), actAs, signatoriesOf);
          else expect({ updates: sandbox.updates.length, end: sandbox.ledgerEnd }).toEqual(before);
        }
        for (const party of parties) {
          const active = activeFor(sandbox, party);
          expect(foldDelta(transactions(sandbox, acsDelta(forParty(party, wildcard()))))).toEqual(active);
          expect(foldEffects(transactions(sandbox, ledgerEffects(forParty(party, wildcard()))), party)).toEqual(active);
        }
      }),
      { numRuns: 150 },
    );
    // the law says nothing if all is refused, or nothing
    expect(codes.get('committed')).toBeGreaterThan(50);
    expect(codes.get('DAML_AUTHORIZATION_ERROR')).toBeGreaterThan(20);
  });
});
