import type { Report } from '../events/Report.js';
import type { Learned, UpdatesPath } from './Service.js';

/** Has all feeds ask at the other path from now on, where the one that was asked is not served; `false` if there is none. */
export function switchPath({ learned, report }: { learned: Learned; report: Report }, asked: UpdatesPath): boolean {
  if (asked !== '/v2/updates/flats' || !learned.maySwitch) return false;
  if (learned.updatesPath === asked) {
    learned.updatesPath = '/v2/updates';
    report(() => ({ _tag: 'EndpointSwitched', from: asked, to: learned.updatesPath }));
  }
  return true;
}
