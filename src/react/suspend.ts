import { isObservable } from 'rxjs';
import type { ContractQuery } from '../contracts/ContractQuery.js';
import type { SharedContracts } from '../contracts/shareContracts.js';
import type { ContractsStore, Reading } from './ContractsStore.js';

/**
 * React renders the fallback on a server for an error, and the component in the browser. Next knows this one by its digest, as it does
 * the components that it leaves to the browser: it logs nothing, and the page reports nothing.
 */
export class LeftToBrowserError extends Error {
  override readonly name = 'LeftToBrowserError';
  readonly digest = 'BAILOUT_TO_CLIENT_SIDE_RENDERING';
  /** The subject of Next's message if there is no `Suspense`. */
  readonly reason: string;

  constructor(hook: string) {
    super(
      `${hook} with suspense: true is rendered in the browser alone; on a server, the fallback of its Suspense is.`,
    );
    this.reason = `${hook} with suspense: true`;
  }
}

/** Suspends the render while nothing is known, and throws the error of the view. */
export function suspend(store: ContractsStore, reading: Reading, key: string, waits: Waits, hook: string): void {
  if (reading.status === 'loading') {
    const unread = [...waits.values()].map(({ depth, isKnown }) => (isKnown ? depth : 0));
    const depth = waits.get(key)?.depth ?? 1 + Math.max(0, ...unread);
    if (depth > maxDepth) throw anotherQueryError(hook);
    const wait = { depth, isKnown: false };
    waits.set(key, wait);
    const waiting = store.wait();
    void waiting.then(() => {
      wait.isKnown = true;
    });
    throw waiting; // eslint-disable-line @typescript-eslint/only-throw-error -- React takes it
  }
  waits.clear();
  if (reading.status === 'error') throw reading.error;
}

/** The queries of a shape that components have waited for, since one of the shape was last rendered with contracts. */
type Waits = Map<string, { readonly depth: number; isKnown: boolean }>;

const waitsOf = new WeakMap<SharedContracts, Map<string, Waits>>();

/**
 * How many of them may follow each other, each begun when the one before was known. A component that waits loses its state: without
 * this, a type that it creates in each render would begin views without end. The number of queries that wait at the same time does not
 * count: React may render none of those that are known while another one in their `Suspense` waits.
 */
const maxDepth = 5;

export function waitsLike(shared: SharedContracts, query: ContractQuery): Waits {
  const shapes = waitsOf.get(shared) ?? new Map<string, Waits>();
  waitsOf.set(shared, shapes);
  const shape = shapeOf(query);
  const waits = shapes.get(shape) ?? (new Map() as Waits);
  shapes.set(shape, waits);
  return waits;
}

/** The state that a component keeps between its renders. */
export interface Renders {
  key: string | undefined;
  /** The key of what is shown: it may be rendered again while another one is rendered in a transition. */
  shown: string | undefined;
  shape: string;
  /** The number of consecutive renders that had another query of the same shape. */
  changes: number;
}

/** A new type is another query. One that is created in each render would never be read. */
export function checkChange(
  renders: Renders,
  hook: string,
  key: string | undefined,
  query: ContractQuery | null | undefined,
): void {
  const { key: before, shown } = renders;
  renders.key = key;
  if (key === before || key === shown) {
    renders.changes = 0;
    return;
  }
  const shape = shapeOf(query);
  renders.changes = renders.shape === shape ? renders.changes + 1 : 0;
  renders.shape = shape;
  if (renders.changes >= 2) throw anotherQueryError(hook);
}

/** Returns a text that is the same for queries that differ only in what a component may create in each render. */
function shapeOf(query: ContractQuery | null | undefined): string {
  const types = Object.entries(query?.types ?? {}).map(([name, { templateId }]) => [name, templateId]);
  const parties = isObservable(query?.parties) ? 'observed' : query?.parties;
  return JSON.stringify([types, parties]);
}

const anotherQueryError = (hook: string): Error =>
  new Error(
    `${hook} gets another query in each render: a type, an Observable of parties, or a function of its options, is created there. Create it outside the component.`,
  );
