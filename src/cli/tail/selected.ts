import { identity, pipe, type MonoTypeOperatorFunction, type Observable } from 'rxjs';
import type { Update } from '../../codecs/Update.js';
import { ofVariant } from '../../operators/ofVariant.js';
import { onSynchronizer } from '../../operators/onSynchronizer.js';
import type { TailOptions } from './TailOptions.js';

/** Passes what is to be printed. */
export function selected(options: Pick<TailOptions, 'variants' | 'synchronizers'>): MonoTypeOperatorFunction<Update> {
  const [variant, ...variants] = options.variants;
  const [synchronizer, ...synchronizers] = options.synchronizers;
  return pipe(
    variant === undefined ? identity<Observable<Update>> : ofVariant(variant, ...variants),
    synchronizer === undefined ? identity : onSynchronizer(synchronizer, ...synchronizers),
  );
}
