import type { Settings } from './settings';

/** Nothing, where the explorer is served by a plain file server. */
export async function readSettings(): Promise<Settings> {
  try {
    const response = await fetch('explorer.json');
    return response.ok ? ((await response.json()) as Settings) : {};
  } catch {
    return {};
  }
}
