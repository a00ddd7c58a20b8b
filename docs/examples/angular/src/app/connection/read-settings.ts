import type { Settings } from './settings';

/** Empty settings where a plain file server serves the explorer. */
export async function readSettings(): Promise<Settings> {
  try {
    const response = await fetch('explorer.json');
    return response.ok ? ((await response.json()) as Settings) : {};
  } catch {
    return {};
  }
}
