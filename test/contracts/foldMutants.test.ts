import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { transformSync } from 'esbuild';
import fc from 'fast-check';
import type { AnyContract } from '../../src/contracts/Contract.js';
import type { MakeContract } from '../../src/contracts/ContractsFold.js';
import { makeContract } from '../../src/contracts/makeContract.js';
import { contractHistories, offsetIn } from '../helpers/contractHistory.js';
import { checkFold, type Fold } from '../helpers/foldLaw.js';

// Two errors are none in these histories, where the counters alone tell that a contract is spent: to forget the synchronizer
// that archived it, and to end only its last activation. Both are for repairs, which fold.test.ts has.

/** A fold with an error: its name, the text of the fold, and the text in its place. */
type Mutant = readonly [name: string, text: string, replacement: string];

const mutants: readonly Mutant[] = [
  [
    'inserts or ignores the entries of a snapshot, as if a contract had one',
    'const run = (trace: Trace<C>): Trace<C> => {',
    'const run = (trace: Trace<C>): Trace<C> => {\n if (source === target && trace.active.length > 0) return trace;',
  ],
  ['takes the last entry for the truth', 'if (contract.reassignmentCounter < counter) continue;', ''],
  [
    'takes the lowest counter for the truth',
    'contract.reassignmentCounter < counter)',
    '-contract.reassignmentCounter < counter)',
  ],
  [
    'ignores assignments in a snapshot whose unassignment is to come',
    "case 'IncompleteAssigned': {",
    "case 'IncompleteAssigned': { return [];",
  ],
  [
    'ignores contracts in flight in a snapshot',
    "case 'IncompleteUnassigned': {",
    "case 'IncompleteUnassigned': { return [];",
  ],
  ['shows ghosts', 'last = half.inFlight;', 'last = half.inFlight ?? last;'],
  ['removes what is unassigned', 'const last = activeOn(trace, source);', 'const last = undefined as C | undefined;'],
  ['leaves what is unassigned at the source', 'const left = leave(trace, source);', 'const left = trace;'],
  ['keeps a contract in flight when it arrives', 'return source === target ? active :', 'return true ? active :'],
  ['pairs no halves', 'if (same && same.isAssigned !== half.isAssigned)', 'if (false)'],
  ['drops both halves at the first', 'return half.isAssigned || half.inFlight ?', 'return false ?'],
  ['drops halves of assignments', 'return half.isAssigned || half.inFlight ?', 'return half.inFlight ?'],
  ['pairs halves of different moves', 'find(({ counter }) => counter === half.counter)', 'find(() => true)'],
  [
    'forgets a spent contract at once',
    'return { active: active.filter((contract) => contract !== last), halves, spentOn };',
    'return { active: [], halves: [], spentOn };',
  ],
  [
    'never forgets a spent contract',
    'active.length <= (spentOn === undefined ? 1 : 0)',
    'active.length === 1 && spentOn === undefined',
  ],
  ['forgets halves of an active contract', 'halves.length === 0 && active.length <=', 'active.length <='],
  [
    'forgets stale entries of an active contract',
    'active: [...active, contract], halves',
    'active: [contract], halves',
  ],
  [
    'has one contract for an id, whatever the synchronizer',
    'const { active, halves, spentOn } = leave(trace, synchronizerId);\n  return { active: [...active, contract], halves, spentOn };',
    'return { active: [contract], halves: [] };',
  ],
  ['takes any activation for the beginning of the contract', 'const isAnew =', 'const isAnew = true ||'],
  ['ignores archives', 'run: (trace) => archive(trace, synchronizerId) }', 'run: (trace) => trace }'],
  [
    'drops archives of contracts that are also elsewhere',
    'run: (trace) => archive(trace, synchronizerId) }',
    'run: (trace) => (trace.active.length > 1 ? trace : archive(trace, synchronizerId)) }',
  ],
  ['ignores unassignments', 'run: (trace) => this.#unassign(trace, event) }', 'run: (trace) => trace }'],
  [
    'ignores assignments',
    'return this.#activation(event.createdEvent, event.target, event.reassignmentCounter, event.source);',
    'return undefined;',
  ],
  ['takes counter 0 for every assignment', 'event.target, event.reassignmentCounter,', 'event.target, 0,'],
  ['emits what does not change', 'if (before === contract) continue;', ''],
  ['emits moves as additions', 'else moved.push({ contract, from: before.location });', 'else added.push(contract);'],
  ['emits where a contract is as where it was', 'from: before.location', 'from: contract.location'],
  [
    'removes with the value of nothing',
    'else if (contract === undefined) removed.push(before);',
    'else if (contract === undefined) {}',
  ],
  ['applies only the first event of an update', 'of update.events) {', 'of update.events.slice(0, 1)) {'],
  [
    'ignores Assigned without a contract before it',
    'if (contract === undefined) return undefined;',
    'if (contract === undefined || (source !== target && !this.#contracts.has(created.contractId))) return undefined;',
  ],
];

describe('ContractsFold: mutants', () => {
  let source: string;

  beforeAll(() => {
    const read = (name: string): string => readFileSync(`src/contracts/${name}.ts`, 'utf8');
    source = `${read('Trace')}\n${read('ContractsFold').replace(/^import .* from '\.\/Trace\.js';$/m, '')}`;
  });

  it('the source that is mutated obeys the law', async () => {
    expect(violates(await foldOf(source), 50)).toBe(false);
  });

  it.each(mutants)('the law fails for a fold that %s', async (_name, text, replacement) => {
    expect(source.split(text)).toHaveLength(2);
    expect(violates(await foldOf(source.replace(text, () => replacement)))).toBe(true);
  });
});

type FoldClass = new (make: MakeContract<AnyContract>) => Fold;

async function foldOf(source: string): Promise<FoldClass> {
  const { code } = transformSync(source, { loader: 'ts', target: 'es2022' });
  const module: unknown = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  return (module as { readonly ContractsFold: FoldClass }).ContractsFold;
}

/** Whether the law fails for some history. */
const violates = (FoldUnderTest: FoldClass, numRuns = 1000): boolean =>
  fc.check(
    fc.property(contractHistories(), fc.nat(), (history, place) => {
      checkFold(new FoldUnderTest(makeContract()), history, offsetIn(history, place));
    }),
    { numRuns, endOnFailure: true },
  ).failed;
