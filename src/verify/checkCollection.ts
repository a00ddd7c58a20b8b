import type { GenMap_Entry, TextMap_Entry, Value } from '@canton-network/core-ledger-proto';
import { isRecord } from '../codecs/internal/isRecord.js';
import { isVerificationError } from '../errors/VerificationError.js';
import type { Check } from './checkRecord.js';
import { refusal } from './refusal.js';

type Collection = Extract<Value['sum'], { oneofKind: 'list' | 'textMap' | 'genMap' }>;

/** Refuses a list or a map with other contents. */
export function checkCollection(json: unknown, collection: Collection, path: string, check: Check): void {
  switch (collection.oneofKind) {
    case 'list':
      checkList(json, collection.list.elements, path, check);
      return;
    case 'textMap':
      checkTextMap(json, collection.textMap.entries, path, check);
      return;
    case 'genMap':
      checkGenMap(json, collection.genMap.entries, path, check);
  }
}

function checkList(json: unknown, elements: readonly Value[], path: string, check: Check): void {
  if (!Array.isArray(json) || json.length !== elements.length) throw another(path);
  elements.forEach((element, index) => {
    check(json[index], element, `${path}[${index}]`);
  });
}

function checkTextMap(json: unknown, entries: readonly TextMap_Entry[], path: string, check: Check): void {
  const keys = new Set(entries.map(({ key }) => key));
  if (!isRecord(json) || keys.size < entries.length || Object.keys(json).length !== keys.size) throw another(path);
  entries.forEach(({ key, value }, index) => {
    if (!Object.hasOwn(json, key)) throw another(path);
    check(json[key], value, `${path}[${index}]`);
  });
}

/** Pairs in any order; the ledger has sorted them by their keys. */
function checkGenMap(json: unknown, entries: readonly GenMap_Entry[], path: string, check: Check): void {
  if (!Array.isArray(json) || json.length !== entries.length) throw another(path);
  const rest = [...entries];
  json.forEach((pair: unknown, index) => {
    if (!Array.isArray(pair) || pair.length !== 2) throw another(path);
    const found = rest.findIndex(({ key }) =>
      passes(() => {
        check(pair[0], key, path);
      }),
    );
    const [entry] = found === -1 ? [] : rest.splice(found, 1);
    if (entry === undefined) throw another(path);
    check(pair[1], entry.value, `${path}[${index}][1]`);
  });
}

function passes(check: () => void): boolean {
  try {
    check();
    return true;
  } catch (error) {
    if (isVerificationError(error)) return false;
    throw error;
  }
}

const another = (path: string) => refusal('commands', 'it has another value', path);
