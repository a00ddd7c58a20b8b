import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import { quietly } from '../errors/quietly.js';
import type { InterceptedParts, Interceptor } from './Interceptor.js';

/** An interceptor of a client, and what it has added to the operation in which a view of the client works. */
export interface Scope {
  readonly interceptor: Interceptor;
  readonly added?: InterceptedParts | undefined;
}

/** Calls the interceptors for a part of an operation. */
export const addedTo = <I>(
  scopes: readonly Scope[],
  part: keyof InterceptedParts,
  ask: (parts: InterceptedParts) => I | undefined,
): readonly I[] =>
  scopes.flatMap(
    ({ interceptor, added }) =>
      // what was added to the operation replaces what the interceptor adds
      quietly(() => ask(added?.[part] === undefined ? interceptor : added)) ?? [],
  );

/** Passes a diagnostic to the interceptors. */
export function reportTo(scopes: readonly Scope[], diagnostic: Diagnostic): void {
  addedTo(scopes, 'report', (parts) => {
    quietly(() => parts.report?.(diagnostic));
    return undefined;
  });
}
