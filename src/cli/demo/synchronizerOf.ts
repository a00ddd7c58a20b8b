import type { Update } from '../../codecs/Update.js';

/** The short name of an update's synchronizer: what stands before `::`; nothing for a checkpoint, which has many. */
export function synchronizerOf(update: Update): string {
  const id = 'synchronizerId' in update ? update.synchronizerId : undefined;
  return id?.split('::')[0] ?? '';
}
