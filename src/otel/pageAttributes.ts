import type { Attributes } from '@opentelemetry/api';

/** What the answer to a request for updates has: how many elements, and where the last one stands. */
export function pageAttributes(json: unknown): Attributes {
  if (!Array.isArray(json)) return {};
  const elements: readonly unknown[] = json;
  const last = offsetOf(elements.at(-1));
  return {
    'canton.updates.count': elements.length,
    ...(last !== undefined && { 'canton.updates.last_offset': last }),
  };
}

/** Undecoded: `{"update": {"Transaction": {"value": {"offset": 7}}}}`. */
function offsetOf(element: unknown): number | undefined {
  const [variant] = Object.values(fieldsOf(fieldsOf(element)['update']));
  const { offset } = fieldsOf(fieldsOf(variant)['value']);
  return typeof offset === 'number' ? offset : undefined;
}

const fieldsOf = (u: unknown): Readonly<Record<string, unknown>> => ({ ...(typeof u === 'object' ? u : undefined) });
