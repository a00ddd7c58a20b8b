import { formatProblem, maxProblems, type Place, type Problem, problemAt } from '../Problem.js';
import { isRecord } from './Codec.js';

/** The result of a codec or a schema. */
export type Attempt =
  | { readonly value: unknown; readonly refusals?: undefined }
  | { readonly refusals: readonly Refusal[]; readonly value?: undefined };

/** Why a codec or a schema refuses a value. */
export interface Refusal {
  readonly problem: Problem;
  /** Where in the value. The alternatives of a union have a place each. */
  readonly places: readonly Place[];
}

/**
 * Returns the problems of refusals. The ledger sends a field that is `None` as `null`, or omits it, and a codec may accept
 * one of the two forms only. This tries the other one, and names the remedy where the codec accepts it.
 */
export function explain(
  refusals: readonly Refusal[],
  json: unknown,
  attempt: (json: unknown) => Attempt,
  remedy: string,
): readonly Problem[] {
  const problems = refusals.map(({ problem }) => problem);
  // a second attempt costs as much as the first, and would not accept a value with so many problems
  if (refusals.length >= maxProblems) return problems;
  const places = refusals.flatMap((refusal) => refusal.places);
  const { other, changed } = withOtherNone(json, places);
  if (changed.size === 0) return problems;
  const remaining = new Set(attempt(other).refusals?.map(({ problem }) => problem.path));
  const explained = refusals.flatMap((refusal) => {
    const accepted = remaining.has(refusal.problem.path)
      ? []
      : refusal.places.filter((place) => changed.has(id(place)));
    if (accepted.length === 0) return [refusal.problem];
    return accepted.map((place) => problemAt(place.path, `${optionalField}: ${remedy}`));
  });
  // the alternatives of a union have the same problem
  return [...new Map(explained.map((problem) => [formatProblem(problem), problem])).values()].slice(0, maxProblems);
}

const optionalField = 'an optional field, which is null or absent if it is None';

const id = ({ keys }: Place): string => JSON.stringify(keys);

/** Returns a copy with each field `null` that is absent at a place, and without each that is `null`. */
function withOtherNone(
  json: unknown,
  places: readonly Place[],
): { readonly other: unknown; readonly changed: ReadonlySet<string> } {
  const copies = new Set<unknown>();
  const copy = (value: unknown): unknown => {
    if (copies.has(value) || !isParent(value)) return value;
    const copied = Array.isArray(value) ? [...value] : { ...value };
    copies.add(copied);
    return copied;
  };
  const other = copy(json);
  const changed = new Set<string>();
  for (const place of places.slice(0, maxProblems)) {
    const field = place.keys.at(-1);
    let parent: unknown = other;
    for (const key of place.keys.slice(0, -1)) {
      const isChild =
        typeof parent === 'object' && parent !== null && Object.hasOwn(parent, key) && key !== '__proto__';
      parent = isChild
        ? ((parent as Record<string, unknown>)[key] = copy((parent as Record<string, unknown>)[key]))
        : undefined;
    }
    if (field === undefined || field === '__proto__' || !isRecord(parent) || changed.has(id(place))) continue;
    if (!Object.hasOwn(parent, field)) parent[field] = null;
    else if (parent[field] === null) Reflect.deleteProperty(parent, field);
    else continue;
    changed.add(id(place));
  }
  return { other, changed };
}

const isParent = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
