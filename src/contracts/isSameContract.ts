import { isRecord } from '../codecs/internal/Codec.js';
import type { CreatedEvent } from '../codecs/Event.js';
import type { AnyContract } from './Contract.js';

/**
 * Whether two readings of a contract show the same: its location, its type, and all that the participant renders. What a
 * contract has from its creation, such as its stakeholders, cannot differ; which parties witness an event depends on the
 * event.
 */
export const isSameContract = (a: AnyContract, b: AnyContract): boolean =>
  a.reassignmentCounter === b.reassignmentCounter &&
  (a.type ?? a.expectedType) === (b.type ?? b.expectedType) &&
  isEqual(a.location, b.location) &&
  isEqual(renderingOf(a.createdEvent), renderingOf(b.createdEvent));

/** What the participant renders with each response. */
const renderingOf = ({
  createArgument,
  contractKey,
  createdEventBlob = '',
  interfaceViews,
}: CreatedEvent): unknown[] => [
  createArgument,
  contractKey,
  createdEventBlob,
  Object.fromEntries(interfaceViews.map((view) => [view.interfaceId, [view.viewStatus.code, view.viewValue]])),
];

/** Whether two JSON values are equal; an absent field and an undefined one are, too. */
function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((element, index) => isEqual(element, b[index]));
  if (!isRecord(a) || !isRecord(b)) return false;
  return Object.keys({ ...a, ...b }).every((key) => isEqual(a[key], b[key]));
}
