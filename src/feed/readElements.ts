import { problemsOf } from '../codecs/Problem.js';
import type { Update } from '../codecs/Update.js';
import { offsetOfElement, UpdateElement } from '../codecs/UpdateElement.js';
import { DecodeError } from '../errors/DecodeError.js';
import type { InvalidUpdate } from './InvalidUpdate.js';

/** The elements of an answer, up to the first that ends the feed. */
export interface Elements {
  readonly updates: readonly (Update | InvalidUpdate)[];
  readonly failure?: DecodeError;
}

/** Decodes the elements of an answer, each once. */
export function readElements(path: string, json: readonly unknown[], onInvalid: 'fail' | 'emit'): Elements {
  const updates: (Update | InvalidUpdate)[] = [];
  for (const element of json) {
    const result = UpdateElement.decode(element);
    if (result._tag === 'Right') {
      updates.push(result.right);
      continue;
    }
    const problems = problemsOf(result.left);
    const offset = offsetOfElement(element);
    // without its offset nobody could go past it
    if (onInvalid === 'fail' || offset === undefined)
      return { updates, failure: new DecodeError(path, problems, offset) };
    updates.push({ _tag: 'InvalidUpdate', offset, problems });
  }
  return { updates };
}
