import type { Finding } from './Finding.js';
import type { Trouble } from './Trouble.js';

type Data = Readonly<Record<string, unknown>>;

/** What makes the findings of one check. */
export interface Finder {
  readonly ok: (text: string, data?: Data) => Finding;
  readonly open: (text: string, data?: Data) => Finding;
  readonly failed: (trouble: Trouble, data?: Data) => Finding;
  readonly warned: (warning: Required<Pick<Finding, 'text' | 'next'>>) => Finding;
}

export function finder(id: string, label: string): Finder {
  const made = (state: Finding['state'], text: string, data: Data | undefined): Finding => ({
    id,
    label,
    state,
    text,
    ...(data !== undefined && { data }),
  });
  return {
    ok: (text, data) => made('ok', text, data),
    open: (text, data) => made('open', text, data),
    failed: ({ kind, text, next }, data) => ({
      ...made('failed', text, data),
      trouble: kind,
      ...(next !== undefined && { next }),
    }),
    warned: ({ text, next }) => ({ ...made('warned', text, undefined), next }),
  };
}
