import { Refusal } from '../errors/Refusal.js';
import { isRecord } from '../decoding/isRecord.js';
import type { FaultLie } from '../faults/FaultLie.js';

/** The request as which a lying participant prepares. */
export function lieAbout(request: unknown, { instead = usualLie }: FaultLie): unknown {
  try {
    return instead(structuredClone(request));
  } catch {
    // what the function threw may hold anything
    throw new Refusal(400, 'The sandbox could not make up a lie.');
  }
}

/** Another first number in what is created; where there is none, another command id. */
function usualLie(request: unknown): unknown {
  if (!isRecord(request)) return request;
  const [command] = Array.isArray(request['commands']) ? (request['commands'] as readonly unknown[]) : [];
  const create = isRecord(command) ? command['CreateCommand'] : undefined;
  const fields = isRecord(create) && isRecord(create['createArguments']) ? create['createArguments'] : {};
  const number = Object.entries(fields).find(([, value]) => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value));
  if (number === undefined) return { ...request, commandId: `${String(request['commandId'])}-other` };
  const [label, value] = number;
  const createArguments = { ...fields, [label]: String(value).replace(/\d/, '9$&') };
  return { ...request, commands: [{ CreateCommand: { ...Object(create), createArguments } as unknown }] };
}
