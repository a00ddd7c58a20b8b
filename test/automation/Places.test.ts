import { describe, expect, it } from '@jest/globals';
import { Places } from '../../src/automation/Agenda.js';
import { later, runVirtually } from '../helpers/virtualTime.js';

describe('Places', () => {
  it('are as many as the concurrency, given back once each', () => {
    const places = new Places(2);
    const first = places.take();
    const second = places.take();
    expect([places.isFree, places.running]).toEqual([false, 2]);
    first.giveBack();
    first.giveBack();
    expect([places.isFree, places.running]).toEqual([true, 2]);
    first.end();
    second.end();
    expect([places.isFree, places.running]).toEqual([true, 0]);
    places.take();
    places.take();
    expect(places.isFree).toBe(false);
  });

  it('are none in a pause, which counts once however often it is prolonged, and one after it until all is well', () => {
    const seen: unknown[] = [];
    runVirtually(() => {
      const places = new Places(3);
      places.pause(1_000);
      places.pause(3_000);
      places.pause(10);
      seen.push([places.pauses, places.pauseMs, places.isFree]);
      later(2_000, () => seen.push([places.pauseMs, places.isFree]));
      later(3_000, () => {
        seen.push([places.pauseMs, places.isFree]);
        places.take();
        seen.push(places.isFree);
        places.resume();
        seen.push([places.pauses, places.isFree]);
        places.pause(5);
        places.resume();
        // a pause ends when its time is over
        seen.push([places.pauses, places.isPaused]);
      });
    });
    expect(seen).toEqual([[1, 3_000, false], [1_000, false], [0, true], false, [0, true], [0, true]]);
  });
});
